"""Negative sampling in both wings: the formula by plain loops, and which negatives count."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.inputs import Arguments, examples_of
from tests.loops import dot, sigmoid
from tests.wing import Wing


def surprise(
    hidden: list[float], target: int, negatives: list[int], table: np.ndarray, share: float
) -> float:
    """Mikolov et al. 2013b, eq. (4), one number at a time; a negative that is the target is passed over."""
    total = -math.log(sigmoid(dot(hidden, table[target])))
    for word in negatives:
        if word != target:
            total -= share * math.log(sigmoid(-dot(hidden, table[word])))
    return total


@examples_of("negative_sampling_loss")
def test_the_loss_is_the_formula(wing: Wing, arguments: Arguments) -> None:
    hidden, targets, negatives, table, share = arguments
    wanted = [surprise(*row, table, share) for row in zip(hidden, targets, negatives.tolist(), strict=True)]
    assert wing.negative_sampling_loss(*arguments) == pytest.approx(np.mean(wanted), abs=1e-10)


@examples_of("negative_sampling_loss")
def test_D37_only_the_target_is_kept_from_being_its_own_negative(wing: Wing, arguments: Arguments) -> None:
    hidden, targets, _, table, share = arguments
    none = np.empty((len(targets), 0), dtype=int)
    alone = wing.negative_sampling_loss(hidden, targets, none, table, share)
    itself = wing.negative_sampling_loss(hidden, targets, targets[:, None], table, share)
    assert itself == pytest.approx(alone, abs=1e-12)
    if len(table) > 1:
        other = wing.negative_sampling_loss(
            hidden, targets, (targets[:, None] + 1) % len(table), table, share
        )
        assert other > alone


@examples_of("negative_sampling_loss")
def test_n_negatives_that_stand_for_one_count_as_one(wing: Wing, arguments: Arguments) -> None:
    hidden, targets, negatives, table, _ = arguments
    once = wing.negative_sampling_loss(hidden, targets, negatives, table)
    thrice = wing.negative_sampling_loss(hidden, targets, np.tile(negatives, 3), table, 1 / 3)
    assert thrice == pytest.approx(once, abs=1e-10)


def test_large_scores_neither_overflow_nor_vanish(wing: Wing) -> None:
    hidden, table = np.array([[1.0]]), np.array([[-1000.0], [1000.0]])
    loss = wing.negative_sampling_loss(hidden, np.array([0]), np.array([[1]]), table)
    assert loss == pytest.approx(2000)
    gradients = wing.negative_sampling_loss_vjp(1.0, hidden, np.array([0]), np.array([[1]]), table)
    assert np.isfinite(np.concatenate([gradient.ravel() for gradient in gradients])).all()


@pytest.mark.parametrize(
    ("targets", "negatives", "sentence"),
    [
        ([2], [[0]], "id 2 is outside a table of 2 rows"),
        ([0], [[-1]], "id -1 is outside a table of 2 rows"),
        ([], np.empty((0, 1)), "has no example"),
    ],
)
def test_bad_input_is_named(wing: Wing, targets, negatives, sentence) -> None:
    hidden = np.ones((len(targets), 1))
    with pytest.raises(ValueError, match=sentence):
        wing.negative_sampling_loss(
            hidden, np.array(targets, dtype=int), np.array(negatives, dtype=int), np.ones((2, 1))
        )
