"""Several measurements of the same few things, each on an axis of its own: who is ahead, and where."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.charts import seeds_of
from bertlab.viz.style import COLOURS, GREY, MARKERS, PALE, house_style, new_figure, shown, title_height

COLUMNS, MOST = 3, 12  # panels side by side, and in all
ROOM = 0.3  # of the range of a panel, to the right of it: for the number


class Measured(NamedTuple):
    """One measurement: of each thing one number or several draws; and what they are to be compared with."""

    values: Mapping[str, ArrayLike]
    controls: Mapping[str, ArrayLike]  # of the same things, e.g. never trained; what has none is left out
    line: tuple[str, float] | None = None  # of all together, e.g. ("majority", 84.0)


@house_style
def scoreboard(panels: Mapping[str, Measured], title: str, control: str = "control") -> Figure:
    """Draw a panel for each measurement, in each a row for each thing: its draws, their mean, its control.

    Parameters
    ----------
    panels : mapping of name, with unit, to `Measured`
        At most twelve, all of the same things in the same order, at most five.
    title : str
        What is to be seen, as a sentence.
    control : str
        What the hollow marks are.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there are too many panels or things, or panels of different things.
    """
    things = list(next(iter(panels.values())).values) if panels else []
    if not 0 < len(panels) <= MOST or not 0 < len(things) <= len(COLOURS):
        raise ValueError(
            f"{len(panels)} panels of {len(things)} things: draw {MOST} of {len(COLOURS)} things at most"
        )
    for name, panel in panels.items():
        if list(panel.values) != things:
            raise ValueError(f"panel {name!r} has {list(panel.values)}: give {things}, as in the first one")
    n_rows = math.ceil(len(panels) / COLUMNS)
    columns = min(COLUMNS, len(panels))
    height = n_rows * (0.95 + 0.26 * len(things)) + 0.35 + title_height(title)
    fig = new_figure(title, height)
    axes = fig.subplots(n_rows, columns, squeeze=False)
    for place, ax in enumerate(axes.flat):
        if place >= len(panels):
            ax.axis("off")
            continue
        name = list(panels)[place]
        _panel(ax, panels[name], things)
        ax.set_title(name, parse_math=False, fontsize=12)
        labels = [shown(thing) for thing in things] if place % columns == 0 else [""] * len(things)
        ax.set_yticks(range(len(things)), labels, parse_math=False)
    several = any(np.size(draws) > 1 for panel in panels.values() for draws in panel.values.values())
    filled = "filled: mean · small: each draw" if several else "filled: measured"
    fig.supxlabel(f"{filled} · hollow: {control}", fontsize=11, x=0.012, ha="left")
    return fig


def _panel(ax: Axes, panel: Measured, things: list[str]) -> None:
    every = []
    for y, thing in enumerate(things):
        draws = seeds_of(thing, np.atleast_1d(panel.values[thing]), np.size(panel.values[thing]))[0]
        colour, marker = COLOURS[y], MARKERS[y]
        if thing in panel.controls:
            control = float(np.mean(np.asarray(panel.controls[thing], dtype=float)))
            ax.plot(
                [control, draws.mean()],
                [y, y],
                color=PALE,
                linewidth=3,
                linestyle="-",
                marker="none",
                zorder=1,
            )
            ax.plot(control, y, marker, markersize=6, markerfacecolor="white", color=colour, linestyle="none")
            every.append(control)
        look: dict[str, Any] = {"linestyle": "none", "color": colour, "marker": marker}
        ax.plot(draws, np.full(len(draws), y), markersize=3.5, alpha=0.5, **look)
        ax.plot(draws.mean(), y, markersize=8, markeredgecolor="white", zorder=4, **look)
        every += draws.tolist()
    if panel.line is not None:
        every.append(panel.line[1])
        ax.axvline(panel.line[1], color=GREY, linewidth=1.2, linestyle=(0, (2, 2)), zorder=0.5)
        ax.set_xlabel(
            f"┆ {panel.line[0]} {panel.line[1]:.1f}", fontsize=10, color=GREY, loc="left", labelpad=2
        )
    low, high = min(every), max(every)
    margin = (high - low or 1.0) * 0.08
    ax.set_xlim(low - margin, high + (high - low or 1.0) * ROOM)
    for y, thing in enumerate(things):
        mean = float(np.mean(np.asarray(panel.values[thing], dtype=float)))
        ax.annotate(
            f"{mean:.1f}",
            (1.0, y),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="center",
            fontsize=10.5,
        )
    ax.set_ylim(len(things) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=10)
    ax.locator_params(axis="x", nbins=4)
    ax.grid(axis="y", visible=False)
