"""A drawing of the whole Transformer: what an encoder layer and a decoder layer are made of."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from bertlab.viz.drawing import PALE_BLUE, PALE_ORANGE, PALE_RED, PALE_TEAL, Point, arrow, canvas
from bertlab.viz.style import BLUE, GREY, INK, ORANGE, PALE, RED, TEAL, house_style

ENCODER_X, DECODER_X, PART, ROW = 2.45, 6.15, (2.5, 0.46), 0.68  # inches: middles, size and distance of parts
BOTTOM = 1.45  # where the lowest parts stand


@house_style
def transformer_diagram(title: str, n_layers: int = 6) -> Figure:
    """Draw one encoder layer and one decoder layer, what enters them, and what leaves.

    Parameters
    ----------
    title : str
        What is to be seen, as a sentence.
    n_layers : int
        How many of each are stacked.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If `n_layers` is below 1.

    References
    ----------
    Vaswani et al. 2017, fig. 1. Residual connections and norms around each part are named, not drawn.
    """
    if n_layers < 1:
        raise ValueError(f"n_layers={n_layers}: draw at least 1")
    fig, ax = canvas(title, 4.5)
    encoder = [("self-attention", BLUE, PALE_BLUE), ("feed-forward", GREY, PALE)]
    decoder = [
        ("masked self-attention", ORANGE, PALE_ORANGE),
        ("attention to the source", RED, PALE_RED),
        ("feed-forward", GREY, PALE),
    ]
    encoder_top = _stack(ax, ENCODER_X, encoder, f"encoder\nlayer\n× {n_layers}", -1)
    decoder_top = _stack(ax, DECODER_X, decoder, f"decoder\nlayer\n× {n_layers}", 1)
    _inputs(ax, ENCODER_X, "source")
    _inputs(ax, DECODER_X, "target, shifted right")
    _to_source(ax, encoder_top)
    _output(ax, decoder_top)
    around = "around every part: + its own input, then LayerNorm"
    ax.text(ENCODER_X, 3.8, around, ha="center", va="center", fontsize=11, color=GREY)
    return fig


def _part(ax: Axes, centre: Point, text: str, edge: str, fill: str) -> None:
    width, height = PART
    corner = (centre[0] - width / 2, centre[1] - height / 2)
    style = "round,pad=0,rounding_size=0.09"
    ax.add_patch(FancyBboxPatch(corner, width, height, style, facecolor=fill, edgecolor=edge, linewidth=1.8))
    ax.text(*centre, text, ha="center", va="center_baseline", fontsize=13)


def _stack(ax: Axes, x: float, parts: list[tuple[str, str, str]], name: str, side: int) -> float:
    """Draw the parts of a layer from below up, a frame around them and its name; return its top."""
    for row, (text, edge, fill) in enumerate(parts):
        y = BOTTOM + row * ROW
        _part(ax, (x, y), text, edge, fill)
        arrow(ax, (x, y - ROW + PART[1] / 2), (x, y - PART[1] / 2))
    top = BOTTOM + (len(parts) - 1) * ROW + PART[1] / 2 + 0.14
    low, width = BOTTOM - PART[1] / 2 - 0.14, PART[0] + 0.3
    frame = FancyBboxPatch((x - width / 2, low), width, top - low, "round,pad=0,rounding_size=0.12")
    frame.set(facecolor="none", edgecolor=INK, linewidth=1.2, linestyle=(0, (4, 2)))
    ax.add_patch(frame)
    place = x + side * (width / 2 + 0.12), (low + top) / 2
    ax.text(*place, name, ha="right" if side < 0 else "left", va="center", fontweight="bold", linespacing=1.4)
    return top


def _inputs(ax: Axes, x: float, text: str) -> None:
    ax.text(x, 0.2, text, ha="center", va="center_baseline", fontsize=13, fontweight="bold")
    ax.text(x, 0.62, "embeddings × √D + positions", ha="center", va="center_baseline", fontsize=12)
    arrow(ax, (x, 0.32), (x, 0.5))


def _to_source(ax: Axes, top: float) -> None:
    """Draw the way of what the encoder hands over: to the middle part of *every* decoder layer."""
    turn, y = top + 0.36, BOTTOM + ROW
    middle = (ENCODER_X + DECODER_X) / 2
    style: dict[str, Any] = {"color": RED, "linewidth": 2.2, "linestyle": "-", "marker": "none"}
    ax.plot([ENCODER_X, ENCODER_X, middle, middle], [top, turn, turn, y], **style)
    arrow(ax, (middle, y), (DECODER_X - PART[0] / 2, y), RED, 2.2)
    said: dict[str, Any] = {"va": "bottom", "ha": "left", "fontsize": 12, "color": RED}
    ax.text(ENCODER_X, turn + 0.06, "last layer: keys, values", **said)
    ax.text(DECODER_X + 0.1, y - ROW + PART[1] / 2, "queries", **said)


def _output(ax: Axes, top: float) -> None:
    y = top + 0.58
    arrow(ax, (DECODER_X, top), (DECODER_X, y - PART[1] / 2))
    _part(ax, (DECODER_X, y), "linear: D → V logits", TEAL, PALE_TEAL)
    arrow(ax, (DECODER_X, y + PART[1] / 2), (DECODER_X, y + 0.52))
    text = "softmax: a probability for each next word"
    ax.text(DECODER_X, y + 0.64, text, ha="center", va="center_baseline", fontsize=12)
