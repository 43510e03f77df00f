"""What one side of a word tells is what all stories of a small grammar tell; the product joins two."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from _story_opinions import from_the_right, product, unigram

from tests.datasets.small_grammar import all_stories, shares, small_grammar


@pytest.fixture(scope="module")
def small():
    return small_grammar()


@pytest.fixture(scope="module")
def told(small):
    return all_stories(small)


def ends(story, sentences, i, j):
    """The word before an ending, or None if a story does not end so or has no word before it."""
    behind = len(sentences) - 1 - i
    where, tail = len(story.words) - 1 - behind, sentences[i][j + 1 :]
    if where < 0 or story.words[where + 1 :] != sentences[i + 1 :]:
        return None
    words = story.words[where]
    fits = len(words) > len(tail) and words[len(words) - len(tail) :] == tail
    return words[len(words) - 1 - len(tail)] if fits else None


def test_from_the_right_it_is_the_sum_over_all_stories_that_end_so(small, told):
    rng = np.random.default_rng(2)
    p = np.array([story.p for story in told])
    for k in rng.choice(len(told), size=60, p=p / p.sum()):
        words = told[k].words
        i = int(rng.integers(len(words)))
        j = int(rng.integers(len(words[i])))
        found = [(ends(other, words, i, j), other.p) for other in told]
        expected = shares((word, chance) for word, chance in found if word is not None)
        assert from_the_right(words, (i, j), small) == pytest.approx(expected, abs=1e-12)


def test_how_frequent_a_word_is_is_the_sum_over_all_words_of_all_stories(small, told):
    expected: dict[str, float] = defaultdict(float)
    for story in told:
        for sentence in story.words:
            for word in sentence:
                expected[word] += story.p
    total = sum(expected.values())
    assert unigram(small) == pytest.approx({word: n / total for word, n in expected.items()}, abs=1e-12)


def test_a_product_divides_out_what_both_contain():
    even = {"a": 0.5, "b": 0.5}
    assert product({"a": 0.8, "b": 0.2}, even, even) == pytest.approx({"a": 0.8, "b": 0.2})
    alone = {"a": 0.9, "b": 0.1}
    assert product(alone, alone, alone) == pytest.approx(alone)
    assert product({"a": 0.5, "b": 0.5}, {"b": 1.0}, alone) == {"b": 1.0}
    with pytest.raises(ValueError, match="no word"):
        product({"a": 1.0}, {"b": 1.0}, even)


def test_a_story_of_another_grammar_is_refused(small):
    with pytest.raises(ValueError, match="another grammar"):
        from_the_right([["Nobody", "spoke", "."]], (0, 0), small)
