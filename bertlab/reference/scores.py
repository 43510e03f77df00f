"""How well a key answers a query: the four scores of the recurrent models, every query with every key.

The decoder's states are the queries, the encoder's states the keys. Bahdanau et al. score with the state
*before* the decoder's step, Luong et al. with the state *after* it; the formulas do not know the difference.
"""

import numpy as np

from bertlab.reference.functional import linear, linear_vjp
from bertlab.reference.types import Floats


def dot_scores(queries: Floats, keys: Floats) -> Floats:
    """Score each key by its dot product with each query: nothing to learn, but both need the same width.

    Parameters
    ----------
    queries, keys : (..., Tq, D) and (..., Tk, D) float arrays with the same leading axes.

    Returns
    -------
    (..., Tq, Tk) float array.

    Raises
    ------
    ValueError
        If the widths or the leading axes differ.

    References
    ----------
    Luong et al. 2015, sec. 3.1, "dot".

    Examples
    --------
    >>> dot_scores(np.array([[[1.0, 2.0]]]), np.array([[[3.0, 0.0], [0.0, 4.0]]])).tolist()
    [[[3.0, 8.0]]]
    """
    _check_pairing(queries, keys)
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            f"queries of width {queries.shape[-1]} and keys of width {keys.shape[-1]} have no dot product: "
            "make them equal, or use general_scores"
        )
    return queries @ keys.swapaxes(-1, -2)  # (..., Tq, D) @ (..., D, Tk)


def dot_scores_vjp(grad: Floats, queries: Floats, keys: Floats) -> tuple[Floats, Floats]:
    """Pull a gradient back through `dot_scores`.

    Parameters
    ----------
    grad : (..., Tq, Tk) float array, gradient with respect to the scores.
    queries, keys : as in `dot_scores`.

    Returns
    -------
    d_queries, d_keys : float arrays, shaped like `queries` and `keys`.

    Examples
    --------
    >>> [d.tolist() for d in dot_scores_vjp(np.ones((1, 1, 1)), np.array([[[2.0]]]), np.array([[[3.0]]]))]
    [[[[3.0]]], [[[2.0]]]]
    """
    return grad @ keys, grad.swapaxes(-1, -2) @ queries


def general_scores(queries: Floats, keys: Floats, weight: Floats) -> Floats:
    """Score each key by a dot product after a learned change of coordinates.

    Parameters
    ----------
    queries, keys : (..., Tq, Dq) and (..., Tk, Dk) float arrays with the same leading axes.
    weight : (Dq, Dk) float array.

    Returns
    -------
    (..., Tq, Tk) float array: ``q @ weight @ k`` for each pair.

    Raises
    ------
    ValueError
        If the widths or the leading axes do not fit.

    References
    ----------
    Luong et al. 2015, sec. 3.1, "general".

    Examples
    --------
    >>> general_scores(np.array([[[1.0, 2.0]]]), np.array([[[3.0]]]), np.array([[10.0], [1.0]])).tolist()
    [[[36.0]]]
    """
    return dot_scores(linear(queries, weight.T), keys)  # (..., Tq, Dq) -> (..., Tq, Dk) -> (..., Tq, Tk)


def general_scores_vjp(
    grad: Floats, queries: Floats, keys: Floats, weight: Floats
) -> tuple[Floats, Floats, Floats]:
    """Pull a gradient back through `general_scores`.

    Parameters
    ----------
    grad : (..., Tq, Tk) float array, gradient with respect to the scores.
    queries, keys, weight : as in `general_scores`.

    Returns
    -------
    d_queries, d_keys, d_weight : float arrays, shaped like `queries`, `keys` and `weight`.

    Examples
    --------
    >>> one, two, three = (np.full((1, 1, 1), n) for n in (1.0, 2.0, 3.0))
    >>> [d.item() for d in general_scores_vjp(one, two, three, np.array([[10.0]]))]
    [30.0, 20.0, 6.0]
    """
    d_turned, d_keys = dot_scores_vjp(grad, linear(queries, weight.T), keys)
    d_queries, d_weight_t, _ = linear_vjp(d_turned, queries, weight.T)
    return d_queries, d_keys, d_weight_t.T


def additive_scores(queries: Floats, keys: Floats, w_query: Floats, w_key: Floats, v: Floats) -> Floats:
    """Score each key with each query by a small network with one hidden layer.

    Parameters
    ----------
    queries, keys : (..., Tq, Dq) and (..., Tk, Dk) float arrays with the same leading axes.
    w_query, w_key : (A, Dq) and (A, Dk) float arrays.
    v : (A,) float array.

    Returns
    -------
    (..., Tq, Tk) float array: ``v · tanh(w_query q + w_key k)`` for each pair.

    Raises
    ------
    ValueError
        If the widths or the leading axes do not fit.

    References
    ----------
    Bahdanau et al. 2015, appendix A.1.2 (W_a, U_a and v_a there); the query is the *previous* decoder state.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> additive_scores(np.array([[[2.0]]]), np.array([[[-2.0], [98.0]]]), one, one, np.array([5.0])).tolist()
    [[[0.0, 5.0]]]
    """
    return _hidden_layer(queries, keys, w_query, w_key) @ v  # (..., Tq, Tk, A) -> (..., Tq, Tk)


def additive_scores_vjp(
    grad: Floats, queries: Floats, keys: Floats, w_query: Floats, w_key: Floats, v: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Pull a gradient back through `additive_scores`.

    Parameters
    ----------
    grad : (..., Tq, Tk) float array, gradient with respect to the scores.
    queries, keys, w_query, w_key, v : as in `additive_scores`.

    Returns
    -------
    d_queries, d_keys, d_w_query, d_w_key, d_v : float arrays, each shaped like its argument.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> gradients = additive_scores_vjp(one[None], -one[None], one[None], one, one, np.array([3.0]))
    >>> [d.item() for d in gradients]  # tanh(-1 + 1) = 0, where its slope is 1
    [3.0, 3.0, -3.0, 3.0, 0.0]
    """
    hidden = _hidden_layer(queries, keys, w_query, w_key)  # (..., Tq, Tk, A)
    d_v = (grad[..., None] * hidden).reshape(-1, len(v)).sum(axis=0)
    d_sum = grad[..., None] * v * (1 - hidden**2)  # through tanh: (..., Tq, Tk, A)
    d_queries, d_w_query, _ = linear_vjp(d_sum.sum(axis=-2), queries, w_query)  # a query met every key
    d_keys, d_w_key, _ = linear_vjp(d_sum.sum(axis=-3), keys, w_key)  # a key met every query
    return d_queries, d_keys, d_w_query, d_w_key, d_v


def concat_scores(queries: Floats, keys: Floats, weight: Floats, v: Floats) -> Floats:
    """Score like `additive_scores`, with both of its matrices side by side in one.

    Parameters
    ----------
    queries, keys : (..., Tq, Dq) and (..., Tk, Dk) float arrays with the same leading axes.
    weight : (A, Dq + Dk) float array.
    v : (A,) float array.

    Returns
    -------
    (..., Tq, Tk) float array: ``v · tanh(weight [q; k])`` for each pair.

    Raises
    ------
    ValueError
        If the widths or the leading axes do not fit.

    References
    ----------
    Luong et al. 2015, sec. 3.1, "concat"; the query is the *new* decoder state.

    Examples
    --------
    >>> queries, keys = np.array([[[2.0]]]), np.array([[[-2.0], [98.0]]])
    >>> concat_scores(queries, keys, np.ones((1, 2)), np.array([5.0])).tolist()
    [[[0.0, 5.0]]]
    """
    return additive_scores(queries, keys, *_halves(queries, keys, weight), v)


def concat_scores_vjp(
    grad: Floats, queries: Floats, keys: Floats, weight: Floats, v: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Pull a gradient back through `concat_scores`.

    Parameters
    ----------
    grad : (..., Tq, Tk) float array, gradient with respect to the scores.
    queries, keys, weight, v : as in `concat_scores`.

    Returns
    -------
    d_queries, d_keys, d_weight, d_v : float arrays, each shaped like its argument.

    Examples
    --------
    >>> one = np.ones((1, 1, 1))
    >>> d_queries, d_keys, d_weight, d_v = concat_scores_vjp(one, -one, one, np.ones((1, 2)), np.array([3.0]))
    >>> d_weight.tolist()
    [[-3.0, 3.0]]
    """
    gradients = additive_scores_vjp(grad, queries, keys, *_halves(queries, keys, weight), v)
    d_queries, d_keys, d_w_query, d_w_key, d_v = gradients
    return d_queries, d_keys, np.concatenate([d_w_query, d_w_key], axis=1), d_v


def _hidden_layer(queries: Floats, keys: Floats, w_query: Floats, w_key: Floats) -> Floats:
    """Each query with each key through the first layer of the scoring network: (..., Tq, Tk, A)."""
    _check_pairing(queries, keys)
    from_query = linear(queries, w_query)[..., :, None, :]  # (..., Tq, 1, A)
    from_key = linear(keys, w_key)[..., None, :, :]  # (..., 1, Tk, A)
    return np.tanh(from_query + from_key)  # (..., Tq, Tk, A)


def _halves(queries: Floats, keys: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Cut the weight of `concat_scores` into the query's columns and the key's: (A, Dq) and (A, Dk)."""
    Dq, Dk = queries.shape[-1], keys.shape[-1]
    if weight.shape[-1] != Dq + Dk:
        raise ValueError(
            f"a weight of shape {weight.shape} does not fit queries of width {Dq} and keys of width {Dk}: "
            f"make it (A, {Dq + Dk})"
        )
    return weight[:, :Dq], weight[:, Dq:]


def _check_pairing(queries: Floats, keys: Floats) -> None:
    """Refuse queries and keys of different batches, which would broadcast into gradients of another shape."""
    if queries.shape[:-2] != keys.shape[:-2]:
        raise ValueError(
            f"queries of shape {queries.shape} and keys of shape {keys.shape} belong to different batches: "
            "all their axes but the last two must agree"
        )
