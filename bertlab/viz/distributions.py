"""Small multiples: how numbers are distributed, and what a softmax makes of them."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.payload import as_array, entropy
from bertlab.viz.style import BLUE, COLOURS, house_style, new_figure, shown, title_height


@house_style
def histograms(panels: Mapping[str, ArrayLike], title: str, xlabel: str, bins: int = 41) -> Figure:
    """Draw one histogram a panel on a common axis, with its variance, so that widths can be compared.

    Parameters
    ----------
    panels : mapping of name to (n,) array
        At most four.
    title : str
        What is to be seen, as a sentence.
    xlabel : str
        With units.
    bins : int
        Over the range of all panels together.

    Returns
    -------
    matplotlib Figure
    """
    arrays = {name: as_array(values).ravel() for name, values in panels.items()}
    edges = np.histogram_bin_edges(np.concatenate(list(arrays.values())), bins)
    fig = new_figure(title, 0.6 + 1.25 * len(arrays) + title_height(title))
    axes = fig.subplots(len(arrays), 1, sharex=True, squeeze=False)[:, 0]
    for ax, (name, values), colour in zip(axes, arrays.items(), COLOURS, strict=False):
        share = np.histogram(values, edges)[0] / len(values)
        ax.stairs(100 * share, edges, fill=True, color=colour, alpha=0.85)
        ax.grid(axis="x", visible=False)
        ax.text(0.01, 0.92, name, transform=ax.transAxes, va="top", fontweight="bold", parse_math=False)
        ax.text(0.99, 0.92, f"variance {values.var():.3g}", transform=ax.transAxes, va="top", ha="right")
    axes[-1].set_xlabel(xlabel)
    fig.supylabel("% of values", fontsize=13)
    return fig


@house_style
def softmax_bars(panels: Mapping[str, ArrayLike], labels: Sequence[str], title: str) -> Figure:
    """Draw probability distributions over the same labels side by side, each with its entropy.

    Parameters
    ----------
    panels : mapping of name to (n,) array
        E.g. the softmax of the same scores at several temperatures.
    labels : sequence of n strings
    title : str
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If a panel has not n probabilities that sum to 1.
    """
    fig = new_figure(title, 1.1 + 0.36 * len(labels) + title_height(title))
    axes = fig.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (name, probabilities) in zip(axes, panels.items(), strict=True):
        p = as_array(probabilities)
        if p.shape != (len(labels),) or abs(p.sum() - 1) > 1e-3:
            raise ValueError(
                f"{name!r} of shape {p.shape} sums to {p.sum():.4g}: give {len(labels)} probabilities"
            )
        bars = ax.barh(range(len(labels)), p, 0.72, color=BLUE)
        ax.bar_label(bars, [f"{value:.2f}" for value in p], padding=3, fontsize=12)
        ax.set_title(name, parse_math=False)
        ax.set_xlabel(f"entropy {entropy(p):.2f} bits", loc="left")
        ax.set(xlim=(0, 1.32), xticks=[])
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.grid(False)
    axes[0].set_yticks(range(len(labels)), [shown(label) for label in labels], parse_math=False)
    axes[0].invert_yaxis()
    return fig
