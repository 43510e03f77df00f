"""Attention in PyTorch, one head and many: twin of `bertlab.reference.attention`.

What `scores` and `heads` define can be had from here as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertlab.nn.functional import linear
from bertlab.nn.heads import check_parameter_names
from bertlab.nn.heads import merge_heads as merge_heads
from bertlab.nn.heads import split_heads as split_heads
from bertlab.nn.masking import check_mask, masked_softmax
from bertlab.nn.mixing import mix
from bertlab.nn.packing import Packing
from bertlab.nn.scores import additive_scores as additive_scores
from bertlab.nn.scores import concat_scores as concat_scores
from bertlab.nn.scores import dot_scores as dot_scores
from bertlab.nn.scores import general_scores as general_scores


def attend(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Turn scores into weights and mix the values by them: the half that all attentions share.

    Parameters
    ----------
    scores : (..., Tq, Tk) float tensor.
    values : (..., Tk, D) float tensor.
    mask : bool tensor that broadcasts to the scores, True = may be attended to; optional.

    Returns
    -------
    context, weights : (..., Tq, D) and (..., Tq, Tk) float tensors.

    Raises
    ------
    ValueError
        If the shapes do not fit, or as in `masking.check_mask`.

    References
    ----------
    Bahdanau et al. 2015, sec. 3.1, eq. (5) and (6).

    Examples
    --------
    >>> attend(torch.zeros(1, 2), torch.tensor([[2.0], [4.0]]))[0].tolist()
    [[3.0]]
    """
    if values.shape[:-1] != scores.shape[:-2] + scores.shape[-1:]:
        raise ValueError(
            f"values of shape {tuple(values.shape)} do not fit scores of shape {tuple(scores.shape)}: "
            "give one value for each key"
        )
    weights = masked_softmax(scores, mask)  # (..., Tq, Tk)
    return weights @ values, weights


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Mix the values by how well each query matches each key.

    Parameters
    ----------
    q, k, v : (..., Tq, K), (..., Tk, K) and (..., Tk, Kv) float tensors.
    mask : bool tensor that broadcasts to (..., Tq, Tk), True = may be attended to; optional.

    Returns
    -------
    output, weights : (..., Tq, Kv) and (..., Tq, Tk) float tensors.
        A row of `weights` sums to 1, or is all zero where nothing may be attended to.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.1, eq. (1).

    Examples
    --------
    >>> scaled_dot_product_attention(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([[3.0]]))[0].tolist()
    [[3.0]]
    """
    K = q.shape[-1]
    # q·k has variance K when the parts of q and k have variance 1: unscaled, the softmax saturates.
    scores = dot_scores(q, k) / math.sqrt(K)  # (..., Tq, Tk)
    return attend(scores, v, mask)


def self_attention(
    x: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Let each position of a sequence look at all the others: one head, no bias.

    Parameters
    ----------
    x : (..., T, D) float tensor.
    w_query, w_key, w_value : (K, D) float tensors, the layout of `torch.nn.Linear`.
    mask : bool tensor that broadcasts to (..., T, T), True = may be attended to; optional.

    Returns
    -------
    output, weights : (..., T, K) and (..., T, T) float tensors.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.1 and 3.2.3.
    """
    q, k, v = linear(x, w_query), linear(x, w_key), linear(x, w_value)  # (..., T, D) -> (..., T, K)
    return scaled_dot_product_attention(q, k, v, mask)


def multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    params: Mapping[str, Tensor],
    n_heads: int,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend with several heads at once, each in its own slice of the width.

    Parameters
    ----------
    query, key, value : (B, Tq, D), (B, Tk, D) and (B, Tk, D) float tensors.
    params : ``{"query.weight": (D, D), "query.bias": (D,), "key.weight": …, "value.…", "output.…"}``,
        the `state_dict` of `MultiHeadAttention`.
    n_heads : number of heads H, a divisor of D.
    mask : bool tensor that broadcasts to (B, H, Tq, Tk), True = may be attended to; optional.

    Returns
    -------
    output, weights : (B, Tq, D) and (B, H, Tq, Tk) float tensors.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.2.
    """
    check_parameter_names(params)
    q, k, v = (
        split_heads(linear(x, params[f"{name}.weight"], params[f"{name}.bias"]), n_heads)  # (B, H, T, K)
        for name, x in (("query", query), ("key", key), ("value", value))
    )
    mixed, weights = scaled_dot_product_attention(q, k, v, mask)
    return linear(merge_heads(mixed), params["output.weight"], params["output.bias"]), weights


class SelfAttention(nn.Module):
    """One head of self-attention: three projections and the scaled dot product.

    Parameters
    ----------
    d_model : width of the input D.
    d_head : width of queries, keys and values K.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.1.
    """

    def __init__(self, d_model: int, d_head: int) -> None:
        super().__init__()
        self.query = nn.Linear(d_model, d_head, bias=False)
        self.key = nn.Linear(d_model, d_head, bias=False)
        self.value = nn.Linear(d_model, d_head, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Map (B, T, D) to the output (B, T, K) and the weights (B, T, T); see `self_attention`."""
        return self_attention(x, self.query.weight, self.key.weight, self.value.weight, mask)


class MultiHeadAttention(nn.Module):
    """Several heads of attention beside each other, mixed by one more matrix.

    Parameters
    ----------
    d_model : width D.
    n_heads : number of heads H.
    dropout : probability in [0, 1) with which a weight is dropped in training.

    Raises
    ------
    ValueError
        If `d_model` does not split into `n_heads`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.2; dropout on the weights as in the authors' code and in BERT.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model={d_model} does not split into {n_heads} heads: choose a divisor")
        if not 0 <= dropout < 1:
            raise ValueError(
                f"dropout={dropout} is not a probability in [0, 1): choose one, 0 switches it off"
            )
        self.n_heads = n_heads
        self.dropout = dropout
        self.query, self.key, self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | Packing | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Let each query attend to the keys.

        Parameters
        ----------
        query, key, value : (B, Tq, D), (B, Tk, D) and (B, Tk, D) float tensors.
        mask : bool tensor that broadcasts to (B, H, Tq, Tk), True = may be attended to; optional. Or a
            `Packing`: B is 1 then, and the sequences in that row cannot see each other.
        need_weights : also return the weights; without them PyTorch's fused attention does the work.

        Returns
        -------
        output, weights : (B, Tq, D) and (B, H, Tq, Tk) float tensors, or None for the weights.
        """
        return self.attend(query, *self.keys_values(key, value), mask, need_weights)

    def keys_values(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Project (B, Tk, D) inputs to the keys and values of all heads, each (B, H, Tk, K).

        Who decodes step by step keeps them (`bertlab.nn.cache`), and calls `attend` with all of them.
        """
        return split_heads(self.key(key), self.n_heads), split_heads(self.value(value), self.n_heads)

    def attend(
        self,
        query: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | Packing | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Let each query (B, Tq, D) attend to keys and values that are projected already; as `forward`."""
        q = split_heads(self.query(query), self.n_heads)  # (B, H, Tq, K)
        drop = self.dropout if self.training else 0.0  # the functional forms below do not know the mode
        if isinstance(mask, Packing):
            if need_weights:
                raise ValueError("a packed batch has no weights (B, H, T, T): ask for them without packing")
            return self.output(merge_heads(mask.mix(q, keys, values, drop))), None
        if need_weights:
            weights = masked_softmax(dot_scores(q, keys) / math.sqrt(q.shape[-1]), mask)
            mixed = F.dropout(weights, drop) @ values
            return self.output(merge_heads(mixed)), weights
        if q.shape[0] != keys.shape[0]:  # fused attention would repeat a batch of 1 without a word
            raise ValueError(f"{q.shape[0]} rows of queries and {keys.shape[0]} of keys: give each its own")
        if mask is not None:
            check_mask(mask, torch.Size((*q.shape[:-1], keys.shape[-2])))
        return self.output(merge_heads(mix(q, keys, values, mask, drop))), None
