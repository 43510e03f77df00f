"""The way past a sublayer, in both wings and both orders."""

import numpy as np
import pytest

from tests import loops
from tests.inputs import Arguments, examples_of
from tests.wing import Wing


@examples_of("after_sublayer")
def test_both_orders_are_the_loop_around_a_sublayer(wing: Wing, arguments: Arguments) -> None:
    x, factor, params, norm_first, eps = arguments  # the sublayer multiplies what it sees

    for b in range(len(x)):

        def sublayer(rows: list[list[float]], b: int = b) -> np.ndarray:
            return np.array(rows) * factor[b]

        seen = wing.before_sublayer(x, params, norm_first, eps)
        found = wing.after_sublayer(x, seen * factor, params, norm_first, eps)
        by_loop = loops.with_residual(x[b], sublayer, params, norm_first, eps)
        np.testing.assert_allclose(found[b], by_loop, rtol=1e-9, atol=1e-9)


def test_in_pre_ln_the_gradient_passes_the_sublayer_unchanged(wing: Wing, rng: np.random.Generator) -> None:
    x, update, grad = rng.normal(size=(3, 1, 2, 4))
    params = {"norm.weight": np.ones(4), "norm.bias": np.zeros(4)}
    past, _, _ = wing.after_sublayer_vjp(grad, x, update, params, True)
    np.testing.assert_array_equal(past, grad)
    past, _, _ = wing.after_sublayer_vjp(grad, x, update, params, False)
    assert not np.allclose(past, grad)  # post-LN: every path leads through the norm


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_two_parameters_of_the_norm_are_asked_for_by_name(wing: Wing, norm_first: bool) -> None:
    params = {"norm.weight": np.ones(2), "norm.beta": np.zeros(2)}
    with pytest.raises(ValueError, match=r"lacks \['norm.bias'\] and has \['norm.beta'\] left over"):
        wing.before_sublayer(np.ones((1, 2)), params, norm_first)
    with pytest.raises(ValueError, match=r"lacks \['norm.bias'\] and has \['norm.beta'\] left over"):
        wing.after_sublayer(np.ones((1, 2)), np.ones((1, 2)), params, norm_first)
