"""A drawing of two language models over the same words: one reads from the left, one from the right."""

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bertlab.viz.drawing import PALE_BLUE, PALE_ORANGE, PALE_TEAL, arrow, box, canvas, words
from bertlab.viz.style import BLUE, GREY, ORANGE, TEAL, WIDTH, house_style

MOST = 5  # words: more would be too small to read
MARGIN, GAP = 0.25, 0.5  # inches, at the sides and between the panels
WORDS_Y, VECTORS_Y, LAYERS_Y, TOP_Y = 0.22, 0.8, (1.62, 2.44), 3.22
SIZE = (0.6, 0.4)


@house_style
def two_directions(tokens: Sequence[str], title: str) -> Figure:
    """Draw a forward and a backward language model of two layers, side by side, and what each predicts where.

    Parameters
    ----------
    tokens : sequence of two to five strings
        Read by both models; at the top of each column stands what that model is asked for there.
    title : str
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there are fewer than two tokens or more than five.

    References
    ----------
    Peters et al. 2018, sec. 3.1.
    """
    if not 2 <= len(tokens) <= MOST:
        raise ValueError(f"{len(tokens)} tokens: draw two to {MOST}")
    fig, ax = canvas(title, 3.75)
    width = (WIDTH - 2 * MARGIN - GAP) / 2
    step = width / len(tokens)
    for panel, (name, edge, fill) in enumerate(
        (("forward: what comes next?", BLUE, PALE_BLUE), ("backward: what came before?", ORANGE, PALE_ORANGE))
    ):
        left = MARGIN + panel * (width + GAP)
        xs = [left + (i + 0.5) * step for i in range(len(tokens))]
        _stack(ax, xs, edge, fill, backwards=bool(panel))
        words(ax, xs, WORDS_Y, tokens, step - 0.08, bold=True)
        asked = tokens[1:] if panel == 0 else tokens[:-1]
        places = xs[:-1] if panel == 0 else xs[1:]
        words(ax, places, TOP_Y, asked, step - 0.08)
        for x in places:
            arrow(ax, (x, LAYERS_Y[1] + SIZE[1] / 2), (x, TOP_Y - 0.16), TEAL)
        ax.text(left + width / 2, TOP_Y + 0.38, name, ha="center", va="center", fontweight="bold")
    return fig


def _stack(ax: Axes, xs: list[float], edge: str, fill: str, backwards: bool) -> None:
    """Two layers of LSTMs over word vectors; arrows along a layer run the way it reads."""
    for x in xs:
        arrow(ax, (x, WORDS_Y + 0.16), (x, VECTORS_Y - SIZE[1] / 2))
        box(ax, (x, VECTORS_Y), "x", TEAL, PALE_TEAL, *SIZE)
        for below, y in zip((VECTORS_Y, LAYERS_Y[0]), LAYERS_Y, strict=True):
            arrow(ax, (x, below + SIZE[1] / 2), (x, y - SIZE[1] / 2), GREY)
            box(ax, (x, y), "LSTM", edge, fill, *SIZE)
    order = xs[::-1] if backwards else xs
    away = -SIZE[0] / 2 if backwards else SIZE[0] / 2
    for before, after in pairwise(order):
        for y in LAYERS_Y:
            arrow(ax, (before + away, y), (after - away, y), edge, 2.0)
