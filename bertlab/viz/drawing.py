"""What drawings are made of: a sheet measured in inches, boxes, arrows, words.

The origin is at the lower left; what is 0.5 wide is 50 pixels wide.
"""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from bertlab.viz.style import GREY, INK, WIDTH, new_figure, shown, text_width, title_height

PALE_BLUE, PALE_ORANGE, PALE_RED, PALE_TEAL = "#DDE8F5", "#FBECD0", "#F7DDD2", "#D8EEEA"
Point = tuple[float, float]


def canvas(title: str, height: float) -> tuple[Figure, Axes]:
    """A figure whose axes measure in inches and end below the title."""
    fig = new_figure(title, height + title_height(title))
    fig.set_layout_engine("none")
    fig.texts[0].set_y(1 - 0.06 / fig.get_figheight())
    ax = fig.add_axes((0, 0, 1, height / fig.get_figheight()))
    ax.set(xlim=(0, WIDTH), ylim=(0, height))
    ax.axis("off")
    return fig, ax


def box(
    ax: Axes, centre: Point, text: str, edge: str, fill: str, width: float = 0.56, height: float = 0.5
) -> None:
    """A box with rounded corners and a text of ours (a token goes through `words`, which reads no markup)."""
    corner = (centre[0] - width / 2, centre[1] - height / 2)
    style = "round,pad=0,rounding_size=0.09"
    ax.add_patch(FancyBboxPatch(corner, width, height, style, facecolor=fill, edgecolor=edge, linewidth=1.8))
    ax.text(*centre, text, ha="center", va="center_baseline", fontsize=13)


def arrow(
    ax: Axes, start: Point, end: Point, colour: str = GREY, width: float = 1.5, dashed: bool = False
) -> None:
    """A straight arrow; `width` of its line in points."""
    head = f"-|>,head_length={0.28 + 0.05 * width},head_width={0.14 + 0.03 * width}"
    arrow = FancyArrowPatch(start, end, arrowstyle=head, mutation_scale=14, shrinkA=0, shrinkB=0, zorder=1.5)
    arrow.set(color=colour, linewidth=width, linestyle=(0, (3, 1.5)) if dashed else "-")
    ax.add_patch(arrow)


def on_arrow(ax: Axes, centre: Point, text: str, colour: str = INK) -> None:
    """What stands on an arrow, which it interrupts."""
    around = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    ax.text(*centre, text, ha="center", va="center", color=colour, fontsize=13, bbox=around)


def words(
    ax: Axes,
    xs: Sequence[float],
    y: float | Sequence[float],
    tokens: Sequence[str],
    room: float,
    bold: bool = False,
) -> None:
    """Tokens centred on `xs`, all in one size, such that the longest fits into `room` inches."""
    longest = max(text_width(shown(token), 13.0) for token in tokens) * (1.12 if bold else 1.0)
    plain: dict[str, Any] = {"ha": "center", "va": "center_baseline", "parse_math": False}
    plain |= {"fontsize": min(13.0, 13.0 * room / longest), "fontweight": "bold" if bold else "normal"}
    ys = [y] * len(tokens) if isinstance(y, float) else y
    for x, level, token in zip(xs, ys, tokens, strict=True):
        ax.text(x, level, shown(token), **plain)
