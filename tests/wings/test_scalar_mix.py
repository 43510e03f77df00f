"""The scalar mix of both wings, against the equation in plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from tests import loops
from tests.inputs import Arguments, examples_of
from tests.wing import Wing

close = np.testing.assert_allclose


@examples_of("scalar_mix")
def test_the_mix_is_the_equation(wing: Wing, arguments: Arguments) -> None:
    layers, weights, gamma, norm, eps = arguments
    shares, D = loops.softmax(weights), layers.shape[-1]
    found = wing.scalar_mix(*arguments)
    for b, t in np.ndindex(layers.shape[1:3]):
        rows = [loops.layer_norm(row, [1] * D, [0] * D, eps) if norm else row for row in layers[:, b, t]]
        close(found[b, t], [float(gamma) * value for value in loops.mix(shares, rows)], atol=1e-12)


def test_equal_weights_are_the_average_and_a_large_one_takes_all(
    wing: Wing, rng: np.random.Generator
) -> None:
    layers = rng.normal(size=(3, 2, 4))
    close(wing.scalar_mix(layers, np.full(3, 7.0), np.array(1.0)), layers.mean(0), atol=1e-12)
    close(wing.scalar_mix(layers, np.array([0, 800.0, 0]), np.array(2.0)), 2 * layers[1], atol=1e-12)


def test_with_the_norm_a_layer_of_large_numbers_does_not_drown_the_others(
    wing: Wing, rng: np.random.Generator
) -> None:
    layers, weights, gamma = rng.normal(size=(2, 3, 8)), np.zeros(2), np.array(1.0)
    larger = layers * np.array([1000.0, 1.0])[:, None, None]
    mixed = wing.scalar_mix(layers, weights, gamma, True)
    close(wing.scalar_mix(larger, weights, gamma, True), mixed, atol=1e-6)
    assert np.abs(wing.scalar_mix(larger, weights, gamma) - mixed).max() > 100


def test_a_words_mix_does_not_depend_on_the_other_words(wing: Wing, rng: np.random.Generator) -> None:
    layers, weights, gamma = rng.normal(size=(2, 3, 4)), rng.normal(size=2), np.array(0.5)
    for norm in (False, True):
        together = wing.scalar_mix(layers, weights, gamma, norm)
        close(wing.scalar_mix(layers[:, 1:2], weights, gamma, norm), together[1:2], atol=1e-12)


def test_another_number_of_weights_than_of_layers_is_refused(wing: Wing) -> None:
    with pytest.raises(ValueError, match=r"weights of shape \(2,\) for 3 layers"):
        wing.scalar_mix(np.ones((3, 1, 4)), np.zeros(2), np.array(1.0))
