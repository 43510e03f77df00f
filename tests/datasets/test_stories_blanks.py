"""Hidden words: nothing else changes, the answers fit, and the promise is the one of `bayes_accuracy`."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.datasets.stories import (
    bayes_accuracy,
    hide_words,
    posterior,
    sample_stories,
)


@pytest.fixture(scope="module")
def exam():
    rng = np.random.default_rng(0)
    return [(story, hide_words(story, rng)) for story in sample_stories(rng, 150)]


def test_answers_put_back_give_the_story(exam):
    for story, blanks in exam:
        answers = iter(blanks.answers)
        whole = [[next(answers) if word is None else word for word in words] for words in blanks.sentences]
        assert whole == story.words
        assert next(answers, None) is None


def test_each_answer_was_possible_and_chances_are_exact(exam):
    for _, blanks in exam[:40]:
        places = [
            (i, j) for i, words in enumerate(blanks.sentences) for j, word in enumerate(words) if word is None
        ]
        for place, answer, chances in zip(places, blanks.answers, blanks.chances, strict=True):
            assert chances[answer] > 0
            assert chances == posterior(blanks.sentences, place)


def test_so_many_are_hidden_as_asked_for(exam):
    n = sum(len(words) for story, _ in exam for words in story.words)
    assert sum(len(blanks.answers) for _, blanks in exam) / n == pytest.approx(0.15, abs=0.02)


def test_the_best_score_is_the_bound(exam):
    promised = np.mean([max(chances.values()) for _, blanks in exam for chances in blanks.chances])
    bound = bayes_accuracy(np.random.default_rng(2), 600, hidden=0.15)
    assert promised == pytest.approx(bound.accuracy, abs=2 * bound.half_width)


def test_some_words_are_never_hidden():
    rng = np.random.default_rng(0)
    stories = sample_stories(rng, 30)
    assert not any({"the", "."} & {*hide_words(story, rng, never={"the", "."}).answers} for story in stories)
