"""Names in the order of a measurement, with every draw of it: who lies on which side of a line."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.charts import seeds_of
from bertlab.viz.style import COLOURS, GREY, MARKERS, house_style, new_figure, shown, title_height

MOST = 30  # rows that can be read


@house_style
def ranked_points(
    rows: Mapping[str, ArrayLike],
    title: str,
    xlabel: str,
    groups: Sequence[str] = (),
    baseline: tuple[str, float] | None = None,
) -> Figure:
    """Draw a row for each name, the largest mean on top: a pale dot for each draw, a mark at their mean.

    Parameters
    ----------
    rows : mapping of name to (n,) array
        The draws of one measurement each, e.g. with every template. At most 30 rows.
    title : str
        What is to be seen, as a sentence.
    xlabel : str
        With units.
    groups : sequence of strings, one a row, optional
        What each name belongs to: a colour and a mark of its own; at most five.
    baseline : (name, value), optional
        A vertical line to compare with.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there are too many rows or groups, or not one group for each row.
    """
    names = list(dict.fromkeys(groups))
    if not 0 < len(rows) <= MOST or len(names) > len(COLOURS):
        raise ValueError(
            f"{len(rows)} rows of {len(names)} groups: draw {MOST} rows and {len(COLOURS)} groups at most"
        )
    if groups and len(groups) != len(rows):
        raise ValueError(f"{len(groups)} groups for {len(rows)} rows: give one for each, or none")
    draws = {name: seeds_of(name, values, np.size(values))[0] for name, values in rows.items()}
    kinds = dict(zip(rows, groups or [""] * len(rows), strict=True))
    order = sorted(rows, key=lambda name: draws[name].mean())  # the largest is drawn last: on top
    fig = new_figure(title, 0.9 + 0.27 * len(rows) + title_height(title))
    ax = fig.subplots()
    for y, name in enumerate(order):
        index = names.index(kinds[name]) if groups else 0
        look: dict[str, Any] = {"linestyle": "none", "color": COLOURS[index], "marker": MARKERS[index]}
        ax.plot(draws[name], np.full(len(draws[name]), y), markersize=4, alpha=0.4, **look)
        ax.plot(draws[name].mean(), y, markersize=9, markeredgecolor="white", label=kinds[name], **look)
    ax.set_yticks(range(len(order)), [shown(name) for name in order], parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel=xlabel, ylim=(-0.7, len(order) - 0.3))
    if baseline is not None:
        ax.axvline(baseline[1], color=GREY, linewidth=1.4, linestyle=(0, (2, 2)), zorder=1)
        ax.annotate(
            baseline[0], (baseline[1], 0), (4, 0), xycoords=("data", "axes fraction"),
            textcoords="offset points", va="bottom", color=GREY, fontsize=11, parse_math=False,
        )  # fmt: skip
    if len(names) > 1:
        handles = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
        legend = ax.legend([handles[name] for name in names], names, loc="lower right", handlelength=1.0)
        for text in legend.get_texts():
            text.set_parse_math(False)
    return fig
