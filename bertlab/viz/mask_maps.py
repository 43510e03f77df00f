"""Masks side by side, and what a mask leaves of the influence of inputs on outputs. × is nothing at all."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bertlab.viz.heatmaps import Attention, attention_maps, checked_weights
from bertlab.viz.masked_attention import checked_mask
from bertlab.viz.style import GREY, house_style

FAINTEST = 0.06  # colour of the smallest influence that is not zero: never white


@house_style
def mask_maps(
    panels: Sequence[Attention], title: str, query_label: str = "query", key_label: str = "key"
) -> Figure:
    """Draw masks side by side: a filled cell may be attended to, × is hidden.

    Parameters
    ----------
    panels : sequence of `Attention`
        Each with a (Tq, Tk) bool array, True = may be attended to, in place of the weights.
    title : str
        What is to be seen, as a sentence.
    query_label, key_label : str
        What the rows and the columns are.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If a mask is not boolean, or does not fit its tokens.
    """
    masks = [checked_mask(p.weights, (len(p.query_tokens), len(p.key_tokens))) for p in panels]
    filled = [
        panel._replace(weights=0.25 * mask) for panel, mask in zip(panels, masks, strict=True)
    ]  # pale enough for a projector, dark enough for print
    fig = attention_maps(filled, title, query_label, key_label, annotate=False)
    fig.axes[-1].remove()  # a scale of two colours says nothing
    for ax, mask in zip(fig.axes, masks, strict=True):
        cross_out(ax, ~mask)
    return fig


@house_style
def influence_maps(
    panels: Sequence[Attention], title: str, query_label: str = "output at", key_label: str = "input at"
) -> Figure:
    """Draw how much each output moves with each input; × marks a derivative that is exactly zero.

    Parameters
    ----------
    panels : sequence of `Attention`
        Each with a (Tq, Tk) array in place of the weights: row t has the size of the derivative of output t
        with respect to each input. Colours are shares of the largest number of the panel; what is not
        zero has a tint, however small it is.
    title : str
        What is to be seen, as a sentence.
    query_label, key_label : str
        What the rows and the columns are.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If shapes and tokens do not fit, or a size is negative or not a number.
    """
    sizes = [checked_weights(p.weights, p.query_tokens, p.key_tokens) for p in panels]
    tints = [np.where(size > 0, np.maximum(size / (size.max() or 1.0), FAINTEST), 0.0) for size in sizes]
    shares = [panel._replace(weights=tint) for panel, tint in zip(panels, tints, strict=True)]
    fig = attention_maps(shares, title, query_label, key_label, annotate=False)
    fig.axes[-1].set_ylabel("of the panel's largest" if len(panels) > 1 else "share of the largest")
    for ax, size in zip(fig.axes, sizes, strict=False):
        cross_out(ax, size == 0)
    return fig


def cross_out(ax: Axes, cells: np.ndarray) -> None:
    """Put a × into each cell of a heat map for which the (rows, columns) bool array is True."""
    rows, columns = np.nonzero(cells)
    size = min(7.0, 90 / max(cells.shape))
    ax.plot(columns, rows, "x", color=GREY, markersize=size, markeredgewidth=0.17 * size, linestyle="none")
