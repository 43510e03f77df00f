"""Vectors as points of a plane, in groups: what lies together, and what lies apart."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.payload import as_array
from bertlab.viz.style import COLOURS, MARKERS, WIDTH, house_style, new_figure, shown, title_height

MOST_PANELS = 4


@house_style
def point_clouds(panels: Mapping[str, ArrayLike], groups: Sequence[str], title: str) -> Figure:
    """Draw the same points in one or several planes side by side, a colour and a shape for each group.

    Parameters
    ----------
    panels : mapping of name to (n, 2) array
        At most four, e.g. the first two principal components of what each layer says. Each panel has a scale
        of its own, the same for both of its axes: distances can be compared within a panel alone.
    groups : sequence of n strings
        What each point belongs to; at most five different ones.
    title : str
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If a panel has not two numbers for each point, or there are more panels or groups than that.
    """
    names = list(dict.fromkeys(groups))
    if not 0 < len(panels) <= MOST_PANELS or not 0 < len(names) <= len(COLOURS):
        raise ValueError(
            f"{len(panels)} panels of {len(names)} groups: draw one to {MOST_PANELS} panels and one to "
            f"{len(COLOURS)} groups"
        )
    arrays = {name: as_array(points) for name, points in panels.items()}
    for name, points in arrays.items():
        if points.shape != (len(groups), 2):
            raise ValueError(
                f"{name!r} has shape {points.shape}: give ({len(groups)}, 2), a row for each group"
            )
    fig = new_figure(title, WIDTH / max(len(arrays), 2) + 0.55 + title_height(title))
    axes = fig.subplots(1, len(arrays), squeeze=False)[0]
    for ax, (name, points) in zip(axes, arrays.items(), strict=True):
        for index, group in enumerate(names):
            chosen = points[[one == group for one in groups]]
            _cloud(ax, chosen, index, shown(group))
        ax.set_title(name, parse_math=False)
        ax.set(xticks=[], yticks=[])
        ax.set_aspect("equal", adjustable="datalim")
        for spine in ax.spines.values():
            spine.set_visible(True)
    handles, labels = axes[0].get_legend_handles_labels()
    legend = fig.legend(handles, labels, loc="outside lower left", ncols=len(names), handlelength=1.0)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return fig


def _cloud(ax: Axes, points: ArrayLike, index: int, name: str) -> None:
    x, y = as_array(points).T
    ax.plot(
        x, y, linestyle="none", marker=MARKERS[index], markersize=9, color=COLOURS[index], alpha=0.85,
        markeredgecolor="white", markeredgewidth=0.8, label=name,
    )  # fmt: skip
