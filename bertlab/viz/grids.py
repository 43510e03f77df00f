"""Small matrices with their numbers in the cells: a computation as one would write it on a board."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.payload import as_array
from bertlab.viz.style import (
    GREY,
    INK,
    SIGNED,
    WEIGHTS,
    WIDTH,
    house_style,
    new_figure,
    number,
    readable_on,
    shown,
    title_height,
)

CELL_WIDTH, CELL_HEIGHT, GAP, LINE_GAP = 1.0, 0.62, 0.55, 1.75  # in units of a cell's width


class Matrix(NamedTuple):
    """A small matrix to be drawn with its numbers; `is_weights` chooses the colours of attention maps."""

    name: str
    values: ArrayLike  # (rows, columns)
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    is_weights: bool = False


@house_style
def matrices(*lines: Sequence[Matrix | str], title: str) -> Figure:
    """Draw a computation with small matrices: numbers in the cells, operators between, shapes below.

    Parameters
    ----------
    *lines : sequences of `Matrix` and str
        One sequence a line, e.g. ``[Matrix("Q", q), "·", Matrix("Kᵀ", k.T), "=", Matrix("scores", s)]``.
        Colours are scaled within each matrix; the numbers are what is to be compared.
    title : str
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If a matrix is not two-dimensional or its labels do not fit its shape.
    """
    fig = new_figure(title)
    ax = fig.subplots()
    y, widest = 0.0, 0.0
    for line in lines:
        x, lowest = 0.0, y
        for part in line:
            if isinstance(part, str):
                x = _operator(ax, part, x, y - _tallest(line) / 2)
            else:
                x, bottom = _matrix(ax, part, x, y - (_tallest(line) - _height(part)) / 2)
                lowest = min(lowest, bottom)
        y, widest = lowest - LINE_GAP, max(widest, x)
    bottom = y + LINE_GAP - 0.75
    ax.set(xlim=(-0.1, widest), ylim=(bottom, 1.15), aspect="equal")
    ax.axis("off")
    scale = min(0.95, (WIDTH - 0.25) / (widest + 0.1))  # inches per cell
    for text in ax.texts:
        text.set_fontsize(float(text.get_fontsize()) * min(1.1, scale * 1.8))
    fig.set_figheight(scale * (1.15 - bottom) + 0.2 + title_height(title))
    return fig


def _height(part: Matrix | str) -> float:
    return 0.0 if isinstance(part, str) else CELL_HEIGHT * len(as_array(part.values))


def _tallest(line: Sequence[Matrix | str]) -> float:
    return max(map(_height, line))


def _operator(ax: Axes, sign: str, x: float, y: float) -> float:
    width = 0.22 * len(sign) + 0.1
    size = {1: 22}.get(len(sign), 14) if sign != "·" else 34  # the dot of a product is tiny in this font
    ax.text(x + width / 2, y, sign, ha="center", va="center", fontsize=size, color=INK)
    return x + width + 0.3


def _matrix(ax: Axes, part: Matrix, x: float, y: float) -> tuple[float, float]:
    """Draw `part` with its upper edge at `y`; return where the next part begins, and the lower edge."""
    values = as_array(part.values)
    if values.ndim != 2:
        raise ValueError(
            f"matrix {part.name!r} of shape {values.shape}: give it two dimensions, e.g. values[None]"
        )
    for labels, size, what in ((part.rows, len(values), "rows"), (part.columns, values.shape[1], "columns")):
        if len(labels) not in (0, size):
            raise ValueError(f"matrix {part.name!r} has {size} {what} but {len(labels)} labels for them")
    n_rows, n_columns = values.shape
    x += 0.24 * max(map(len, part.rows), default=0)
    y_low = y - CELL_HEIGHT * n_rows
    peak = np.abs(values).max(initial=0.0) or 1.0
    # Signed numbers get pale colours (half of the scale): they only help the eye, the numbers say it.
    cmap, low, high = (WEIGHTS, 0.0, 1.0) if part.is_weights else (SIGNED, -2 * peak, 2 * peak)
    mesh = ax.pcolormesh(
        x + CELL_WIDTH * np.arange(n_columns + 1), y - CELL_HEIGHT * np.arange(n_rows + 1), values,
        cmap=cmap, vmin=low, vmax=high, edgecolor="#AEB6BF", linewidth=0.6,
    )  # fmt: skip
    for (i, j), value in np.ndenumerate(values):
        ax.text(
            x + CELL_WIDTH * (j + 0.5), y - CELL_HEIGHT * (i + 0.5), number(value), ha="center", va="center",
            fontsize=12, color=readable_on(mesh.to_rgba(value)),
        )  # fmt: skip
    middle, above = x + CELL_WIDTH * n_columns / 2, 0.75 if part.columns else 0.2
    plain: dict[str, Any] = {"fontsize": 12, "parse_math": False}
    ax.text(middle, y + above, part.name, ha="center", **plain | {"fontsize": 14, "fontweight": "bold"})
    ax.text(middle, y_low - 0.15, f"{n_rows} × {n_columns}", ha="center", va="top", fontsize=11, color=GREY)
    for i, label in enumerate(part.rows):
        ax.text(x - 0.15, y - CELL_HEIGHT * (i + 0.5), shown(label), ha="right", va="center", **plain)
    for j, label in enumerate(part.columns):
        ax.text(x + CELL_WIDTH * (j + 0.5), y + 0.15, shown(label), ha="center", **plain)
    return x + CELL_WIDTH * n_columns + 0.3, y_low
