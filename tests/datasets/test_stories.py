"""Claims about the synthetic stories as text, and about their labels."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from bertlab.datasets.stories import default_grammar, is_held_out, join_words, sample_stories

GRAMMAR = default_grammar()


@pytest.fixture(scope="module")
def stories():
    return sample_stories(np.random.default_rng(0), 4000)


def test_a_story_has_five_to_nine_sentences_of_four_to_fourteen_words(stories):
    assert {len(story.sentences) for story in stories} == {5, 6, 7, 8, 9}
    lengths = {sum(pos != "PUNCT" for pos in template.pos) for template in GRAMMAR.templates}
    assert lengths <= set(range(4, 15))


def test_the_vocabulary_is_small_and_every_word_of_it_is_said(stories):
    said = {word for story in stories for words in story.words for word in words}
    assert 600 <= len({word.lower() for word in GRAMMAR.words}) <= 1200
    assert said <= set(GRAMMAR.words)
    assert len(said) > 0.98 * len(GRAMMAR.words)


def test_no_two_stories_are_the_same(stories):
    assert len({tuple(story.document.sentences) for story in stories}) == len(stories)


def test_every_sentence_begins_with_a_capital_and_ends_with_a_mark(stories):
    for story in stories[:500]:
        for sentence in story.document.sentences:
            assert re.match(r'"?[A-Z]', sentence), sentence
            assert re.search(r'[.!?]"?$', sentence), sentence
            assert not re.search(r"\s[.,!?:]|\s$|  ", sentence), sentence


def test_a_stands_before_consonants_and_an_before_vowels(stories):
    for story in stories:
        for words in story.words:
            for article, word in pairwise(words):
                if article.lower() in ("a", "an"):
                    assert (article.lower() == "an") == (
                        word[0] in "aeioAEIO" or word in ("hour", "uncle", "umbrella")
                    )


def test_pronouns_and_titles_fit_the_names(stories):
    hers = {v[0] for d in ("hero", "boss") for v, g in people(d) if g == "f"}
    for story in stories[:1000]:
        for words in story.words:
            for before, name in pairwise(words):
                if before in ("Mr.", "Mrs."):
                    assert (before == "Mrs.") == (name in hers)
        hero, friend = (
            GRAMMAR.variables[name].domain.values[story.values[name]][0] for name in ("hero", "friend")
        )
        if {hero, friend} <= hers and "boss" not in story.values:
            said = {word for words in story.words if "captain" not in words for word in words}
            assert not {"he", "him", "He", "His"} & said


def people(variable):
    domain = GRAMMAR.variables[variable].domain
    return zip(domain.values, domain.genders, strict=True)


def test_every_word_has_a_part_of_speech_and_an_entity_label(stories):
    for story in stories[:500]:
        for sentence in story.sentences:
            assert len(sentence.words) == len(sentence.pos) == len(sentence.entities)
            assert all(sentence.pos)


def test_entities_are_well_formed_and_are_the_names(stories):
    seen = Counter()
    for story in stories[:1000]:
        for sentence in story.sentences:
            before = "O"
            for word, label in zip(sentence.words, sentence.entities, strict=True):
                seen[label] += 1
                if label.startswith("I-"):
                    assert before[2:] == label[2:]
                if label != "O":
                    assert word in GRAMMAR.name_words
                before = label
    assert set(seen) == {"O", "B-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"}


def test_more_than_twenty_words_have_two_senses_and_both_occur(stories):
    senses, kinds = defaultdict(set), defaultdict(set)
    for story in stories:
        for sentence in story.sentences:
            for i, sense in sentence.senses.items():
                senses[sentence.words[i]].add(sense)
                kinds[sentence.words[i]].add(sentence.pos[i])
    assert len(senses) == 27
    assert all(len(found) == 2 for found in senses.values()), senses
    of_two_kinds = {word for word, found in kinds.items() if len(found) == 2}
    assert {"bank", "bat", "seal", "spring"} <= set(senses) - of_two_kinds
    assert {"play", "park", "saw", "light"} <= of_two_kinds
    assert np.mean([any(sentence.senses for sentence in story.sentences) for story in stories]) > 0.8


def test_the_same_word_opens_stories_of_different_plots(stories):
    plots = defaultdict(set)
    for story in stories:
        plots[tuple(w for w in story.words[0] if w not in GRAMMAR.name_words)].add(story.plot)
    assert sum(len(found) > 1 for found in plots.values()) >= 12


def test_every_answer_is_a_span_of_the_story_and_no_later_than_what_is_asked(stories):
    for story in stories[:1000]:
        for question in story.questions:
            answer = story.sentences[question.sentence].words[question.start : question.end]
            assert answer
            assert question.words[-1] == "?"
            assert any(tuple(answer) in v.domain.values for v in GRAMMAR.variables.values())
    assert np.mean([bool(story.questions) for story in stories]) > 0.99


def test_a_claim_that_holds_is_followed_by_one_that_differs_in_a_name(stories):
    for story in stories[:1000]:
        for true, false in zip(story.claims[::2], story.claims[1::2], strict=True):
            assert true.holds
            assert not false.holds
            assert true.words != false.words
    assert np.mean([bool(story.claims) for story in stories]) > 0.8


def test_moods_plots_and_topics_are_even(stories):
    n = len(stories)
    assert Counter(story.mood for story in stories)["positive"] / n == pytest.approx(0.5, abs=0.02)
    plots = Counter(story.plot for story in stories)
    assert len(plots) == 17
    assert all(abs(count - n / 17) < 5 * np.sqrt(n / 17) for count in plots.values())


def test_no_set_of_names_is_both_in_training_and_in_test():
    def names(story):
        return frozenset(w for words in story.words for w in words if w in GRAMMAR.name_words)

    train = sample_stories(np.random.default_rng(1), 1000)
    test = sample_stories(np.random.default_rng(1), 200, held_out=True)
    assert not {names(story) for story in train} & {names(story) for story in test}
    assert all(is_held_out(story.words) for story in test)
    assert not any(is_held_out(story.words) for story in train)


def test_a_tenth_is_held_out():
    names = [[f"{a[0]}", f"{b[0]}"] for a, _ in people("hero") for b, _ in people("hero") if a < b]
    assert np.mean([is_held_out([pair]) for pair in names]) == pytest.approx(0.1, abs=0.04)


def test_one_seed_gives_one_set():
    draw = [[s.document for s in sample_stories(np.random.default_rng(5), 20)] for _ in range(2)]
    assert draw[0] == draw[1]
    assert draw[0] != [s.document for s in sample_stories(np.random.default_rng(6), 20)]


def test_a_document_says_that_it_is_synthetic(stories):
    assert {story.document.source for story in stories[:50]} == {"synthetic stories"}


def test_a_word_comes_as_often_as_the_grammar_says(stories):
    weather = [s for story in stories for s in story.document.sentences if s.startswith("It was a ")]
    counts = Counter(sentence.split()[3] for sentence in weather)
    weights = {"warm": 1, "bright": 1 / 2, "quiet": 1 / 3, "grey": 1 / 4, "cold": 1 / 5}
    n = sum(counts[word] for word in weights)
    for word, weight in weights.items():
        assert counts[word] / n == pytest.approx(weight / sum(weights.values()), abs=0.08)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["He", "sat", ".", ], "He sat."),
        (['"', "Go", ",", '"', "she", "said", ",", '"', "now", "!", '"'], '"Go," she said, "now!"'),
        (["It", "said", ":", '"', "No", '"', "."], 'It said: "No".'),
    ],
)  # fmt: skip
def test_words_are_joined_as_they_are_printed(words, text):
    assert join_words(words) == text
