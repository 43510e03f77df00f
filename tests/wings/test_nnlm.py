"""The neural language model in both wings, against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.inputs import Arguments, examples_of
from tests.loops import linear
from tests.wing import Wing


@examples_of("nnlm")
def test_the_logits_are_the_formula(wing: Wing, arguments: Arguments) -> None:
    context, params = arguments
    found = wing.nnlm(context, params)
    for words, logits in zip(context, found, strict=True):
        joined = [number for word in words for number in params["table.weight"][word]]
        hidden = [math.tanh(y) for y in linear(joined, params["hidden.weight"], params["hidden.bias"])]
        wanted = linear(hidden, params["output.weight"], params["output.bias"])
        if "direct.weight" in params:
            straight = linear(joined, params["direct.weight"], [0.0] * len(wanted))
            wanted = [a + b for a, b in zip(wanted, straight, strict=True)]
        np.testing.assert_allclose(logits, wanted, atol=1e-10)


@examples_of("nnlm")
def test_a_row_times_the_table_is_a_look_up(wing: Wing, arguments: Arguments) -> None:
    """Articles draw it as one-hot times Q: the same vectors, by more work."""
    context, params = arguments
    one_hot = np.eye(len(params["table.weight"]))[context]  # (B, N, V)
    vectors = one_hot @ params["table.weight"]
    logits = wing.linear(
        np.tanh(
            wing.linear(vectors.reshape(len(context), -1), params["hidden.weight"], params["hidden.bias"])
        ),
        params["output.weight"],
        params["output.bias"],
    )
    without = {name: value for name, value in params.items() if name != "direct.weight"}
    np.testing.assert_allclose(wing.nnlm(context, without), logits, atol=1e-10)


@examples_of("nnlm")
def test_words_that_are_not_looked_up_learn_nothing_in_the_table(wing: Wing, arguments: Arguments) -> None:
    context, params = arguments
    grad = np.ones((len(context), len(params["output.bias"])))
    gradient = wing.nnlm_vjp(grad, *arguments)["table.weight"]
    absent = np.setdiff1d(np.arange(len(gradient)), context)
    assert (gradient[absent] == 0).all()


def test_direct_connections_alone_are_a_linear_model(wing: Wing) -> None:
    rng = np.random.default_rng(0)
    params = {"table.weight": rng.normal(size=(4, 2)), "hidden.weight": rng.normal(size=(3, 4))}
    params |= {"hidden.bias": rng.normal(size=3), "output.weight": np.zeros((4, 3))}
    params |= {"output.bias": np.zeros(4), "direct.weight": rng.normal(size=(4, 4))}
    logits = wing.nnlm(np.array([[1, 3]]), params)
    joined = params["table.weight"][[1, 3]].reshape(-1)
    np.testing.assert_allclose(logits[0], params["direct.weight"] @ joined, atol=1e-12)


@pytest.mark.parametrize(
    ("context", "change", "sentence"),
    [
        ([[0, 4]], {}, "id 4 is outside a table of 4 rows"),
        ([[0, 1, 2]], {}, "does not fit a weight of shape"),
        ([[0, 1]], {"hidden.bias": None}, r"lacks \['hidden.bias'\]"),
        ([[0, 1]], {"direct.bias": np.ones(4)}, r"\['direct.bias'\] left over"),
    ],
)
def test_bad_input_is_named(wing: Wing, context, change, sentence) -> None:
    params = {"table.weight": np.ones((4, 2)), "hidden.weight": np.ones((3, 4)), "hidden.bias": np.ones(3)}
    params |= {"output.weight": np.ones((4, 3)), "output.bias": np.ones(4), **change}
    params = {name: value for name, value in params.items() if value is not None}
    with pytest.raises(ValueError, match=sentence):
        wing.nnlm(np.array(context), params)
