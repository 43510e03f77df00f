"""A drawing of fine-tuning: the same trunk four times, and the small layer that each task puts on it."""

from collections.abc import Iterable
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from bertlab.viz.drawing import PALE_BLUE, PALE_ORANGE, Point, arrow, canvas
from bertlab.viz.style import BLUE, GREY, INK, ORANGE, WIDTH, house_style

EDGE, GAP, HIGH = 0.15, 0.35, 2.55  # inches: around all panels, between two, of one
SIZE = 11.0  # points: of tokens and answers, such that eight stand side by side


class Panel(NamedTuple):
    """A task: its input, which tokens the new layer reads, and what stands above which token."""

    name: str
    tokens: tuple[str, ...]
    read: tuple[int, ...]
    answers: dict[int, str]


PANELS = (
    Panel("One text, one answer", ("[CLS]", "what", "a", "dull", "film", "[SEP]"), (0,), {0: "negative"}),
    Panel(
        "Two texts, one answer",
        ("[CLS]", "a", "dog", "sat", "[SEP]", "it", "sat", "[SEP]"),
        (0,),
        {0: "follows"},
    ),
    Panel(
        "Question and passage, a span",
        ("[CLS]", "who", "slept", "[SEP]", "old", "Ida", "slept", "[SEP]"),
        (4, 5, 6),
        {4: "start", 5: "end"},
    ),
    Panel(
        "A label for each word",
        ("[CLS]", "Ida", "saw", "New", "York", "[SEP]"),
        (1, 2, 3, 4),
        {1: "B-PER", 2: "O", 3: "B-LOC", 4: "I-LOC"},
    ),
)


@house_style
def task_heads(title: str) -> Figure:
    """Draw the four tasks of BERT, each with its input below the trunk and its head above it.

    Parameters
    ----------
    title : str
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    References
    ----------
    Devlin et al. 2019, fig. 4.
    """
    wide = (WIDTH - 2 * EDGE - GAP) / 2
    fig, ax = canvas(title, 2 * HIGH + 0.1)
    for number, panel in enumerate(PANELS):
        column, row = number % 2, number // 2
        _panel(ax, (EDGE + column * (wide + GAP), 0.05 + (1 - row) * HIGH), wide, panel)
    return fig


def _panel(ax: Axes, corner: Point, wide: float, panel: Panel) -> None:
    """Draw a task, from its tokens at the bottom to its name at the top."""
    left, low = corner
    step = wide / len(panel.tokens)
    xs = [left + (i + 0.5) * step for i in range(len(panel.tokens))]
    _line(ax, xs, low + 0.14, panel.tokens)
    _block(ax, (left, low + 0.45), wide, 0.46, "BERT", BLUE, PALE_BLUE)
    for x in xs:
        arrow(ax, (x, low + 0.27), (x, low + 0.44), GREY, 1.0)
    first, last = min(panel.read), max(panel.read)
    room = max(step * (last - first + 1), 1.0)
    middle = max((xs[first] + xs[last]) / 2, left + room / 2)
    _block(ax, (middle - room / 2, low + 1.22), room, 0.36, "new layer", ORANGE, PALE_ORANGE)
    for i in panel.read:
        arrow(ax, (xs[i], low + 0.92), (xs[i], low + 1.21), GREY, 1.2)
    for i in panel.answers:
        arrow(ax, (xs[i], low + 1.59), (xs[i], low + 1.82), INK, 1.2)
    _line(ax, [xs[i] for i in panel.answers], low + 1.94, panel.answers.values(), "bold")
    ax.text(left, low + 2.28, panel.name, ha="left", va="center_baseline", fontsize=13, fontweight="bold")


def _line(ax: Axes, xs: list[float], y: float, texts: Iterable[str], weight: str = "normal") -> None:
    """Write words, each at its place, in one size in all panels."""
    for x, text in zip(xs, texts, strict=True):
        ax.text(x, y, text, ha="center", va="center_baseline", fontsize=SIZE, fontweight=weight)


def _block(ax: Axes, corner: Point, wide: float, high: float, text: str, edge: str, fill: str) -> None:
    style = "round,pad=0,rounding_size=0.08"
    ax.add_patch(FancyBboxPatch(corner, wide, high, style, facecolor=fill, edgecolor=edge, linewidth=1.8))
    place = corner[0] + wide / 2, corner[1] + high / 2
    ax.text(*place, text, ha="center", va="center_baseline", fontsize=13)
