"""Claims about what can be known of a hidden word: all stories of a small grammar, and samples, tell."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from bertlab.datasets.stories import (
    default_grammar,
    mood_posterior,
    next_sentence_posterior,
    posterior,
    sample_stories,
    sense_posterior,
)
from tests.datasets.small_grammar import all_stories, shares, small_grammar


@pytest.fixture(scope="module")
def small():
    return small_grammar()


@pytest.fixture(scope="module")
def told(small):
    return all_stories(small)


@pytest.fixture(scope="module")
def some(told):
    """A few hundred of the stories, likelier ones more often."""
    p = np.array([story.p for story in told])
    return [told[k] for k in np.random.default_rng(0).choice(len(told), size=120, p=p / p.sum())]


@pytest.fixture(scope="module")
def drawn():
    return sample_stories(np.random.default_rng(3), 800)


def fits(story, seen):
    return len(story.words) == len(seen) and all(
        len(words) == len(shown) and all(s in (None, w) for w, s in zip(words, shown, strict=True))
        for words, shown in zip(story.words, seen, strict=True)
    )


def begins(story, before, sentence, j):
    """Whether a story begins in this way, and has a word at position j of the sentence after that."""
    i = len(before)
    return (
        story.words[:i] == before
        and len(story.words) > i
        and len(story.words[i]) > j
        and story.words[i][:j] == sentence[:j]
    )


def words(text):
    return text.split()


def any_place(rng, sentences):
    i = int(rng.integers(len(sentences)))
    return i, int(rng.integers(len(sentences[i])))


def test_the_oracle_lists_all_stories(told):
    assert sum(story.p for story in told) == pytest.approx(1)
    assert len(told) > 2000


def test_with_both_contexts_it_is_the_sum_over_all_stories_also_with_more_holes(small, told, some):
    rng = np.random.default_rng(1)
    for story in some:
        i, j = any_place(rng, story.words)
        seen = [[None if rng.random() < 0.3 else word for word in words] for words in story.words]
        seen[i][j] = None
        expected = shares((other.words[i][j], other.p) for other in told if fits(other, seen))
        assert posterior(seen, (i, j), grammar=small) == pytest.approx(expected, abs=1e-12)


def test_with_the_left_context_it_is_the_sum_over_all_stories_that_begin_so(small, told, some):
    rng = np.random.default_rng(2)
    for story in some:
        i, j = any_place(rng, story.words)
        same = [other for other in told if begins(other, story.words[:i], story.words[i], j)]
        expected = shares((other.words[i][j], other.p) for other in same)
        assert posterior(story.words, (i, j), True, small) == pytest.approx(expected, abs=1e-12)


def test_senses_are_the_sum_over_all_stories(small, told, some):
    rng = np.random.default_rng(4)
    for story in some:
        places = [(i, j) for i, senses in enumerate(story.senses) for j in senses]
        i, j = places[rng.integers(len(places))] if places else (0, 0)
        whole = [other for other in told if fits(other, story.words)]
        start = [other for other in told if begins(other, story.words[:i], story.words[i], j)]
        start = [other for other in start if other.words[i][j] == story.words[i][j]]
        for left_only, same in ((False, whole), (True, start)):
            expected = shares((other.senses[i].get(j, ""), other.p) for other in same)
            found = sense_posterior(story.words, (i, j), left_only, small)
            assert found == pytest.approx(expected, abs=1e-12)


def test_moods_are_the_sum_over_all_stories(small, told, some):
    for story in some[:60]:
        expected = shares((other.mood, other.p) for other in told if fits(other, story.words))
        assert mood_posterior(story.words, grammar=small) == pytest.approx(expected, abs=1e-12)
        first = story.words[:1]
        expected = shares((other.mood, other.p) for other in told if other.words[:1] == first)
        assert mood_posterior(first, whole=False, grammar=small) == pytest.approx(expected, abs=1e-12)


def rows(told, n, behind=0):
    """How often each row of n sentences stands in a story, with at least so many behind it, on average."""
    return shares(
        (story.words[i : i + n], story.p) for story in told for i in range(len(story.words) - n - behind + 1)
    )


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 1), (1, 2)])
def test_the_next_sentence_is_the_ratio_of_counts_over_all_stories(small, told, n, m):
    together, first, second = rows(told, n + m), rows(told, n, m), rows(told, m)
    rng = np.random.default_rng(5)
    true = [list(together)[k] for k in rng.integers(len(together), size=60)]
    false = [
        list(first)[a] + list(second)[b]
        for a, b in zip(rng.integers(len(first), size=60), rng.integers(len(second), size=60), strict=True)
    ]
    for row in true + false:
        a, b = together.get(row, 0.0), first[row[:n]] * second[row[n:]]
        assert next_sentence_posterior(row[:n], row[n:], small) == pytest.approx(a / (a + b), abs=1e-12)


def test_a_stated_probability_is_a_frequency(drawn):
    """Calibration: of all words that were given 30 %, 30 % are right, with either context."""
    rng = np.random.default_rng(6)
    for left_only in (False, True):
        stated, came = [], []
        for story in drawn:
            i, j = any_place(rng, story.words)
            for word, p in posterior(story.words, (i, j), left_only).items():
                stated.append(p)
                came.append(word == story.words[i][j])
        p, hit = np.array(stated), np.array(came)
        for low, high in ((0, 0.05), (0.05, 0.2), (0.2, 0.4), (0.4, 0.7), (0.7, 0.999)):
            among = (p >= low) & (p < high)
            noise = np.sqrt(0.25 + (p[among] * (1 - p[among])).sum())  # a bin may hold a word or two
            assert abs(hit[among].sum() - p[among].sum()) < 4 * noise
        assert hit[p >= 0.999].mean() > 0.998


def test_what_follows_a_beginning_is_as_frequent_as_the_posterior_says():
    people = {name for (name,) in default_grammar().variables["hero"].domain.values}
    start = "For Ida everything began with a bat ."

    def kind(word, hero):
        return "the hero" if word == hero else "another" if word in people else word

    after = Counter()
    for story in sample_stories(np.random.default_rng(8), 5_000):
        hero = story.words[0][1]
        if story.words[0] == words(start.replace("Ida", hero)):
            after[kind(story.words[1][0], hero)] += 1
    n = after.total()
    stated = posterior([words(start), ["?"]], (1, 0), left_only=True)
    likely = shares((kind(word, "Ida"), p) for word, p in stated.items())
    assert n > 50
    assert set(after) <= set(likely)
    for word, p in likely.items():
        assert abs(after[word] - n * p) < 4.5 * np.sqrt(n * p * (1 - p)) + 1


def test_nothing_to_the_right_counts_when_only_the_left_is_seen(drawn):
    rng = np.random.default_rng(9)
    for story in drawn[:100]:
        i, j = any_place(rng, story.words)
        other = [*story.words[:i], [*story.words[i][:j], "anything", "at", "all"], ["Nonsense"]]
        assert posterior(other, (i, j), True) == posterior(story.words, (i, j), True)


def test_the_hidden_word_itself_is_not_looked_at(drawn):
    rng = np.random.default_rng(10)
    for story in drawn[:100]:
        i, j = any_place(rng, story.words)
        seen = [list(words) for words in story.words]
        seen[i][j] = "nonsense"
        found = posterior(seen, (i, j))
        assert found == posterior(story.words, (i, j))
        assert sum(found.values()) == pytest.approx(1)
        assert story.words[i][j] in found


def test_a_bank_is_of_money_or_of_a_river_until_the_next_sentence_tells():
    start = words("On Friday Ida went straight to the bank .")
    money = words("The director , Mr. Keller , counted the money six times .")
    assert sense_posterior([start], (0, 7), left_only=True) == {"money": 0.5, "river": 0.5}
    assert sense_posterior([start, money], (0, 7), left_only=True) == {"money": 0.5, "river": 0.5}
    story = next(
        story for story in sample_stories(np.random.default_rng(0), 5000)
        if story.plot == "savings" and story.words[0][-2] == "bank" and story.words[0][0] == "On"
    )  # fmt: skip
    assert sense_posterior(story.words, (0, 7)) == {"money": 1.0}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: posterior([["A", "b"]], (0, 2)), r"no word at \(0, 2\)"),
        (lambda: posterior([["A", "b"]], (-1, 0)), r"no word at \(-1, 0\)"),
        (lambda: posterior([["My", "cat", "."], ["It", "sat"]], (1, 0)), "My cat . is no sentence of it"),
        (lambda: sense_posterior([[None, "b"]], (0, 0)), "is hidden: only a word has a sense"),
        (lambda: mood_posterior([["My", None, "."]]), "My ___ . is no sentence of it"),
        (lambda: next_sentence_posterior([["My", "cat"]], [["sat"]]), "My cat is no sentence of it"),
    ],
)
def test_what_the_grammar_does_not_know_is_refused_in_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_sentences_that_do_not_fit_together_are_told_apart_from_unknown_ones():
    first = words("For Ida everything began with a bat .")
    second = words("On the way home it rained , and nobody had an umbrella .")
    with pytest.raises(ValueError, match="do not fit together"):
        posterior([first, second], (0, 0))
