"""Readers from the left and from the right that never meet: twin of `bertlab.reference.bidirectional_lm`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from bertlab.nn.dropout import Dropout
from bertlab.nn.fused_lstm import fused_lstm
from bertlab.nn.parameters import check_names, split_numbered, split_parameters

PARTS = ("forwards", "backwards")
WEIGHTS = ("w_input", "w_hidden", "b_input", "b_hidden", "w_project")
Stack = Sequence[Mapping[str, Tensor]]


def bidirectional_lm(
    x: Tensor, params: Mapping[str, Tensor], mask: Tensor | None = None
) -> tuple[Tensor, ...]:
    """Read vectors from the left and from the right, each direction by layers of LSTMs with projections.

    From the second layer on, what enters a layer is added to what it says.

    Parameters
    ----------
    x : (B, T, D) float tensor.
    params : the `state_dict` of `BidirectionalLM`.
    mask : (B, T) bool tensor, True = a real token; None if all are.

    Returns
    -------
    L + 1 float tensors (B, T, 2D): x twice, side by side, then of each layer the states from the left and
    those from the right; zero at padding.

    Raises
    ------
    ValueError
        If a parameter is missing or left over, or the shapes do not fit.

    References
    ----------
    Peters et al. 2018, sec. 3.1; the residual connection is in sec. 3.4.
    """
    part = split_parameters(params, PARTS)
    return _both_ways(x, [split_numbered(part[name]) for name in PARTS], mask)


def _both_ways(
    x: Tensor, stacks: Sequence[Stack], mask: Tensor | None, drop: Callable[[Tensor], Tensor] | None = None
) -> tuple[Tensor, ...]:
    sides = [_one_way(x, stack, mask, reverse, drop) for reverse, stack in enumerate(stacks)]
    return tuple(torch.cat(pair, dim=-1) for pair in zip(*sides, strict=True))


def _one_way(
    x: Tensor, stack: Stack, mask: Tensor | None, reverse: int, drop: Callable[[Tensor], Tensor] | None
) -> list[Tensor]:
    """Read in one direction: x, then the states of each layer, (B, T, D) each; `drop` is for what enters."""
    layers = [x]
    for i, weights in enumerate(stack):
        check_names(weights, WEIGHTS)
        inside = drop(layers[-1]) if drop else layers[-1]
        states = fused_lstm(inside, mask, **weights, reverse=bool(reverse))
        layers.append(states + inside if i else states)  # no way around the first layer
    return [x if mask is None else x.masked_fill(~mask[..., None], 0), *layers[1:]]


class ProjectedLSTM(nn.Module):
    """The weights of one layer in one direction; `bidirectional_lm` reads with them.

    Parameters
    ----------
    d_model : width D of what it reads and of its states.
    d_memory : width M of its memory.

    References
    ----------
    First weights as in the authors' code (allenai/bilm-tf): Glorot & Bengio 2010, eq. (16), for the matrices,
    and a forget gate that begins by keeping, with a bias of 1 (Jozefowicz et al. 2015, sec. 2.2).
    """

    def __init__(self, d_model: int, d_memory: int) -> None:
        super().__init__()
        shapes = ((4 * d_memory, d_model), (4 * d_memory, d_model), (4 * d_memory,), (4 * d_memory,))
        for name, shape in zip(WEIGHTS, (*shapes, (d_model, d_memory)), strict=True):
            weight = torch.zeros(shape)
            self.register_parameter(name, nn.Parameter(weight))
            if weight.dim() == 2:
                nn.init.xavier_uniform_(self.get_parameter(name))
        with torch.no_grad():
            self.get_parameter("b_input")[d_memory : 2 * d_memory] = 1  # input, forget, candidate, output


class BidirectionalLM(nn.Module):
    """Two stacks of LSTMs, one from the left and one from the right; see `bidirectional_lm`.

    Parameters
    ----------
    n_layers : L of each direction.
    d_model, d_memory : as in `ProjectedLSTM`.
    dropout : probability of dropping a number of what enters a layer.

    References
    ----------
    Peters et al. 2018, sec. 3.4.

    Examples
    --------
    >>> layers = BidirectionalLM(2, d_model=8, d_memory=16)(torch.ones(1, 5, 8))
    >>> len(layers), layers[-1].shape  # L + 1, (B, T, 2D)
    (3, torch.Size([1, 5, 16]))
    """

    def __init__(self, n_layers: int, d_model: int, d_memory: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        for name in PARTS:
            layers = [ProjectedLSTM(d_model, d_memory) for _ in range(n_layers)]
            self.add_module(name, nn.ModuleList(layers))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, ...]:
        """Map (B, T, D) to L + 1 tensors (B, T, 2D)."""
        stacks = [
            [dict(layer.named_parameters()) for layer in self.get_submodule(name).children()]
            for name in PARTS
        ]
        return _both_ways(x, stacks, mask, self.dropout)
