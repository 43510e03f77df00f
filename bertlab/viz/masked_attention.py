"""A mask beside the attention weights that it leaves. True means: may be attended to."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.heatmaps import Attention, attention_maps
from bertlab.viz.payload import as_array
from bertlab.viz.style import GREY, RED, house_style, readable_on, shown

MANY_KEYS = 8  # more leave no room for numbers in the cells of a picture


def checked_scores(scores: ArrayLike, n_queries: int, n_keys: int) -> np.ndarray:
    """`scores` as a float64 array of shape (n_queries, n_keys), all of them finite.

    Raises
    ------
    ValueError
        If the shape is another, or a score is infinite or not a number.
    """
    array = as_array(scores)
    if array.shape != (n_queries, n_keys):
        raise ValueError(
            f"scores of shape {array.shape} do not fit {n_queries} query tokens and {n_keys} key tokens: "
            "choose one example and one head, e.g. scores[0, 0]"
        )
    if not np.isfinite(array).all():
        raise ValueError("some scores are infinite or not a number: give them as they are before the mask")
    return array


def checked_mask(mask: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """`mask` as a boolean array of the given shape.

    Raises
    ------
    ValueError
        If the shape is another, or the values are not boolean: a 0 may mean either, so nothing is guessed.
    """
    array = np.asarray(mask.cpu() if hasattr(mask, "cpu") else mask)
    if array.dtype != np.bool_:
        raise ValueError(
            f"the mask has dtype {array.dtype}: make it boolean, True = may be attended to (from 0/1 by "
            "mask != 0, from 0/-inf by mask == 0)"
        )
    if array.shape != shape:
        raise ValueError(
            f"a mask of shape {array.shape} does not fit scores of shape {shape}: give it theirs"
        )
    return array


def masked_weights(scores: ArrayLike, mask: ArrayLike) -> np.ndarray:
    """Softmax of each row over the keys that may be attended to.

    Parameters
    ----------
    scores : (Tq, Tk) array
    mask : (Tq, Tk) bool array
        True = may be attended to.

    Returns
    -------
    (Tq, Tk) array
        A row sums to 1, or is all zero where nothing is left.

    Examples
    --------
    >>> masked_weights([[0.0, 0.0], [0.0, 0.0]], [[True, False], [False, False]]).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    values = as_array(scores)
    allowed = checked_mask(mask, values.shape)
    peak = np.max(values, axis=-1, keepdims=True, where=allowed, initial=-np.inf)  # -inf: nothing is left
    powers = np.exp(np.where(allowed, values - peak, -np.inf))
    total = powers.sum(axis=-1, keepdims=True)
    return np.asarray(powers / np.where(total == 0, 1.0, total))


def empty_rows(mask: np.ndarray) -> list[int]:
    """Queries that may attend to nothing."""
    return [int(row) for row in np.flatnonzero(~mask.any(axis=1))]


@house_style
def masked_attention(
    scores: ArrayLike,
    mask: ArrayLike,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw a mask beside the weights that the softmax makes of the scores under it.

    Parameters
    ----------
    scores : (Tq, Tk) array
        Of one head, as they enter the softmax.
    mask : (Tq, Tk) bool array
        True = may be attended to.
    query_tokens, key_tokens : sequences of Tq and Tk strings
        By default the keys are the queries.
    title : str, optional
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If shapes and tokens do not fit, a score is not finite, or the mask is not boolean.
    """
    keys = query_tokens if key_tokens is None else key_tokens
    values = checked_scores(scores, len(query_tokens), len(keys))
    allowed = checked_mask(mask, values.shape)
    weights = masked_weights(values, allowed)
    panels = [
        Attention(0.25 * allowed, query_tokens, keys, "mask: × is hidden"),
        Attention(weights, query_tokens, keys, "weights"),
    ]
    fig = attention_maps(panels, title or _title(allowed), annotate=False)
    for ax in fig.axes[:2]:
        _crosses(ax, allowed)
    if len(keys) <= MANY_KEYS:
        _numbers(fig.axes[1], weights, allowed)
    for row in empty_rows(allowed):
        _nothing_left(fig.axes[1], row, len(keys))
    return fig


def _title(allowed: np.ndarray) -> str:
    if empty_rows(allowed):
        return "What the mask hides weighs nothing; a row with nothing left is all zeros (framed)"
    return "What the mask hides weighs nothing; what it leaves shares the whole"


def _crosses(ax: Axes, allowed: np.ndarray) -> None:
    rows, columns = np.nonzero(~allowed)
    size = min(7.0, 90 / max(allowed.shape))
    ax.plot(columns, rows, "x", color=GREY, markersize=size, markeredgewidth=0.17 * size, linestyle="none")


def _numbers(ax: Axes, weights: np.ndarray, allowed: np.ndarray) -> None:
    for (row, column), value in np.ndenumerate(weights):
        if allowed[row, column]:
            text = "1" if value >= 0.995 else f"{value:.2f}".removeprefix("0")
            colour = readable_on(ax.images[0].to_rgba(value))
            ax.text(column, row, text, ha="center", va="center", fontsize=11, color=colour)


def _nothing_left(ax: Axes, row: int, n_keys: int) -> None:
    """Frame a row of zeros."""
    edges: dict[str, Any] = {
        "color": RED,
        "linewidth": 2,
        "linestyle": (0, (3, 1.5)),
        "marker": "none",
        "clip_on": False,
    }
    left, right, top, bottom = -0.5, n_keys - 0.5, row - 0.45, row + 0.45
    ax.plot([left, right, right, left, left], [top, top, bottom, bottom, top], **edges)


def told(mask: np.ndarray, query_tokens: Sequence[str]) -> str:
    """A mask in words: how much it leaves, and who is left with nothing."""
    rows = empty_rows(mask)
    names = ", ".join(f"“{shown(query_tokens[row])}”" for row in rows)
    nothing = f"; nothing is left to {names}" if rows else ""
    return f"{int(mask.sum())} of {mask.size} pairs of query and key may be attended to{nothing}"
