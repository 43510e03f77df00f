"""Explorer of WordPiece: a text is cut into pieces while one types, in the browser, by the rule of Python."""

from collections.abc import Sequence
from typing import Any

import traitlets
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from bertlab.viz.drawing import PALE_BLUE, PALE_ORANGE, canvas, words
from bertlab.viz.greedy_pieces import Word, greedy_pieces
from bertlab.viz.style import BLUE, GREY, RED, WIDTH, house_style, shown, text_width
from bertlab.viz.widget import Widget, script

MOST_LETTERS = 2000  # of a text
MOST_LINES = 6  # of the still picture
LINE, MARGIN, GAP = 0.74, 0.12, 0.2  # inches: a line of words, the edges, between words


class PieceExplorer(Widget):
    """A text in pieces.

    Attributes
    ----------
    text : str
        What is cut; at most 2000 characters.
    """

    _esm = script("piece_explorer")
    text = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self, vocabulary: Sequence[str], examples: Sequence[str], lowercase: bool, unknown: str, longest: int
    ) -> None:
        self.ids = {piece: i for i, piece in enumerate(vocabulary)}
        self.lowercase, self.unknown, self.longest = lowercase, unknown, longest
        payload = {
            "vocabulary": list(vocabulary),
            "examples": list(examples),
            "lowercase": lowercase,
            "unknown": unknown,
            "longest": longest,
            "most": MOST_LETTERS,
        }
        super().__init__(payload, text=examples[0])

    @traitlets.validate("text")
    def _check_text(self, proposal: Any) -> str:
        if len(proposal["value"]) > MOST_LETTERS:
            raise ValueError(f"a text of {len(proposal['value'])} characters: give at most {MOST_LETTERS}")
        return str(proposal["value"])

    def words(self) -> list[Word]:
        """The words of the present text, with their pieces and all that was looked up."""
        return greedy_pieces(self.text, self.ids, self.unknown, self.lowercase, self.longest)

    def still(self) -> Figure:
        """The pieces of the present text."""
        return draw_pieces(self.words(), self.unknown)

    @property
    def alt(self) -> str:
        """The picture in words."""
        found = [piece.piece for word in self.words() for piece in word.pieces]
        told = " ".join(map(shown, found[:30])) + (" …" if len(found) > 30 else "")
        return f"“{shown(self.text[:80])}” in {len(found)} pieces: {told or 'nothing'}."


def piece_explorer(
    vocabulary: Sequence[str],
    examples: Sequence[str],
    *,
    lowercase: bool = True,
    unknown: str = "[UNK]",
    longest: int = 100,
) -> PieceExplorer:
    """Cut what one types into the longest pieces of a vocabulary; works in a saved page, without Python.

    Parameters
    ----------
    vocabulary : sequence of strings
        The pieces, in the order of their ids; "##" begins one that goes on inside a word.
    examples : sequence of strings
        Texts to begin with, a button each; the explorer shows the first one.
    lowercase : bool
        As uncased models do; accents go, too.
    unknown : str
        The piece of a word that cannot be cut.
    longest : int
        A longer word is unknown.

    Returns
    -------
    PieceExplorer
        Its `text` can be read and set.

    Raises
    ------
    ValueError
        If there is no example, or `unknown` is not in the vocabulary, or a text is too long.

    References
    ----------
    Devlin et al. 2019, sec. 3; google-research/bert, tokenization.py.
    """
    if isinstance(examples, str) or not examples:
        raise ValueError(f"{len(examples)} examples: give a list of one text or more")
    if isinstance(vocabulary, str) or unknown not in vocabulary:
        raise ValueError(f"the vocabulary lacks {unknown!r}: name the piece of unknown words")
    return PieceExplorer(vocabulary, examples, lowercase, unknown, longest)


def _width(piece: str) -> float:
    return text_width(shown(piece), 13.0) + 0.16


def _lines(cut: Sequence[Word]) -> list[list[Word]]:
    """Break a text into lines that fit on the sheet."""
    lines: list[list[Word]] = [[]]
    used = 0.0
    for word in cut:
        wide = sum(_width(piece.piece) for piece in word.pieces) + GAP
        if lines[-1] and used + wide > WIDTH - 2 * MARGIN:
            lines.append([])
            used = 0.0
        lines[-1].append(word)
        used += wide
    return lines


@house_style
def draw_pieces(cut: Sequence[Word], unknown: str = "[UNK]") -> Figure:
    """Draw words as rows of boxes, a box a piece, with its id; below an unknown one stands the word."""
    n_words, n_pieces = len(cut), sum(len(word.pieces) for word in cut)
    lines = _lines(cut)
    title = f"{n_words} word{'s' * (n_words != 1)}, {n_pieces} piece{'s' * (n_pieces != 1)}"
    if len(lines) > MOST_LINES:
        title += f"; the first {sum(map(len, lines[:MOST_LINES]))} words are drawn"
    lines = lines[:MOST_LINES]
    fig, ax = canvas(title, LINE * max(len(lines), 2) + 0.1)
    for row, line in enumerate(lines):
        x, y = MARGIN, ax.get_ylim()[1] - LINE * row - 0.26
        for word in line:
            room = WIDTH - 2 * MARGIN
            shrink = min(1.0, room / sum(_width(piece.piece) for piece in word.pieces))
            for piece in word.pieces:
                wide = _width(piece.piece) * shrink
                lost = piece.piece == unknown
                _box(ax, x, y, wide, piece.piece, word.word if lost else str(piece.id), lost)
                x += wide
            x += GAP
    return fig


def _box(ax: Axes, x: float, y: float, wide: float, piece: str, below: str, lost: bool) -> None:
    style = "round,pad=0,rounding_size=0.05"
    patch = FancyBboxPatch((x + 0.02, y - 0.19), wide - 0.04, 0.38, style)
    patch.set(facecolor=PALE_ORANGE if lost else PALE_BLUE, edgecolor=RED if lost else BLUE, linewidth=1.4)
    patch.set(linestyle="--" if lost else "-")
    ax.add_patch(patch)
    words(ax, [x + wide / 2], y, [piece], wide - 0.1)
    note = shown(below if len(below) <= 9 else below[:8] + "…")
    ax.text(x + wide / 2, y - 0.32, note, ha="center", va="center", fontsize=10, color=GREY, parse_math=False)
