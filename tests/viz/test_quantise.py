"""Weights in one or two bytes: how far off, and how small."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.viz.quantise import ERROR, FEW, bytes_each, quantise, thumbnail


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def back(weights, n_bytes):
    levels, steps = quantise(weights, n_bytes)
    return levels * steps[:, None].astype(float)


@pytest.mark.parametrize("n_bytes", [1, 2])
@pytest.mark.parametrize("sharpness", [0.0, 1.0, 8.0])
@pytest.mark.parametrize("n_keys", [1, 7, 128, 512])
def test_a_weight_is_never_off_by_more_than_is_stated(rng, n_bytes, sharpness, n_keys):
    weights = softmax(sharpness * rng.normal(size=(40, n_keys)))
    assert np.abs(back(weights, n_bytes) - weights).max() < float(ERROR[n_bytes])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1.02), min_size=1, max_size=6), st.sampled_from([1, 2]))
def test_any_row_between_0_and_1_comes_back_and_zero_stays_zero(row, n_bytes):
    weights = np.array([row])
    came = back(weights, n_bytes)
    assert np.abs(came - weights.clip(0, 1)).max() < float(ERROR[n_bytes])
    assert (came[weights == 0] == 0).all()


def test_the_weights_of_an_even_row_do_not_vanish_in_one_byte():
    even = np.full((1, 512), 1 / 512)
    np.testing.assert_allclose(back(even, 1), even, rtol=1e-5)


def test_the_largest_weight_of_a_row_is_exact(rng):
    weights = softmax(3 * rng.normal(size=(40, 300)))
    np.testing.assert_allclose(back(weights, 1).max(axis=1), weights.max(axis=1), rtol=1e-6)


def test_few_weights_get_two_bytes_and_many_get_one():
    assert [bytes_each(n) for n in (1, FEW, FEW + 1, 12 * 12 * 512**2)] == [2, 2, 1, 1]


def test_a_thumbnail_keeps_the_strongest_weight_of_each_block():
    weights = np.zeros((100, 90))
    weights[57, 31] = 1.0
    small = thumbnail(weights, 10)
    assert small.shape == (10, 10)
    assert small.dtype == np.uint8
    assert np.argwhere(small).tolist() == [[5, 3]]
    assert small.max() == 255


def test_a_thumbnail_of_few_tokens_has_a_pixel_for_each():
    weights = np.array([[0.2, 0.8, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(thumbnail(weights), np.rint(255 * weights))


@pytest.mark.parametrize("n", [39, 40, 41, 79, 80, 512])
def test_every_token_is_in_some_block_of_a_thumbnail(n):
    for i in range(n):
        weights = np.zeros((n, 1))
        weights[i] = 1.0
        assert thumbnail(weights).sum() == 255
