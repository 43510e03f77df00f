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
    width, height, size = _cell_size(panels)
    slanted = max(text_width(token, size) for panel in panels for token in panel.key_tokens) > width - 0.08
    fig = new_figure(title, _figure_height(panels, title, height, size, slanted))
    axes = fig.subplots(1, len(panels), width_ratios=[array.shape[1] for array in arrays], squeeze=False)[0]
    for ax, panel, array in zip(axes, panels, arrays, strict=True):
        image = _heat_map(ax, array, panel, vmax)
        ax.set_aspect(height / width)
        _token_ticks(ax, panel.query_tokens, panel.key_tokens, size, slanted)
        ax.set_xlabel(f"{key_label} →", labelpad=8)
        if annotate if annotate is not None else width >= NARROWEST_NUMBER:
            _numbers(ax, array, image)
    axes[0].set_ylabel(f"← {query_label}")
    fig.colorbar(image, ax=list(axes), label="weight", pad=0.02, aspect=18, ticks=[0, vmax / 2, vmax])
    return fig


def _cell_size(panels: Sequence[Attention]) -> tuple[float, float, float]:
    """Width and height of a cell in inches, and the size of the tokens in points, so that all panels fit."""
    n_keys = sum(len(panel.key_tokens) for panel in panels)
    for size in (13.0, 12.0, 11.0, 10.0, 9.0, 8.0):
        names = sum(max(text_width(token, size) for token in panel.query_tokens) for panel in panels)
        width = min(1.0, (WIDTH - 1.4 - 0.25 * len(panels) - names) / n_keys)
        if width > 0.021 * size:  # wide enough for a line of text that stands upright or slants
            break
    return max(width, 0.05), max(min(width, 0.56), 0.05), size


def _figure_height(
    panels: Sequence[Attention], title: str, height: float, size: float, slanted: bool
) -> float:
    tallest = max(len(panel.query_tokens) for panel in panels)
    longest = max(text_width(token, size) for panel in panels for token in panel.key_tokens)
    names = 0.82 * longest + 0.1 if slanted else 0.25
    heads = 0.35 if any(panel.title for panel in panels) else 0.0
    return title_height(title) + heads + 0.45 + names + height * tallest + 0.15


def _heat_map(ax: Axes, array: np.ndarray, panel: Attention, vmax: float) -> AxesImage:
    if array.max(initial=0.0) > vmax + 1e-6:
        raise ValueError(
            f"a weight of {array.max():.4g} lies above vmax={vmax}: raise it, or pass softmax weights"
        )
    image = ax.imshow(array, cmap=WEIGHTS, vmin=0.0, vmax=vmax)
    if panel.title:
        ax.set_title(panel.title, parse_math=False, pad=10)
    return image


def _token_ticks(ax: Axes, rows: Sequence[str], columns: Sequence[str], size: float, slanted: bool) -> None:
    """Name rows and columns. Ticks are set by place, not by name, so that equal tokens stay apart."""
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    turn: dict[str, Any] = {"rotation": 55, "ha": "left", "rotation_mode": "anchor"} if slanted else {}
    plain: dict[str, Any] = {"fontsize": size, "parse_math": False}
    ax.set_xticks(range(len(columns)), [shown(token) for token in columns], **plain, **turn)
    ax.set_yticks(range(len(rows)), [shown(token) for token in rows], **plain)
    # Thin lines between the cells: without them a row of near-zero weights is a blank.
    ax.set_xticks(np.arange(0.5, len(columns) - 1), minor=True)
    ax.set_yticks(np.arange(0.5, len(rows) - 1), minor=True)
    ax.grid(False)
    ax.grid(which="minor", color=PALE, linewidth=1)
    ax.tick_params(which="both", length=0)
    for spine in ax.spines.values():
        spine.set(visible=True, color=PALE)


def _numbers(ax: Axes, array: np.ndarray, image: AxesImage) -> None:
    for (row, column), value in np.ndenumerate(array):
        text = f"{value:.2f}".removeprefix("0") if value < 0.995 else "1"
        ax.text(
            column, row, text if value >= 0.005 else "0", ha="center", va="center", fontsize=11,
            color=readable_on(image.to_rgba(value)) if value >= 0.005 else GREY,
        )  # fmt: skip
