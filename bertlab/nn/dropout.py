"""Dropout whose random numbers cost little: eight decisions out of one number."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def dropout(x: Tensor, p: float) -> Tensor:
    """Set numbers to 0 by chance and enlarge the others, so that the mean stays.

    On a CPU, PyTorch draws one random number after the other, and a training in bfloat16 would wait for them
    a third of its time. Here each 64-bit number decides of eight places, a byte each: a place is dropped when
    its byte is among the lowest 256 p. So p is rounded to a multiple of 1/256 (0.1 to 26/256 = 0.1016); what
    is kept grows by exactly what fits the rounded p.

    Parameters
    ----------
    x : (...) float tensor.
    p : probability in [0, 1) of dropping a number.

    Returns
    -------
    (...) float tensor.

    References
    ----------
    Srivastava et al. 2014, sec. 4.

    Examples
    --------
    >>> kept = dropout(torch.ones(100_000), 0.5)
    >>> kept.unique().tolist(), 0.98 < kept.mean().item() < 1.02
    ([0.0, 2.0], True)
    """
    dropped = round(256 * p)
    if p == 0 or x.device.type != "cpu" or not close(dropped / 256, p):
        return F.dropout(x, p) if p else x
    numbers = torch.empty(-(-x.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
    bytes_ = numbers.view(torch.int8)[: x.numel()].view(x.shape)  # each of -128 … 127 is as likely
    # 1 and 0 in the type of x: to multiply is quicker than to choose
    keep = bytes_.to(x.dtype).ge_(dropped - 128)
    return x * keep * (256 / (256 - dropped))


def close(rounded: float, p: float) -> bool:
    """Say whether a probability is what was asked for, to 2 %."""
    return rounded < 1 and abs(rounded - p) <= 0.02 * p


class Dropout(nn.Module):
    """`dropout` in training, nothing else; has no parameters.

    Parameters
    ----------
    p : probability in [0, 1) of dropping a number.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Map (...) to (...)."""
        return dropout(x, self.p) if self.training else x

    def extra_repr(self) -> str:
        """Tell p when the model is printed."""
        return f"p={self.p}"
