"""The position-wise feed-forward network: what each position does by itself, between two looks around."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from bertlab.reference.functional import (
    gelu,
    gelu_tanh,
    gelu_tanh_vjp,
    gelu_vjp,
    linear,
    linear_vjp,
    relu,
    relu_vjp,
)
from bertlab.reference.parameters import check_names
from bertlab.reference.types import Floats

Activation: TypeAlias = Literal["relu", "gelu", "gelu_tanh"]

ACTIVATIONS: dict[str, tuple[Callable[[Floats], Floats], Callable[[Floats, Floats], Floats]]] = {
    "relu": (relu, relu_vjp),
    "gelu": (gelu, gelu_vjp),
    "gelu_tanh": (gelu_tanh, gelu_tanh_vjp),
}
NAMES = ("inner.weight", "inner.bias", "outer.weight", "outer.bias")


def feed_forward(x: Floats, params: Mapping[str, Floats], activation: Activation = "relu") -> Floats:
    """Send each position by itself through two linear layers with an activation between them.

    Parameters
    ----------
    x : (..., D) float array.
    params : ``{"inner.weight": (F, D), "inner.bias": (F,), "outer.weight": (D, F), "outer.bias": (D,)}``, the
        names and layout of the `state_dict` of `bertlab.nn.FeedForward`.
    activation : "relu" (the Transformer), "gelu" (BERT) or "gelu_tanh" (GPT).

    Returns
    -------
    (..., D) float array.

    Raises
    ------
    ValueError
        If a parameter is missing or left over, the shapes do not fit, or the activation is unknown.

    References
    ----------
    Vaswani et al. 2017, sec. 3.3, eq. (2).

    Examples
    --------
    >>> import numpy as np
    >>> params = {"inner.weight": np.array([[1.0], [-1.0]]), "inner.bias": np.zeros(2)}
    >>> params |= {"outer.weight": np.array([[1.0, 1.0]]), "outer.bias": np.zeros(1)}
    >>> feed_forward(np.array([[-3.0]]), params).tolist()  # relu(x) + relu(-x) = |x|
    [[3.0]]
    """
    activate, _ = activation_and_vjp(activation)
    check_names(params, NAMES)
    inner = linear(x, params["inner.weight"], params["inner.bias"])  # (..., D) -> (..., F)
    return linear(activate(inner), params["outer.weight"], params["outer.bias"])


def feed_forward_vjp(
    grad: Floats, x: Floats, params: Mapping[str, Floats], activation: Activation = "relu"
) -> tuple[Floats, dict[str, Floats]]:
    """Pull a gradient back through `feed_forward`.

    Parameters
    ----------
    grad : (..., D) float array, gradient with respect to the output.
    x, params, activation : as in `feed_forward`.

    Returns
    -------
    d_x, d_params : (..., D) float array, and a dict of gradients by name.
    """
    activate, activate_vjp = activation_and_vjp(activation)
    inner = linear(x, params["inner.weight"], params["inner.bias"])  # (..., F)
    d_active, d_outer, d_outer_bias = linear_vjp(
        grad, activate(inner), params["outer.weight"], params["outer.bias"]
    )
    d_inner = activate_vjp(d_active, inner)  # (..., F)
    d_x, d_weight, d_bias = linear_vjp(d_inner, x, params["inner.weight"], params["inner.bias"])
    return d_x, dict(zip(NAMES, (d_weight, d_bias, d_outer, d_outer_bias), strict=True))


def activation_and_vjp(
    name: str,
) -> tuple[Callable[[Floats], Floats], Callable[[Floats, Floats], Floats]]:
    """Find the function of that name and its vjp.

    Raises
    ------
    ValueError
        If the activation is unknown.
    """
    if name not in ACTIVATIONS:
        raise ValueError(f"activation={name!r} is unknown: choose one of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]
