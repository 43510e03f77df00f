"""Curves, bars and histograms of measurements: every seed is visible, every line carries its own name."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation
from numpy.typing import ArrayLike

from bertlab.viz.labels import End, name_lines
from bertlab.viz.payload import as_array
from bertlab.viz.style import (
    COLOURS,
    DASHES,
    GREY,
    INK,
    MARKERS,
    WIDTH,
    house_style,
    new_figure,
    text_width,
    title_height,
)

Scale = Literal["linear", "log"]
Mean = Literal["arithmetic", "geometric"]


def seeds_of(name: str, values: ArrayLike, n: int) -> np.ndarray:
    """`values` as (seeds, n): one run of n numbers is one seed.

    Raises
    ------
    ValueError
        If there are not n numbers for each seed.
    """
    array = as_array(values)
    array = array[None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != n:
        raise ValueError(
            f"{name!r} has shape {array.shape}, but each of its seeds needs {n} numbers: (seeds, {n})"
        )
    return array


@house_style
def lines_with_spread(
    x: ArrayLike,
    series: Mapping[str, ArrayLike],
    title: str,
    xlabel: str,
    ylabel: str,
    xscale: Scale = "linear",
    yscale: Scale = "linear",
    ylim: tuple[float, float] | None = None,
    baseline: tuple[str, float] | None = None,
    mean: Mean = "arithmetic",
    optimum: tuple[str, float, float] | None = None,
) -> Figure:
    """Draw a thick line (the mean over seeds) and thin lines (each seed) a series, named at its end.

    Parameters
    ----------
    x : (n,) array
        Common to all lines; at most eight values are ticks of their own.
    series : mapping of name to (n,) or (seeds, n) array
        NaN where nothing was measured. At most five: more than that nobody can tell apart.
    title : str
        What is to be seen, as a sentence.
    xlabel, ylabel : str
        With units.
    xscale, yscale : "linear" or "log"
    ylim : (low, high), optional
    baseline : (name, value), optional
        A horizontal line to compare with, e.g. ``("chance", 0.1)``.
    mean : "arithmetic" or "geometric"
        Over the seeds. Geometric for ratios powers of ten apart, where the largest would drown the rest.
    optimum : (name, value, half width), optional
        What no line can be better than, and half of its 95 % interval, which is a pale band.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there are more than five series, one has not n numbers a seed, or an interval has no width.
    """
    if not 0 < len(series) <= len(COLOURS):
        raise ValueError(f"{len(series)} series: draw one to {len(COLOURS)} in a figure, and split the rest")
    x = as_array(x)
    fig = new_figure(title, 4.3 + title_height(title))
    ax = fig.subplots()
    ends = [
        End(name, _line(ax, x, seeds_of(name, values, len(x)), index, mean), COLOURS[index], MARKERS[index])
        for index, (name, values) in enumerate(series.items())
    ]
    ax.set(xscale=xscale, yscale=yscale, xlabel=xlabel, ylabel=ylabel)
    if ylim is not None:
        ax.set_ylim(*ylim)
    plain_numbers(ax)
    if len(x) <= 8:
        ax.set_xticks(x, [f"{value:g}" for value in x])
        ax.xaxis.minorticks_off()
    if baseline is not None:
        ax.axhline(baseline[1], color=GREY, linewidth=1.4, linestyle=(0, (2, 2)), marker="none", zorder=1)
        ends.append(End(*baseline, GREY, "none"))
    if optimum is not None:
        ends.append(_optimum(ax, *optimum))
    name_lines(ax, ends)
    return fig


def _optimum(ax: Axes, name: str, value: float, half_width: float) -> End:
    """Draw a solid line in a pale band; how wide it is stands beside it, for it may be too narrow to see."""
    if not half_width >= 0:
        raise ValueError(
            f"half_width={half_width} of {name!r}: give half of its 95 % interval, 0 if nothing was sampled"
        )
    ax.axhspan(value - half_width, value + half_width, color=GREY, alpha=0.28, linewidth=0, zorder=0.9)
    ax.axhline(value, color=INK, linewidth=1.2, linestyle="-", marker="none", zorder=1)
    said = f"{name} ± {half_width:.2g} (95 % interval)" if half_width else name
    return End(said, value, INK, "none")


def plain_numbers(ax: Axes) -> None:
    """Write 1, 10, 100 at the ticks of a logarithmic axis, and powers only for the very small and large."""
    for axis, scale in ((ax.xaxis, ax.get_xscale()), (ax.yaxis, ax.get_yscale())):
        if scale == "log":
            axis.set_major_formatter(lambda value, _: power_of_ten(value))
            axis.set_minor_formatter(_BetweenPowers())


class _BetweenPowers(LogFormatterSciNotation):
    """Name ticks between two powers where matplotlib would, on a short axis, but as plain numbers."""

    def __call__(self, value: float, place: int | None = None) -> str:
        return power_of_ten(value) if super().__call__(value, place) else ""


def power_of_ten(value: float) -> str:
    """A tick of a logarithmic axis.

    >>> power_of_ten(0.001), power_of_ten(10000.0), power_of_ten(1e-8)
    ('0.001', '10,000', '10⁻⁸')
    """
    if 1e-4 < value < 1e6:
        return f"{value:,.6g}"
    return "10" + f"{np.log10(value):.0f}".translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _line(ax: Axes, x: np.ndarray, seeds: np.ndarray, index: int, kind: Mean) -> float:
    """Draw the seeds and their mean; return where the mean ends."""
    counted = ~np.isnan(seeds).all(axis=0)
    measured = seeds[:, counted]
    geometric = kind == "geometric"
    mean = np.exp(np.nanmean(np.log(measured), axis=0)) if geometric else np.nanmean(measured, axis=0)
    colour, marker = COLOURS[index], MARKERS[index] if len(x) <= 30 else "none"
    if len(seeds) > 1:
        ax.plot(x, seeds.T, linewidth=1, alpha=0.45, linestyle="-", marker="none", color=colour, zorder=2)
    ax.plot(
        x[counted],
        mean,
        linestyle=DASHES[index],
        marker=marker,
        markeredgecolor="white",
        color=colour,
        zorder=3,
    )
    return float(mean[-1])


@house_style
def bars_with_spread(
    groups: Sequence[str],
    arms: Mapping[str, ArrayLike],
    title: str,
    xlabel: str,
    ylabel: str,
    decimals: int = 1,
) -> Figure:
    """Draw, for every group, one bar an arm (the mean over seeds, its number above) and a dot for each seed.

    Parameters
    ----------
    groups : sequence of n strings
        Along the x axis, e.g. buckets of sentence length.
    arms : mapping of name to (n,) or (seeds, n) array
        What is compared in each group; at most five.
    title : str
        What is to be seen, as a sentence.
    xlabel, ylabel : str
        With units. The bars start at 0.
    decimals : int
        Of the numbers above the bars, which shrink with the bars; too small to read, they are left out.

    Returns
    -------
    matplotlib Figure
    """
    if not 0 < len(arms) <= len(COLOURS):
        raise ValueError(f"{len(arms)} arms: draw one to {len(COLOURS)} in a figure, and split the rest")
    fig = new_figure(title, 4.4 + title_height(title))
    ax = fig.subplots()
    width = 0.8 / len(arms)
    for index, (name, values) in enumerate(arms.items()):
        seeds = seeds_of(name, values, len(groups))
        places = np.arange(len(groups)) + (index - (len(arms) - 1) / 2) * width
        _bars(ax, places, seeds, width, index, name, decimals)
    ax.set_xticks(range(len(groups)), groups, parse_math=False)
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="x", visible=False)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.set_ylim(0, ax.get_ylim()[1] * 1.08)
    legend = ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=len(arms), handlelength=1.2)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return fig


def _bars(
    ax: Axes, places: np.ndarray, seeds: np.ndarray, width: float, index: int, name: str, decimals: int
) -> None:
    mean = np.nanmean(seeds, axis=0)
    numbers = [f"{top:.{decimals}f}" for top in mean]
    room = width * (WIDTH - 1.0) / len(places)  # inches for a bar and its number
    size = min(11.0, room / max(text_width(number, 1.0) for number in numbers))
    ax.bar(places, mean, width * 0.92, color=COLOURS[index], alpha=0.88, label=name)
    for place, top, runs, number in zip(places, mean, seeds.T, numbers, strict=True):
        if len(runs) > 1:
            nudges = np.linspace(-0.2, 0.2, len(runs)) * width
            ax.plot(
                place + nudges, runs, linestyle="none", marker=MARKERS[index], markersize=5, zorder=3,
                color="white", markeredgecolor=INK, markeredgewidth=0.9, clip_on=False,
            )  # fmt: skip
        if size >= 7:  # smaller ones cannot be read: the axis must do
            ax.annotate(
                number, (place, max(top, runs.max())), (0, 4), textcoords="offset points",
                ha="center", va="bottom", fontsize=size,
            )  # fmt: skip
