"""GRU and LSTM in PyTorch, written as loops over time: twin of `bertlab.reference.recurrent`."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from bertlab.nn.cells import check_gates, gru_step, lstm_step
from bertlab.nn.cells import gru_cell as gru_cell
from bertlab.nn.cells import lstm_cell as lstm_cell
from bertlab.nn.functional import linear


def _time_steps(mask: Tensor | None, n_steps: int, reverse: bool) -> list[tuple[int, Tensor | None]]:
    """List the steps in the order of reading, each with its (B, 1) mask; None where every row has a token."""
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


def _first(x: Tensor, width: int, state: Tensor | None) -> Tensor:
    """Return the state before the first step: the given one, or zeros."""
    shape = (len(x), width)
    if state is not None and tuple(state.shape) != shape:
        raise ValueError(
            f"a first state of shape {tuple(state.shape)} does not fit: give one of shape {shape}, (B, D)"
        )
    return x.new_zeros(shape) if state is None else state


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
    check_gates(w_input, w_hidden, n_gates=3)
    h = _first(x, w_hidden.shape[-1], h0)
    from_x = linear(x, w_input, b_input).unbind(dim=1)  # one matrix product for all steps: T times (B, 3D)
    states: list[Tensor] = [h] * len(from_x)
    for t, real in _time_steps(mask, len(from_x), reverse):
        new = gru_step(from_x[t], h, w_hidden, b_hidden)
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
    w_project: Tensor | None = None,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Read sequences with a long short-term memory, in one direction.

    Parameters
    ----------
    x, mask, reverse : see `gru`.
    w_input, w_hidden, b_input, b_hidden, w_project : see `lstm_cell`.
    h0, c0 : (B, D) float tensors, the first state and memory; zeros if None. With a projection the state is
        (B, P).

    Returns
    -------
    states, (h, c) : (B, T, D) and twice (B, D) float tensors; `states` is zero at padding. With a projection,
        states have width P.

    Raises
    ------
    ValueError
        If `x` or `mask` has another shape, or the mask is not boolean.

    References
    ----------
    Hochreiter and Schmidhuber 1997; Sutskever et al. 2014, sec. 2.
    """
    _check_recurrent_input(x, mask)
    check_gates(w_input, w_hidden, 4, w_project)
    h, c = _first(x, w_hidden.shape[-1], h0), _first(x, len(w_hidden) // 4, c0)
    from_x = linear(x, w_input, b_input).unbind(dim=1)  # T times (B, 4D)
    states: list[Tensor] = [h] * len(from_x)
    for t, real in _time_steps(mask, len(from_x), reverse):
        new_h, new_c = lstm_step(from_x[t], h, c, w_hidden, b_hidden, w_project)
        h = new_h if real is None else torch.where(real, new_h, h)
        c = new_c if real is None else torch.where(real, new_c, c)
        states[t] = h if real is None else h * real
    return torch.stack(states, dim=1), (h, c)


class _Direction(nn.Module):
    """The weights of one direction, uniform in ±1/√D as in `torch.nn.GRU` and `torch.nn.LSTM`."""

    w_input: nn.Parameter
    w_hidden: nn.Parameter
    b_input: nn.Parameter
    b_hidden: nn.Parameter

    def __init__(self, d_input: int, d_model: int, n_gates: int) -> None:
        super().__init__()
        shapes: dict[str, tuple[int, ...]] = {
            "w_input": (n_gates * d_model, d_input),
            "w_hidden": (n_gates * d_model, d_model),
        }
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

    def forward(
        self, x: Tensor, mask: Tensor | None = None, h0: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Read (B, T, D_in) into states (B, T, D) and the last state (B, D); 2D for D in both directions.

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
        """Read (B, T, D_in) into states (B, T, D) and the last (h, c), each (B, D); 2D in both directions.

        `h0` is the first (h, c), each (B, D or 2D); `mask` and the states at padding are as in `lstm`.
        """
        if self.backwards is None:
            return lstm(x, mask, *self.forwards.weights(), *(h0 or (None, None)))
        halves = [(None, None), (None, None)] if h0 is None else [part.chunk(2, dim=-1) for part in h0]
        ahead, (h_ahead, c_ahead) = lstm(x, mask, *self.forwards.weights(), halves[0][0], halves[1][0])
        back, (h_back, c_back) = lstm(
            x, mask, *self.backwards.weights(), halves[0][1], halves[1][1], reverse=True
        )
        last = torch.cat([h_ahead, h_back], dim=-1), torch.cat([c_ahead, c_back], dim=-1)
        return torch.cat([ahead, back], dim=-1), last
