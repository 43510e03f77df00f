"""A highway layer: each number of a vector decides how much of it is changed and how much passes as it is."""

from collections.abc import Mapping

from bertlab.reference.functional import linear, linear_vjp, relu, relu_vjp, sigmoid
from bertlab.reference.parameters import join_parameters, split_parameters
from bertlab.reference.types import Floats

PARTS = ("transform", "gate")


def highway(x: Floats, params: Mapping[str, Floats]) -> Floats:
    """Mix a vector with what a layer makes of it, by a gate for each number.

    Parameters
    ----------
    x : (..., F) float array.
    params : "transform.weight" (F, F) and "transform.bias" (F,), the same of "gate":
        the names and layout of the `state_dict` of `bertlab.nn.Highway`.

    Returns
    -------
    (..., F) float array: ``gate * relu(transform) + (1 - gate) * x``.

    Raises
    ------
    ValueError
        If a parameter is missing or left over, or the shapes do not fit.

    References
    ----------
    Srivastava et al. 2015, eq. (3); behind a character CNN: Kim et al. 2016, sec. 3.3, eq. (8).

    Examples
    --------
    >>> import numpy as np
    >>> params = {"transform.weight": np.zeros((1, 1)), "transform.bias": np.ones(1)}
    >>> params |= {"gate.weight": np.zeros((1, 1)), "gate.bias": np.zeros(1)}
    >>> highway(np.array([[5.0]]), params).tolist()  # a gate half open, between 1 and 5
    [[3.0]]
    """
    part = split_parameters(params, PARTS)
    changed = relu(linear(x, **part["transform"]))  # (..., F)
    gate = sigmoid(linear(x, **part["gate"]))  # (..., F)
    return gate * changed + (1 - gate) * x


def highway_vjp(grad: Floats, x: Floats, params: Mapping[str, Floats]) -> tuple[Floats, dict[str, Floats]]:
    """Pull a gradient back through `highway`.

    Parameters
    ----------
    grad : (..., F) float array, gradient with respect to the output.
    x, params : as in `highway`.

    Returns
    -------
    d_x, d_params : (..., F) float array, and a dict of gradients by name.
    """
    part = split_parameters(params, PARTS)
    inner = linear(x, **part["transform"])
    gate = sigmoid(linear(x, **part["gate"]))
    d_inner = relu_vjp(grad * gate, inner)
    d_gate = grad * (relu(inner) - x) * gate * (1 - gate)  # through the sigmoid
    through_transform, *d_transform = linear_vjp(d_inner, x, **part["transform"])
    through_gate, *d_gate_params = linear_vjp(d_gate, x, **part["gate"])
    gradients = {"transform": d_transform, "gate": d_gate_params}
    named = {name: dict(zip(("weight", "bias"), found, strict=True)) for name, found in gradients.items()}
    return through_transform + through_gate + grad * (1 - gate), join_parameters(named)
