"""Attention as lines between two columns of tokens: the still picture of the head view."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from bertlab.viz.head_selection import Rows, rows_of
from bertlab.viz.head_words import dashes_said, lines_said, share_said
from bertlab.viz.payload import as_array
from bertlab.viz.style import GREY, HEAD_COLOURS, PALE, WIDTH, even_lines, house_style
from bertlab.viz.token_columns import EDGE, ROW, Part, Sheet, columns, drawn_said, parts

LANES = 0.13  # inches of a row over which the ends of its heads are spread: each has its place
CELL, STRIP, MEAN = 0.2, 1.9, 0.5  # inches of a head's cell at most, of all of them at most, of their mean
NUMBERED = 14  # heads at most whose strongest line carries the head's number: more would cover the lines
FOOT = 108  # characters of a line at the foot
DASHES: tuple[Any, ...] = (
    "solid",
    (0, (4, 2)),
    (0, (1, 1.4)),
)  # colours come again: then dashed, then dotted


class Line(NamedTuple):
    """What one head gives one key from one query."""

    weight: float
    head: int
    query: int
    key: int


def head_lines(
    weights: ArrayLike,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    title: str,
    heads: Iterable[int] | None = None,
    queries: Iterable[int] = (),
    looked_at: Iterable[int] = (),
    threshold: float = 0.02,
    note: str = "",
) -> Figure:
    """Draw lines from the tokens that look to those they look at: a colour a head, stronger for more weight.

    Each head keeps its place, too: its lines end a little below those of the head before, its cell stands
    right of that head's, and its strongest line carries its number.

    Parameters
    ----------
    weights : (H, Tq, Tk) array
        All heads of a layer.
    query_tokens, key_tokens : sequences of Tq and Tk strings
    title : str
        What is to be seen, as a sentence. Where a column is longer than 40 tokens, it gets which are drawn.
    heads : iterable of int, optional
        Draw these only, counted from 0.
    queries : iterable of int
        Draw the lines of these queries only, and beside each key what it gets from them: summed over the
        queries, a cell a head, stronger for more, then the mean of the heads.
    looked_at : iterable of int
        The same for keys. Choose on one side only.
    threshold : float
        Lines of less weight are not drawn.
    note : str
        What else the reader should know, at the foot.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If weights and tokens do not fit, or there is no such head or token, or both sides are chosen.
    """
    array, drawn = _checked(weights, query_tokens, key_tokens, heads)
    chosen = sorted(set(queries)), sorted(set(looked_at))
    if all(chosen):
        raise ValueError("queries and looked_at are both given: choose tokens on one side")
    _refuse_absent("queries", chosen[0], len(query_tokens))
    _refuse_absent("looked_at", chosen[1], len(key_tokens))
    rows = rows_of(query_tokens), rows_of(key_tokens)
    return lines_between(array, rows, title, drawn, chosen, threshold, note)


@house_style
def lines_between(
    array: np.ndarray,
    rows: tuple[Rows, Rows],
    title: str,
    drawn: list[int],
    chosen: tuple[list[int], list[int]],
    threshold: float,
    note: str,
) -> Figure:
    """The same for rows that need not be tokens: (H, rows, rows) weights, heads to draw, chosen rows."""
    both = parts(array[drawn].sum(axis=0), rows[0].labels, rows[1].labels, chosen)
    lines, most = _strong(array, drawn, both, threshold)
    said = [lines_said(len(lines), threshold, most), _numbers_said(chosen, drawn)]
    said += [_share_said(array[drawn], rows, both, chosen), dashes_said(len(array)), note]
    foot = even_lines(" ".join(filter(None, said)), FOOT)
    sheet = columns(title + drawn_said(both, rows), both, min(STRIP, CELL * len(array)) + MEAN, foot)
    _draw(sheet, lines, len(array))
    if any(chosen):
        _strips(sheet, array, drawn, chosen)
    figure = sheet.ax.get_figure(root=True)
    assert figure is not None
    return figure


def _numbers_said(chosen: tuple[list[int], list[int]], heads: Sequence[int]) -> str:
    n = max(map(len, chosen))
    if n < 2 or not heads:
        return ""
    return f"Numbers: sum over the {n} chosen{f', mean of {len(heads)} heads' if len(heads) > 1 else ''}."


def _share_said(
    weights: np.ndarray, rows: tuple[Rows, Rows], both: tuple[Part, Part], chosen: tuple[list[int], list[int]]
) -> str:
    """Of a long sentence: how much of the weight goes where no line can lead."""
    side = 0 if chosen[1] else 1  # the column that gets, or gives
    part, named = both[side], rows[side]
    if not len(weights) or part.stop - part.start == len(part.tokens):
        return ""
    mean, lead = weights.mean(axis=0), chosen[1 - side] or both[1 - side].lead
    given = mean[lead].sum(axis=0) if side else mean[:, lead].sum(axis=1)
    if not any(chosen):
        given = given / len(lead)
    placed = [named.placed(row) for row in range(len(named.labels))]
    said = share_said(given, part.start, part.stop, placed, "goes to" if side else "comes from")
    return said if any(chosen) or not said else f"Of each query’s weight, on average {said}"


def _checked(
    weights: ArrayLike, query_tokens: Sequence[str], key_tokens: Sequence[str], heads: Iterable[int] | None
) -> tuple[np.ndarray, list[int]]:
    array = as_array(weights)
    if array.ndim != 3 or array.shape[1:] != (len(query_tokens), len(key_tokens)):
        raise ValueError(
            f"weights of shape {array.shape} do not fit {len(query_tokens)} query tokens and "
            f"{len(key_tokens)} key tokens: give one layer, (heads, queries, keys)"
        )
    drawn = sorted(set(range(len(array)) if heads is None else heads))
    _refuse_absent("heads", drawn, len(array))
    return array, drawn


def _refuse_absent(name: str, numbers: Sequence[int], n: int) -> None:
    wrong = [number for number in numbers if not 0 <= number < n]
    if wrong:
        raise ValueError(f"{name} has {wrong[0]}: there are {n}, from 0 to {n - 1}")


def _dash(head: int) -> Any:
    return DASHES[min(head // len(HEAD_COLOURS), len(DASHES) - 1)]


def _colour(head: int, opacity: float) -> tuple[float, float, float, float]:
    return to_rgba(HEAD_COLOURS[head % len(HEAD_COLOURS)], min(1.0, opacity))


def _strong(
    array: np.ndarray, heads: Sequence[int], both: tuple[Part, Part], threshold: float
) -> tuple[list[Line], float]:
    """The lines to draw, weak ones first, so that strong ones lie on top; and the largest weight."""
    queries, keys = both[0].lead, both[1].lead
    between = array[np.ix_(heads, queries, keys)]
    found = np.argwhere((between >= threshold) & (between > 0)).tolist()
    lines = sorted(Line(float(between[h, q, k]), heads[h], queries[q], keys[k]) for h, q, k in found)
    return lines, float(between.max(initial=0.0))


def _ends(sheet: Sheet, line: Line, n_heads: int) -> tuple[tuple[float, float], tuple[float, float]]:
    lane = LANES * (0.5 - (line.head + 0.5) / n_heads)
    start = sheet.left + 0.06, sheet.y(0, line.query) + lane
    return start, (sheet.right - 0.06, sheet.y(1, line.key) + lane)


def _draw(sheet: Sheet, lines: list[Line], n_heads: int) -> None:
    """The lines; and the number of each head on its strongest, at a place of its own, so that none meet."""
    few = any(part.chosen for part in sheet.parts)
    look: dict[str, Any] = {
        "colors": [_colour(line.head, line.weight ** (0.5 if few else 0.85)) for line in lines],
        "linewidths": [0.6 + 2.2 * line.weight for line in lines],
        "linestyles": [_dash(line.head) for line in lines] or "solid",
    }
    ends = [_ends(sheet, line, n_heads) for line in lines]
    sheet.ax.add_collection(LineCollection(ends, **look))
    strongest = {line.head: line for line in lines}
    numbered = sorted(sorted(strongest.values())[-NUMBERED:], key=lambda line: line.head)
    for place, line in enumerate(numbered, start=1):
        (x, y), (end_x, end_y) = _ends(sheet, line, n_heads)
        along = place / (len(numbered) + 1)
        around = {"facecolor": "white", "edgecolor": _colour(line.head, 1), "pad": 1.2}
        around["linestyle"] = _dash(line.head)
        sheet.ax.text(
            x + along * (end_x - x), y + along * (end_y - y), str(line.head), ha="center", va="center",
            fontsize=9.5, bbox=around, zorder=4,
        )  # fmt: skip


def _strips(
    sheet: Sheet, array: np.ndarray, heads: Sequence[int], chosen: tuple[list[int], list[int]]
) -> None:
    """Beside each token of the other column: what each head gives it, and the mean of the heads."""
    side = 1 if chosen[0] else 0
    lead, part, n_heads = chosen[1 - side], sheet.parts[side], len(array)
    summed = array[:, lead].sum(axis=1) if side else array[:, :, lead].sum(axis=2)  # (H, rows)
    cell = min(CELL, STRIP / n_heads)
    x = WIDTH - EDGE - MEAN - cell * n_heads if side else EDGE + MEAN
    beside: dict[str, Any] = {
        "x": x + cell * n_heads + 0.08 if side else x - 0.08,
        "ha": "left" if side else "right",
    }
    named: dict[str, Any] = {"y": sheet.top + 0.14, "va": "center", "color": GREY}
    number = "sum" if len(lead) > 1 else "mean" if len(heads) > 1 else "weight"
    sheet.ax.text(s=number, fontsize=10.5, **beside, **named)
    for head in range(0, n_heads, 1 if cell > 0.13 else 4):
        sheet.ax.text(x=x + (head + 0.5) * cell, s=str(head), fontsize=8, ha="center", **named)
    for row in range(part.start, part.stop):
        y = sheet.y(side, row)
        for head in range(n_heads):
            fill = _colour(head, summed[head, row] ** 0.5) if head in heads else "none"
            box = Rectangle((x + head * cell, y - 0.42 * ROW), cell, 0.84 * ROW, facecolor=fill)
            box.set(edgecolor=PALE, linewidth=0.6)
            sheet.ax.add_patch(box)
        if heads:
            sheet.ax.text(y=y, s=f"{summed[heads, row].mean():.2f}", fontsize=10.5, va="center", **beside)
