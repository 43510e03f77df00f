"""The quickest way from queries, keys and values to their mix, when nobody asks for the weights."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from bertlab.nn.dropout import dropout as drop
from bertlab.nn.mask_conventions import to_additive_mask

MAX_WRITTEN_OUT = 512  # positions; a longer table of weights costs more than it saves


def mix(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, dropout: float = 0.0) -> Tensor:
    """Mix the values by how well each query matches each key; the weights are not returned.

    Parameters
    ----------
    q, k, v : (B, H, Tq, K), (B, H, Tk, K) and (B, H, Tk, Kv) float tensors.
    mask : bool tensor that broadcasts to (B, H, Tq, Tk), True = may be attended to; optional.
    dropout : probability in [0, 1) with which a weight is dropped.

    Returns
    -------
    (B, H, Tq, Kv) float tensor; zeros where nothing may be attended to.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.1, eq. (1). Fused: Dao et al. 2022.
    """
    if fused_pays(q, k, dropout):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
    scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-1, -2)  # (B, H, Tq, Tk)
    if mask is not None:
        scores = scores + to_additive_mask(mask, scores.dtype, finite=True)
    mixed = drop(torch.softmax(scores, dim=-1), dropout) @ v
    # Where all keys are hidden, all got the same lowest score, and with it the same weight.
    return mixed if mask is None else mixed * mask.any(-1, keepdim=True).to(mixed.dtype)


def fused_pays(q: Tensor, k: Tensor, dropout: float = 0.0) -> bool:
    """Say whether PyTorch's fused attention is quicker than two matrix products with a softmax in between.

    It never writes the weights to memory, which wins nearly everywhere. Not on a CPU at the lengths that BERT
    reads: with dropout it is no longer fused there, and in bfloat16 its small blocks made forward and
    backward take 26 ms where the products take 6 (B = 32, H = 4, T = 128, K = 64).
    """
    short = max(q.shape[-2], k.shape[-2]) <= MAX_WRITTEN_OUT
    return not (q.device.type == "cpu" and short and (q.dtype == torch.bfloat16 or dropout > 0))
