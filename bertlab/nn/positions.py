"""Vectors that say where a token stands, in PyTorch: twin of `bertlab.reference.positions`."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


def sinusoidal_positions(
    n_positions: int,
    d_model: int,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Tensor:
    """Describe each position by waves of many lengths, a sine and a cosine of each.

    Parameters
    ----------
    n_positions : number of positions T.
    d_model : width D; if it is odd, the last sine goes without its cosine.
    dtype, device : of the result.

    Returns
    -------
    (T, D) float tensor: ``sin(p / 10000^(2i / D))`` in column 2i, ``cos`` of the same in column 2i + 1.

    Raises
    ------
    ValueError
        If `n_positions` is negative or `d_model` below 1.

    References
    ----------
    Vaswani et al. 2017, sec. 3.5.

    Examples
    --------
    >>> sinusoidal_positions(2, 4, torch.float64).numpy().round(4).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.01, 1.0]]
    """
    if n_positions < 0 or d_model < 1:
        raise ValueError(
            f"n_positions={n_positions} and d_model={d_model}: give at least 0 positions and a width of 1"
        )
    # On the CPU in float64, then rounded once: in bfloat16 position 257 would be position 256.
    column = torch.arange(d_model, device="cpu")
    pair = column - column % 2  # 2i: sine and cosine of one pair share one frequency
    frequency = 10000.0 ** (-pair.double() / d_model)  # (D,)
    angles = torch.arange(n_positions, device="cpu").double()[:, None] * frequency  # (T, D)
    return torch.where(column % 2 == 0, angles.sin(), angles.cos()).to(device, dtype)


def learned_positions(n_positions: int, table: Tensor) -> Tensor:
    """Take the first rows of a table that training fills, one row for each position.

    Parameters
    ----------
    n_positions : number of positions T.
    table : (N, D) float tensor, N the longest sequence that it can take.

    Returns
    -------
    (T, D) float tensor.

    Raises
    ------
    ValueError
        As in `check_length`.

    References
    ----------
    Gehring et al. 2017, sec. 3.1; in BERT: Devlin et al. 2019, sec. 3.

    Examples
    --------
    >>> learned_positions(2, torch.tensor([[1.0], [2.0], [3.0]])).tolist()
    [[1.0], [2.0]]
    """
    check_length(n_positions, len(table))
    return table[:n_positions]


def check_length(n_positions: int, max_length: int) -> None:
    """Refuse a sequence that is longer than a table of positions.

    Parameters
    ----------
    n_positions, max_length : positions of the sequence, and positions in the table.

    Raises
    ------
    ValueError
        If there are more than `max_length` positions, or fewer than 0.

    Examples
    --------
    >>> check_length(9, 8)
    Traceback (most recent call last):
    ValueError: 9 positions do not fit a table of 8: shorten the sequence, or make a longer table
    """
    if not 0 <= n_positions <= max_length:
        raise ValueError(
            f"{n_positions} positions do not fit a table of {max_length}: "
            "shorten the sequence, or make a longer table"
        )


class SinusoidalPositions(nn.Module):
    """Adds waves of many lengths, which have no parameters.

    Parameters
    ----------
    max_length : the longest sequence that it will take N.
    d_model : width D.

    References
    ----------
    Vaswani et al. 2017, sec. 3.5. Scaling the tokens (sec. 3.4) and dropout (sec. 5.4) are the caller's.
    """

    table: Tensor  # (N, D)

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        table = sinusoidal_positions(max_length, d_model, torch.get_default_dtype())
        self.register_buffer("table", table, persistent=False)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Add positions to (B, T, D); see `_add`."""
        return _add(x, self.table, start)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> SinusoidalPositions:
        # Made anew where the module goes: a table that was rounded to bfloat16 once would stay so in float64.
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        n_positions, d_model = self.table.shape
        self.table = sinusoidal_positions(n_positions, d_model, self.table.dtype, self.table.device)
        return self


class LearnedPositions(nn.Module):
    """Adds one learned vector for each position.

    Parameters
    ----------
    max_length : the longest sequence that it can take N.
    d_model : width D.

    References
    ----------
    Gehring et al. 2017, sec. 3.1; in BERT: Devlin et al. 2019, sec. 3.
    """

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(max_length, d_model)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Add positions to (B, T, D); see `_add`."""
        return _add(x, self.embedding.weight, start)


def _add(x: Tensor, table: Tensor, start: int) -> Tensor:
    """Add the positions from `start` on, which is not 0 where the tokens before are in a cache.

    Raises
    ------
    ValueError
        If the last position is beyond the table.
    """
    return x + learned_positions(start + x.shape[1], table)[start:]  # (B, T, D) + (T, D)
