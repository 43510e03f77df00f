"""GloVe's loss in both wings: the formula by plain loops, its weights, and what it cannot see."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.inputs import Arguments, examples_of
from tests.loops import dot
from tests.wing import Wing


@examples_of("glove_loss")
def test_the_loss_is_the_formula(wing: Wing, arguments: Arguments) -> None:
    (rows, columns, counts), params, cut, power = arguments
    total = 0.0
    for i, j, x in zip(rows, columns, counts.tolist(), strict=True):
        weight = (x / cut) ** power if x < cut else 1.0
        product = dot(params["word.weight"][i], params["context.weight"][j])
        total += weight * (product + params["word.bias"][i] + params["context.bias"][j] - math.log(x)) ** 2
    assert wing.glove_loss(*arguments) == pytest.approx(total, rel=1e-10, abs=1e-10)


def test_the_weight_rises_with_the_power_and_is_cut_at_one(wing: Wing) -> None:
    counts = np.array([0.0, 1.0, 10.0, 100.0, 101.0, 1e6])
    wanted = [0, 100**-0.75, 10**-0.75, 1, 1, 1]
    np.testing.assert_allclose(wing.glove_weights(counts), wanted, rtol=1e-12)
    np.testing.assert_allclose(wing.glove_weights(counts, 10.0, 1.0), [0, 0.1, 1, 1, 1, 1], rtol=1e-12)


@examples_of("glove_loss")
def test_the_two_roles_of_a_word_can_be_exchanged(wing: Wing, arguments: Arguments) -> None:
    (rows, columns, counts), params, cut, power = arguments
    other = {name: {"word": "context", "context": "word"}[name.split(".")[0]] for name in params}
    swapped = {f"{other[name]}.{name.split('.')[1]}": value for name, value in params.items()}
    turned = wing.glove_loss((columns, rows, counts), swapped, cut, power)
    assert turned == pytest.approx(wing.glove_loss(*arguments), rel=1e-12)


def test_a_perfect_fit_costs_nothing_and_is_left_alone(wing: Wing) -> None:
    rng = np.random.default_rng(0)
    params = {"word.weight": rng.normal(size=(3, 2)), "context.weight": rng.normal(size=(3, 2))}
    params |= {"word.bias": rng.normal(size=3), "context.bias": rng.normal(size=3)}
    rows, columns = np.array([0, 1, 2]), np.array([2, 2, 0])
    logs = (params["word.weight"][rows] * params["context.weight"][columns]).sum(1)
    entries = rows, columns, np.exp(logs + params["word.bias"][rows] + params["context.bias"][columns])
    assert wing.glove_loss(entries, params) == pytest.approx(0, abs=1e-20)
    for gradient in wing.glove_loss_vjp(1.0, entries, params).values():
        np.testing.assert_allclose(gradient, 0, atol=1e-10)


@pytest.mark.parametrize("count", [0.0, -1.0])
def test_a_count_without_a_logarithm_is_refused(wing: Wing, count: float) -> None:
    params = {f"{side}.{kind}": np.ones((1, 1) if kind == "weight" else 1)
              for side in ("word", "context") for kind in ("weight", "bias")}  # fmt: skip
    one = np.zeros(1, int)
    with pytest.raises(ValueError, match=f"a count of {count} has no logarithm"):
        wing.glove_loss((one, one, np.array([count])), params)
