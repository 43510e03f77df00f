"""What GPT is pre-trained with, in PyTorch: twin of `bertlab.reference.language_model`."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from bertlab.nn.feed_forward import Activation
from bertlab.nn.functional import linear
from bertlab.nn.gpt import NOT_ASKED, gpt
from bertlab.nn.losses import cross_entropy

TABLE = "embeddings.token.weight"


def language_model_loss(
    ids: Tensor,
    labels: Tensor,
    params: Mapping[str, Tensor],
    n_heads: int,
    norm_first: bool = False,
    activation: Activation = "gelu_tanh",
    eps: float = 1e-5,
) -> Tensor:
    """Ask GPT at each position for what comes next: the mean surprise in nats.

    A token is scored by the dot product of its own embedding with what the position says.

    Parameters
    ----------
    ids : (B, T) integer tensor.
    labels : (B, T) integer tensor: the token behind each position, -100 where nothing is asked.
    params, n_heads, norm_first, activation, eps : as in `gpt`.

    Returns
    -------
    scalar tensor, 0 where nothing is asked anywhere.

    Raises
    ------
    ValueError
        As in `gpt` and `cross_entropy`.

    References
    ----------
    Radford et al. 2018, sec. 3.1, eq. (1) and (2): softmax(h We'). The paper adds up where we take the mean.
    """
    layers, _ = gpt(ids, params, n_heads, norm_first, activation, eps)
    return cross_entropy(linear(layers[-1], params[TABLE]), labels)  # (B, T, D) -> (B, T, V)


def shift_left(ids: Tensor, real: Tensor | None = None) -> Tensor:
    """Make the labels of a language model from its input: behind each token stands the next one.

    Parameters
    ----------
    ids : (B, T) integer tensor.
    real : (B, T) bool tensor, True where a token stands; everywhere if not given.

    Returns
    -------
    (B, T) integer tensor: position t holds token t + 1, and -100 where there is none.

    Examples
    --------
    >>> shift_left(torch.tensor([[11, 12, 2]])).tolist()
    [[12, 2, -100]]
    """
    next_ids = ids if real is None else ids.masked_fill(~real, NOT_ASKED)
    return torch.cat([next_ids[:, 1:], torch.full_like(ids[:, :1], NOT_ASKED)], dim=1)
