"""One step of a GRU and of an LSTM in PyTorch: twin of `bertlab.reference.cells`.

A cell is its projection of the input, which a layer takes for all steps at once, and then a `..._step`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bertlab.nn.functional import linear


def gru_cell(
    x: Tensor, h: Tensor, w_input: Tensor, w_hidden: Tensor, b_input: Tensor, b_hidden: Tensor
) -> Tensor:
    """Take one step of a gated recurrent unit.

    Parameters
    ----------
    x, h : (B, D_in) input and (B, D) previous state, float tensors.
    w_input, w_hidden : (3D, D_in) and (3D, D) float tensors; rows of reset, update, candidate.
    b_input, b_hidden : (3D,) float tensors.

    Returns
    -------
    (B, D) float tensor, the new state.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    References
    ----------
    Cho et al. 2014, sec. 2.3, eq. (5) to (8); gate order and biases as in `torch.nn.GRU`.

    Examples
    --------
    >>> w_input, w_hidden, bias = torch.zeros(3, 2), torch.zeros(3, 1), torch.zeros(3)
    >>> gru_cell(torch.ones(1, 2), torch.tensor([[8.0]]), w_input, w_hidden, bias, bias).tolist()  # halfway
    [[4.0]]
    """
    check_gates(w_input, w_hidden, n_gates=3)
    return gru_step(linear(x, w_input, b_input), h, w_hidden, b_hidden)


def gru_step(from_x: Tensor, h: Tensor, w_hidden: Tensor, b_hidden: Tensor) -> Tensor:
    """Finish a GRU step whose input is already projected: (B, 3D) and (B, D) -> (B, D)."""
    reset_x, update_x, candidate_x = from_x.chunk(3, dim=-1)
    reset_h, update_h, candidate_h = linear(h, w_hidden, b_hidden).chunk(3, dim=-1)
    reset = torch.sigmoid(reset_x + reset_h)
    update = torch.sigmoid(update_x + update_h)
    # Departs from Cho et al. 2014, eq. (8): the reset gate acts after the product, as in cuDNN and torch.
    candidate = torch.tanh(candidate_x + reset * candidate_h)
    return candidate + update * (h - candidate)  # = (1 - update) * candidate + update * h


def lstm_cell(
    x: Tensor, h: Tensor, c: Tensor, w_input: Tensor, w_hidden: Tensor, b_input: Tensor, b_hidden: Tensor
) -> tuple[Tensor, Tensor]:
    """Take one step of a long short-term memory.

    Parameters
    ----------
    x, h, c : (B, D_in) input, (B, D) previous state and (B, D) previous memory, float tensors.
    w_input, w_hidden : (4D, D_in) and (4D, D) float tensors; rows of input, forget, candidate, output.
    b_input, b_hidden : (4D,) float tensors.

    Returns
    -------
    h, c : (B, D) float tensors, the new state and the new memory.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    References
    ----------
    Hochreiter and Schmidhuber 1997; forget gate by Gers et al. 2000; gate order as in `torch.nn.LSTM`.

    Examples
    --------
    >>> x, weight, bias = torch.zeros(1, 1), torch.zeros(4, 1), torch.zeros(4)
    >>> h, c = lstm_cell(x, x, torch.tensor([[8.0]]), weight, weight, bias, bias)
    >>> c.tolist()  # the forget gate is half open
    [[4.0]]
    """
    check_gates(w_input, w_hidden, n_gates=4)
    return lstm_step(linear(x, w_input, b_input), h, c, w_hidden, b_hidden)


def lstm_step(
    from_x: Tensor, h: Tensor, c: Tensor, w_hidden: Tensor, b_hidden: Tensor
) -> tuple[Tensor, Tensor]:
    """Finish an LSTM step whose input is already projected: (B, 4D), (B, D), (B, D) -> (B, D), (B, D)."""
    input_, forget, candidate, output = (from_x + linear(h, w_hidden, b_hidden)).chunk(4, dim=-1)
    c = torch.sigmoid(forget) * c + torch.sigmoid(input_) * torch.tanh(candidate)
    return torch.sigmoid(output) * torch.tanh(c), c


def check_gates(w_input: Tensor, w_hidden: Tensor, n_gates: int) -> None:
    """Refuse weights that belong to another kind of cell."""
    rows = n_gates * w_hidden.shape[-1]
    if len(w_input) != rows or len(w_hidden) != rows:
        raise ValueError(
            f"w_input has {len(w_input)} rows and w_hidden {len(w_hidden)}: "
            f"{n_gates} gates for a state of width {w_hidden.shape[-1]} need {rows} rows in both"
        )
