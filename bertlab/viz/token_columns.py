"""Two columns of tokens with room for lines between them: who looks is left, what is looked at is right."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from bertlab.viz.drawing import canvas
from bertlab.viz.head_selection import Rows
from bertlab.viz.style import GREY, INK, WIDTH, shown, text_width

MOST_ROWS = 40  # of a column: more cannot be read, so the part around what is chosen is drawn
ROW = 0.23  # inches
NARROWEST, WIDEST = 1.45, 1.6  # inches of a column: its heading has room, and the longest tokens are cut
EDGE = 0.12  # inches
NAMES = ("looks (query)", "is looked at (key)")


class Part(NamedTuple):
    """The rows of a column that are drawn, and which of them are chosen."""

    tokens: Sequence[str]
    start: int
    stop: int
    chosen: list[int]

    @property
    def lead(self) -> list[int]:
        """Rows whose lines are drawn: the chosen ones, or all."""
        return self.chosen or list(range(self.start, self.stop))


class Sheet(NamedTuple):
    """Where things stand, in inches: `left` and `right` are the inner edges of the columns."""

    ax: Axes
    parts: tuple[Part, Part]
    left: float
    right: float
    top: float

    def y(self, side: int, row: float) -> float:
        """The middle of a row."""
        return self.top - ROW * (row - self.parts[side].start + 0.5)


def parts(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    chosen: tuple[list[int], list[int]],
) -> tuple[Part, Part]:
    """All of both columns if they are short, else what is around the chosen tokens.

    Parameters
    ----------
    weights : (Tq, Tk) array
        Where the columns differ in length, the other one shows what is around its largest weight.
    query_tokens, key_tokens : sequences of Tq and Tk strings
    chosen : two lists of int
        Chosen queries and chosen keys.
    """
    side = 1 if chosen[1] else 0
    both = (query_tokens, key_tokens)
    start = _start(len(both[side]), chosen[side][0] if chosen[side] else 0)
    found = [_part(tokens, start, rows) for tokens, rows in zip(both, chosen, strict=True)]
    if len(query_tokens) != len(key_tokens):
        between = (weights.T if side else weights)[found[side].lead]  # (rows here, rows there)
        most = int(between.sum(axis=0).argmax()) if between.size else 0
        found[1 - side] = _part(both[1 - side], _start(len(both[1 - side]), most), [])
    return found[0], found[1]


def _start(n: int, wanted: int) -> int:
    """Where a part of `n` rows begins that has row `wanted` in its middle, if it can."""
    return max(0, min(wanted - MOST_ROWS // 2, n - MOST_ROWS))


def _part(tokens: Sequence[str], start: int, chosen: list[int]) -> Part:
    start = min(start, max(0, len(tokens) - MOST_ROWS))
    stop = min(start + MOST_ROWS, len(tokens))
    return Part(tokens, start, stop, [row for row in chosen if start <= row < stop])


def columns(title: str, both: tuple[Part, Part], strip: float, foot: str) -> Sheet:
    """Draw both columns.

    Parameters
    ----------
    title : str
        Say in it, by `drawn_said`, which part of a column is drawn.
    both : two Part
    strip : float
        Inches to leave free beside the column where nothing is chosen, if something is chosen in the other.
    foot : str
        What stands below, in lines that fit.
    """
    beside = [EDGE + strip * bool(both[1 - side].chosen) for side in (0, 1)]
    names = 0.42 if max(beside) == EDGE else 0.66  # above the rows; a strip has its own names below these
    below = 0.2 + 0.19 * (foot.count("\n") + 1)
    n_rows = max(part.stop - part.start for part in both)
    fig, ax = canvas(title, below + ROW * n_rows + names)
    fig.texts[0].set_parse_math(False)
    ax.text(EDGE, below - 0.12, foot, va="top", fontsize=10.5, color=GREY, parse_math=False, linespacing=1.2)
    room = [max([NARROWEST, *(text_width(_fitting(token), 12) for token in part.tokens)]) for part in both]
    edges = beside[0] + min(room[0], WIDEST), WIDTH - beside[1] - min(room[1], WIDEST)
    sheet = Sheet(ax, both, *edges, top=below + ROW * n_rows)
    for side in (0, 1):
        _column(sheet, side, names - 0.25)
    return sheet


def drawn_said(both: tuple[Part, Part], rows: tuple[Rows, Rows]) -> str:
    """Which tokens are drawn, if not all of both columns."""
    which = dict.fromkeys(
        f"{side.groups[part.start][0]}–{side.groups[part.stop - 1][-1]} of {side.n_tokens}"
        for part, side in zip(both, rows, strict=True)
        if part.stop - part.start < len(part.tokens)
    )
    return f" (tokens {' and '.join(which)}, counted from 0)" if which else ""


def _column(sheet: Sheet, side: int, above: float) -> None:
    part, x, ha = sheet.parts[side], (sheet.left, sheet.right)[side], ("right", "left")[side]
    plain: dict[str, Any] = {"ha": ha, "va": "center", "fontsize": 12, "parse_math": False}
    sheet.ax.text(x, sheet.top + above, NAMES[side], color=GREY, **plain)
    for row in range(part.start, part.stop):
        chosen = row in part.chosen
        look: dict[str, Any] = {
            "color": INK if chosen or not part.chosen else GREY,
            "fontweight": "bold" if chosen else "normal",
        }
        sheet.ax.text(x, sheet.y(side, row), _fitting(part.tokens[row]), **plain, **look)


def _fitting(token: str) -> str:
    """A token as it can be seen, cut to what fits into a column."""
    token, room = shown(token), int(WIDEST / text_width("x", 12))
    return token if len(token) <= room else token[: room - 1] + "…"
