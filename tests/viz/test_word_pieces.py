"""Pieces to words and back: which belong together, and what happens to their weights."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.viz.word_pieces import is_special, merge, word, word_groups


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["[CLS]", "play", "##ing", "[SEP]"], ["[CLS]", "playing", "[SEP]"]),
        (["the", "cat", "the", "cat"], ["the", "cat", "the", "cat"]),
        (["Play", "ing", "Ġwell", "Ġdone", "!"], ["Playing", "Ġwell", "Ġdone!"]),
        (["▁play", "ing", "</s>", "▁a", "b"], ["▁playing", "</s>", "▁ab"]),
        (["<s>", "Hi", "Ġyou", "</s>"], ["<s>", "Hi", "Ġyou", "</s>"]),
        (["a", "##b", "##c", "d", "##", "##e"], ["abc", "d", "##e"]),
        (["[CLS]", "##s", "[SEP]"], ["[CLS]", "s", "[SEP]"]),
        (["", "", " ", "a"], ["", "", " ", "a"]),
    ],
)
def test_pieces_that_go_on_belong_to_their_word(tokens, words):
    groups = word_groups(tokens)
    assert [i for group in groups for i in group] == list(range(len(tokens)))
    assert [word([tokens[i] for i in group]) for group in groups] == words


def test_to_a_word_is_the_sum_and_from_a_word_the_mean():
    weights = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.5, 0.1, 0.4]])
    merged = merge(weights, [[0], [1, 2]], [[0, 1], [2]])
    np.testing.assert_allclose(merged, [[0.3, 0.7], [0.6, 0.4]])


def test_rows_still_sum_to_one_after_merging(rng):
    weights = rng.dirichlet(np.ones(6), size=6)
    groups = [[0], [1, 2, 3], [4, 5]]
    np.testing.assert_allclose(merge(weights, groups, groups).sum(axis=1), 1)


def test_masks_and_unknown_words_are_words_but_separators_are_not():
    assert [is_special(token) for token in ("[CLS]", "</s>", "[PAD]", "[MASK]", "[UNK]", "cls", "")] == [
        True, True, True, False, False, False, False,
    ]  # fmt: skip
