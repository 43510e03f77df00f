"""Names at the ends of lines instead of a legend: placed level with their line, and apart from each other."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from bertlab.viz.payload import as_array
from bertlab.viz.style import GREY, INK, even_lines

LABEL_GAP = 0.075  # of the axes' height: one line of text


class End(NamedTuple):
    """Where a line ends, and how it looks: what its name beside the axes needs."""

    name: str
    y: float
    colour: str
    marker: str


def spread_apart(places: ArrayLike, gaps: ArrayLike) -> np.ndarray:
    """Move labels apart until none overlaps the next, in the same order, each as little as it can.

    Parameters
    ----------
    places : (n,) array
        Where each label would like its middle to be.
    gaps : (n,) array
        The height of each label.

    Returns
    -------
    (n,) array

    Examples
    --------
    >>> spread_apart([0.5, 0.5, 0.9], [0.1, 0.1, 0.1]).round(2).tolist()
    [0.45, 0.55, 0.9]
    """
    wanted, heights = as_array(places), as_array(gaps)
    order = np.argsort(wanted, kind="stable")
    # Labels that touch form a block, which sits where the mean of its labels would like to be.
    blocks: list[list[int]] = []
    for label in order:
        blocks.append([int(label)])
        while len(blocks) > 1 and _overlap(blocks[-2], blocks[-1], wanted, heights):
            last = blocks.pop()
            blocks[-1] += last
    placed = np.empty_like(wanted)
    for block in blocks:
        placed[block] = _stacked(block, wanted, heights)
    return placed


def _stacked(block: list[int], wanted: np.ndarray, heights: np.ndarray) -> np.ndarray:
    middles = np.cumsum(heights[block]) - heights[block] / 2
    return np.asarray(middles + (wanted[block] - middles).mean())


def _overlap(lower: list[int], upper: list[int], wanted: np.ndarray, heights: np.ndarray) -> bool:
    top = _stacked(lower, wanted, heights)[-1] + heights[lower[-1]] / 2
    return bool(top > _stacked(upper, wanted, heights)[0] - heights[upper[0]] / 2 + 1e-12)


def name_lines(ax: Axes, ends: Sequence[End]) -> None:
    """Write each name to the right of the axes, level with the end of its line where there is room."""
    to_axes = ax.transData + ax.transAxes.inverted()
    names = [even_lines(end.name, 21) for end in ends]
    heights = [LABEL_GAP * (1 + name.count("\n")) for name in names]
    wanted = [float(to_axes.transform((ax.get_xlim()[1], end.y))[1]) for end in ends]
    for end, name, wish, place in zip(ends, names, wanted, spread_apart(wanted, heights), strict=True):
        look: dict[str, Any] = {"color": end.colour, "markeredgecolor": "white", "linestyle": "-"}
        ax.plot(
            [1.005, 1.03, 1.05], [wish, place, place], transform=ax.transAxes, clip_on=False, linewidth=1.4,
            marker=end.marker, markevery=[2], **look,
        )  # fmt: skip
        ax.text(
            1.07, place, name, transform=ax.transAxes, va="center", parse_math=False, linespacing=1.05,
            color=GREY if end.marker == "none" else INK,
        )  # fmt: skip
