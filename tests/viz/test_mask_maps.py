"""Crosses stand where nothing may be looked at, or nothing comes through; nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab import viz
from tests.viz.looking import overlapping

TOKENS = ["the", "cat", "the", "[PAD]"]


def crossed(ax) -> set[tuple[int, int]]:
    return {(int(row), int(column)) for column, row in ax.lines[0].get_xydata()}


def cells(flags) -> set[tuple[int, int]]:
    return {(int(row), int(column)) for row, column in zip(*np.nonzero(flags), strict=True)}


def test_masks_are_filled_where_one_may_look_and_crossed_where_not(rng):
    masks = [np.tril(np.ones((4, 4), bool)), rng.random((4, 4)) < 0.5]
    fig = viz.mask_maps([viz.Attention(mask, TOKENS, TOKENS, "one") for mask in masks], "Two masks")
    assert len(fig.axes) == 2  # no scale beside them
    for ax, mask in zip(fig.axes, masks, strict=True):
        np.testing.assert_array_equal(np.asarray(ax.images[0].get_array()) > 0, mask)
        assert crossed(ax) == cells(~mask)
    assert overlapping(fig) == []


def test_a_mask_of_numbers_is_refused():
    with pytest.raises(ValueError, match="True = may be attended to"):
        viz.mask_maps([viz.Attention(np.ones((4, 4)), TOKENS, TOKENS)], "No mask")


def test_influence_is_drawn_as_a_share_of_the_largest_and_an_exact_zero_is_crossed():
    sizes = np.tril(np.full((4, 4), 3.0))
    sizes[3, 3] = 6.0
    sizes[1, 0] = 1e-30  # nearly nothing is not nothing
    fig = viz.influence_maps([viz.Attention(sizes, TOKENS, TOKENS)], "Nothing from the right")
    image = np.asarray(fig.axes[0].images[0].get_array())
    np.testing.assert_allclose(image, np.where(sizes > 0, np.maximum(sizes / 6, 0.06), 0))
    assert image[1, 0] > 0.05, "what is not nothing must not be white"
    assert crossed(fig.axes[0]) == cells(sizes == 0)
    assert "share of the largest" in fig.axes[-1].get_ylabel()


def test_no_influence_at_all_can_be_drawn():
    fig = viz.influence_maps([viz.Attention(np.zeros((2, 2)), TOKENS[:2], TOKENS[:2])], "Nothing")
    assert len(crossed(fig.axes[0])) == 4


def test_a_negative_size_is_refused():
    with pytest.raises(ValueError, match="reach down to -1"):
        viz.influence_maps([viz.Attention(-np.eye(2), TOKENS[:2], TOKENS[:2])], "No size")
