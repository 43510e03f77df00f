"""The feed-forward network of both wings, against plain loops."""

import re

import numpy as np
import pytest

from tests import loops
from tests.inputs import Arguments, examples_of
from tests.wing import Wing

PARAMS = {
    "inner.weight": np.ones((3, 2)),
    "inner.bias": np.zeros(3),
    "outer.weight": np.ones((2, 3)),
    "outer.bias": np.zeros(2),
}


@examples_of("feed_forward")
def test_each_position_goes_through_two_layers_by_itself(wing: Wing, arguments: Arguments) -> None:
    x, params, activation = arguments
    by_loop = [[loops.feed_forward(vector, params, activation) for vector in rows] for rows in x]
    np.testing.assert_allclose(wing.feed_forward(*arguments), by_loop, atol=1e-11)


def test_relu_is_the_default_as_in_the_paper(wing: Wing, rng: np.random.Generator) -> None:
    x = rng.normal(size=(2, 5, 2))
    plain, relu, gelu = (wing.feed_forward(x, PARAMS, *a) for a in ((), ("relu",), ("gelu",)))
    np.testing.assert_array_equal(plain, relu)
    assert not np.allclose(relu, gelu)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({**PARAMS, "gate.weight": np.ones(2)}, "gate.weight"),
        ({k: v for k, v in PARAMS.items() if k != "inner.bias"}, "lacks ['inner.bias']"),
        ({**PARAMS, "inner.weight": np.ones((3, 5))}, "(3, 5)"),
    ],
)
def test_parameters_must_be_complete_and_fit(
    wing: Wing, params: dict[str, np.ndarray], sentence: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        wing.feed_forward(np.ones((1, 1, 2)), params)


def test_an_unknown_activation_is_refused_and_the_known_ones_are_named(wing: Wing) -> None:
    with pytest.raises(ValueError, match=r"'swish'.*relu, gelu, gelu_tanh"):
        wing.feed_forward(np.ones((1, 1, 2)), PARAMS, "swish")
