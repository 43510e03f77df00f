"""Positions as clocks: each pair of a sine and a cosine is a hand, and a step along the sentence turns it."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from numpy.typing import ArrayLike

from bertlab.viz.drawing import arrow, canvas, words
from bertlab.viz.payload import as_array
from bertlab.viz.style import COLOURS, GREY, WIDTH, house_style

MOST_POSITIONS, MOST_PAIRS = 13, len(COLOURS)
LEFT, HEAD = 1.55, 0.45  # inches: room for the names of the pairs, and for the positions


@house_style
def position_clocks(
    table: ArrayLike, pairs: Sequence[str], title: str, positions: Sequence[str] = ()
) -> Figure:
    """Draw a table of positions as dials: a column for each position, a row for each pair of numbers.

    Parameters
    ----------
    table : (T, 2n) array
        The sine and the cosine of pair i in columns 2i and 2i + 1: straight up at an angle of 0, then
        clockwise. At most 13 positions and 5 pairs, and no number beyond 1 in size.
    pairs : sequence of n strings
        What stands beside each row.
    title : str
        What is to be seen, as a sentence.
    positions : sequence of T strings, optional
        What stands above each column; 0, 1, 2, … if nothing is given.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If the table has another shape, or is larger than that.

    References
    ----------
    Vaswani et al. 2017, sec. 3.5.
    """
    hands = _hands(as_array(table), len(pairs))
    n_positions, n_pairs, _ = hands.shape
    room = min(0.9, (WIDTH - LEFT - 0.1) / n_positions)
    fig, ax = canvas(title, HEAD + room * n_pairs)
    xs = [LEFT + room * (position + 0.5) for position in range(n_positions)]
    top = room * n_pairs + 0.2
    words(ax, xs, top, list(positions) or [str(position) for position in range(n_positions)], room - 0.05)
    for pair, name in enumerate(pairs):
        y = room * (n_pairs - pair - 0.5)
        ax.text(0.1, y, name, va="center", fontsize=12, parse_math=False)
        for x, hand in zip(xs, hands[:, pair], strict=True):
            _clock(ax, (x, y), hand, 0.45 * room, COLOURS[pair])
    return fig


def _hands(table: np.ndarray, n_pairs: int) -> np.ndarray:
    """The table as hands (T, n, 2), if it can be drawn."""
    if table.ndim != 2 or table.shape[1] != 2 * n_pairs or not n_pairs:
        raise ValueError(
            f"a table of shape {table.shape} for {n_pairs} named pairs: give two columns for each pair"
        )
    if len(table) > MOST_POSITIONS or n_pairs > MOST_PAIRS:
        raise ValueError(
            f"{len(table)} positions and {n_pairs} pairs: draw {MOST_POSITIONS} and {MOST_PAIRS} at most"
        )
    if not np.abs(table).max(initial=0.0) <= 1 + 1e-6:
        raise ValueError(f"a number of size {np.abs(table).max()}: sines and cosines lie between −1 and 1")
    return table.reshape(len(table), n_pairs, 2)


def _clock(ax: Axes, centre: tuple[float, float], hand: np.ndarray, radius: float, colour: str) -> None:
    """A dial and its hand; the mark at the top is where every hand begins."""
    (x, y), (right, up) = centre, hand
    ax.add_patch(Circle(centre, radius, facecolor="white", edgecolor=GREY, linewidth=1.1))
    ax.plot([x, x], [y + 0.84 * radius, y + radius], color=GREY, linewidth=1.4, linestyle="-", marker="none")
    arrow(ax, centre, (x + 0.92 * radius * float(right), y + 0.92 * radius * float(up)), colour, 2.2)
