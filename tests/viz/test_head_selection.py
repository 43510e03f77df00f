"""Which rows and weights of the head view are left by what its reader has chosen."""

from __future__ import annotations

import numpy as np

from bertlab.viz.attentions import AttentionLayers
from bertlab.viz.head_selection import both_columns, shown_weights, strongest
from bertlab.viz.word_pieces import merge

TOKENS = ["[CLS]", "play", "##ing", "[SEP]", "the", "cat", "##s", "[SEP]"]


def pair(rng):
    weights = rng.dirichlet(np.ones(8), size=8)
    return AttentionLayers(weights, TOKENS, sentence_b=4)


def test_rows_are_tokens_or_words_with_or_without_special_tokens(rng):
    layers = pair(rng)
    assert both_columns(layers)[0].labels == TOKENS
    assert both_columns(layers, merge_words=True)[1].labels == [
        "[CLS]", "playing", "[SEP]", "the", "cats", "[SEP]",
    ]  # fmt: skip
    queries, keys = both_columns(layers, merge_words=True, hide_special=True)
    assert queries.labels == keys.labels == ["playing", "the", "cats"]
    assert queries.groups == [[1, 2], [4], [5, 6]]


def test_only_rows_that_look_alike_are_called_with_their_place(rng):
    layers = pair(rng)
    assert both_columns(layers, merge_words=True)[0].names[1:3] == ["“playing”", "“[SEP]” (token 3)"]
    assert both_columns(layers, sentences="AA")[0].names[3] == "“[SEP]” (token 3)"  # also if one is not shown
    assert both_columns(layers)[0].placed(4) == "“the” (token 4)"
    assert both_columns(layers, merge_words=True)[1].placed(1) == "“playing” (tokens 1–2)"
    weights = np.ones((2, 2)) / 2
    assert both_columns(AttentionLayers(weights, ["", "\n"]))[0].names == ["“∅”", "“↵”"]


def test_from_one_sentence_to_the_other(rng):
    queries, keys = both_columns(pair(rng), sentences="BA")
    assert queries.groups == [[4], [5], [6], [7]]
    assert keys.groups == [[0], [1], [2], [3]]


def test_a_row_is_chosen_with_any_of_its_tokens(rng):
    queries, _ = both_columns(pair(rng), merge_words=True, hide_special=True)
    assert queries.of([2]) == [0]
    assert queries.of([0, 4, 6]) == [1, 2]  # [CLS] is hidden


def test_weights_between_words_are_the_merged_ones_and_hidden_ones_are_not_made_up_for(rng):
    layers = pair(rng)
    weights = layers.weights[0][0]
    words = both_columns(layers, merge_words=True, hide_special=True)
    np.testing.assert_allclose(
        shown_weights(weights, *words), merge(weights, *(side.groups for side in words))
    )
    tokens = both_columns(layers, hide_special=True, sentences="AB")
    np.testing.assert_array_equal(shown_weights(weights, *tokens), weights[1:3, 4:7])


def test_the_strongest_of_each_row_stay_as_they_are(rng):
    weights = rng.dirichlet(np.ones(7), size=5)
    kept = strongest(weights, 3)
    for row, left in zip(weights, kept, strict=True):
        assert sorted(left)[-3:] == sorted(row)[-3:]
        assert (left > 0).sum() == 3
        assert ((left == row) | (left == 0)).all()
    np.testing.assert_array_equal(strongest(weights, 10), weights)
    np.testing.assert_array_equal(strongest(np.full((2, 4), 0.25), 1), [[0.25, 0, 0, 0]] * 2)


def test_top_k_counts_what_is_shown(rng):
    layers = pair(rng)
    columns = both_columns(layers, sentences="BB")
    weights = shown_weights(layers.weights[0][0], *columns, top_k=1)
    assert (weights > 0).sum(axis=1).tolist() == [1, 1, 1, 1]
    np.testing.assert_array_equal(weights.max(axis=1), layers.weights[0][0][4:, 4:].max(axis=1))
