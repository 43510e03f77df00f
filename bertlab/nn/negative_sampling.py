"""Negative sampling in PyTorch: twin of `bertlab.reference.negative_sampling`."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from bertlab.nn.functional import embedding


def negative_sampling_loss(
    hidden: Tensor, targets: Tensor, negatives: Tensor, table: Tensor, share: float = 1.0
) -> Tensor:
    """Mean surprise at "this is the word, and those are noise", in nats.

    A negative that is the target itself does not count, as in word2vec's own code. Other words of the window
    may well be drawn as negatives.

    Parameters
    ----------
    hidden : (B, D) float tensor, what is known of the place: a word's vector, or the mean of several.
    targets : (B,) integer tensor, the words that stand there.
    negatives : (B, N) integer tensor, words drawn from noise.
    table : (V, D) float tensor, the output vectors.
    share : how much a negative counts. 1 in the paper; k / N lets N negatives stand for k.

    Returns
    -------
    scalar tensor: the mean over B of ``-log σ(h·t) - share Σ log σ(-h·n)``.

    Raises
    ------
    ValueError
        If there is no example, or an id has no row.

    References
    ----------
    Mikolov et al. 2013b, sec. 2.2, eq. (4); k is 5 to 20 for small data sets, 2 to 5 for large ones.
    """
    if not len(hidden):
        raise ValueError(f"hidden of shape {tuple(hidden.shape)} has no example: give at least one")
    positive = (hidden * embedding(targets, table)).sum(-1)  # (B,)
    negative = (hidden[:, None] * embedding(negatives, table)).sum(-1)  # (B, N)
    noise = F.softplus(negative) * (negatives != targets[:, None])  # -log σ(-x) = log(1 + exp(x))
    return (F.softplus(-positive) + share * noise.sum(1)).mean()
