"""Every backward pass that is written by hand, against the slope that one finds by nudging."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.reference.gradient_check import numerical_gradient
from tests.inputs import CONCEPTS, arguments_of, some_grad
from tests.wing import REFERENCE, differentiated, flat

WITHOUT_GRADIENT = {
    "causal_mask",
    "check_boolean",
    "check_gates",
    "check_length",
    "check_mask",
    "check_names",
    "check_parameter_names",
    "combine_masks",
    "decoder_shapes",
    "encoder_shapes",
    "from_additive_mask",
    "from_hidden_mask",
    "glove_weights",
    "join_parameters",
    "padding_mask",
    "sinusoidal_positions",
    "split_numbered",
    "split_parameters",
    "split_stack",
    "stack_shapes",
    "to_additive_mask",
    "to_hidden_mask",
}


def loss(grad: Any, outputs: Any) -> float:
    """A number whose gradient with respect to the outputs is `grad`."""
    return sum(
        float((g * o).sum()) if np.ndim(o) else g * o for g, o in zip(flat(grad), flat(outputs), strict=True)
    )


def replaced(arguments: tuple[Any, ...], i: int, name: str | None, value: np.ndarray) -> tuple[Any, ...]:
    """The arguments with the i-th, or what stands in it under a name, exchanged."""
    new = value if name is None else {**arguments[i], name: value}
    return (*arguments[:i], new, *arguments[i + 1 :])


def float_arrays(arguments: tuple[Any, ...]) -> list[tuple[int, str | None, np.ndarray]]:
    """What a vjp owes a gradient for: (place, name inside a dict, array), in their order."""
    found: list[tuple[int, str | None, np.ndarray]] = []
    for i, argument in enumerate(arguments):
        if isinstance(argument, dict):
            found += [(i, name, argument[name]) for name in sorted(argument)]
        elif isinstance(argument, np.ndarray) and argument.dtype == np.float64:
            found.append((i, None, argument))
    return found


@pytest.mark.parametrize("concept", CONCEPTS)
@settings(max_examples=8)
@given(data=st.data())
def test_the_written_gradient_is_the_measured_one(concept: str, data: st.DataObject) -> None:
    arguments = data.draw(arguments_of(concept))
    function, vjp = getattr(REFERENCE, concept), getattr(REFERENCE, f"{concept}_vjp")
    grad = some_grad(concept, function(*arguments), np.random.default_rng(0))
    gradients = vjp(grad, *arguments)
    written = [g for g in flat(gradients) if g is not None]
    inputs = float_arrays(arguments)
    assert len(written) == len(inputs)
    for (i, name, x), gradient in zip(inputs, written, strict=True):

        def nudged(x: np.ndarray, i: int = i, name: str | None = name) -> float:
            return loss(grad, differentiated(concept, function(*replaced(arguments, i, name, x))))

        measured = numerical_gradient(nudged, x)
        assert gradient.shape == x.shape
        np.testing.assert_allclose(
            gradient, measured, rtol=1e-5, atol=1e-7, err_msg=f"argument {i} {name or ''}"
        )


@pytest.mark.parametrize("concept", CONCEPTS)
@settings(max_examples=5)
@given(data=st.data())
def test_neither_pass_changes_its_arguments(concept: str, data: st.DataObject) -> None:
    arguments = data.draw(arguments_of(concept))
    before = [np.copy(x) for x in flat(arguments) if isinstance(x, np.ndarray)]
    grad = some_grad(concept, getattr(REFERENCE, concept)(*arguments), np.random.default_rng(0))
    getattr(REFERENCE, f"{concept}_vjp")(grad, *arguments)
    for x, kept in zip((x for x in flat(arguments) if isinstance(x, np.ndarray)), before, strict=True):
        np.testing.assert_array_equal(x, kept)


def test_every_public_function_has_a_vjp_with_the_same_arguments() -> None:
    public = {
        name: function
        for module in REFERENCE.modules
        for name, function in vars(module).items()
        if inspect.isfunction(function) and not name.startswith("_") and not name.endswith("_vjp")
    }
    differentiable = set(public) - WITHOUT_GRADIENT
    assert differentiable == set(CONCEPTS)  # and all of them are drawn above
    for name in differentiable:
        arguments = list(inspect.signature(public[name]).parameters.values())
        _, *of_vjp = inspect.signature(REFERENCE.find(f"{name}_vjp")).parameters.values()
        assert [(a.name, a.default) for a in of_vjp] == [(a.name, a.default) for a in arguments], name
