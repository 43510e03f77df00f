"""Vectors that say where a token stands: fixed waves, or a table that is learned, added to the tokens."""

import numpy as np

from bertlab.reference.types import Floats


def sinusoidal_positions(n_positions: int, d_model: int) -> Floats:
    """Describe each position by waves of many lengths, a sine and a cosine of each.

    Parameters
    ----------
    n_positions : number of positions T.
    d_model : width D; if it is odd, the last sine goes without its cosine.

    Returns
    -------
    (T, D) float array: ``sin(p / 10000^(2i / D))`` in column 2i, ``cos`` of the same in column 2i + 1.

    Raises
    ------
    ValueError
        If `n_positions` is negative or `d_model` below 1.

    References
    ----------
    Vaswani et al. 2017, sec. 3.5.

    Examples
    --------
    >>> sinusoidal_positions(2, 4).round(4).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.01, 1.0]]
    """
    if n_positions < 0 or d_model < 1:
        raise ValueError(
            f"n_positions={n_positions} and d_model={d_model}: give at least 0 positions and a width of 1"
        )
    column = np.arange(d_model)
    pair = column - column % 2  # 2i: sine and cosine of one pair share one frequency
    angles = np.arange(n_positions)[:, None] / 10000 ** (pair / d_model)  # (T, D)
    return np.where(column % 2 == 0, np.sin(angles), np.cos(angles))


def learned_positions(n_positions: int, table: Floats) -> Floats:
    """Take the first rows of a table that training fills, one row for each position.

    Parameters
    ----------
    n_positions : number of positions T.
    table : (N, D) float array, N the longest sequence that it can take.

    Returns
    -------
    (T, D) float array.

    Raises
    ------
    ValueError
        As in `check_length`.

    References
    ----------
    Gehring et al. 2017, sec. 3.1; in BERT: Devlin et al. 2019, sec. 3.

    Examples
    --------
    >>> learned_positions(2, np.array([[1.0], [2.0], [3.0]])).tolist()
    [[1.0], [2.0]]
    """
    check_length(n_positions, len(table))
    return table[:n_positions]


def learned_positions_vjp(grad: Floats, n_positions: int, table: Floats) -> Floats:
    """Pull a gradient back through `learned_positions`: rows beyond the sequence learn nothing.

    Parameters
    ----------
    grad : (T, D) float array, gradient with respect to the output. Positions are added to every sentence of
        a batch, so it is the sum over the batch of the gradients there.
    n_positions, table : as in `learned_positions`.

    Returns
    -------
    (N, D) float array, gradient with respect to `table`.

    Examples
    --------
    >>> learned_positions_vjp(np.array([[5.0]]), 1, np.zeros((2, 1))).tolist()
    [[5.0], [0.0]]
    """
    d_table = np.zeros(table.shape)
    d_table[:n_positions] = grad
    return d_table


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
