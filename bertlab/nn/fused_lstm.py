"""An LSTM over padded sequences by PyTorch's own loop over time: it says what `lstm` says.

The loop of `bertlab.nn.recurrent` shows what happens, step by step. PyTorch's runs outside of Python, and on
a GPU in one kernel; on a CPU the products take the time in both, and it gains little. Padding on the right
needs nothing special on the way from the left, since it comes last. On the way from the right each sequence
is turned round within its own length, so that its last token comes first.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

from bertlab.nn.cells import check_gates
from bertlab.nn.recurrent import lstm


def fused_lstm(
    x: Tensor,
    mask: Tensor | None,
    w_input: Tensor,
    w_hidden: Tensor,
    b_input: Tensor,
    b_hidden: Tensor,
    reverse: bool = False,
    w_project: Tensor | None = None,
) -> Tensor:
    """Give the states of `lstm`, from a first state of zeros.

    Parameters
    ----------
    x, mask, w_input, w_hidden, b_input, b_hidden, reverse, w_project : as in `lstm`. Where a mask has padding
        before a token, or a projection keeps the width, `lstm` itself does the work.

    Returns
    -------
    (B, T, D) float tensor, zero at padding; with a projection (B, T, P).

    Raises
    ------
    ValueError
        As in `lstm`.

    Examples
    --------
    >>> x, mask = torch.ones(1, 3, 1), torch.tensor([[True, True, False]])
    >>> weights = torch.ones(4, 1), torch.ones(4, 1), torch.zeros(4), torch.zeros(4)
    >>> ahead, back = (fused_lstm(x, mask, *weights, reverse) for reverse in (False, True))
    >>> torch.equal(ahead[0, :2], back[0, [1, 0]])  # of equal inputs, one is the other's mirror image
    True
    """
    # PyTorch tells a projection by its width: one to the width of the memory it would not see
    unseen = w_project is not None and w_project.shape[0] == w_project.shape[1]
    if unseen or x.dim() != 3 or not (mask is None or right_padded(x, mask)):
        return lstm(x, mask, w_input, w_hidden, b_input, b_hidden, None, None, reverse, w_project)[0]
    check_gates(w_input, w_hidden, 4, w_project)
    order = turned(x, mask) if reverse else None
    flat = [w_input, w_hidden, b_input, b_hidden, *([] if w_project is None else [w_project])]
    h, c = (x.new_zeros(1, len(x), width) for width in (w_hidden.shape[1], len(w_hidden) // 4))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "LSTM with projections is not supported with oneDNN")
        # biases, 1 layer, no dropout, gradients are wanted, one direction, batch first
        states: Tensor = torch.lstm(_taken(x, order), (h, c), flat, True, 1, 0.0, True, False, True)[0]
    states = _taken(states, order)
    return states if mask is None else states.masked_fill(~mask[..., None], 0)


def right_padded(x: Tensor, mask: Tensor) -> bool:
    """Say whether a mask is bool (B, T), and all padding stands behind the tokens of its row."""
    if mask.dtype != torch.bool or mask.shape != x.shape[:2]:
        return False
    return bool((mask[:, :-1] | ~mask[:, 1:]).all())


def turned(x: Tensor, mask: Tensor | None) -> Tensor:
    """List for each row the places of its tokens from the last to the first, then of padding: (B, T)."""
    B, T = x.shape[:2]
    columns = torch.arange(T, device=x.device).expand(B, T)
    lengths = torch.full((B, 1), T, device=x.device) if mask is None else mask.sum(1, keepdim=True)
    return torch.where(columns < lengths, lengths - 1 - columns, columns)


def _taken(x: Tensor, order: Tensor | None) -> Tensor:
    return x if order is None else x.gather(1, order[..., None].expand_as(x))
