"""Cutting the width of a model into heads and joining them again: twin of `bertlab.reference.heads`."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut the features of each position into equal slices, one for each head.

    Parameters
    ----------
    x : (B, T, D) float tensor.
    n_heads : number of heads H, a divisor of D.

    Returns
    -------
    (B, H, T, K) float tensor with K = D / H; head 0 has the first K features.

    Raises
    ------
    ValueError
        If `x` has not three axes, or D does not split into `n_heads`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.2.

    Examples
    --------
    >>> split_heads(torch.tensor([[[1, 2, 3, 4], [5, 6, 7, 8]]]), n_heads=2).tolist()
    [[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]]
    """
    if x.dim() != 3:
        raise ValueError(
            f"x has shape {tuple(x.shape)}, expected (B, T, D): add a batch axis to one sequence with x[None]"
        )
    B, T, D = x.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"width {D} does not split into {n_heads} heads: choose a divisor of {D}")
    return torch.transpose(x.reshape(B, T, n_heads, D // n_heads), 1, 2)  # (B, T, D) -> (B, H, T, K)


def merge_heads(x: Tensor) -> Tensor:
    """Lay the heads of each position side by side: the inverse of `split_heads`.

    Parameters
    ----------
    x : (B, H, T, K) float tensor.

    Returns
    -------
    (B, T, D) float tensor with D = H K.

    Raises
    ------
    ValueError
        If `x` has not four axes.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.2: "Concat".

    Examples
    --------
    >>> merge_heads(torch.tensor([[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]])).tolist()
    [[[1, 2, 3, 4], [5, 6, 7, 8]]]
    """
    if x.dim() != 4:
        raise ValueError(f"x has shape {tuple(x.shape)}, expected (B, H, T, K): split it into heads first")
    B, H, T, K = x.shape
    return torch.transpose(x, 1, 2).reshape(B, T, H * K)  # (B, H, T, K) -> (B, T, D)


def check_parameter_names(params: Mapping[str, Tensor]) -> None:
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
    >>> params = {f"{part}.weight": torch.eye(2) for part in ("query", "key", "value", "output")}
    >>> check_parameter_names(params)
    Traceback (most recent call last):
    ValueError: params lacks ['key.bias', 'output.bias', 'query.bias', 'value.bias'] and has [] left over: ...
    """
    wanted = {f"{part}.{kind}" for part in ("query", "key", "value", "output") for kind in ("weight", "bias")}
    if wanted != set(params):
        raise ValueError(
            f"params lacks {sorted(wanted - set(params))} and has {sorted(set(params) - wanted)} left over: "
            "use the names of the state_dict of bertlab.nn.MultiHeadAttention"
        )
