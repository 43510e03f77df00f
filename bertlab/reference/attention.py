"""Attention, forward and backward: weights from scores, the scaled dot product, one head and many.

A mask is boolean, True = may be attended to. What `scores` and `heads` define can be had from here as well.
"""

import math
from collections.abc import Mapping

import numpy as np

from bertlab.reference.functional import linear, linear_vjp
from bertlab.reference.heads import check_parameter_names
from bertlab.reference.heads import merge_heads as merge_heads
from bertlab.reference.heads import merge_heads_vjp as merge_heads_vjp
from bertlab.reference.heads import split_heads as split_heads
from bertlab.reference.heads import split_heads_vjp as split_heads_vjp
from bertlab.reference.masking import masked_softmax, masked_softmax_vjp
from bertlab.reference.scores import additive_scores as additive_scores
from bertlab.reference.scores import additive_scores_vjp as additive_scores_vjp
from bertlab.reference.scores import concat_scores as concat_scores
from bertlab.reference.scores import concat_scores_vjp as concat_scores_vjp
from bertlab.reference.scores import dot_scores as dot_scores
from bertlab.reference.scores import dot_scores_vjp as dot_scores_vjp
from bertlab.reference.scores import general_scores as general_scores
from bertlab.reference.scores import general_scores_vjp as general_scores_vjp
from bertlab.reference.types import Bools, Floats


def attend(scores: Floats, values: Floats, mask: Bools | None = None) -> tuple[Floats, Floats]:
    """Turn scores into weights and mix the values by them: what all kinds of attention share.

    Parameters
    ----------
    scores : (..., Tq, Tk) float array.
    values : (..., Tk, D) float array with the same leading axes.
    mask : bool array that broadcasts to the scores, optional.

    Returns
    -------
    context, weights : (..., Tq, D) and (..., Tq, Tk) float arrays.
        A row of `weights` sums to 1; where nothing may be attended to, weights and context are zero.

    Raises
    ------
    ValueError
        If the shapes do not fit, or as in `masking.check_mask`.

    References
    ----------
    Bahdanau et al. 2015, sec. 3.1, eq. (5) and (6).

    Examples
    --------
    >>> context, weights = attend(np.zeros((1, 2)), np.array([[2.0], [4.0]]))
    >>> context.tolist(), weights.tolist()
    ([[3.0]], [[0.5, 0.5]])
    """
    if values.shape[:-1] != scores.shape[:-2] + scores.shape[-1:]:
        raise ValueError(
            f"values of shape {values.shape} do not fit scores of shape {scores.shape}: give one a key"
        )
    weights = masked_softmax(scores, mask)  # (..., Tq, Tk)
    return weights @ values, weights  # (..., Tq, Tk) @ (..., Tk, D)


def attend_vjp(
    grad: Floats, scores: Floats, values: Floats, mask: Bools | None = None
) -> tuple[Floats, Floats]:
    """Pull a gradient back through `attend`.

    Parameters
    ----------
    grad : (..., Tq, D) float array, gradient with respect to the context (not to the weights).
    scores, values, mask : as in `attend`.

    Returns
    -------
    d_scores, d_values : float arrays, shaped like `scores` and `values`.

    Examples
    --------
    >>> d_scores, d_values = attend_vjp(np.ones((1, 1)), np.zeros((1, 2)), np.array([[2.0], [4.0]]))
    >>> d_scores.tolist(), d_values.tolist()
    ([[-0.5, 0.5]], [[0.5], [0.5]])
    """
    weights = masked_softmax(scores, mask)  # (..., Tq, Tk)
    d_weights = grad @ np.swapaxes(values, -1, -2)  # (..., Tq, D) @ (..., D, Tk)
    d_values = np.swapaxes(weights, -1, -2) @ grad  # (..., Tk, Tq) @ (..., Tq, D)
    return masked_softmax_vjp(d_weights, scores, mask), d_values


def scaled_dot_product_attention(
    q: Floats, k: Floats, v: Floats, mask: Bools | None = None
) -> tuple[Floats, Floats]:
    """Mix the values by how well each query matches each key.

    Parameters
    ----------
    q, k, v : (..., Tq, K), (..., Tk, K) and (..., Tk, Kv) float arrays with the same leading axes.
    mask : bool array that broadcasts to (..., Tq, Tk), optional.

    Returns
    -------
    output, weights : (..., Tq, Kv) and (..., Tq, Tk) float arrays, as in `attend`.

    Raises
    ------
    ValueError
        If the shapes do not fit, or as in `masking.check_mask`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.1, eq. (1).

    Examples
    --------
    >>> q, k, v = np.array([[2.0]]), np.array([[0.0], [np.log(3) / 2]]), np.array([[0.0], [4.0]])
    >>> output, weights = scaled_dot_product_attention(q, k, v)
    >>> output.round(6).tolist(), weights.round(6).tolist()
    ([[3.0]], [[0.25, 0.75]])
    """
    K = q.shape[-1]
    # q·k has variance K when the parts of q and k have variance 1: unscaled, the softmax saturates.
    scores = dot_scores(q, k) / math.sqrt(K)  # (..., Tq, Tk)
    return attend(scores, v, mask)


def scaled_dot_product_attention_vjp(
    grad: Floats, q: Floats, k: Floats, v: Floats, mask: Bools | None = None
) -> tuple[Floats, Floats, Floats]:
    """Pull a gradient back through `scaled_dot_product_attention`.

    Parameters
    ----------
    grad : (..., Tq, Kv) float array, gradient with respect to the output (not to the weights).
    q, k, v, mask : as in `scaled_dot_product_attention`.

    Returns
    -------
    d_q, d_k, d_v : float arrays, shaped like `q`, `k` and `v`.

    Examples
    --------
    >>> q, k, v = np.array([[1.0]]), np.zeros((2, 1)), np.array([[0.0], [4.0]])
    >>> [d.tolist() for d in scaled_dot_product_attention_vjp(np.ones((1, 1)), q, k, v)]
    [[[0.0]], [[-1.0], [1.0]], [[0.5], [0.5]]]
    """
    scale = math.sqrt(q.shape[-1])
    d_scores, d_v = attend_vjp(grad, dot_scores(q, k) / scale, v, mask)
    d_q, d_k = dot_scores_vjp(d_scores / scale, q, k)
    return d_q, d_k, d_v


def self_attention(
    x: Floats, w_query: Floats, w_key: Floats, w_value: Floats, mask: Bools | None = None
) -> tuple[Floats, Floats]:
    """Let each position of a sequence look at all the others: one head, no biases.

    Parameters
    ----------
    x : (..., T, D) float array.
    w_query, w_key, w_value : (K, D), (K, D) and (Kv, D) float arrays, in the layout of `torch.nn.Linear`.
    mask : bool array that broadcasts to (..., T, T), optional.

    Returns
    -------
    output, weights : (..., T, Kv) and (..., T, T) float arrays, as in `attend`.

    Raises
    ------
    ValueError
        If the shapes do not fit, or as in `masking.check_mask`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.1 and, for the use inside one sequence, 3.2.3.

    Examples
    --------
    >>> zero, one = np.zeros((1, 1)), np.ones((1, 1))
    >>> self_attention(np.array([[1.0], [3.0]]), zero, zero, one)[0].tolist()  # all alike: the mean
    [[2.0], [2.0]]
    """
    q, k, v = linear(x, w_query), linear(x, w_key), linear(x, w_value)  # (..., T, D) -> (..., T, K)
    return scaled_dot_product_attention(q, k, v, mask)


def self_attention_vjp(
    grad: Floats, x: Floats, w_query: Floats, w_key: Floats, w_value: Floats, mask: Bools | None = None
) -> tuple[Floats, Floats, Floats, Floats]:
    """Pull a gradient back through `self_attention`.

    Parameters
    ----------
    grad : (..., T, Kv) float array, gradient with respect to the output (not to the weights).
    x, w_query, w_key, w_value, mask : as in `self_attention`.

    Returns
    -------
    d_x, d_w_query, d_w_key, d_w_value : float arrays, each shaped like its argument.
    """
    q, k, v = linear(x, w_query), linear(x, w_key), linear(x, w_value)
    d_q, d_k, d_v = scaled_dot_product_attention_vjp(grad, q, k, v, mask)
    d_x_as_query, d_w_query, _ = linear_vjp(d_q, x, w_query)
    d_x_as_key, d_w_key, _ = linear_vjp(d_k, x, w_key)
    d_x_as_value, d_w_value, _ = linear_vjp(d_v, x, w_value)
    return d_x_as_query + d_x_as_key + d_x_as_value, d_w_query, d_w_key, d_w_value  # x plays all three parts


def multi_head_attention(
    query: Floats,
    key: Floats,
    value: Floats,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
) -> tuple[Floats, Floats]:
    """Attend with several heads at once, each with its own slice of the width, and mix what they found.

    Parameters
    ----------
    query, key, value : (B, Tq, D), (B, Tk, D) and (B, Tk, D) float arrays.
    params : ``{"query.weight": (D, D), "query.bias": (D,), …}``, the same for key, value and output: the
        names and layout of the `state_dict` of `bertlab.nn.MultiHeadAttention`.
    n_heads : number of heads H, a divisor of D.
    mask : bool array that broadcasts to (B, H, Tq, Tk), optional.

    Returns
    -------
    output, weights : (B, Tq, D) and (B, H, Tq, Tk) float arrays.

    Raises
    ------
    ValueError
        If a parameter is missing or left over, the shapes do not fit, or as in `masking.check_mask`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.2, without biases. One (D, D) matrix holds the H matrices W_i, K rows each.

    Examples
    --------
    >>> params = {f"{part}.weight": np.eye(2) for part in ("query", "key", "value", "output")}
    >>> params |= {f"{part}.bias": np.zeros(2) for part in ("query", "key", "value", "output")}
    >>> x = np.array([[[1.0, 0.0], [0.0, 0.0]]])
    >>> output, weights = multi_head_attention(x, x, x, params, n_heads=2)
    >>> weights.round(2).tolist()  # head 0 sees the first feature, head 1 the second
    [[[[0.73, 0.27], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]]
    """
    q, k, v = _project_to_heads(query, key, value, params, n_heads)  # each (B, H, T, K)
    mixed, weights = scaled_dot_product_attention(q, k, v, mask)  # (B, H, Tq, K), (B, H, Tq, Tk)
    return linear(merge_heads(mixed), params["output.weight"], params["output.bias"]), weights


def multi_head_attention_vjp(
    grad: Floats,
    query: Floats,
    key: Floats,
    value: Floats,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
) -> tuple[Floats, Floats, Floats, dict[str, Floats]]:
    """Pull a gradient back through `multi_head_attention`.

    Parameters
    ----------
    grad : (B, Tq, D) float array, gradient with respect to the output (not to the weights).
    query, key, value, params, n_heads, mask : as in `multi_head_attention`.

    Returns
    -------
    d_query, d_key, d_value, d_params : float arrays shaped like the inputs, and a dict of them by name.
        In self-attention, where one x plays all three parts, its gradient is the sum of the first three.
    """
    d_params: dict[str, Floats] = {}

    def through(part: str, d_projected: Floats, x: Floats) -> Floats:  # one linear layer, noting d_params
        weight, bias = f"{part}.weight", f"{part}.bias"
        d_x, d_params[weight], d_params[bias] = linear_vjp(d_projected, x, params[weight], params[bias])
        return d_x

    q, k, v = _project_to_heads(query, key, value, params, n_heads)
    mixed, _ = scaled_dot_product_attention(q, k, v, mask)
    d_mixed = merge_heads_vjp(through("output", grad, merge_heads(mixed)), mixed)
    d_q, d_k, d_v = (merge_heads(d) for d in scaled_dot_product_attention_vjp(d_mixed, q, k, v, mask))
    return through("query", d_q, query), through("key", d_k, key), through("value", d_v, value), d_params


def _project_to_heads(
    query: Floats, key: Floats, value: Floats, params: Mapping[str, Floats], n_heads: int
) -> list[Floats]:
    """Queries, keys and values of all heads: each (B, T, D) -> (B, H, T, K)."""
    check_parameter_names(params)
    return [
        split_heads(linear(x, params[f"{part}.weight"], params[f"{part}.bias"]), n_heads)
        for part, x in (("query", query), ("key", key), ("value", value))
    ]
