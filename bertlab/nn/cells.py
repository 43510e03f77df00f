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
    x: Tensor,
    h: Tensor,
    c: Tensor,
    w_input: Tensor,
    w_hidden: Tensor,
    b_input: Tensor,
    b_hidden: Tensor,
    w_project: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Take one step of a long short-term memory.

    Parameters
    ----------
    x, h, c : (B, D_in) input, (B, D) previous state and (B, D) previous memory, float tensors.
    w_input, w_hidden : (4D, D_in) and (4D, D) float tensors; rows of input, forget, candidate, output.
    b_input, b_hidden : (4D,) float tensors.
    w_project : (P, D) float tensor, optional: the state is projected to width P. `h` is then (B, P) and
        `w_hidden` (4D, P); the memory keeps its width.

    Returns
    -------
    h, c : (B, D or P) and (B, D) float tensors, the new state and the new memory.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    References
    ----------
    Hochreiter and Schmidhuber 1997; forget gate by Gers et al. 2000; gate order as in `torch.nn.LSTM`.
    The projection: Sak et al. 2014, sec. 2.2.

    Examples
    --------
    >>> x, weight, bias = torch.zeros(1, 1), torch.zeros(4, 1), torch.zeros(4)
    >>> h, c = lstm_cell(x, x, torch.tensor([[8.0]]), weight, weight, bias, bias)
    >>> c.tolist()  # the forget gate is half open
    [[4.0]]
    """
    check_gates(w_input, w_hidden, 4, w_project)
    return lstm_step(linear(x, w_input, b_input), h, c, w_hidden, b_hidden, w_project)


def lstm_step(
    from_x: Tensor,
    h: Tensor,
    c: Tensor,
    w_hidden: Tensor,
    b_hidden: Tensor,
    w_project: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Finish an LSTM step whose input is already multiplied: (B, 4D), (B, D), (B, D) -> (B, D), (B, D)."""
    input_, forget, candidate, output = (from_x + linear(h, w_hidden, b_hidden)).chunk(4, dim=-1)
    c = torch.sigmoid(forget) * c + torch.sigmoid(input_) * torch.tanh(candidate)
    out = torch.sigmoid(output) * torch.tanh(c)
    return out if w_project is None else linear(out, w_project), c


def check_gates(w_input: Tensor, w_hidden: Tensor, n_gates: int, w_project: Tensor | None = None) -> None:
    """Refuse weights that belong to another kind of cell."""
    width = w_hidden.shape[-1]
    if w_project is not None:
        if len(w_project) != width:
            raise ValueError(
                f"w_project of shape {tuple(w_project.shape)} makes states of width {len(w_project)}, but "
                f"w_hidden of shape {tuple(w_hidden.shape)} reads {width}: make both the same"
            )
        width = w_project.shape[-1]
    if len(w_input) != n_gates * width or len(w_hidden) != n_gates * width:
        raise ValueError(
            f"w_input has {len(w_input)} rows and w_hidden {len(w_hidden)}: "
            f"{n_gates} gates for a state of width {width} need {n_gates * width} rows in both"
        )
