"""Claims about the numbers out of counters: even, and independent of neighbours in every counter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.text.counter_random import below, key, random_bits, scramble, short_bits, uniform

N = 1 << 18


def sigmas(counts: np.ndarray, expected: float) -> float:
    """How far Pearson's statistic is from its mean, in its standard deviations."""
    freedom = counts.size - 1
    return float((((counts - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom))


def test_the_scrambling_is_that_of_splitmix64():
    """The first numbers of the reference implementation for the seed 1234567."""
    state = np.uint64(0x9E3779B97F4A7C15) * np.arange(1, 6, dtype=np.uint64) + np.uint64(1234567)
    assert scramble(state).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_all_short_numbers_are_equally_likely():
    counts = np.bincount(short_bits(key(3, np.arange(N)), 16).ravel(), minlength=2**16)
    assert abs(sigmas(counts, N * 16 / 2**16)) < 4


@pytest.mark.parametrize("bit", [0, 1, 31, 47, 63])
def test_every_bit_is_a_fair_coin(bit):
    ones = int(((random_bits(key(np.arange(N)), 1) >> np.uint64(bit)) & np.uint64(1)).sum())
    assert abs(ones - N / 2) < 4 * np.sqrt(N) / 2


def neighbours() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Short numbers beside those whose counters differ by one."""
    many = np.arange(N // 64)
    here = short_bits(key(0, 1, 0, many), 64)
    return {
        "position": (here[:, :-1], here[:, 1:]),
        "four positions on": (here[:, :-4], here[:, 4:]),
        "example": (here[:-1], here[1:]),
        "epoch": (here, short_bits(key(0, 1, 1, many), 64)),
        "stream": (here, short_bits(key(0, 2, 0, many), 64)),
        "seed": (here, short_bits(key(1, 1, 0, many), 64)),
    }


@pytest.mark.parametrize("counter", neighbours())
def test_neighbours_in_any_counter_are_independent(counter):
    """In a table of 64 x 64 cells every pair of numbers is equally likely, and the two are uncorrelated."""
    one, other = (numbers.ravel().astype(np.int64) for numbers in neighbours()[counter])
    cells = np.bincount((one >> 10) * 64 + (other >> 10), minlength=64 * 64)
    assert abs(sigmas(cells, len(one) / 64**2)) < 4
    assert abs(np.corrcoef(one, other)[0, 1]) < 4 / np.sqrt(len(one))


def test_no_two_counters_share_a_key():
    keys = key(np.arange(8)[:, None, None], np.arange(8)[:, None], np.arange(4096))
    assert len(np.unique(keys)) == keys.size
    assert len(np.unique(random_bits(keys.ravel()[:4096], 64))) == 4096 * 64


@given(st.integers(0, 2**64 - 1), st.integers(0, 10_000), st.integers(1, 70), st.integers(0, 70))
def test_a_number_depends_on_its_own_counters_alone(seed, example, n, more):
    alone = short_bits(key(seed, example), n)
    among = short_bits(key(seed, np.arange(example, example + 3)), n + more)
    assert (alone[0] == among[0, :n]).all()
    assert (random_bits(key(seed, example), n) == random_bits(key(seed, example), n + more)[:, :n]).all()


def test_a_share_and_a_place_lie_within_their_range():
    ends = np.array([0, 2**64 - 1], np.uint64)
    assert uniform(ends).tolist() == [0.0, 1 - 2**-53]
    assert below(ends, 30_522).tolist() == [0, 30_521]
    assert below(ends, np.array([1, 7])).tolist() == [0, 6]
    assert abs(sigmas(np.bincount(below(random_bits(key(0), N)[0], 1000)), N / 1000)) < 4


@pytest.mark.parametrize("number", [-1, 0.5, [1, -2], True])
def test_what_would_silently_become_another_counter_is_refused(number):
    with pytest.raises(ValueError, match="is no counter: give whole numbers"):
        key(0, number)
