"""The still picture of one decoded word: its seven steps on one sheet, numbered."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from bertlab.viz.drawing import arrow, canvas, words
from bertlab.viz.payload import cells
from bertlab.viz.style import BLUE, INK, ORANGE, RED, SIGNED, TEAL, house_style, shown, subscript, text_width
from bertlab.viz.trace import MANY_TOKENS, DecodingTrace, score_said

HEIGHT, BASE, TALL, WIDE = 4.35, 0.62, 1.32, 0.22  # inches: of the sheet; where vectors stand, and their size
TOP = BASE + TALL
LEFT, RIGHT = 1.0, 5.2  # between which the source lies
MEMORY, NEW, COMBINED = 5.75, 6.6, 7.75  # middles of the decoder's vectors
CONTEXT_X, CONTEXT_Y, CONTEXT_LONG = 2.2, 3.6, 2.64  # the context lies above the source


@house_style
def seven_steps(trace: DecodingTrace, position: int, title: str = "") -> Figure:
    """Draw how one word is written: start, new state, scores, softmax, context, combination, word.

    Parameters
    ----------
    trace : DecodingTrace
    position : int
        Of the word, from 0.
    title : str, optional
        What is to be seen, as a sentence; by default which word comes about.

    Returns
    -------
    matplotlib Figure
    """
    # A title may hold formulas, a token may not: its dollar signs are taken as such.
    word = shown(trace.target_tokens[position]).replace("$", r"\$")
    fig, ax = canvas(title or f"How “{word}” is written, in seven steps", HEIGHT)
    _source(ax, trace, position)
    _decoder(ax, trace, position)
    _answer(ax, trace, position)
    return fig


def _cell(ax: Axes, x: float, y: float, width: float, height: float, value: float) -> None:
    ax.add_patch(
        Rectangle((x, y), width, height, facecolor=SIGNED((value + 1) / 2), edgecolor=INK, linewidth=0.4)
    )


def _column(ax: Axes, x: float, values: list[float], name: str) -> None:
    """A vector standing at `BASE`."""
    height = TALL / len(values)
    for i, value in enumerate(reversed(values)):
        _cell(ax, x - WIDE / 2, BASE + i * height, WIDE, height, value)
    ax.text(x, BASE - 0.05, name, ha="center", va="top", fontsize=12)


def _context(ax: Axes, values: list[float], name: str) -> None:
    """The context, lying."""
    width = CONTEXT_LONG / len(values)
    for i, value in enumerate(values):
        _cell(ax, CONTEXT_X + width * i, CONTEXT_Y, width, WIDE, value)
    ax.text(CONTEXT_X - 0.08, CONTEXT_Y + WIDE / 2, name, ha="right", va="center")
    _badge(ax, 0.2, CONTEXT_Y + WIDE / 2, 5, "context")


def _badge(ax: Axes, x: float, y: float, n: int, name: str, above: bool = False) -> None:
    """The number of a step, its name beside or above."""
    plain: dict[str, Any] = {"va": "center_baseline", "fontsize": 11}
    ax.add_patch(Circle((x, y), 0.13, facecolor=RED, edgecolor="none", zorder=4))
    ax.text(x, y, str(n), ha="center", color="white", fontweight="bold", zorder=5, **plain)
    if above:
        ax.text(x, y + 0.17, name, ha="center", va="bottom", fontsize=11, color=RED)
    else:
        ax.text(x + 0.18, y, name, ha="left", color=RED, **plain)


def _size(n: int, room: float) -> float:
    """Of the letters of scores and weights."""
    return 11.0 if n <= MANY_TOKENS else min(11.0, 26 * room)


def _source(ax: Axes, trace: DecodingTrace, position: int) -> None:
    """Encoder states with their tokens below, scores and weights above, and their sum at the top."""
    n = len(trace.source_tokens)
    room = min(0.9, (RIGHT - LEFT) / n)
    xs = [LEFT + room * (i + 0.5) for i in range(n)]
    size = _size(n, room)
    for i, (x, values) in enumerate(zip(xs, cells(trace.encoder_states), strict=True)):
        _column(ax, x, values, f"h{subscript(i + 1)}")
        score, weight = float(trace.scores[position, i]), float(trace.weights[position, i])
        ax.text(x, TOP + 0.05, score_said(score, n), ha="center", va="bottom", fontsize=size)
        ax.add_patch(Rectangle((x - 0.14, TOP + 0.28), 0.28, 0.6 * weight, facecolor=BLUE))
        ax.text(
            x,
            TOP + 0.31 + 0.6 * weight,
            f"{weight:.2f}".removeprefix("0" if n > MANY_TOKENS else ""),
            ha="center",
            va="bottom",
            fontsize=size,
        )
        ends = [x, CONTEXT_X + CONTEXT_LONG / 2], [TOP + 0.55 + 0.6 * weight, CONTEXT_Y - 0.04]
        width, alpha = 1 + 4 * weight, 0.12 + 0.88 * weight
        ax.plot(*ends, color=TEAL, alpha=alpha, linewidth=width, linestyle="-", marker="none")
    levels = [0.2] if n <= MANY_TOKENS else [0.27, 0.09]
    ys = [levels[i % len(levels)] for i in range(n)]
    words(ax, xs, ys, trace.source_tokens, len(levels) * room - 0.06)
    _context(ax, cells(trace.contexts)[position], f"C{subscript(position + 1)}")
    _badge(ax, 0.2, TOP + 0.13, 3, "scores")
    _badge(ax, 0.2, TOP + 0.42, 4, "softmax")


def _decoder(ax: Axes, trace: DecodingTrace, position: int) -> None:
    """The input and the old state, the new state, and what it makes together with the context."""
    states = cells(np.vstack([trace.initial_state, trace.states]))
    _column(ax, MEMORY, states[position], f"s{subscript(position)}")
    _column(ax, NEW, states[position + 1], f"s{subscript(position + 1)}")
    _column(ax, COMBINED, cells(trace.combined)[position], "combined")
    words(ax, [(MEMORY + NEW) / 2], [0.2], [f"input: {shown(trace.fed(position))}"], 2.2)
    for x, n, name in ((MEMORY, 1, "start"), (NEW, 2, "new state"), (COMBINED, 6, "combine")):
        _badge(ax, x, TOP + 0.2, n, name, above=True)
    arrow(ax, (MEMORY + 0.16, 1.1), (NEW - 0.16, 1.1))
    arrow(ax, (NEW + 0.16, 1.1), (COMBINED - 0.16, 1.1))
    right, level = CONTEXT_X + CONTEXT_LONG + 0.1, CONTEXT_Y + WIDE / 2
    route = [right, 5.35, 5.35, 7.2, 7.2], [level, level, 2.75, 2.75, 1.4]
    ax.plot(*route, color=TEAL, linewidth=2, linestyle="-", marker="none")
    arrow(ax, (7.2, 1.4), (COMBINED - 0.16, 1.4), TEAL, 2)
    n = len(trace.source_tokens)
    room = min(0.9, (RIGHT - LEFT) / n)
    last = score_said(float(trace.scores[position, -1]), n)
    beside = LEFT + room * (n - 0.5) + text_width(last, _size(n, room)) / 2 + 0.06
    _question(ax, max(LEFT + room * n - 0.1, beside))


def _question(ax: Axes, end: float) -> None:
    """The new state asks: a dashed line from it to the scores, beside which it ends, at `end`."""
    high, low, turn = TOP + 0.68, TOP + 0.13, max(end + 0.2, RIGHT + 0.1)
    route = [NEW, NEW, turn, turn], [TOP + 0.56, high, high, low]
    ax.plot(*route, color=ORANGE, linewidth=2, linestyle=(0, (3, 1.5)), marker="none")
    arrow(ax, (turn, low), (end, low), ORANGE, 2, dashed=True)
    ax.text(6.12, high - 0.03, "asks", ha="center", va="top", fontsize=11, color=ORANGE)


def _answer(ax: Axes, trace: DecodingTrace, position: int) -> None:
    """The most probable words, as bars."""
    best = list(trace.top_words[position])[:4]
    for i, (word, probability) in enumerate(best):
        y, weight = HEIGHT - 0.25 - 0.27 * i, "normal" if i else "bold"
        plain: dict[str, Any] = {"va": "center", "fontweight": weight, "parse_math": False}
        ax.text(7.15, y, shown(word), ha="right", fontsize=12, **plain)
        ax.add_patch(Rectangle((7.22, y - 0.09), 0.85 * probability, 0.18, facecolor=BLUE))
        ax.text(7.28 + 0.85 * probability, y, f"{probability:.2f}", fontsize=11, **plain)
    _badge(ax, 5.55, HEIGHT - 0.25, 7, "word")
    arrow(ax, (COMBINED, TOP + 0.55), (COMBINED, HEIGHT - 0.15 - 0.27 * len(best)))
