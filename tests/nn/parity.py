"""Same arguments into both wings, same numbers out: outputs to 1e-10, gradients to 1e-9, float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.inputs import Arguments, some_grad
from tests.wing import NN, REFERENCE, flat


def same(ours: Any, theirs: Any, tolerance: float) -> None:
    """Compare arrays, tuples and dicts of arrays, and None with None."""
    for one, other in zip(flat(ours), flat(theirs), strict=True):
        if one is None or other is None:
            assert one is None
            assert other is None
        else:
            assert np.shape(one) == np.shape(other)
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def check(concept: str, arguments: Arguments) -> None:
    """Forward and backward of the function of that name in both wings."""
    outputs = getattr(REFERENCE, concept)(*arguments)
    same(getattr(NN, concept)(*arguments), outputs, 1e-10)
    grad = some_grad(concept, outputs, np.random.default_rng(0))
    by_hand = getattr(REFERENCE, f"{concept}_vjp")(grad, *arguments)
    by_autograd = getattr(NN, f"{concept}_vjp")(grad, *arguments)
    same(by_autograd, by_hand, 1e-9)
