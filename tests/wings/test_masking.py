"""Masks of both wings: who may attend to whom, and what is refused because it would mean something else."""

import re

import numpy as np
import pytest

from tests import loops
from tests.inputs import Arguments, examples_of
from tests.wing import Wing


def test_padding_mask_is_true_where_a_token_stands(wing: Wing) -> None:
    mask = wing.padding_mask(np.array([[5, 0, 7], [0, 5, 0]]))
    assert mask.shape == (2, 1, 1, 3)
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask[:, 0, 0], [[True, False, True], [False, True, False]])


def test_padding_mask_takes_another_id_for_padding(wing: Wing) -> None:
    np.testing.assert_array_equal(wing.padding_mask(np.array([[0, 9]]), 9)[0, 0, 0], [True, False])


def test_padding_mask_refuses_one_sequence_without_a_batch_axis(wing: Wing) -> None:
    with pytest.raises(ValueError, match=r"\(3,\).*\(B, T\).*ids\[None\]"):
        wing.padding_mask(np.array([5, 6, 0]))


def test_causal_mask_lets_a_position_see_itself_and_the_past(wing: Wing) -> None:
    mask = wing.causal_mask(4)
    assert mask.dtype == bool
    for query in range(4):
        for key in range(4):
            assert mask[query, key] == (key <= query)


def test_causal_mask_of_no_positions_is_empty_and_of_fewer_is_refused(wing: Wing) -> None:
    assert wing.causal_mask(0).shape == (0, 0)
    with pytest.raises(ValueError, match="-1"):
        wing.causal_mask(-1)


@examples_of("masked_softmax")
def test_masked_softmax_shares_out_among_the_allowed_keys_alone(wing: Wing, arguments: Arguments) -> None:
    scores, mask = arguments
    weights = wing.masked_softmax(scores, mask)
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    for place in np.ndindex(scores.shape[:-1]):
        np.testing.assert_allclose(weights[place], loops.softmax(scores[place], allowed[place]), atol=1e-12)
    assert (weights[~allowed] == 0).all()  # exactly


@pytest.mark.parametrize("hidden", [1e6, -1e6, np.inf, -np.inf, np.nan])
def test_a_hidden_score_may_be_anything(wing: Wing, hidden: float) -> None:
    scores, mask = np.array([[0.0, hidden, 0.0]]), np.array([[True, False, True]])
    np.testing.assert_allclose(wing.masked_softmax(scores, mask), [[0.5, 0, 0.5]])
    np.testing.assert_allclose(
        wing.masked_softmax_vjp(np.array([[1.0, 9.0, 0.0]]), scores, mask), [[0.25, 0, -0.25]]
    )


def test_an_empty_row_leaves_its_neighbours_alone(wing: Wing, rng: np.random.Generator) -> None:
    scores, mask = rng.normal(size=(2, 3, 4)), np.ones((2, 3, 4), dtype=bool)
    before = wing.masked_softmax(scores, mask)
    mask[0, 1] = False
    after = wing.masked_softmax(scores, mask)
    assert (after[0, 1] == 0).all()
    mask[0, 1] = True
    np.testing.assert_array_equal(after[1], before[1])
    np.testing.assert_array_equal(after[0, [0, 2]], before[0, [0, 2]])


REFUSED = {
    "a mask of zeros and ones": (np.ones((3, 4)), r"float64.*from 0/1 by mask != 0"),
    "a mask of integers": (np.ones((3, 4), dtype=np.int64), "int64"),
    "an additive mask": (np.where(np.eye(3, 4) > 0, 0.0, -np.inf), "float64.*from 0/-inf by mask == 0"),
    "too few keys": (np.ones((3, 3), dtype=bool), re.escape("(3, 3)") + ".*" + re.escape("(2, 2, 3, 4)")),
    "padding without the axes of heads and queries": (np.ones((2, 4), dtype=bool), re.escape("(2, 4)")),
    "three axes where the scores have four": (np.ones((2, 3, 4), dtype=bool), re.escape("mask[:, None]")),
    "one axis too many": (np.ones((1, 2, 2, 3, 4), dtype=bool), re.escape("(1, 2, 2, 3, 4)")),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_mask_that_means_something_else_is_refused(wing: Wing, reason: str) -> None:
    mask, sentence = REFUSED[reason]
    with pytest.raises(ValueError, match=sentence):
        wing.masked_softmax(np.zeros((2, 2, 3, 4)), mask)


def test_a_mask_with_four_axes_is_refused_where_scores_have_three(wing: Wing) -> None:
    with pytest.raises(ValueError, match=r"\(2, 1, 1, 4\).*\(2, 3, 4\)"):
        wing.masked_softmax(np.zeros((2, 3, 4)), np.ones((2, 1, 1, 4), dtype=bool))
