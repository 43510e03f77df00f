"""The still picture of one query: its vector, every key's, their products, scores and weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from bertlab.viz.drawing import canvas
from bertlab.viz.payload import as_array
from bertlab.viz.queries_keys import Scored, beyond_average, largest_first, score_keys
from bertlab.viz.style import BLUE, GREY, INK, ORANGE, PALE, RED, house_style, number, shown, text_width

MOST_KEYS = 12  # that are drawn: more would not fit on a page
LEFT, RIGHT = 1.9, 6.05  # inches: between which the dimensions lie
SCORE, SCALED = 6.68, 7.3  # right edges of two columns
BAR, BAR_LONG = 7.42, 0.62  # where a weight's bar begins
ROW, KEY_TALL, PRODUCT_TALL = 0.54, 0.13, 0.32  # heights
HEAD, FOOT = 0.74, 0.66  # room for the query above, and for the note below


@house_style
def score_by_dimension(
    query: ArrayLike,
    keys: ArrayLike,
    query_token: str,
    key_tokens: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    scale: float | None = None,
    key: int | None = None,
    dimension: int | None = None,
    by_share: bool = False,
    title: str = "",
) -> Figure:
    """Draw how one query scores every key: which dimensions make the score, and what weight comes of it.

    Above a line stand positive numbers, below it negative ones. Of more than 12 keys the 12 with the most
    weight are drawn.

    Parameters
    ----------
    query : (K,) array
        Of one head.
    keys : (Tk, K) array
    query_token : str
    key_tokens : sequence of Tk strings
    mask : (Tk,) bool array, optional
        True = may be attended to.
    scale : float, optional
        What scores are divided by; by default √K.
    key : int, optional
        Position of the key to mark; by default the one with the most weight.
    dimension : int, optional
        To mark, from 0; by default the one that lifts the score of `key` most above that of the average key,
        or, if `key` scores below it, lowers it most.
    by_share : bool
        Order the dimensions by what they add to the score of `key` more than to that of the average key, the
        largest first; see `beyond_average`.
    title : str, optional
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If the shapes do not fit, or there is no such key or dimension.
    """
    q, k = as_array(query), as_array(keys)
    if q.ndim != 1 or k.shape != (len(key_tokens), len(q)):
        raise ValueError(
            f"a query of shape {q.shape} and keys of shape {k.shape} do not fit {len(key_tokens)} tokens: "
            f"give (K,) and ({len(key_tokens)}, K), of one head"
        )
    scored = score_keys(q, k, mask, scale)
    marked = int(scored.weights.argmax()) if key is None else key
    _check("key", marked, len(k))
    focus = most_telling(scored, marked) if dimension is None else dimension
    _check("dimension", focus, len(q))
    order = largest_first(beyond_average(scored, marked)) if by_share else np.arange(len(q))
    drawn = drawn_keys(scored, marked)
    sentence = title or _title(scored, query_token, key_tokens, marked, focus)
    fig, ax = canvas(sentence, HEAD + ROW * len(drawn) + FOOT)
    rows = _Rows(ax, q, k, scored, order, mask, drawn)
    rows.heading(query_token, scale)
    for place, position in enumerate(drawn):
        rows.row(place, position, key_tokens[position], position == marked)
    rows.number_dimensions(focus)
    rows.mark_dimension(focus, len(drawn))
    left_out = 1 - float(scored.weights[drawn].sum()) if scored.weights.any() else 0.0
    _note(ax, len(drawn), len(k), by_share, left_out)
    return fig


def _check(name: str, value: int, n: int) -> None:
    if not 0 <= value < n:
        raise ValueError(f"{name}={value}: there are {n}, from 0")


def most_telling(scored: Scored, key: int) -> int:
    """The dimension that lifts a key most above the average key, or lowers it most if it is below."""
    beyond = beyond_average(scored, key)
    return int(beyond.argmax() if beyond.sum() >= 0 else beyond.argmin())


def drawn_keys(scored: Scored, marked: int) -> list[int]:
    """Positions of the keys that are drawn: all, or those with the most weight and the marked one."""
    strongest = [int(i) for i in np.argsort(-scored.weights, kind="stable")[:MOST_KEYS]]
    if marked not in strongest:
        strongest[-1] = marked
    return sorted(strongest)


def _title(scored: Scored, query_token: str, key_tokens: Sequence[str], key: int, dimension: int) -> str:
    """The message. A title may hold formulas, a token may not: its dollar signs are taken as such."""
    asks, looked_at = (_cut(shown(token), 24).replace("$", r"\$") for token in (query_token, key_tokens[key]))
    if not scored.weights.any():
        return f"“{asks}” may attend to nothing: all its weights are 0"
    added = float(scored.products[key, dimension])
    adds = "adds" if added >= 0 else "takes away"
    beyond = float(beyond_average(scored, key)[dimension])
    compared = f"{number(abs(beyond))} {'more' if beyond >= 0 else 'less'} than to the average key"
    if added < 0:
        compared = f"{number(abs(beyond))} {'less' if beyond >= 0 else 'more'} than from the average key"
    score = number(float(scored.scores[key]))
    return (
        f"“{asks}” gives “{looked_at}” the score {score}: dimension {dimension} {adds} {number(abs(added))}, "
        f"{compared}"
    )


def _cut(name: str, room: int) -> str:
    return name if len(name) <= room else name[: room - 1] + "…"


@dataclass
class _Rows:
    """What all rows share: where a dimension lies, and how large the largest number is."""

    ax: Axes
    q: np.ndarray
    k: np.ndarray
    scored: Scored
    order: np.ndarray
    mask: np.ndarray | None
    drawn: list[int]

    def __post_init__(self) -> None:
        self.top = self.ax.get_ylim()[1] - HEAD
        self.cell = (RIGHT - LEFT) / len(self.q)
        self.peak = float(np.abs(self.scored.products[self.drawn]).max()) or 1.0
        self.key_peak = float(np.abs(self.k[self.drawn]).max())

    def heading(self, token: str, scale: float | None) -> None:
        y = self.top + 0.2
        _label(self.ax, y, token, bold=True)
        self._tag(y, "q")
        self._strip(y, self.q, float(np.abs(self.q).max()), 0.22)
        plain: dict[str, Any] = {"va": "center", "fontsize": 11, "color": GREY}
        divided = f"÷ √{len(self.q)}" if scale is None else f"÷ {scale:g}"
        for x, name in ((SCORE, "score"), (SCALED, divided)):
            self.ax.text(x, y + 0.28, name, ha="right", **plain)
        self.ax.text(BAR, y + 0.28, "weight", ha="left", **plain)
        self.ax.text(LEFT - 0.2, y + 0.28, "dimension", ha="right", **plain)

    def row(self, place: int, position: int, token: str, is_marked: bool) -> None:
        bottom = self.top - ROW * (place + 1)
        key_y, product_y = bottom + 0.42, bottom + 0.18
        hidden = self.mask is not None and not self.mask[position]
        if is_marked:
            self.ax.add_patch(
                Rectangle((0.08, bottom - 0.02), 8.44, ROW, facecolor="none", edgecolor=RED, linewidth=1.8)
            )
        _label(self.ax, bottom + ROW / 2 - 0.02, token, bold=is_marked, faint=hidden)
        self._tag(key_y, "k")
        self._tag(product_y, "q×k")
        self._strip(key_y, self.k[position], self.key_peak, KEY_TALL)
        self._bars(product_y, self.scored.products[position])
        self._numbers(bottom + ROW / 2 - 0.02, position, hidden)

    def _tag(self, y: float, name: str) -> None:
        self.ax.text(LEFT - 0.06, y, name, ha="right", va="center", fontsize=9, color=GREY)

    def _strip(self, y: float, values: np.ndarray, peak: float, tall: float) -> None:
        """A vector as a row of cells, filled above the line or below it, and stronger for larger numbers."""
        x = LEFT + self.cell * np.arange(len(values))
        shares = values[self.order] / (peak or 1.0)
        for sign, colour in ((1, BLUE), (-1, ORANGE)):
            here = sign * shares > 0
            if not here.any():
                continue
            boxes = _boxes(x[here], y, self.cell, np.full(here.sum(), sign * tall / 2))
            self.ax.add_collection(
                PolyCollection(boxes, facecolor=colour, alpha=0.1 + 0.9 * np.abs(shares[here]))
            )
        self._line(y)

    def _bars(self, y: float, products: np.ndarray) -> None:
        """The products as bars on a line: all of them together make the score."""
        x = LEFT + self.cell * np.arange(len(products)) + 0.1 * self.cell
        heights = products[self.order] / self.peak * PRODUCT_TALL / 2
        for sign, colour in ((1, BLUE), (-1, ORANGE)):
            here = sign * heights > 0
            boxes = _boxes(x[here], y, 0.8 * self.cell, heights[here])
            self.ax.add_collection(PolyCollection(boxes, facecolor=colour, edgecolor="none"))
        self._line(y)

    def _line(self, y: float) -> None:
        self.ax.plot(
            [LEFT, RIGHT], [y, y], color=GREY, linewidth=0.5, linestyle="-", marker="none", zorder=0.5
        )

    def _numbers(self, y: float, position: int, hidden: bool) -> None:
        weight = float(self.scored.weights[position])
        plain: dict[str, Any] = {"va": "center", "fontsize": 11, "color": GREY if hidden else INK}
        score = f"{self.scored.scores[position]:.2f}".replace("-", "−")
        scaled = f"{self.scored.scaled[position]:.2f}".replace("-", "−")
        self.ax.text(SCORE, y, score, ha="right", **plain)
        self.ax.text(SCALED, y, "hidden" if hidden else scaled, ha="right", **plain)
        if hidden:  # struck out
            self.ax.plot(
                [SCORE - text_width(score, 11), SCORE],
                [y, y],
                color=INK,
                linewidth=1,
                linestyle="-",
                marker="none",
            )
        self.ax.add_patch(Rectangle((BAR, y - 0.09), BAR_LONG, 0.18, facecolor=PALE, edgecolor="none"))
        self.ax.add_patch(
            Rectangle((BAR, y - 0.09), BAR_LONG * weight, 0.18, facecolor=BLUE, edgecolor="none")
        )
        self.ax.text(8.46, y, f"{weight:.2f}", ha="right", **plain)

    def number_dimensions(self, focus: int) -> None:
        """Every so many dimensions by number, in the order in which they stand."""
        every = next(step for step in (1, 2, 4, 8, 16, 32, 64, 128, 256) if step * self.cell >= 0.34)
        marked = int(np.flatnonzero(self.order == focus)[0])
        for place in range(0, len(self.order), every):
            if abs(place - marked) * self.cell < 0.3:
                continue  # the marked one is numbered there
            x = LEFT + self.cell * (place + 0.5)
            self.ax.text(
                x, self.top + 0.48, str(self.order[place]), ha="center", va="center", fontsize=9.5, color=GREY
            )

    def mark_dimension(self, dimension: int, n_rows: int) -> None:
        """A frame around one dimension, in all rows."""
        x = LEFT + self.cell * int(np.flatnonzero(self.order == dimension)[0])
        low, high = self.top - ROW * n_rows - 0.02, self.top + 0.34
        self.ax.add_patch(
            Rectangle(
                (x, low), self.cell, high - low, facecolor="none", edgecolor=RED, linewidth=1.6, zorder=3
            )
        )
        number_at = (x + self.cell / 2, self.top + 0.48)
        self.ax.text(
            *number_at, str(dimension), ha="center", va="center", fontsize=11, fontweight="bold", color=RED
        )


def _boxes(x: np.ndarray, y: float, width: float, heights: np.ndarray) -> list[np.ndarray]:
    """Corners (4, 2) of upright boxes that stand on `y`, or hang from it."""
    low, high = np.full_like(heights, y), y + heights
    xs = np.stack([x, x, x + width, x + width], axis=1)
    return list(np.stack([xs, np.stack([low, high, high, low], axis=1)], axis=2))


def _label(ax: Axes, y: float, token: str, bold: bool = False, faint: bool = False) -> None:
    """A token at the left, in letters small enough for it to fit; a very long one is cut."""
    name = _cut(shown(token), 17)
    size = min(13.0, 13.0 * 1.36 / max(text_width(name, 14.5 if bold else 13.0), 0.01))
    ax.text(
        1.5, y, name, ha="right", va="center", fontsize=size, parse_math=False, color=GREY if faint else INK,
        fontweight="bold" if bold else "normal",
    )  # fmt: skip


def _note(ax: Axes, n_drawn: int, n_keys: int, by_share: bool, left_out: float) -> None:
    """What the reader has to know: which side is which, how dimensions are ordered, what is left out."""
    order = "by what they add to the framed key beyond the average key" if by_share else "in their own order"
    lines = [
        "Above a line (blue): positive; below (orange): negative.",
        f"Dimensions stand {order}.",
        "Average key: the mean of all keys under the weights; softmax sees differences only.",
    ]
    if n_drawn < n_keys:
        lines[0] += f" {n_drawn} of {n_keys} keys, by weight; all others get {max(left_out, 0):.2f}."
    ax.text(0.1, 0.06, "\n".join(lines), ha="left", va="bottom", fontsize=10.5, color=GREY)
