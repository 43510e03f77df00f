"""Positions of both wings: waves of many lengths, and a table that is learned."""

import math

import numpy as np
import pytest

from tests.inputs import Arguments, examples_of
from tests.wing import Wing

close = np.testing.assert_allclose


@pytest.mark.parametrize("d_model", [1, 2, 3, 8, 9])
def test_each_pair_of_columns_is_a_sine_and_a_cosine_of_one_frequency(wing: Wing, d_model: int) -> None:
    table = wing.sinusoidal_positions(30, d_model)
    assert table.shape == (30, d_model)
    for p in range(30):
        for i in range(0, d_model, 2):
            angle = p / 10000 ** (i / d_model)
            close(table[p, i], math.sin(angle), atol=1e-6)
            if i + 1 < d_model:
                close(table[p, i + 1], math.cos(angle), atol=1e-6)


def test_a_shift_by_k_positions_is_one_rotation_wherever_it_starts(wing: Wing) -> None:
    k, table = 3, wing.sinusoidal_positions(20, 6)
    for i in range(0, 6, 2):
        angle = k / 10000 ** (i / 6)
        rotation = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
        close(table[k:, i : i + 2], table[:-k, i : i + 2] @ np.transpose(rotation), atol=1e-6)


def test_all_positions_lie_equally_far_from_the_origin(wing: Wing) -> None:
    close((wing.sinusoidal_positions(50, 16) ** 2).sum(axis=1), 8, atol=1e-5)


def test_no_positions_are_an_empty_table(wing: Wing) -> None:
    assert wing.sinusoidal_positions(0, 4).shape == (0, 4)


@pytest.mark.parametrize("sizes", [(-1, 4), (3, 0)])
def test_sizes_that_cannot_be_are_refused(wing: Wing, sizes: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=f"n_positions={sizes[0]} and d_model={sizes[1]}"):
        wing.sinusoidal_positions(*sizes)


@examples_of("learned_positions")
def test_learned_positions_are_the_first_rows_and_the_others_learn_nothing(
    wing: Wing, arguments: Arguments
) -> None:
    n_positions, table = arguments
    rows = wing.learned_positions(n_positions, table)
    np.testing.assert_array_equal(rows, [table[p] for p in range(n_positions)])
    d_table = wing.learned_positions_vjp(np.ones_like(rows), n_positions, table)
    assert (d_table[:n_positions] == 1).all()
    assert (d_table[n_positions:] == 0).all()


def test_fewer_than_no_positions_are_refused(wing: Wing) -> None:
    with pytest.raises(ValueError, match="-1 positions"):
        wing.learned_positions(-1, np.zeros((2, 2)))
