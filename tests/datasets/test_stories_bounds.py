"""Claims about the best possible scores on synthetic stories."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bertlab.datasets.stories import (
    bayes_accuracy,
    bayes_mood_accuracy,
    bayes_next_sentence_accuracy,
    bayes_sense_accuracy,
    posterior,
    sample_stories,
)
from tests.datasets.small_grammar import all_stories, small_grammar


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("left_only", [False, True])
def test_the_bound_is_the_average_over_all_stories_of_a_small_grammar(left_only):
    small = small_grammar()
    total = right = loss = 0.0
    for story in all_stories(small)[::5]:
        for i, words in enumerate(story.words):
            for j in range(len(words)):
                found = posterior(story.words, (i, j), left_only, small).values()
                total += story.p
                right += story.p * max(found)
                loss -= story.p * sum(p * math.log(p) for p in found)
    bound = bayes_accuracy(rng(), 2000, left_only, grammar=small)
    assert bound.accuracy == pytest.approx(right / total, abs=1.5 * bound.half_width)
    assert bound.loss == pytest.approx(loss / total, abs=0.03)


@pytest.mark.parametrize("left_only", [False, True])
def test_guessing_the_likeliest_word_reaches_the_bound_and_its_loss(left_only):
    hits, surprise = [], []
    draw = rng(1)
    for story in sample_stories(draw, 600):
        places = [(i, j) for i, words in enumerate(story.words) for j in range(len(words))]
        i, j = places[draw.integers(len(places))]
        found = posterior(story.words, (i, j), left_only)
        hits.append(next(iter(found)) == story.words[i][j])
        surprise.append(-math.log(found[story.words[i][j]]))
    bound = bayes_accuracy(rng(2), 600, left_only)
    noise = 1.96 * np.std(hits) / np.sqrt(len(hits))
    assert abs(np.mean(hits) - bound.accuracy) < 1.5 * (noise + bound.half_width)
    assert np.mean(surprise) == pytest.approx(bound.loss, abs=4 * np.std(surprise) / np.sqrt(len(surprise)))


def test_the_right_context_is_worth_ten_points():
    both, left = bayes_accuracy(rng(), 600), bayes_accuracy(rng(), 600, left_only=True)
    assert both.accuracy - both.half_width > left.accuracy + left.half_width + 0.05
    assert both.loss < left.loss / 2


def test_more_hidden_words_leave_less_to_know():
    bounds = [bayes_accuracy(rng(3), 300, hidden=hidden) for hidden in (0.0, 0.5, 0.9)]
    assert bounds[0].accuracy > bounds[1].accuracy > bounds[2].accuracy
    assert bounds[0].loss < bounds[1].loss < bounds[2].loss


def test_the_whole_story_tells_each_sense_and_the_beginning_does_not():
    assert bayes_sense_accuracy(rng(), 500).accuracy > 0.999
    left = bayes_sense_accuracy(rng(), 500, left_only=True)
    assert 0.9 < left.accuracy < 0.97


def test_the_mood_shows_at_the_turn_of_the_story():
    seen = [bayes_mood_accuracy(rng(), 300, k).accuracy for k in (1, 3, 5, None)]
    assert seen[0] == pytest.approx(0.5)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)


def test_two_sentences_tell_more_of_what_follows_than_one():
    one, two = (bayes_next_sentence_accuracy(rng(), 400, length) for length in (1, 2))
    assert 0.95 < one.accuracy < two.accuracy < 1


def test_an_interval_shrinks_with_the_square_root():
    small, large = bayes_accuracy(rng(), 150), bayes_accuracy(rng(), 1350)
    assert 2 < small.half_width / large.half_width < 4.5


def test_texts_longer_than_stories_are_refused():
    with pytest.raises(ValueError, match="length=3: compare texts of 1 or 2 sentences"):
        bayes_next_sentence_accuracy(rng(), 10, 3)
