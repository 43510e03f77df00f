"""Cutting the width of a model into heads, and laying the heads side by side again."""

from collections.abc import Mapping

import numpy as np

from bertlab.reference.types import Floats


def split_heads(x: Floats, n_heads: int) -> Floats:
    """Cut the features of each position into equal slices, one for each head.

    Parameters
    ----------
    x : (B, T, D) float array.
    n_heads : number of heads H, a divisor of D.

    Returns
    -------
    (B, H, T, K) float array with K = D / H; head 0 has the first K features.

    Raises
    ------
    ValueError
        If `x` has not three axes, or D does not split into `n_heads`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.2.

    Examples
    --------
    >>> split_heads(np.array([[[1, 2, 3, 4], [5, 6, 7, 8]]]), n_heads=2).tolist()
    [[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]]
    """
    if x.ndim != 3:
        raise ValueError(
            f"x has shape {x.shape}, expected (B, T, D): add a batch axis to one sequence with x[None]"
        )
    B, T, D = x.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"width {D} does not split into {n_heads} heads: choose a divisor of {D}")
    return np.swapaxes(x.reshape(B, T, n_heads, D // n_heads), 1, 2)  # (B, T, D) -> (B, H, T, K)


def split_heads_vjp(grad: Floats, x: Floats, n_heads: int) -> Floats:
    """Pull a gradient back through `split_heads`: put it together again.

    Parameters
    ----------
    grad : (B, H, T, K) float array, gradient with respect to the output.
    x, n_heads : as in `split_heads`.

    Returns
    -------
    (B, T, D) float array, gradient with respect to `x`.

    Examples
    --------
    >>> split_heads_vjp(np.array([[[[1.0]], [[2.0]]]]), np.zeros((1, 1, 2)), n_heads=2).tolist()
    [[[1.0, 2.0]]]
    """
    return merge_heads(grad)


def merge_heads(x: Floats) -> Floats:
    """Lay the heads of each position side by side: the inverse of `split_heads`.

    Parameters
    ----------
    x : (B, H, T, K) float array.

    Returns
    -------
    (B, T, D) float array with D = H K.

    Raises
    ------
    ValueError
        If `x` has not four axes.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.2: "Concat".

    Examples
    --------
    >>> merge_heads(np.array([[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]])).tolist()
    [[[1, 2, 3, 4], [5, 6, 7, 8]]]
    """
    if x.ndim != 4:
        raise ValueError(f"x has shape {x.shape}, expected (B, H, T, K): split it into heads first")
    B, H, T, K = x.shape
    return np.swapaxes(x, 1, 2).reshape(B, T, H * K)  # (B, H, T, K) -> (B, T, D)


def merge_heads_vjp(grad: Floats, x: Floats) -> Floats:
    """Pull a gradient back through `merge_heads`: cut it up again.

    Parameters
    ----------
    grad : (B, T, D) float array, gradient with respect to the output.
    x : (B, H, T, K) float array, as in `merge_heads`.

    Returns
    -------
    (B, H, T, K) float array, gradient with respect to `x`.

    Examples
    --------
    >>> merge_heads_vjp(np.array([[[1.0, 2.0]]]), np.zeros((1, 2, 1, 1))).tolist()
    [[[[1.0]], [[2.0]]]]
    """
    return split_heads(grad, n_heads=x.shape[1])


def check_parameter_names(params: Mapping[str, Floats]) -> None:
    """Refuse parameters of multi-head attention that lack a name or have one too many.

    Parameters
    ----------
    params : a weight and a bias for each of query, key, value and output, for instance under "query.weight".

    Raises
    ------
    ValueError
        If a name is missing or left over.

    Examples
    --------
    >>> check_parameter_names({f"{part}.weight": np.eye(2) for part in ("query", "key", "value", "output")})
    Traceback (most recent call last):
    ValueError: params lacks ['key.bias', 'output.bias', 'query.bias', 'value.bias'] and has [] left over: ...
    """
    wanted = {f"{part}.{kind}" for part in ("query", "key", "value", "output") for kind in ("weight", "bias")}
    if wanted != set(params):
        raise ValueError(
            f"params lacks {sorted(wanted - set(params))} and has {sorted(set(params) - wanted)} left over: "
            "use the names of the state_dict of bertlab.nn.MultiHeadAttention"
        )
