"""The elementary functions, forward and backward, in NumPy.

Every function `f` has a partner `f_vjp(grad, <the arguments of f>)`, its *vector-Jacobian product*: from the
gradient of the loss with respect to the output of `f` it makes the gradients with respect to the float arrays
that went in, in their order. It repeats the forward pass instead of keeping notes: slower, but clear.
"""

from typing import Any

import numpy as np

from bertlab.reference.activations import (
    gelu,
    gelu_tanh,
    gelu_tanh_vjp,
    gelu_vjp,
    relu,
    relu_vjp,
    sigmoid,
    sigmoid_vjp,
)
from bertlab.reference.losses import cross_entropy, cross_entropy_vjp, log_softmax, log_softmax_vjp
from bertlab.reference.types import Floats, Ints

__all__ = [
    "cross_entropy",
    "cross_entropy_vjp",
    "embedding",
    "embedding_vjp",
    "gelu",
    "gelu_tanh",
    "gelu_tanh_vjp",
    "gelu_vjp",
    "layer_norm",
    "layer_norm_vjp",
    "linear",
    "linear_vjp",
    "log_softmax",
    "log_softmax_vjp",
    "relu",
    "relu_vjp",
    "sigmoid",
    "sigmoid_vjp",
    "softmax",
    "softmax_vjp",
]


def softmax(x: Floats, axis: int = -1) -> Floats:
    """Turn scores into positive weights that sum to 1 along one axis.

    Parameters
    ----------
    x : (...) float array of scores.
    axis : the axis that sums to 1.

    Returns
    -------
    (...) float array, same shape as `x`.

    References
    ----------
    Bridle 1990, "Probabilistic interpretation of feedforward classification network outputs". The shift by
    the maximum: Goodfellow et al. 2016, "Deep Learning", sec. 4.1.

    Examples
    --------
    >>> softmax(np.log([[1.0, 3.0]])).round(6).tolist()
    [[0.25, 0.75]]
    """
    shifted: Floats = x - x.max(axis=axis, keepdims=True)  # it cancels below, and exp() cannot overflow
    e = np.exp(shifted)
    total: Floats = e.sum(axis=axis, keepdims=True)
    return e / total


def softmax_vjp(grad: Floats, x: Floats, axis: int = -1) -> Floats:
    """Pull a gradient back through `softmax`: only what a weight gains *beside the others* counts.

    Parameters
    ----------
    grad : (...) float array, gradient with respect to the output.
    x, axis : as in `softmax`.

    Returns
    -------
    (...) float array, gradient with respect to `x`; it sums to 0 along `axis`.

    Examples
    --------
    >>> softmax_vjp(np.array([1.0, 0.0]), np.zeros(2)).tolist()
    [0.25, -0.25]
    """
    weights = softmax(x, axis)
    mean: Floats = (grad * weights).sum(axis=axis, keepdims=True)
    return weights * (grad - mean)


def linear(x: Floats, weight: Floats, bias: Floats | None = None) -> Floats:
    """Multiply by a matrix and add a bias.

    Parameters
    ----------
    x : (..., D_in) float array.
    weight : (D_out, D_in) float array, in the layout of `torch.nn.Linear`: one row for each output.
    bias : (D_out,) float array, optional.

    Returns
    -------
    (..., D_out) float array: ``x @ weight.T + bias``.

    Raises
    ------
    ValueError
        If the width of `x` is not that of `weight`.

    Examples
    --------
    >>> linear(np.array([1.0, 2.0]), np.array([[3.0, 4.0], [5.0, 6.0]])).tolist()
    [11.0, 17.0]
    """
    if x.shape[-1] != weight.shape[-1]:
        raise ValueError(
            f"x of shape {x.shape} does not fit a weight of shape {weight.shape}: "
            f"make it (D_out, {x.shape[-1]})"
        )
    product = x @ weight.T  # (..., D_in) -> (..., D_out)
    return product if bias is None else product + bias


def linear_vjp(
    grad: Floats, x: Floats, weight: Floats, bias: Floats | None = None
) -> tuple[Floats, Floats, Floats | Any]:
    """Pull a gradient back through `linear`.

    Parameters
    ----------
    grad : (..., D_out) float array, gradient with respect to the output.
    x, weight, bias : as in `linear`.

    Returns
    -------
    d_x, d_weight, d_bias : float arrays, shaped like `x`, `weight` and `bias` (None where there is no bias).

    Examples
    --------
    >>> d_x, d_weight, d_bias = linear_vjp(np.array([1.0]), np.array([2.0, 3.0]), np.array([[4.0, 5.0]]))
    >>> d_x.tolist(), d_weight.tolist(), d_bias
    ([4.0, 5.0], [[2.0, 3.0]], None)
    """
    rows = grad.reshape(-1, grad.shape[-1])  # (..., D_out) -> (N, D_out): all positions share the weight
    d_x = grad @ weight  # (..., D_in)
    d_weight = rows.T @ x.reshape(-1, x.shape[-1])  # (D_out, N) @ (N, D_in): summed over the positions
    return d_x, d_weight, None if bias is None else rows.sum(axis=0)


def embedding(ids: Ints, table: Floats) -> Floats:
    """Look up one row of a table for each id.

    Parameters
    ----------
    ids : (...) integer array with values in [0, V).
    table : (V, D) float array.

    Returns
    -------
    (..., D) float array.

    Raises
    ------
    ValueError
        If an id has no row. (NumPy alone would quietly take row -1 from the end.)

    References
    ----------
    Bengio et al. 2003, sec. 2: the matrix C, one row for each word.

    Examples
    --------
    >>> embedding(np.array([1, 1]), np.array([[0.0], [7.0]])).tolist()
    [[7.0], [7.0]]
    """
    strange = ids[(ids < 0) | (ids >= len(table))]
    if strange.size:
        raise ValueError(
            f"id {strange[0]} is outside a table of {len(table)} rows: ids must lie in [0, {len(table)})"
        )
    return table[ids]  # (...) -> (..., D)


def embedding_vjp(grad: Floats, ids: Ints, table: Floats) -> Floats:
    """Pull a gradient back through `embedding`: a row gathers the gradients of all the places it went to.

    Parameters
    ----------
    grad : (..., D) float array, gradient with respect to the output.
    ids, table : as in `embedding`.

    Returns
    -------
    (V, D) float array, gradient with respect to `table`.

    Examples
    --------
    >>> embedding_vjp(np.array([[1.0], [2.0]]), np.array([1, 1]), np.zeros((3, 1))).tolist()
    [[0.0], [3.0], [0.0]]
    """
    d_table = np.zeros(table.shape)
    np.add.at(d_table, ids, grad)  # `d_table[ids] += grad` would keep only the last of repeated ids
    return d_table


def layer_norm(x: Floats, gain: Floats, bias: Floats, eps: float) -> Floats:
    """Give each vector mean 0 and variance 1 over its own features, then scale and shift them.

    Parameters
    ----------
    x : (..., D) float array.
    gain, bias : (D,) float arrays, gamma and beta in published checkpoints.
    eps : added to the variance before the root, so that a constant vector is no division by zero.

    Returns
    -------
    (..., D) float array.

    References
    ----------
    Ba et al. 2016, sec. 3, eq. (3) for mean and deviation, (4) for gain and bias.

    Examples
    --------
    >>> layer_norm(np.array([1.0, 3.0]), np.ones(2), np.zeros(2), eps=0.0).tolist()
    [-1.0, 1.0]
    """
    centred: Floats = x - x.mean(axis=-1, keepdims=True)
    variance: Floats = (centred**2).mean(axis=-1, keepdims=True)  # divided by D, not D - 1
    # Departs from Ba et al. 2016, eq. (4), which has no eps.
    return gain * centred / np.sqrt(variance + eps) + bias


def layer_norm_vjp(
    grad: Floats, x: Floats, gain: Floats, bias: Floats, eps: float
) -> tuple[Floats, Floats, Floats]:
    """Pull a gradient back through `layer_norm`.

    Parameters
    ----------
    grad : (..., D) float array, gradient with respect to the output.
    x, gain, bias, eps : as in `layer_norm`.

    Returns
    -------
    d_x, d_gain, d_bias : (..., D), (D,) and (D,) float arrays.

    Examples
    --------
    >>> grad, x, gain, bias = np.array([1.0, 0.0]), np.array([1.0, 3.0]), np.ones(2), np.zeros(2)
    >>> d_x, d_gain, d_bias = layer_norm_vjp(grad, x, gain, bias, eps=0.0)
    >>> d_x.tolist(), d_gain.tolist(), d_bias.tolist()  # of two features only the order survives: no slope
    ([0.0, 0.0], [-1.0, 0.0], [1.0, 0.0])
    """
    centred: Floats = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)  # (..., 1)
    normed = centred / deviation  # (..., D)
    d_normed = grad * gain
    # Neither a shift of the whole vector nor a stretch changes the output, so these two parts are taken out.
    shift = d_normed.mean(axis=-1, keepdims=True)
    stretch = normed * (d_normed * normed).mean(axis=-1, keepdims=True)
    positions = tuple(range(grad.ndim - 1))  # gain and bias are shared by all of them
    return (
        (d_normed - shift - stretch) / deviation,
        (grad * normed).sum(axis=positions),
        grad.sum(axis=positions),
    )
