"""Attention weights as heat maps.

Tokens are data: they are drawn letter by letter, never read as markup (a `$` starts no formula), and equal
tokens stay separate rows and columns.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import ArrayLike

from bertlab.viz.payload import as_array
from bertlab.viz.style import (
    GREY,
    PALE,
    WEIGHTS,
    WIDTH,
    house_style,
    new_figure,
    readable_on,
    shown,
    text_width,
    title_height,
)

NARROWEST_NUMBER = 0.42  # inches: a narrower cell has no room for ".42"
PIXEL = 0.01  # inches
LINE, TIGHT = 0.021, 0.0155  # inches a point of letter size: what a line of text needs, and at least
LETTERS = 30  # of a token that are written
STEPS = (2, 5, 10, 20, 25, 50, 100, 200, 500)  # where not all tokens are written: every so many


class Attention(NamedTuple):
    """One attention matrix with its words: row i says where `query_tokens[i]` looks."""

    weights: ArrayLike  # (Tq, Tk)
    query_tokens: Sequence[str]
    key_tokens: Sequence[str]
    title: str = ""


def checked_weights(weights: ArrayLike, query_tokens: Sequence[str], key_tokens: Sequence[str]) -> np.ndarray:
    """`weights` as a float64 array of shape (len(query_tokens), len(key_tokens)).

    Raises
    ------
    ValueError
        If the shape is another, or a weight is not a number or negative.
    """
    array = as_array(weights)
    if array.ndim != 2:
        raise ValueError(
            f"weights of shape {array.shape}: choose one example and one head, e.g. weights[0, 0]"
        )
    if array.shape != (len(query_tokens), len(key_tokens)):
        raise ValueError(
            f"weights of shape {array.shape} do not fit {len(query_tokens)} query tokens and "
            f"{len(key_tokens)} key tokens: rows are queries, columns are keys"
        )
    if not (array >= 0).all():
        raise ValueError(
            f"weights reach down to {array.min()}: pass the weights after the softmax, not the scores"
        )
    return array


@house_style
def attention_map(
    weights: ArrayLike,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    title: str,
    query_label: str = "query",
    key_label: str = "key",
    vmax: float = 1.0,
    annotate: bool | None = None,
) -> Figure:
    """Draw one attention matrix: a row for each query, a column for each key, darker for more weight.

    Where tokens are too many to be read, every second, third … one is written, with its position before it.

    Parameters
    ----------
    weights : (Tq, Tk) array
        Row i is where query i looks.
    query_tokens, key_tokens : sequences of Tq and Tk strings
    title : str
        What is to be seen, as a sentence.
    query_label, key_label : str
        What the rows and the columns are, e.g. "German, as written" and "English, as read".
    vmax : float
        The weight that is drawn darkest.
    annotate : bool, optional
        Print the numbers into the cells; by default where they fit.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If shapes and tokens do not fit, or a weight lies outside 0 … `vmax`.
    """
    panel = Attention(weights, query_tokens, key_tokens)
    return attention_maps([panel], title, query_label, key_label, vmax, annotate)


@house_style
def attention_maps(
    panels: Sequence[Attention],
    title: str,
    query_label: str = "query",
    key_label: str = "key",
    vmax: float = 1.0,
    annotate: bool | None = None,
) -> Figure:
    """Draw attention matrices side by side on one common colour scale, so that they can be compared.

    Parameters are those of `attention_map`; each panel brings its weights, tokens and a title of its own.
    """
    arrays = [checked_weights(panel.weights, panel.query_tokens, panel.key_tokens) for panel in panels]
    cells = _cells(panels)
    fig = new_figure(title, _figure_height(panels, title, cells))
    axes = fig.subplots(1, len(panels), width_ratios=[array.shape[1] for array in arrays], squeeze=False)[0]
    for ax, panel, array in zip(axes, panels, arrays, strict=True):
        image = _heat_map(ax, array, panel, vmax)
        ax.set_aspect(cells.height / cells.width)
        _token_ticks(ax, panel.query_tokens, panel.key_tokens, cells)
        ax.set_xlabel(f"{key_label} →", labelpad=8)
        if annotate if annotate is not None else cells.width >= NARROWEST_NUMBER:
            _numbers(ax, array, image)
    axes[0].set_ylabel(f"← {query_label}")
    fig.colorbar(image, ax=list(axes), label="weight", pad=0.02, aspect=18, ticks=[0, vmax / 2, vmax])
    return fig


class _Cells(NamedTuple):
    width: float  # inches, of one cell
    height: float
    size: float  # points, of the tokens
    every: int  # so many tokens have one label: 1 where all are written
    longest: float  # inches that the longest key takes

    @property
    def slanted(self) -> bool:
        return self.every > 1 or self.longest > self.width - 0.08


def _cells(panels: Sequence[Attention]) -> _Cells:
    """Cells and letters, such that all panels fit beside each other."""
    n_keys = sum(len(panel.key_tokens) for panel in panels)

    def cells(size: float, every: int) -> _Cells:
        def widest(tokens: Sequence[str]) -> float:
            return max(text_width(name, size) for name in _names(tokens, every))

        names = sum(widest(panel.query_tokens) for panel in panels)
        width = max(0.002, min(1.0, (WIDTH - 1.4 - 0.25 * len(panels) - names) / n_keys))
        longest = max(widest(panel.key_tokens) for panel in panels)
        return _Cells(width, min(width, 0.56), size, every, longest)

    all_named = [cells(size, 1) for size in (13.0, 12.0, 11.0, 10.0, 9.0, 8.0)]
    roomy = next((chosen for chosen in all_named if chosen.width > LINE * chosen.size), all_named[-1])
    if roomy.width >= TIGHT * roomy.size:
        return roomy
    some_named = [cells(10.0, every) for every in STEPS]
    return next((chosen for chosen in some_named if chosen.every * chosen.width > LINE * 10), some_named[-1])


def _figure_height(panels: Sequence[Attention], title: str, cells: _Cells) -> float:
    tallest = max(len(panel.query_tokens) for panel in panels)
    names = 0.82 * cells.longest + 0.1 if cells.slanted else 0.25
    heads = 0.35 if any(panel.title for panel in panels) else 0.0
    return title_height(title) + heads + 0.45 + names + cells.height * tallest + 0.15


def _heat_map(ax: Axes, array: np.ndarray, panel: Attention, vmax: float) -> AxesImage:
    if array.max(initial=0.0) > vmax + 1e-6:
        raise ValueError(
            f"a weight of {array.max():.4g} lies above vmax={vmax}: raise it, or pass softmax weights"
        )
    # A cell of a pixel or more keeps its colour; only smaller ones are blended.
    smooth = "nearest" if max(array.shape) * PIXEL <= WIDTH - 2 else "auto"
    image = ax.imshow(array, cmap=WEIGHTS, vmin=0.0, vmax=vmax, interpolation=smooth)
    if panel.title:
        ax.set_title(panel.title, parse_math=False, pad=10)
    return image


def _token_ticks(ax: Axes, rows: Sequence[str], columns: Sequence[str], cells: _Cells) -> None:
    """Name rows and columns. Ticks are set by place, not by name, so that equal tokens stay apart."""
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    turn: dict[str, Any] = {"rotation": 55, "ha": "left", "rotation_mode": "anchor"} if cells.slanted else {}
    plain: dict[str, Any] = {"fontsize": cells.size, "parse_math": False}
    ax.set_xticks(range(0, len(columns), cells.every), _names(columns, cells.every), **plain, **turn)
    ax.set_yticks(range(0, len(rows), cells.every), _names(rows, cells.every), **plain)
    ax.grid(False)
    if cells.every == 1:  # thin lines between the cells: without them a row of near-zero weights is a blank
        ax.set_xticks(np.arange(0.5, len(columns) - 1), minor=True)
        ax.set_yticks(np.arange(0.5, len(rows) - 1), minor=True)
        ax.grid(which="minor", color=PALE, linewidth=1)
    ax.tick_params(which="both", length=0)
    for spine in ax.spines.values():
        spine.set(visible=True, color=PALE)


def _names(tokens: Sequence[str], every: int) -> list[str]:
    """The tokens that are written; with their position where some are left out."""
    names = [shown(tokens[i]) for i in range(0, len(tokens), every)]
    names = [name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…" for name in names]
    return names if every == 1 else [f"{i * every} {name}" for i, name in enumerate(names)]


def _numbers(ax: Axes, array: np.ndarray, image: AxesImage) -> None:
    for (row, column), value in np.ndenumerate(array):
        text = f"{value:.2f}".removeprefix("0") if value < 0.995 else "1"
        ax.text(
            column, row, text if value >= 0.005 else "0", ha="center", va="center", fontsize=11,
            color=readable_on(image.to_rgba(value)) if value >= 0.005 else GREY,
        )  # fmt: skip
