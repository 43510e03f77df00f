"""A table of positions: the whole, one position, one dimension, and how alike positions are."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.payload import as_array, check_index
from bertlab.viz.style import BLUE, GREY, RED, house_style, new_figure, title_height

# From yellow (negative) over grey to dark blue: also told apart in grey and by colour-blind eyes
# (Nunez et al. 2018, "Optimizing colormaps with consideration for color vision deficiency").
SIGN_COLOURS = "cividis_r"
SHARE_BEYOND = 0.005  # of the numbers, at most, share the end colours


def checked_table(table: ArrayLike) -> np.ndarray:
    """`table` as a float64 array of shape (T, D).

    Raises
    ------
    ValueError
        If it has not two axes and at least two positions, or a number is not finite.
    """
    array = as_array(table)
    if array.ndim != 2 or len(array) < 2 or not array.shape[1]:
        raise ValueError(
            f"a position table of shape {array.shape}: give a row for each position, at least two, and a "
            "column for each dimension; from a batch take table[0]"
        )
    if not np.isfinite(array).all():
        raise ValueError("some numbers of the table are infinite or not a number: look where they come from")
    return array


def similarities(table: ArrayLike, position: int) -> np.ndarray:
    """Cosine of the angle between one position's vector and every other one's.

    For sinusoids all vectors are equally long, so that the dot product is the same curve times D/2; learned
    ones differ in length, which is not what is asked here.

    Parameters
    ----------
    table : (T, D) array
    position : int

    Returns
    -------
    (T,) array
        From −1 to 1; 0 for a vector of zeros, which has no direction.

    Examples
    --------
    >>> similarities([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0], [0.0, 0.0]], 0).tolist()
    [1.0, 0.0, -1.0, 0.0]
    """
    array = as_array(table)
    lengths = np.linalg.norm(array, axis=1)
    directions = array / np.where(lengths == 0, 1.0, lengths)[:, None]
    return np.asarray(directions @ directions[position])


def colour_limit(table: np.ndarray) -> float:
    """Where the colours end: a few large numbers shall not make all others look alike.

    >>> colour_limit(np.array([[0.5, -1.0]])), round(colour_limit(np.array([[9.0], *[[1.0]] * 999])), 3)
    (1.0, 1.0)
    """
    sizes = np.abs(table)
    peak, most = float(sizes.max()), float(np.quantile(sizes, 1 - SHARE_BEYOND))
    return (most if 0 < most < 0.9 * peak else peak) or 1.0


@house_style
def position_table(table: ArrayLike, position: int = 0, dimension: int = 0, title: str = "") -> Figure:
    """Draw a table of positions, one of its rows, one of its columns, and how alike one row is to the others.

    Parameters
    ----------
    table : (T, D) array
        Sinusoidal or learned; a row for each position.
    position, dimension : int
        The row and the column to draw.
    title : str
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If the table has not two axes, or there is no such position or dimension.
    """
    array = checked_table(table)
    n_positions, width = array.shape
    check_index("position", position, n_positions)
    check_index("dimension", dimension, width)
    title = title or f"Position {position}: its place in the table, its vector, and who is like it"
    fig = new_figure(title, 6.6 + title_height(title))
    axes = fig.subplot_mosaic(
        [["table", "table"], ["row", "row"], ["column", "alike"]], height_ratios=[5, 3, 4]
    )
    _heat_map(fig, axes["table"], array, position, dimension)
    _dots(axes["row"], array[position])
    axes["row"].set(title=f"vector of position {position}", xlabel="dimension", ylabel="value")
    line: dict[str, Any] = {"color": BLUE, "linestyle": "-", "marker": "none", "linewidth": 1.8}
    axes["column"].plot(array[:, dimension], **line)
    axes["column"].set(title=f"dimension {dimension} along positions", xlabel="position", ylabel="value")
    alike = similarities(array, position)
    axes["alike"].plot(alike, **line)
    axes["alike"].set(title=f"similarity to position {position}", xlabel="position", ylabel="cosine")
    axes["alike"].set_ylim(min(0.0, 1.1 * float(alike.min())), 1.05)
    axes["row"].set_xlim(-0.5, width - 0.5)
    for name in ("column", "alike"):
        axes[name].axvline(position, color=RED, linewidth=1.6, linestyle=(0, (3, 1.5)), marker="none")
    axes["row"].axvline(dimension, color=RED, linewidth=1.6, linestyle=(0, (3, 1.5)), marker="none")
    for name in ("row", "column"):
        axes[name].axhline(0, color=GREY, linewidth=1, linestyle="-", marker="none", zorder=1)
    return fig


def _dots(ax: Axes, values: np.ndarray) -> None:
    """A dot for each number, with a stem where there are few; neighbours are no curve."""
    ax.plot(values, ".", color=BLUE, markersize=5, linestyle="none")
    if len(values) <= 128:
        ax.vlines(np.arange(len(values)), 0, values, color=BLUE, linewidth=1)


def _heat_map(fig: Figure, ax: Axes, array: np.ndarray, position: int, dimension: int) -> None:
    limit = colour_limit(array)
    image = ax.imshow(
        array, cmap=SIGN_COLOURS, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest"
    )
    ax.grid(False)
    ax.set(ylabel="← position")
    for place, offset, marker in ((position, (1.006, position), "<"), (dimension, (dimension, 1.03), "v")):
        transform = ax.get_yaxis_transform() if marker == "<" else ax.get_xaxis_transform()
        ax.plot(*offset, marker, color=RED, transform=transform, clip_on=False, label=str(place))
    largest = float(np.abs(array).max())
    is_cut = limit < largest  # what is beyond the end of the colours has the end's colour
    bar = fig.colorbar(
        image, ax=ax, pad=0.03, aspect=12, ticks=[-limit, 0, limit], extend="both" if is_cut else "neither",
        label=f"value, up to ±{largest:.2g}" if is_cut else "value",
    )  # fmt: skip
    low, high = ("≤ ", "≥ ") if is_cut else ("", "")
    bar.ax.set_yticklabels([f"{low}−{limit:.2g}", "0", f"{high}{limit:.2g}"])
