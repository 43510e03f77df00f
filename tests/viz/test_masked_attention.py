"""Weights under a mask: those of the reference, in numbers and in the picture."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab import viz
from bertlab.reference.masking import masked_softmax
from bertlab.viz.masked_attention import checked_mask, masked_weights, told
from tests.viz.looking import overlapping

TOKENS = ["the", "cat", "the", "[PAD]"]


def some_masks(rng, *shape):
    """Random ones, among them rows with nothing left; all open; all hidden."""
    return [*(rng.random((20, *shape)) < 0.4), np.ones(shape, bool), np.zeros(shape, bool)]


def test_D01_weights_are_those_of_the_reference_for_any_mask(rng):
    scores = 5 * rng.normal(size=(4, 6))
    for mask in some_masks(rng, 4, 6):
        np.testing.assert_allclose(masked_weights(scores, mask), masked_softmax(scores, mask), atol=1e-15)


def test_the_picture_has_the_mask_beside_its_weights_and_a_cross_in_each_hidden_cell(rng):
    scores, mask = rng.normal(size=(4, 4)), np.tril(np.ones((4, 4), bool))
    mask[2] = False
    fig = viz.masked_attention(scores, mask, TOKENS)
    drawn = [np.asarray(ax.images[0].get_array()) for ax in fig.axes[:2]]
    np.testing.assert_array_equal(drawn[0] > 0, mask)
    np.testing.assert_allclose(drawn[1], masked_softmax(scores, mask))
    for ax in fig.axes[:2]:
        crosses = ax.lines[0].get_xydata()[:, ::-1].astype(int)
        assert {tuple(map(int, place)) for place in crosses} == set(
            zip(*map(list, np.nonzero(~mask)), strict=True)
        )
    assert len(fig.axes[1].texts) == mask.sum()  # a number in each cell that is open
    assert "all zeros (framed)" in fig.texts[0].get_text()
    assert overlapping(fig) == []


def test_a_title_of_ones_own_takes_the_place_of_the_usual_one(rng):
    fig = viz.masked_attention(rng.normal(size=(4, 4)), np.ones((4, 4), bool), TOKENS, title="Look here")
    assert fig.texts[0].get_text() == "Look here"


def test_many_keys_are_drawn_without_numbers(rng):
    fig = viz.masked_attention(rng.normal(size=(2, 9)), np.ones((2, 9), bool), ["a", "b"], list("abcdefghi"))
    assert len(fig.axes[1].texts) == 0


def test_a_mask_in_words_names_who_is_left_with_nothing():
    mask = np.array([[True, False], [False, False], [True, True], [False, False]])
    assert told(mask, ["a", "", "c", "d"]) == (
        "3 of 8 pairs of query and key may be attended to; nothing is left to “∅”, “d”"
    )


def test_a_tensor_may_be_the_mask():
    assert checked_mask(torch.tensor([[True, False]]), (1, 2)).tolist() == [[True, False]]


@pytest.mark.parametrize("mask", [[[0.0, -np.inf]], [[1, 0]]])
def test_D02_a_mask_that_is_not_boolean_is_refused_since_it_may_mean_either(mask):
    with pytest.raises(
        ValueError, match=r"the mask has dtype .*64: make it boolean, True = may be attended to"
    ):
        masked_weights([[0.0, 0.0]], mask)


def test_shapes_that_do_not_fit_and_scores_that_are_masked_already_are_refused(rng):
    scores, mask = rng.normal(size=(4, 4)), np.ones((4, 4), bool)
    with pytest.raises(
        ValueError, match=r"scores of shape \(4, 4\) do not fit 4 query tokens and 1 key tokens"
    ):
        viz.masked_attention(scores, mask, TOKENS, ["a"])
    with pytest.raises(ValueError, match=r"a mask of shape \(1, 4\) does not fit scores of shape \(4, 4\)"):
        viz.masked_attention(scores, mask[:1], TOKENS)
    scores[0, 0] = -np.inf
    with pytest.raises(ValueError, match="some scores are infinite or not a number"):
        viz.masked_attention(scores, mask, TOKENS)
