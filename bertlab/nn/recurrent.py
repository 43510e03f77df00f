"""GRU and LSTM in PyTorch, written as loops over time: twin of `bertlab.reference.recurrent`."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def gru_cell(x: Tensor, h: Tensor, w_input: Tensor, w_hidden: Tensor, b_input: Tensor, b_hidden: Tensor) -> Tensor:
    """Take one step of a gated recurrent unit.

    Parameters
    ----------
    x, h : (B, D_in) input and (B, D) previous state, float tensors.
    w_input, w_hidden : (3D, D_in) and (3D, D) float tensors; rows in the order reset, update, candidate.
    b_input, b_hidden : (3D,) float tensors.

    Returns
    -------
    (B, D) float tensor, the new state.

    References
    ----------
    Cho et al. 2014, sec. 2.3, eq. (5) to (8); gate order and biases as in `torch.nn.GRU`.
    """
    return _gru_step(F.linear(x, w_input, b_input), h, w_hidden, b_hidden)


def _gru_step(from_x: Tensor, h: Tensor, w_hidden: Tensor, b_hidden: Tensor) -> Tensor:
    """Finish a GRU step whose input is already projected: (B, 3D) and (B, D) -> (B, D)."""
    reset_x, update_x, candidate_x = from_x.chunk(3, dim=-1)
    reset_h, update_h, candidate_h = F.linear(h, w_hidden, b_hidden).chunk(3, dim=-1)
    reset = torch.sigmoid(reset_x + reset_h)
    update = torch.sigmoid(update_x + update_h)
    # Departs from Cho et al. 2014, eq. (8): the reset gate acts after the matrix product, as in cuDNN and torch.
    candidate = torch.tanh(candidate_x + reset * candidate_h)
    return candidate + update * (h - candidate)  # = (1 - update) * candidate + update * h


def lstm_cell(
    x: Tensor, h: Tensor, c: Tensor, w_input: Tensor, w_hidden: Tensor, b_input: Tensor, b_hidden: Tensor
) -> tuple[Tensor, Tensor]:
    """Take one step of a long short-term memory.

    Parameters
    ----------
    x, h, c : (B, D_in) input, (B, D) previous state and (B, D) previous memory, float tensors.
    w_input, w_hidden : (4D, D_in) and (4D, D) float tensors; rows in the order input, forget, candidate, output.
    b_input, b_hidden : (4D,) float tensors.

    Returns
    -------
    h, c : (B, D) float tensors, the new state and the new memory.

    References
    ----------
    Hochreiter and Schmidhuber 1997; forget gate by Gers et al. 2000; gate order as in `torch.nn.LSTM`.
    """
    return _lstm_step(F.linear(x, w_input, b_input), h, c, w_hidden, b_hidden)


def _lstm_step(from_x: Tensor, h: Tensor, c: Tensor, w_hidden: Tensor, b_hidden: Tensor) -> tuple[Tensor, Tensor]:
    """Finish an LSTM step whose input is already projected: (B, 4D), (B, D), (B, D) -> (B, D), (B, D)."""
    input_, forget, candidate, output = (from_x + F.linear(h, w_hidden, b_hidden)).chunk(4, dim=-1)
    c = torch.sigmoid(forget) * c + torch.sigmoid(input_) * torch.tanh(candidate)
    return torch.sigmoid(output) * torch.tanh(c), c


def _time_steps(mask: Tensor | None, n_steps: int, reverse: bool) -> list[tuple[int, Tensor | None]]:
    """List the steps in the order of reading, each with its (B, 1) mask, or None where every row has a token."""
    order = range(n_steps)[::-1] if reverse else range(n_steps)
    if mask is None:
        return [(t, None) for t in order]
    full = mask.all(dim=0).tolist()
    return [(t, None if full[t] else mask[:, t, None]) for t in order]


def _check_recurrent_input(x: Tensor, mask: Tensor | None) -> None:
    """Refuse inputs that are not (B, T, D_in) and masks that are not boolean (B, T)."""
    if x.dim() != 3:
        raise ValueError(f"x has shape {tuple(x.shape)}, expected (B, T, D_in): add the missing axis")
    if mask is not None and (mask.dtype != torch.bool or mask.shape != x.shape[:2]):
        raise ValueError(
            f"the mask is {mask.dtype} of shape {tuple(mask.shape)}, expected bool of {tuple(x.shape[:2])}: "
            "pass ids != pad_id"
        )


def gru(
    x: Tensor,
    mask: Tensor | None,
    w_input: Tensor,
    w_hidden: Tensor,
    b_input: Tensor,
    b_hidden: Tensor,
    h0: Tensor | None = None,
    reverse: bool = False,
) -> tuple[Tensor, Tensor]:
    """Read sequences with a gated recurrent unit, in one direction.

    Parameters
    ----------
    x : (B, T, D_in) float tensor.
    mask : (B, T) bool tensor, True = a real token, or None. At padding the state is carried on unchanged,
        so right-padded sequences need no sorting and the reverse direction starts at the last real token.
    w_input, w_hidden, b_input, b_hidden : see `gru_cell`.
    h0 : (B, D) float tensor, the first state; zeros if None.
    reverse : read from the end.

    Returns
    -------
    states, last : (B, T, D) and (B, D) float tensors; `states` is zero at padding.

    Raises
    ------
    ValueError
        If `x` or `mask` has another shape, or the mask is not boolean.

    References
    ----------
    Cho et al. 2014, sec. 2.3; Bahdanau et al. 2015, sec. 3.2, for reading in both directions.
    """
    _check_recurrent_input(x, mask)
    h = x.new_zeros(len(x), w_hidden.shape[-1]) if h0 is None else h0
    from_x = F.linear(x, w_input, b_input).unbind(dim=1)  # one matrix product for all steps: T times (B, 3D)
    states: list[Tensor] = [h] * len(from_x)
    for t, real in _time_steps(mask, len(from_x), reverse):
        new = _gru_step(from_x[t], h, w_hidden, b_hidden)
        h = new if real is None else torch.where(real, new, h)
        states[t] = h if real is None else h * real
    return torch.stack(states, dim=1), h


def lstm(
    x: Tensor,
    mask: Tensor | None,
    w_input: Tensor,
    w_hidden: Tensor,
    b_input: Tensor,
    b_hidden: Tensor,
    h0: Tensor | None = None,
    c0: Tensor | None = None,
    reverse: bool = False,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Read sequences with a long short-term memory, in one direction.

    Parameters
    ----------
    x, mask, reverse : see `gru`.
    w_input, w_hidden, b_input, b_hidden : see `lstm_cell`.
    h0, c0 : (B, D) float tensors, the first state and memory; zeros if None.

    Returns
    -------
    states, (h, c) : (B, T, D) and twice (B, D) float tensors; `states` is zero at padding.

    Raises
    ------
    ValueError
        If `x` or `mask` has another shape, or the mask is not boolean.

    References
    ----------
    Hochreiter and Schmidhuber 1997; Sutskever et al. 2014, sec. 2.
    """
    _check_recurrent_input(x, mask)
    zeros = x.new_zeros(len(x), w_hidden.shape[-1])
    h, c = zeros if h0 is None else h0, zeros if c0 is None else c0
    from_x = F.linear(x, w_input, b_input).unbind(dim=1)  # T times (B, 4D)
    states: list[Tensor] = [h] * len(from_x)
    for t, real in _time_steps(mask, len(from_x), reverse):
        new_h, new_c = _lstm_step(from_x[t], h, c, w_hidden, b_hidden)
        h = new_h if real is None else torch.where(real, new_h, h)
        c = new_c if real is None else torch.where(real, new_c, c)
        states[t] = h if real is None else h * real
    return torch.stack(states, dim=1), (h, c)


class _Direction(nn.Module):
    """The weights of one direction, uniform in ±1/√D as in `torch.nn.GRU` and `torch.nn.LSTM`."""

    def __init__(self, d_input: int, d_model: int, n_gates: int) -> None:
        super().__init__()
        shapes = {"w_input": (n_gates * d_model, d_input), "w_hidden": (n_gates * d_model, d_model)}
        shapes |= {"b_input": (n_gates * d_model,), "b_hidden": (n_gates * d_model,)}
        for name, shape in shapes.items():
            bound = 1 / math.sqrt(d_model)
            self.register_parameter(name, nn.Parameter(torch.empty(shape).uniform_(-bound, bound)))

    def weights(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return w_input, w_hidden, b_input, b_hidden."""
        return self.w_input, self.w_hidden, self.b_input, self.b_hidden


class GRU(nn.Module):
    """A layer of gated recurrent units, in one direction or both.

    Parameters
    ----------
    d_input : width of the input D_in.
    d_model : width of the state of ONE direction D.
    bidirectional : also read from the end; the states of both directions stand side by side.

    References
    ----------
    Cho et al. 2014, sec. 2.3; Bahdanau et al. 2015, sec. 3.2.
    """

    def __init__(self, d_input: int, d_model: int, bidirectional: bool = False) -> None:
        super().__init__()
        self.forwards = _Direction(d_input, d_model, n_gates=3)
        self.backwards = _Direction(d_input, d_model, n_gates=3) if bidirectional else None

    def forward(self, x: Tensor, mask: Tensor | None = None, h0: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Read (B, T, D_in) into states (B, T, D) and the last state (B, D); 2D instead of D in both directions.

        `h0` (B, D or 2D) is the first state; `mask` and the states at padding are as in `gru`.
        """
        if self.backwards is None:
            return gru(x, mask, *self.forwards.weights(), h0)
        first = (None, None) if h0 is None else h0.chunk(2, dim=-1)
        ahead, last_ahead = gru(x, mask, *self.forwards.weights(), first[0])
        back, last_back = gru(x, mask, *self.backwards.weights(), first[1], reverse=True)
        return torch.cat([ahead, back], dim=-1), torch.cat([last_ahead, last_back], dim=-1)


class LSTM(nn.Module):
    """A layer of long short-term memories, in one direction or both.

    Parameters
    ----------
    d_input : width of the input D_in.
    d_model : width of the state of ONE direction D.
    bidirectional : also read from the end; the states of both directions stand side by side.

    References
    ----------
    Hochreiter and Schmidhuber 1997; Graves and Schmidhuber 2005 for both directions.
    """

    def __init__(self, d_input: int, d_model: int, bidirectional: bool = False) -> None:
        super().__init__()
        self.forwards = _Direction(d_input, d_model, n_gates=4)
        self.backwards = _Direction(d_input, d_model, n_gates=4) if bidirectional else None

    def forward(
        self, x: Tensor, mask: Tensor | None = None, h0: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Read (B, T, D_in) into states (B, T, D) and the last (h, c), each (B, D); 2D instead of D in both directions.

        `h0` is the first (h, c), each (B, D or 2D); `mask` and the states at padding are as in `lstm`.
        """
        if self.backwards is None:
            return lstm(x, mask, *self.forwards.weights(), *(h0 or (None, None)))
        halves = [(None, None), (None, None)] if h0 is None else [part.chunk(2, dim=-1) for part in h0]
        ahead, (h_ahead, c_ahead) = lstm(x, mask, *self.forwards.weights(), halves[0][0], halves[1][0])
        back, (h_back, c_back) = lstm(x, mask, *self.backwards.weights(), halves[0][1], halves[1][1], reverse=True)
        last = torch.cat([h_ahead, h_back], dim=-1), torch.cat([c_ahead, c_back], dim=-1)
        return torch.cat([ahead, back], dim=-1), last
