"""The residual connection around a sublayer, and where the norm stands.

Post-LN (the Transformer, BERT): ``norm(x + sublayer(x))``. Pre-LN (GPT-2): ``x + sublayer(norm(x))``. Both
are ``after_sublayer(x, sublayer(before_sublayer(x)))``. Either way the parameters are those of one norm.
"""

from collections.abc import Mapping

import numpy as np

from bertlab.reference.functional import layer_norm, layer_norm_vjp
from bertlab.reference.parameters import check_names
from bertlab.reference.types import Floats

NAMES = ("norm.weight", "norm.bias")


def before_sublayer(x: Floats, params: Mapping[str, Floats], norm_first: bool, eps: float = 1e-5) -> Floats:
    """Make what the sublayer gets to see: x itself, or in pre-LN its norm.

    Parameters
    ----------
    x : (..., D) float array.
    params : ``{"norm.weight": (D,), "norm.bias": (D,)}``, the `state_dict` of `bertlab.nn.Residual`.
    norm_first : pre-LN if true, post-LN if false.
    eps : as in `layer_norm`.

    Returns
    -------
    (..., D) float array.

    Raises
    ------
    ValueError
        If a parameter is missing or left over.

    References
    ----------
    Vaswani et al. 2017, sec. 3.1, for post-LN; Xiong et al. 2020, sec. 3 and fig. 1, for both.

    Examples
    --------
    >>> params = {"norm.weight": np.ones(2), "norm.bias": np.zeros(2)}
    >>> x = np.array([3.0, -1.0])
    >>> seen = before_sublayer(x, params, norm_first=True, eps=0.0)
    >>> after_sublayer(x, 2 * seen, params, norm_first=True).tolist()  # the sublayer doubles what it sees
    [5.0, -3.0]
    >>> after_sublayer(x, 2 * x, params, norm_first=False, eps=0.0).tolist()  # post-LN
    [1.0, -1.0]
    """
    check_names(params, NAMES)
    return layer_norm(x, params["norm.weight"], params["norm.bias"], eps) if norm_first else x


def before_sublayer_vjp(
    grad: Floats, x: Floats, params: Mapping[str, Floats], norm_first: bool, eps: float = 1e-5
) -> tuple[Floats, dict[str, Floats]]:
    """Pull a gradient back through `before_sublayer`.

    Parameters
    ----------
    grad : (..., D) float array, gradient with respect to the output.
    x, params, norm_first, eps : as in `before_sublayer`.

    Returns
    -------
    d_x, d_params : (..., D) float array, and a dict of gradients by name, all zero in post-LN.
    """
    return _norm_vjp(grad, x, params, eps) if norm_first else (grad, _nothing(params))


def after_sublayer(
    x: Floats, update: Floats, params: Mapping[str, Floats], norm_first: bool, eps: float = 1e-5
) -> Floats:
    """Add what the sublayer found to what it was asked about, and in post-LN norm the sum.

    Parameters
    ----------
    x : (..., D) float array, before any norm.
    update : (..., D) float array, the output of the sublayer.
    params, norm_first, eps : as in `before_sublayer`.

    Returns
    -------
    (..., D) float array.

    Raises
    ------
    ValueError
        If a parameter is missing or left over.

    References
    ----------
    He et al. 2016, sec. 3.2, eq. (1), for the sum; as in `before_sublayer` for the norm.
    """
    check_names(params, NAMES)
    total: Floats = x + update
    return total if norm_first else layer_norm(total, params["norm.weight"], params["norm.bias"], eps)


def after_sublayer_vjp(
    grad: Floats,
    x: Floats,
    update: Floats,
    params: Mapping[str, Floats],
    norm_first: bool,
    eps: float = 1e-5,
) -> tuple[Floats, Floats, dict[str, Floats]]:
    """Pull a gradient back through `after_sublayer`; x gets it whole, past the sublayer: the way is open.

    Parameters
    ----------
    grad : (..., D) float array, gradient with respect to the output.
    x, update, params, norm_first, eps : as in `after_sublayer`.

    Returns
    -------
    d_x, d_update, d_params : two equal (..., D) float arrays, and a dict of gradients by name, all zero in
        pre-LN. In post-LN the way leads through the norm.
    """
    d_total, d_params = (grad, _nothing(params)) if norm_first else _norm_vjp(grad, x + update, params, eps)
    return d_total, d_total, d_params


def _norm_vjp(
    grad: Floats, x: Floats, params: Mapping[str, Floats], eps: float
) -> tuple[Floats, dict[str, Floats]]:
    d_x, d_gain, d_bias = layer_norm_vjp(grad, x, params["norm.weight"], params["norm.bias"], eps)
    return d_x, {"norm.weight": d_gain, "norm.bias": d_bias}


def _nothing(params: Mapping[str, Floats]) -> dict[str, Floats]:
    """Gradients of parameters that were not used."""
    return {name: np.zeros(value.shape) for name, value in params.items()}
