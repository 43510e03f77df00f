"""Claims about noise: how often a word is drawn, and on what that depends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.text.noise import Noise, noise_distribution


def test_D37_ten_thousand_draws_follow_the_counts_to_the_power_of_three_quarters() -> None:
    chances = noise_distribution([16, 81, 1])
    np.testing.assert_allclose(chances, [8 / 36, 27 / 36, 1 / 36], rtol=1e-12)
    drawn = Noise(chances, seed=0).draw(epoch=0, groups=np.arange(2000), n=5)
    found = np.bincount(drawn.ravel(), minlength=3) / drawn.size
    assert (abs(found - chances) < 4.5 * np.sqrt(chances * (1 - chances) / drawn.size)).all()


@settings(max_examples=50)
@given(counts=st.lists(st.integers(0, 1000), min_size=1, max_size=40).filter(any))
def test_the_columns_hold_exactly_the_distribution(counts: list[int]) -> None:
    chances = noise_distribution(counts)
    noise = Noise(chances, seed=0)
    held = noise._share.copy()
    np.add.at(held, noise._other, 1 - noise._share)
    np.testing.assert_allclose(held / len(counts), chances, atol=1e-12)


def test_the_ends_of_the_power() -> None:
    np.testing.assert_allclose(noise_distribution([1, 3], power=1), [0.25, 0.75])
    np.testing.assert_allclose(noise_distribution([1, 3, 0], power=0), [0.5, 0.5, 0])


def test_a_group_gets_the_same_words_in_any_company_and_others_in_another_epoch() -> None:
    noise = Noise(noise_distribution(np.arange(1, 100)), seed=3)
    many = noise.draw(epoch=1, groups=np.arange(10), n=8)
    np.testing.assert_array_equal(noise.draw(1, np.array([7, 2]), 8), many[[7, 2]])
    assert (many[0] != many[1]).any()
    assert (noise.draw(2, np.arange(10), 8) != many).any()
    assert (Noise(noise_distribution(np.arange(1, 100)), seed=4).draw(1, np.arange(10), 8) != many).any()


@pytest.mark.parametrize("counts", [[0, 0], [3, -1]])
def test_counts_of_no_text_are_refused(counts: list[int]) -> None:
    with pytest.raises(ValueError, match="count a text"):
        noise_distribution(counts)
