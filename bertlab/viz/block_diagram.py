"""A drawing of a Transformer block in post-LN and in pre-LN: where the stream runs, and what stands on it."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bertlab.viz.drawing import PALE_BLUE, PALE_ORANGE, PALE_TEAL, Point, arrow, canvas
from bertlab.viz.style import BLUE, GREY, INK, ORANGE, TEAL, house_style

SIDE = 1.75  # inches from the stream to the middle of a sublayer
STEP = 0.62  # inches from one thing on the way to the next
STREAM = 3.5  # points


@house_style
def block_diagram(title: str) -> Figure:
    """Draw a block of both kinds side by side, upwards: the stream thick, its sublayers beside it.

    The norm that a pre-LN stack has once, at its very end, is dashed.

    Parameters
    ----------
    title : str
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    References
    ----------
    Xiong et al. 2020, fig. 1.
    """
    height = 7 * STEP + 0.9
    fig, ax = canvas(title, height)
    for x, name, norm_first in ((1.1, "post-LN", False), (5.3, "pre-LN", True)):
        ax.text(x + SIDE / 2, 0.05, name, ha="center", va="bottom", fontsize=14, fontweight="bold")
        _stream(ax, x, 0.45, height - 0.15, norm_first)
    return fig


def _stream(ax: Axes, x: float, low: float, top: float, norm_first: bool) -> None:
    """The stream from x to the output, and two sublayers."""
    arrow(ax, (x, low), (x, top), INK, STREAM)
    ax.text(x - 0.15, low + 0.1, "x", ha="right", va="center", fontsize=14)
    for start, name, edge, fill in (
        (low, "attention", BLUE, PALE_BLUE),
        (low + 3.25 * STEP, "feed-forward", ORANGE, PALE_ORANGE),
    ):
        _sublayer(ax, (x, start), name, edge, fill, norm_first)
    if norm_first:
        _box(ax, (x, low + 6.65 * STEP), "last LayerNorm", TEAL, "white", "--")


def _sublayer(ax: Axes, place: Point, name: str, edge: str, fill: str, norm_first: bool) -> None:
    """A branch that leaves the stream, passes a sublayer and is added; the norm on the branch or behind."""
    x, low = place
    leave, join = low + 0.45 * STEP, low + (2.75 if norm_first else 2.25) * STEP
    middle = (leave + join) / 2
    ax.plot(
        [x, x + SIDE, x + SIDE],
        [leave, leave, leave + 0.1],
        color=GREY,
        linewidth=1.5,
        linestyle="-",
        marker="none",
    )
    tops = [middle - 0.5 * STEP, middle + 0.5 * STEP] if norm_first else [middle]
    names = [("LayerNorm", TEAL, PALE_TEAL)] if norm_first else []
    from_y = leave
    for y, (text, line, inside) in zip(tops, [*names, (name, edge, fill)], strict=True):
        arrow(ax, (x + SIDE, from_y), (x + SIDE, y - 0.2), GREY)
        _box(ax, (x + SIDE, y), text, line, inside)
        from_y = y + 0.2
    ax.plot([x + SIDE, x + SIDE], [from_y, join], color=GREY, linewidth=1.5, linestyle="-", marker="none")
    arrow(ax, (x + SIDE, join), (x + 0.17, join), GREY)
    _plus(ax, (x, join))
    if not norm_first:
        _box(ax, (x, join + 0.65 * STEP), "LayerNorm", TEAL, PALE_TEAL)


def _plus(ax: Axes, centre: Point) -> None:
    ax.text(
        *centre, "+", ha="center", va="center", fontsize=15, zorder=4,
        bbox={"boxstyle": "circle,pad=0.12", "facecolor": "white", "edgecolor": INK, "linewidth": 1.5},
    )  # fmt: skip


def _box(ax: Axes, centre: Point, text: str, edge: str, fill: str, line: str = "-") -> None:
    """A box that covers the stream where it stands on it."""
    ax.text(
        *centre, text, ha="center", va="center", fontsize=13, zorder=4,
        bbox={"boxstyle": "round,pad=0.3", "facecolor": fill, "edgecolor": edge, "linewidth": 1.8,
              "linestyle": line},
    )  # fmt: skip
