"""A highway layer in PyTorch: twin of `bertlab.reference.highway`."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from bertlab.nn.functional import linear
from bertlab.nn.parameters import split_parameters

PARTS = ("transform", "gate")
CLOSED = -2.0  # bias of a new gate: at first seven eighths of a vector pass as they are


def highway(x: Tensor, params: Mapping[str, Tensor]) -> Tensor:
    """Mix a vector with what a layer makes of it, by a gate for each number.

    Parameters
    ----------
    x : (..., F) float tensor.
    params : "transform.weight" (F, F) and "transform.bias" (F,), the same of "gate":
        the `state_dict` of `Highway`.

    Returns
    -------
    (..., F) float tensor: ``gate * relu(transform) + (1 - gate) * x``.

    Raises
    ------
    ValueError
        If a parameter is missing or left over, or the shapes do not fit.

    References
    ----------
    Srivastava et al. 2015, eq. (3); behind a character CNN: Kim et al. 2016, sec. 3.3, eq. (8).
    """
    part = split_parameters(params, PARTS)
    changed = torch.relu(linear(x, **part["transform"]))  # (..., F)
    gate = torch.sigmoid(linear(x, **part["gate"]))  # (..., F)
    return gate * changed + (1 - gate) * x


class Highway(nn.Module):
    """A layer that begins by letting most of its input pass; see `highway`.

    Parameters
    ----------
    width : of its input and output F.

    References
    ----------
    Srivastava et al. 2015, sec. 2.1: the negative first bias of the gate. First weights as in the authors'
    code of ELMo (allenai/bilm-tf, training.py): a normal distribution with a deviation of 1/√F.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.transform, self.gate = nn.Linear(width, width), nn.Linear(width, width)
        for layer, bias in ((self.transform, 0.0), (self.gate, CLOSED)):
            nn.init.normal_(layer.weight, std=width**-0.5)
            nn.init.constant_(layer.bias, bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., F) to (..., F)."""
        return highway(x, dict(self.named_parameters()))
