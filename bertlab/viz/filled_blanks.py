"""A sentence with a blank, and what models would put there: their first pieces, with probabilities."""

import functools
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import MaxNLocator

from bertlab.viz.drawing import PALE_ORANGE, canvas
from bertlab.viz.payload import check_index
from bertlab.viz.style import BLUE, GREY, INK, ORANGE, WIDTH, house_style, shown

Guesses = Sequence[tuple[str, float]]  # pieces and their probabilities
MOST_MODELS, MOST_PIECES, MOST_LINES = 3, 8, 4
RIGHT = "✓"
# In points: the sentence, names of models, pieces, numbers and notes.
SENTENCE, NAME, PIECE, SMALL = 14.0, 13.0, 12.0, 11.0
# In inches: edge of the sheet; lines of the sentence, and between its pieces; lines of a name; bars; below
# them; lines of the foot; left of all panels for the name of their axis; right of a panel for its numbers.
EDGE, LINE, GAP, NAME_LINE, BAR, BELOW, FOOT_LINE, AXIS, NUMBER = (
    0.12, 0.42, 0.12, 0.24, 0.33, 0.62, 0.24, 0.42, 0.56,
)  # fmt: skip


class _Sentence(NamedTuple):
    """Tokens as they are written, in lines, and which of all tokens these are."""

    lines: list[list[int]]
    written: dict[int, str]
    said: str


@house_style
def filled_blanks(
    tokens: Sequence[str],
    blank: int,
    guesses: Mapping[str, Guesses],
    title: str,
    wanted: str | None = None,
) -> Figure:
    """Draw a sentence with a blank, and below it, for each model, bars: what it puts there, how probably.

    The likeliest piece is the topmost, and all models share one scale. Of a long sentence the four lines
    around the blank are drawn, and it is said which tokens these are.

    Parameters
    ----------
    tokens : sequence of T strings
        The one at the blank is what the models read there, as a rule [MASK]; it stands in a frame.
    blank : int
        Its position, from 0.
    guesses : mapping of a model's name to pairs of piece and probability
        One to three models, one to eight pieces each, in any order.
    title : str
        What is to be seen, as a sentence.
    wanted : str, optional
        The right piece: its bars get a frame, a sign and another colour. The models that have it not among
        their pieces are named.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there is no such position, there are too few or too many models or pieces, or a probability is
        not between 0 and 1.
    """
    _check(tokens, blank, guesses)
    best = {name: sorted(pairs, key=lambda pair: -pair[1]) for name, pairs in guesses.items()}
    room = (WIDTH - AXIS - EDGE) / len(best)  # of a panel, with its pieces and its numbers
    names = [_in_lines(shown(name), room - 0.2, NAME, bold=True, most=2) for name in best]
    sentence = _sentence(tokens, blank)
    foot = _foot(best, wanted)
    # From the foot upwards, in inches.
    bars = EDGE + FOOT_LINE * (foot.count("\n") + bool(foot)) + BELOW
    above = bars + BAR * max(map(len, best.values())) + 0.08
    low = above + NAME_LINE * (1 + max(name.count("\n") for name in names)) + 0.2 * bool(sentence.said) + 0.1
    fig, ax = canvas(title, low + LINE * len(sentence.lines))
    fig.texts[0].set_parse_math(False)
    _write(ax, sentence, blank, low)
    plain: dict[str, Any] = {"parse_math": False, "linespacing": 1.15}
    ax.text(EDGE, EDGE - 0.04, foot, fontsize=PIECE, va="bottom", **plain)
    for number, name in enumerate(names):
        ax.text(AXIS + number * room, above, name, fontsize=NAME, fontweight="bold", va="bottom", **plain)
    _panels(fig, list(best.values()), wanted, bars, room)
    return fig


def _check(tokens: Sequence[str], blank: int, guesses: Mapping[str, Guesses]) -> None:
    if not len(tokens):
        raise ValueError("tokens is empty: give the pieces of a sentence, with [MASK] at the blank")
    check_index("blank", blank, len(tokens))
    if not 0 < len(guesses) <= MOST_MODELS:
        raise ValueError(f"{len(guesses)} models: draw one to {MOST_MODELS} in a figure, and split the rest")
    for name, pairs in guesses.items():
        if not 0 < len(pairs) <= MOST_PIECES:
            raise ValueError(f"{len(pairs)} guesses of {name!r}: give its first one to {MOST_PIECES} pieces")
        for piece, probability in pairs:
            if not 0 <= probability <= 1:
                raise ValueError(
                    f"{name!r} gives {piece!r} the probability {float(probability):g}: give one from 0 to 1"
                )


def _sentence(tokens: Sequence[str], blank: int) -> _Sentence:
    """Break a sentence into lines; of more than four, those around the blank are left."""
    written = {i: _cut(token, WIDTH / 2, SENTENCE, bold=i == blank) for i, token in enumerate(tokens)}
    lines = _broken(written, blank, WIDTH - 2 * EDGE)
    if len(lines) <= MOST_LINES:
        return _Sentence(lines, written, "")
    lines = _broken(written, blank, WIDTH - 2 * EDGE - 0.7)  # an ellipsis needs room on both sides
    at = next(number for number, line in enumerate(lines) if blank in line)
    first = max(0, min(at - MOST_LINES // 2, len(lines) - MOST_LINES))
    lines = lines[first : first + MOST_LINES]
    start, stop = lines[0][0], lines[-1][-1]
    said = f"Tokens {start}–{stop} of {len(tokens)}, counted from 0."
    return _Sentence(lines, written, said)


def _broken(written: Mapping[int, str], blank: int, room: float) -> list[list[int]]:
    """Break tokens into lines of at most `room` inches."""
    lines: list[list[int]] = []
    left = 0.0
    for i, token in written.items():
        wide = _wide(token, SENTENCE, bold=i == blank) + 2 * GAP * (i == blank)
        if not lines or wide > left:
            lines.append([])
            left = room
        lines[-1].append(i)
        left -= wide + GAP
    return lines


def _write(ax: Axes, sentence: _Sentence, blank: int, low: float) -> None:
    """Write the sentence, with a frame around what stands at its blank."""
    plain: dict[str, Any] = {"va": "center_baseline", "fontsize": SENTENCE, "parse_math": False}
    for number, line in enumerate(sentence.lines):
        x, y = EDGE, low + LINE * (len(sentence.lines) - number - 0.5)
        if sentence.said and number == 0 and line[0] > 0:
            x = _one(ax, x, y, "…", plain)
        for i in line:
            x = _one(ax, x, y, sentence.written[i], plain, framed=i == blank)
        if sentence.said and number == len(sentence.lines) - 1 and line[-1] + 1 < len(sentence.written):
            _one(ax, x, y, "…", plain)
    ax.text(EDGE, low - 0.02, sentence.said, va="top", fontsize=SMALL, color=GREY)


def _one(ax: Axes, x: float, y: float, token: str, plain: dict[str, Any], framed: bool = False) -> float:
    """Write one token; return where the next one begins."""
    wide = _wide(token, SENTENCE, bold=framed)
    if framed:
        style = "round,pad=0,rounding_size=0.06"
        look: dict[str, Any] = {"facecolor": PALE_ORANGE, "edgecolor": INK, "linewidth": 2.2}
        ax.add_patch(FancyBboxPatch((x, y - 0.17), wide + 2 * GAP, 0.34, style, **look))
        x += GAP
    ax.text(x, y, token, fontweight="bold" if framed else "normal", **plain)
    return x + wide + GAP * (1 + framed)


def _panels(fig: Figure, best: list[Guesses], wanted: str | None, bottom: float, room: float) -> None:
    """Draw all panels side by side, on one scale."""
    rows = max(map(len, best))
    peak = max(100 * float(probability) for pairs in best for _, probability in pairs)
    steps = 6 if len(best) == 1 else 4 - len(best) // 2
    ticks = MaxNLocator(steps, steps=[1, 2, 2.5, 5, 10]).tick_values(0, max(peak, 1.0))
    labels = [[_label(piece, wanted, 0.45 * room) for piece, _ in pairs] for pairs in best]
    left = max(_wide(label, PIECE, bold=True) for panel in labels for label in panel) + 0.1
    inches = fig.get_figheight()
    for number, (pairs, panel) in enumerate(zip(best, labels, strict=True)):
        place = (AXIS + number * room + left, bottom, room - left - NUMBER, BAR * rows)
        ax = fig.add_axes((place[0] / WIDTH, place[1] / inches, place[2] / WIDTH, place[3] / inches))
        _bars(ax, pairs, panel, wanted)
        ax.set(xlim=(0, ticks[-1]), ylim=(rows - 0.5, -0.5), xlabel="probability, %")
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    fig.axes[1].set_ylabel("piece")
    fig.axes[1].yaxis.set_label_coords(-(left + 0.15) / (room - left - NUMBER), 0.5)


def _bars(ax: Axes, pairs: Guesses, labels: list[str], wanted: str | None) -> None:
    for row, (piece, probability) in enumerate(pairs):
        share, right = 100 * float(probability), piece == wanted
        look: dict[str, Any] = {"color": BLUE}
        if right:
            look = {"facecolor": ORANGE, "edgecolor": INK, "linewidth": 2.2, "hatch": "///"}
        ax.barh(row, share, 0.7, **look)
        ax.annotate(
            _percent(share), (share, row), (5, 0), textcoords="offset points", va="center_baseline",
            fontsize=SMALL, fontweight="bold" if right else "normal",
        )  # fmt: skip
    ax.set_yticks(range(len(pairs)), labels, parse_math=False)
    for label, (piece, _) in zip(ax.get_yticklabels(), pairs, strict=True):
        label.set_fontweight("bold" if piece == wanted else "normal")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)


def _label(piece: str, wanted: str | None, room: float) -> str:
    sign = f"{RIGHT} " if piece == wanted else ""
    return sign + _cut(piece, room - _wide(sign, PIECE, bold=True), PIECE, bold=True)


def _percent(share: float) -> str:
    """A share in percent, with one decimal; what is not nothing is not called so."""
    return "< 0.1" if 0 < share < 0.05 else f"{share:.1f}"


def _foot(best: Mapping[str, Guesses], wanted: str | None) -> str:
    """Which piece is right, and who does not think of it."""
    if wanted is None:
        return ""
    without = [name for name, pairs in best.items() if wanted not in [piece for piece, _ in pairs]]
    missed = " and ".join(_cut(name, 2.6, PIECE) for name in without)
    said = f"{RIGHT} the right piece: {_cut(wanted, 3.0, PIECE)}"
    said += f" (not among those of {missed})" if missed else ""
    return _in_lines(said, WIDTH - 2 * EDGE, PIECE, bold=False, most=3)


def _in_lines(text: str, room: float, size: float, bold: bool, most: int) -> str:
    """A text in at most so many lines of `room` inches; what is left of it is cut off."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if not lines[-1] or len(lines) == most or _wide(longer, size, bold) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(_cut(line, room, size, bold) for line in lines)


def _cut(token: str, room: float, size: float, bold: bool = False) -> str:
    """A token as it can be seen; its end is cut off where it does not fit into `room` inches."""
    token = shown(token)
    if _wide(token, size, bold) <= room:
        return token
    ends = accumulate(_wide(letter, size, bold) for letter in token)
    return token[: sum(end + _wide("…", size, bold) <= room for end in ends)] + "…"


def _wide(text: str, size: float, bold: bool = False) -> float:
    """How wide a text is, in inches, in a font of `size` points."""
    return size / 72 * sum(_advance(letter, bold) for letter in text)


@functools.cache
def _advance(letter: str, bold: bool) -> float:
    """How wide a letter is, in sizes of its font; one that only the reader's browser has is a square."""
    if unicodedata.combining(letter):
        return 0.0
    font = get_font(findfont(FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")))
    if not font.get_char_index(ord(letter)):
        return 1.0
    font.set_size(100, 72)
    return float(font.load_char(ord(letter), LoadFlags.NO_HINTING).linearHoriAdvance) / 65536 / 100
