"""The still picture of BERT's input: three vectors for each token, and their sum, in real numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bertlab.viz.drawing import canvas, words
from bertlab.viz.input_vectors import InputVectors
from bertlab.viz.style import GREY, INK, RED, SIGNED, WIDTH, house_style, readable_on

MOST_TOKENS = 11  # that are drawn: more columns would be too narrow for numbers
NUMBERS = 3  # of each vector
LEFT, WIDEST, CELL, GAP = 1.62, 0.9, 0.205, 0.3  # inches: where columns begin, and of what size
HEAD, FOOT = 0.62, 0.5  # room for tokens and ids above, and for the note below
NAMES = {
    "token": "token\nembedding",
    "segment": "segment\nembedding",
    "position": "position\nembedding",
    "sum": "sum",
    "norm": "after\nlayer norm",
}
SIGNS = {"segment": "+", "position": "+", "sum": "=", "norm": "→"}


@house_style
def embedding_sum(
    tokens: Sequence[str],
    segments: Any,
    token_vectors: Any,
    segment_vectors: Any,
    position_vectors: Any,
    *,
    ids: Any = None,
    normed: Any = None,
    position: int | None = None,
    title: str = "",
) -> Figure:
    """Draw BERT's input: for each token three vectors, of one width, which are added.

    Only the first three numbers of a vector are drawn, and at most eleven tokens. Sentence A has solid
    frames, sentence B dashed ones.

    Parameters
    ----------
    tokens : sequence of T strings
        With [CLS] and [SEP].
    segments : sequence of T whole numbers
        0 for the first sentence (A), 1 for the second (B).
    token_vectors, segment_vectors, position_vectors : (T, D) arrays or tensors
    ids : sequence of T whole numbers, optional
    normed : (T, D) array or tensor, optional
        What the model's layer norm makes of the sum.
    position : int, optional
        Of a token to mark; of a long sentence the tokens around it are drawn.
    title : str, optional
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        As in `InputVectors`, or if there is no such position.

    References
    ----------
    Devlin et al. 2019, fig. 2: the same three rows, by name.
    """
    inputs = InputVectors(
        tokens=tokens,
        segments=segments,
        token_vectors=token_vectors,
        segment_vectors=segment_vectors,
        position_vectors=position_vectors,
        ids=ids,
        normed=normed,
    )
    return draw_embedding_sum(inputs, position, title)


@house_style
def draw_embedding_sum(inputs: InputVectors, position: int | None = None, title: str = "") -> Figure:
    """`embedding_sum` of what has been checked already."""
    n, rows = len(inputs.tokens), inputs.rows
    if position is not None and not 0 <= position < n:
        raise ValueError(f"position={position}: there are {n}, from 0")
    title = (
        title
        or "For each token three vectors of one width are added: the token's, its sentence's, its place's"
    )
    height = HEAD + FOOT + len(rows) * (NUMBERS * CELL + GAP)
    fig, ax = canvas(title, height)
    sheet = _Sheet(ax, inputs, window(n, position or 0))
    sheet.head()
    largest = max(float(np.abs(rows[name][:, :NUMBERS]).max()) for name in rows if name != "norm")
    for place, (name, vectors) in enumerate(rows.items()):
        peak = float(np.abs(vectors[:, :NUMBERS]).max()) if name == "norm" else largest
        sheet.row(name, vectors[:, :NUMBERS], height - HEAD - place * (NUMBERS * CELL + GAP), peak or 1.0)
    if position is not None:
        corner = (sheet.x(position) - sheet.room / 2, FOOT - 0.06)
        ax.add_patch(
            Rectangle(corner, sheet.room, height - FOOT, facecolor="none", edgecolor=RED, linewidth=2.2)
        )
    sheet.note()
    return fig


def window(n: int, position: int) -> list[int]:
    """Positions of the tokens that are drawn: all, or eleven with `position` in the middle where possible."""
    first = max(0, min(position - MOST_TOKENS // 2, n - MOST_TOKENS))
    return list(range(first, min(n, first + MOST_TOKENS)))


@dataclass
class _Sheet:
    """What all rows share: which tokens are drawn, and where their columns lie."""

    ax: Axes
    inputs: InputVectors
    drawn: list[int]

    def __post_init__(self) -> None:
        self.room = min(WIDEST, (WIDTH - 0.35 - LEFT) / len(self.drawn))

    def x(self, position: int) -> float:
        """Middle of a column."""
        return LEFT + self.room * (self.drawn.index(position) + 0.5)

    def head(self) -> None:
        """Tokens, and ids below them."""
        top = self.ax.get_ylim()[1]
        names = [_short(self.inputs.tokens[i]) for i in self.drawn]
        words(self.ax, list(map(self.x, self.drawn)), top - 0.18, names, self.room - 0.06, bold=True)
        if self.inputs.ids is None:
            return
        plain: dict[str, Any] = {"va": "center_baseline", "fontsize": 11}
        self.ax.text(0.1, top - 0.43, "id", **plain)
        for i in self.drawn:
            self.ax.text(self.x(i), top - 0.43, str(self.inputs.ids[i]), ha="center", color=GREY, **plain)

    def row(self, name: str, vectors: np.ndarray, top: float, peak: float) -> None:
        """One kind of vector for all tokens: its first numbers, and above them what it belongs to."""
        middle = top - 0.2 - NUMBERS * CELL / 2
        weight = "bold" if name == "sum" else "normal"
        self.ax.text(
            0.1, middle, NAMES[name], va="center", fontsize=11.5, fontweight=weight, linespacing=1.15
        )
        self.ax.text(LEFT - 0.2, middle, SIGNS.get(name, ""), ha="center", va="center", fontsize=17)
        for i in self.drawn:
            above = {"segment": self.inputs.letters[i], "position": str(i)}.get(name, "")
            self.ax.text(self.x(i), top - 0.1, above, ha="center", va="center", fontsize=11, color=GREY)
            self.vector(i, vectors[i], top - 0.2, peak)

    def vector(self, position: int, values: np.ndarray, top: float, peak: float) -> None:
        """A column of numbers in their colours, pale: the number says it. The frame tells the sentence."""
        x, left, wide = self.x(position), self.x(position) - self.room / 2 + 0.05, self.room - 0.1
        plain: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": min(10.5, 18 * self.room)}
        for j, value in enumerate(values):
            y, colour = top - CELL * (j + 1), SIGNED(0.5 + value / (4 * peak))
            self.ax.add_patch(Rectangle((left, y), wide, CELL, facecolor=colour, edgecolor="none"))
            self.ax.text(x, y + CELL / 2, _cell(float(value), peak), color=readable_on(colour), **plain)
        size = (wide, CELL * len(values))
        frame = Rectangle((left, top - size[1]), *size, facecolor="none", edgecolor=INK, linewidth=1.1)
        if self.inputs.segments[position] > 0:
            frame.set_linestyle((0, (3, 1.5)))
        self.ax.add_patch(frame)

    def note(self) -> None:
        """What is left out, and what the frames mean."""
        count, width = min(NUMBERS, self.inputs.width), self.inputs.width
        lines = [f"Drawn: {count} of {width} numbers of each vector, rounded."]
        if len(set(self.inputs.segments)) > 1:
            lines[0] += " Solid frames: sentence A; dashed: B."
        if len(self.drawn) < len(self.inputs.tokens):
            lines.append(f"Tokens {self.drawn[0]} to {self.drawn[-1]} of 0 to {len(self.inputs.tokens) - 1}.")
        self.ax.text(0.1, 0.06, "\n".join(lines), ha="left", va="bottom", fontsize=10.5, color=GREY)


def _short(token: str) -> str:
    return token if len(token) <= 12 else token[:11] + "…"


def _cell(value: float, peak: float) -> str:
    """A number short enough for a cell: three digits, no zero before the point."""
    decimals = 2 if peak >= 1 else 3
    text = f"{round(value, decimals) + 0.0:.{decimals}f}"  # + 0.0: nothing is "−.000"
    return (text.replace("0.", ".", 1) if abs(value) < 0.995 else text).replace("-", "−")
