"""A drawing of multi-head attention: one projection, cut into heads, a softmax each, laid side by side."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bertlab.viz.drawing import PALE_BLUE, PALE_ORANGE, Point, arrow, canvas, on_arrow
from bertlab.viz.style import BLUE, GREY, ORANGE, PALE, house_style, shown, subscript, text_width

CELL = 0.19  # inches
BOTH = (PALE_BLUE, PALE_BLUE, PALE_ORANGE, PALE_ORANGE)  # a projection: two columns a head
PROJECTED, MAPS, MIXED, JOINED, OUT = 2.65, 4.25, 5.35, 6.6, 7.95  # where their middles stand, in inches
HALF = 2 * CELL + 0.06  # from the middle of such a matrix to an arrow beside it


@house_style
def multi_head_diagram(tokens: Sequence[str], title: str) -> Figure:
    """Draw multi-head attention from the words to the output, the part of each of two heads in its colour.

    Parameters
    ----------
    tokens : sequence of two to four strings
        One row each; a head is drawn two columns wide.
    title : str
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there are not two to four tokens.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.2, fig. 2 (right).
    """
    n = len(tokens)
    if not 2 <= n <= 4:
        raise ValueError(f"{n} tokens: give 2 to 4")
    apart = n * CELL + 0.6  # from Q to K to V
    middle = 0.3 + n * CELL / 2 + apart
    height = middle + apart + n * CELL / 2 + 0.8
    fig, ax = canvas(title, height)
    x_in = 0.2 + max(text_width(shown(token), 12.0) for token in tokens) + HALF
    for row, token in enumerate(tokens):
        place = x_in - HALF, middle + (n / 2 - row - 0.5) * CELL
        ax.text(*place, shown(token), ha="right", va="center_baseline", fontsize=12, parse_math=False)
    _cells(ax, (x_in, middle), n, [PALE] * 4, GREY, "X", "T × D")
    _projections(ax, x_in + HALF, middle, apart, n)
    for head, up in enumerate((apart / 2 + 0.1, -apart / 2 - 0.1)):
        _head(ax, head, middle, up, n)
    _cells(ax, (JOINED, middle), n, BOTH, GREY, "concat", "T × D")
    arrow(ax, (JOINED + HALF, middle), (OUT - HALF, middle))
    ax.text((JOINED + OUT) / 2, middle + 0.08, "$W_O$", ha="center", va="bottom", fontsize=12)
    _cells(ax, (OUT, middle), n, [PALE] * 4, GREY, "output", "T × D")
    notes = (
        (PROJECTED, "one matrix each,\ncut into heads"),
        (MAPS, "a softmax\na head"),
        (MIXED, "T × K\na head"),
    )
    for x, note in notes:
        ax.text(x, height, note, ha="center", va="top", fontsize=11, color=GREY)
    return fig


def _projections(ax: Axes, start: float, middle: float, apart: float, n: int) -> None:
    """X times three matrices; the columns of each product belong to the heads in turn."""
    for step, name in ((1, "Q"), (0, "K"), (-1, "V")):
        y = middle + step * apart
        _cells(ax, (PROJECTED, y), n, BOTH, GREY, name, "T × D")
        arrow(ax, (start, middle + 0.1 * step), (PROJECTED - HALF, y))
        on_arrow(ax, ((start + PROJECTED - HALF) / 2, middle + step * (0.05 + apart / 2)), f"$W_{name}$")


def _head(ax: Axes, head: int, middle: float, up: float, n: int) -> None:
    """The weights of a head, then what it mixed, on the way to its place beside the other."""
    edge, fill = ((BLUE, PALE_BLUE), (ORANGE, PALE_ORANGE))[head]
    y, side, half = middle + up, 1 if up > 0 else -1, n * CELL / 2
    arrow(ax, (PROJECTED + HALF, middle + 0.6 * up), (MAPS - half - 0.06, y), edge, 2)
    index = subscript(head)
    place = PROJECTED + HALF + 0.04, y + side * 0.12
    ax.text(*place, f"Q{index} K{index} V{index}", va="center", fontsize=12, color=edge)
    _cells(ax, (MAPS, y), n, [fill] * n, edge, f"head {head}", "T × T")
    arrow(ax, (MAPS + half + 0.05, y), (MIXED - CELL - 0.05, y), edge, 2)
    _cells(ax, (MIXED, y), n, [fill] * 2, edge, "", "")
    beside = JOINED - side * CELL, middle + side * (half + 0.27)
    arrow(ax, (MIXED + CELL + 0.05, y), beside, edge, 2)


def _cells(
    ax: Axes, centre: Point, n_rows: int, columns: Sequence[str], edge: str, name: str, shape: str
) -> None:
    """An empty matrix with a colour for each column, its name above and its shape below."""
    width, height = len(columns) * CELL, n_rows * CELL
    x, y = centre[0] - width / 2, centre[1] - height / 2
    for j, fill in enumerate(columns):
        for i in range(n_rows):
            corner = (x + j * CELL, y + i * CELL)
            ax.add_patch(Rectangle(corner, CELL, CELL, facecolor=fill, edgecolor="white"))
    ax.add_patch(Rectangle((x, y), width, height, facecolor="none", edgecolor=edge, linewidth=1.8))
    ax.text(centre[0], y + height + 0.05, name, ha="center", va="bottom", fontweight="bold", fontsize=12)
    ax.text(centre[0], y - 0.05, shape, ha="center", va="top", fontsize=11, color=GREY)
