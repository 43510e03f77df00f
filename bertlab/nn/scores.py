"""The scores of the recurrent models, every query with every key: twin of `bertlab.reference.scores`.

The decoder's states are the queries, the encoder's states the keys. Bahdanau et al. score with the state
*before* the decoder's step, Luong et al. with the state *after* it; the formulas do not know the difference.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bertlab.nn.functional import linear


def dot_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """Score each key by its dot product with each query.

    Parameters
    ----------
    queries, keys : (..., Tq, D) and (..., Tk, D) float tensors with the same leading axes.

    Returns
    -------
    (..., Tq, Tk) float tensor.

    Raises
    ------
    ValueError
        If the widths or the leading axes do not fit.

    References
    ----------
    Luong et al. 2015, sec. 3.1, "dot".

    Examples
    --------
    >>> dot_scores(torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[3.0, 0.0], [0.0, 4.0]]])).tolist()
    [[[3.0, 8.0]]]
    """
    _check_pairing(queries, keys)
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            f"queries of width {queries.shape[-1]} and keys of width {keys.shape[-1]} have no dot product: "
            "make them equal, or use general_scores"
        )
    return queries @ keys.mT  # (..., Tq, D) @ (..., D, Tk)


def general_scores(queries: Tensor, keys: Tensor, weight: Tensor) -> Tensor:
    """Score each key by a learned bilinear form with each query.

    Parameters
    ----------
    queries, keys : (..., Tq, Dq) and (..., Tk, Dk) float tensors with the same leading axes.
    weight : (Dq, Dk) float tensor.

    Returns
    -------
    (..., Tq, Tk) float tensor.

    Raises
    ------
    ValueError
        If the widths or the leading axes do not fit.

    References
    ----------
    Luong et al. 2015, sec. 3.1, "general".

    Examples
    --------
    >>> queries, keys = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[3.0]]])
    >>> general_scores(queries, keys, torch.tensor([[10.0], [1.0]])).tolist()
    [[[36.0]]]
    """
    return dot_scores(linear(queries, weight.mT), keys)  # (..., Tq, Dq) -> (..., Tq, Dk) -> (..., Tq, Tk)


def additive_scores(queries: Tensor, keys: Tensor, w_query: Tensor, w_key: Tensor, v: Tensor) -> Tensor:
    """Score each key with each query by a small network of one hidden layer.

    Parameters
    ----------
    queries, keys : (..., Tq, Dq) and (..., Tk, Dk) float tensors with the same leading axes.
    w_query, w_key, v : (A, Dq), (A, Dk) and (A,) float tensors.

    Returns
    -------
    (..., Tq, Tk) float tensor.

    Raises
    ------
    ValueError
        If the widths or the leading axes do not fit.

    References
    ----------
    Bahdanau et al. 2015, appendix A.1.2, where the query is the *previous* decoder state.

    Examples
    --------
    >>> one, queries, keys = torch.ones(1, 1), torch.tensor([[[2.0]]]), torch.tensor([[[-2.0], [98.0]]])
    >>> additive_scores(queries, keys, one, one, torch.tensor([5.0])).tolist()
    [[[0.0, 5.0]]]
    """
    _check_pairing(queries, keys)
    hidden = torch.tanh(linear(queries, w_query)[..., :, None, :] + linear(keys, w_key)[..., None, :, :])
    return hidden @ v  # (..., Tq, Tk, A) -> (..., Tq, Tk)


def concat_scores(queries: Tensor, keys: Tensor, weight: Tensor, v: Tensor) -> Tensor:
    """Score as `additive_scores` does, with both matrices side by side in one.

    Parameters
    ----------
    queries, keys : (..., Tq, Dq) and (..., Tk, Dk) float tensors with the same leading axes.
    weight, v : (A, Dq + Dk) and (A,) float tensors.

    Returns
    -------
    (..., Tq, Tk) float tensor.

    Raises
    ------
    ValueError
        If the widths or the leading axes do not fit.

    References
    ----------
    Luong et al. 2015, sec. 3.1, "concat", where the query is the *new* decoder state.

    Examples
    --------
    >>> queries, keys = torch.tensor([[[2.0]]]), torch.tensor([[[-2.0], [98.0]]])
    >>> concat_scores(queries, keys, torch.ones(1, 2), torch.tensor([5.0])).tolist()
    [[[0.0, 5.0]]]
    """
    Dq, Dk = queries.shape[-1], keys.shape[-1]
    if weight.shape[-1] != Dq + Dk:
        raise ValueError(
            f"a weight of shape {tuple(weight.shape)} does not fit queries of width {Dq} and keys of {Dk}: "
            f"make it (A, {Dq + Dk})"
        )
    w_query, w_key = weight.split([Dq, Dk], dim=-1)
    return additive_scores(queries, keys, w_query, w_key, v)


def _check_pairing(queries: Tensor, keys: Tensor) -> None:
    """Refuse queries and keys of different batches, which would broadcast without a word."""
    if queries.shape[:-2] != keys.shape[:-2]:
        raise ValueError(
            f"queries of shape {tuple(queries.shape)} and keys of shape {tuple(keys.shape)} belong to "
            "different batches: all their axes but the last two must agree"
        )
