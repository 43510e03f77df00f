"""Drawings without data: the encoder-decoder unrolled in time, and which word became which."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from bertlab.viz.drawing import (
    PALE_BLUE,
    PALE_ORANGE,
    PALE_RED,
    PALE_TEAL,
    arrow,
    box,
    canvas,
    on_arrow,
    words,
)
from bertlab.viz.style import (
    BLUE,
    GREY,
    ORANGE,
    RED,
    TEAL,
    WIDTH,
    house_style,
    subscript,
)

STATES_Y, INPUTS_Y, JOIN_Y, MIDDLE = 1.5, 0.72, 2.22, 1.3


@house_style
def encoder_decoder_diagram(
    source: Sequence[str],
    target: Sequence[str],
    title: str,
    weights: Sequence[float] | None = None,
    start: str = "<s>",
) -> Figure:
    """Draw an encoder-decoder unrolled in time, with the single vector in its middle or with attention.

    Parameters
    ----------
    source, target : sequences of strings
        Both together at most twelve words: more would be too small to read.
    title : str
        What is to be seen, as a sentence.
    weights : sequence of floats, optional
        None: the last encoder state, all that the decoder gets, is drawn as the bottleneck that it is.
        One for each source word: at its first step the decoder asks all encoder states, and each answers by
        its weight. The later steps do the same and are not drawn.
    start : str
        The decoder's first input.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there are no words on a side, more than twelve in all, or not one weight for each source word.
    """
    if weights is not None and len(weights) != len(source):
        raise ValueError(f"{len(weights)} weights for {len(source)} source words: give one for each")
    n_words = len(source) + len(target)
    if not source or not target or n_words > 12:
        raise ValueError(
            f"{len(source)} source and {len(target)} target words: draw 12 at most, and one of each"
        )
    top = STATES_Y + 0.85 if weights is None else JOIN_Y + 0.7
    fig, ax = canvas(title, top + 0.3)
    step = min(0.95, (WIDTH - 0.4 - MIDDLE) / n_words)
    left = (WIDTH - step * n_words - MIDDLE) / 2 + step / 2
    encoder = [left + step * i for i in range(len(source))]
    decoder = [left + step * j + MIDDLE for j in range(len(source), n_words)]
    _unrolled(ax, encoder, source, "h", BLUE, PALE_BLUE, step)
    _unrolled(ax, decoder, [start, *target[:-1]], "s", ORANGE, PALE_ORANGE, step)
    words(ax, decoder, top, target, step - 0.06, bold=True)
    for x in decoder:
        arrow(ax, (x, STATES_Y + 0.27), (x, top - 0.18))
    _heading(ax, encoder, "encoder reads", BLUE)
    # The longer heading needs the room of a few words.
    feeds_back = "; each word is its next input" if step * len(target) > 3.2 else ""
    _heading(ax, decoder, "decoder writes" + feeds_back, ORANGE)
    if weights is None:
        _bottleneck(ax, encoder, decoder)
    else:
        _context(ax, encoder, decoder, weights)
    return fig


def _unrolled(
    ax: Axes, xs: list[float], inputs: Sequence[str], letter: str, edge: str, fill: str, step: float
) -> None:
    width = min(0.56, step - 0.2)
    words(ax, xs, INPUTS_Y, inputs, step - 0.06)
    for index, x in enumerate(xs, start=1):
        box(ax, (x, STATES_Y), letter + subscript(index), edge, fill, width)
        arrow(ax, (x, INPUTS_Y + 0.18), (x, STATES_Y - 0.27))
        if index > 1:
            arrow(ax, (x - step + width / 2 + 0.02, STATES_Y), (x - width / 2 - 0.02, STATES_Y))


def _heading(ax: Axes, xs: list[float], text: str, colour: str) -> None:
    ax.plot(
        [xs[0] - 0.3, xs[-1] + 0.3], [0.42, 0.42], color=colour, linewidth=2.2, marker="none", linestyle="-"
    )
    ax.text((xs[0] + xs[-1]) / 2, 0.3, text, ha="center", va="top", fontsize=12)


def _cells(ax: Axes, x: float, y: float, n: int, size: float, edge: str, shades: Sequence[str]) -> None:
    for index in range(n):
        corner = (x - size / 2, y + (index - n / 2) * size)
        ax.add_patch(
            Rectangle(corner, size, size, facecolor=shades[index], edgecolor=edge, linewidth=1.2, zorder=2)
        )


def _bottleneck(ax: Axes, encoder: list[float], decoder: list[float]) -> None:
    x = (encoder[-1] + decoder[0]) / 2
    _cells(ax, x, STATES_Y, 5, 0.2, RED, (PALE_RED, "#E9A98E", "#FFFFFF", "#D9764D", PALE_RED))
    arrow(ax, (encoder[-1] + 0.3, STATES_Y), (x - 0.13, STATES_Y), RED, 3)
    arrow(ax, (x + 0.13, STATES_Y), (decoder[0] - 0.3, STATES_Y), RED, 3)
    ax.text(
        x + 0.12, STATES_Y + 0.62, "the whole sentence, in one vector", ha="right", va="bottom", color=RED,
        fontweight="bold",
    )  # fmt: skip


def _context(ax: Axes, encoder: list[float], decoder: list[float], weights: Sequence[float]) -> None:
    """Attention at the first step: the decoder's new state asks, all encoder states answer, by weight."""
    x, y, s = (encoder[-1] + decoder[0]) / 2, JOIN_Y + 0.28, decoder[0]
    arrow(ax, (encoder[-1] + 0.3, STATES_Y), (s - 0.3, STATES_Y))
    for state, weight in zip(encoder, weights, strict=True):
        arrow(ax, (state, STATES_Y + 0.27), (x - 0.29, y), TEAL, 1 + 6 * weight)
        on_line = (state + 0.2 * (x - 0.29 - state), STATES_Y + 0.27 + 0.2 * (y - STATES_Y - 0.27))
        on_arrow(ax, on_line, f"{weight:.3g}", TEAL)
    arrow(ax, (s - 0.2, STATES_Y + 0.27), (x + 0.2, y - 0.27), ORANGE, 2, dashed=True)
    ax.text((x + s) / 2 + 0.12, (STATES_Y + y) / 2, "asks", ha="left", va="bottom", color=ORANGE, fontsize=12)
    box(ax, (x, y), f"C{subscript(1)}", TEAL, PALE_TEAL)
    arrow(ax, (x + 0.3, y), (s - 0.11, y), TEAL, 2)
    ax.add_patch(Circle((s, y), 0.1, facecolor="white", edgecolor=TEAL, linewidth=1.8, zorder=3))
    text = f"s{subscript(1)} asks, all states answer, by weight"
    ax.text(x + 0.28, y + 0.34, text, ha="right", va="bottom", color=TEAL, fontweight="bold")


@house_style
def word_links(
    source: Sequence[str], target: Sequence[str], links: Sequence[tuple[int, int]], title: str
) -> Figure:
    """Draw two sentences one above the other, and a line from each word to what became of it.

    Parameters
    ----------
    source, target : sequences of strings
    links : sequence of (source index, target index)
        Lines that cross others, i.e. words that change places, are drawn strongly.
    title : str
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure
    """
    fig, ax = canvas(title, 2.3)
    rows = []
    for tokens in (source, target):
        step = min(1.5, (WIDTH - 0.3) / len(tokens))
        rows.append([WIDTH / 2 + step * (i - (len(tokens) - 1) / 2) for i in range(len(tokens))])
    for xs, y, tokens in ((rows[0], 1.95, source), (rows[1], 0.35, target)):
        words(ax, xs, y, tokens, xs[1] - xs[0] - 0.12 if len(xs) > 1 else WIDTH)
    for i, j in links:
        crosses = any((i - a) * (j - b) < 0 for a, b in links)
        colour, width = (RED, 3.0) if crosses else (GREY, 1.6)
        ends = [rows[0][i], rows[1][j]], [1.72, 0.58]
        ax.plot(*ends, color=colour, linewidth=width, linestyle="-", marker="none")
    return fig
