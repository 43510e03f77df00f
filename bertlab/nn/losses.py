"""From logits to one number that says how wrong the model is: twin of `bertlab.reference.losses`."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from bertlab.nn.large_loss import SummedSurprise


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Logarithm of `softmax`, in nats, computed without leaving the log domain.

    Parameters
    ----------
    x : (...) float tensor of scores.
    axis : the axis whose exponentials sum to 1.

    Returns
    -------
    (...) float tensor, same shape as `x`.

    Examples
    --------
    >>> log_softmax(torch.tensor([1000.0, 1000.0])).exp().tolist()
    [0.5, 0.5]
    """
    return torch.log_softmax(x, dim=axis)


def cross_entropy(
    logits: Tensor, targets: Tensor, ignore_index: int = -100, smoothing: float = 0.0
) -> Tensor:
    """Mean surprise at the right answers, in nats per answer that counts.

    With label smoothing ε, a position adds ``-(1 - ε) log p(target) - ε/V Σ log p(k)``: the right answer is
    asked for with probability 1 - ε + ε/V, every class k of all V, padding included, with ε/V.

    Parameters
    ----------
    logits : (..., V) float tensor.
    targets : (...) int64 tensor of class numbers below V, or `ignore_index`.
    ignore_index : target value of positions that do not count: neither in the sum nor in the divisor.
    smoothing : ε in [0, 1).

    Returns
    -------
    scalar tensor; 0 with zero gradients when no position counts, never NaN.

    Raises
    ------
    ValueError
        If there is not one target for each row of logits, a target is no class, or ε is none.

    References
    ----------
    Goodfellow et al. 2016, "Deep Learning", sec. 6.2.2.3. Smoothing: Szegedy et al. 2016, sec. 7, with a
    uniform prior, as `torch.nn.CrossEntropyLoss`; Vaswani et al. 2017, sec. 5.4, with ε = 0.1. Others share ε
    among the V - 2 classes that are neither right nor padding.

    Examples
    --------
    >>> round(cross_entropy(torch.zeros(2, 4), torch.tensor([3, -100])).item(), 4)  # log 4
    1.3863
    """
    if targets.shape != logits.shape[:-1]:
        raise ValueError(
            f"logits of shape {tuple(logits.shape)} need targets of shape {tuple(logits.shape[:-1])}, "
            f"not {tuple(targets.shape)}: the classes are the last axis of the logits"
        )
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing={smoothing} is no share in [0, 1): 0.1 is usual, 0 switches it off")
    V = logits.shape[-1]
    if not torch.compiler.is_compiling():  # a compiled model cannot branch on values
        strange = targets[(targets != ignore_index) & ((targets < 0) | (targets >= V))]
        if strange.numel():  # found here: on a GPU it would end the whole process in an assertion
            raise ValueError(
                f"target {strange[0]} is none of the {V} classes: choose one in [0, {V}), "
                f"or {ignore_index} for a position that does not count"
            )
    rows, answers = logits.reshape(-1, V), targets.reshape(-1)
    if logits.dtype == torch.bfloat16 and smoothing == 0 and ignore_index < 0:
        total: Tensor = SummedSurprise.apply(rows, answers, ignore_index)  # type: ignore[no-untyped-call]
    else:
        total = F.cross_entropy(
            rows, answers, ignore_index=ignore_index, reduction="sum", label_smoothing=smoothing
        )
    return total / (targets != ignore_index).sum().clamp(min=1)
