"""A highway layer of both wings, against one number at a time."""

from __future__ import annotations

import numpy as np
import pytest

from tests import loops
from tests.inputs import Arguments, examples_of
from tests.wing import Wing

close = np.testing.assert_allclose


def by_loop(x: np.ndarray, params: dict[str, np.ndarray]) -> list[float]:
    """One vector, number by number."""
    changed = loops.linear(x, params["transform.weight"], params["transform.bias"])
    gates = loops.linear(x, params["gate.weight"], params["gate.bias"])
    mixed = []
    for old, new, gate in zip(x, changed, gates, strict=True):
        share = loops.sigmoid(gate)
        mixed.append(share * loops.relu(new) + (1 - share) * old)
    return mixed


@examples_of("highway")
def test_each_number_is_a_mix_of_what_it_was_and_what_the_layer_says(
    wing: Wing, arguments: Arguments
) -> None:
    x, params = arguments
    found = wing.highway(*arguments)
    for b, t in np.ndindex(x.shape[:2]):
        close(found[b, t], by_loop(x[b, t], params), atol=1e-12)


@pytest.mark.parametrize(("bias", "passes"), [(-100.0, True), (100.0, False)])
def test_a_closed_gate_lets_all_pass_and_an_open_one_nothing(
    wing: Wing, rng: np.random.Generator, bias: float, passes: bool
) -> None:
    x, params = rng.normal(size=(2, 3)), {"transform.weight": np.eye(3), "transform.bias": np.full(3, 50.0)}
    params |= {"gate.weight": np.zeros((3, 3)), "gate.bias": np.full(3, bias)}
    close(wing.highway(x, params), x if passes else x + 50, atol=1e-12)


def test_a_parameter_that_is_missing_or_left_over_is_named(wing: Wing) -> None:
    params = {"transform.weight": np.eye(2), "transform.bias": np.zeros(2)}
    with pytest.raises(ValueError, match=r"lacks \['gate'\]"):
        wing.highway(np.ones((1, 2)), params)
