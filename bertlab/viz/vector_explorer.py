"""Explorer of word vectors: type a word for its neighbours, or three words for an analogy."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.payload import as_array
from bertlab.viz.style import BLUE, house_style, new_figure, shown, title_height
from bertlab.viz.widget import Widget, script

N_NEAREST = 8
MOST_LETTERS = 60  # of a word
Example = Sequence[str]  # a word; or a word, one to take off, one to add


class VectorExplorer(Widget):
    """The nearest words of ``word - minus + plus``.

    Attributes
    ----------
    word, minus, plus : str
        "" where nothing is taken off or added.
    exclude : bool
        Whether these words themselves are left out.
    """

    _esm = script("vector_explorer")
    word = traitlets.Unicode("").tag(sync=True)
    minus = traitlets.Unicode("").tag(sync=True)
    plus = traitlets.Unicode("").tag(sync=True)
    exclude = traitlets.Bool(True).tag(sync=True)

    def __init__(self, words: Sequence[str], whole: np.ndarray, examples: Sequence[Example]) -> None:
        self.words = list(words)
        self.places = {word: i for i, word in enumerate(words)}
        length = np.linalg.norm(whole, axis=1, keepdims=True)
        self.unit = whole / np.where(length == 0, 1, length)
        queries = [(*example, "", "")[:3] for example in examples]
        payload = {
            "words": self.words,
            "rows": [base64.b64encode(row.tobytes()).decode() for row in whole],
            "examples": [list(query) for query in queries],
            "nearest": N_NEAREST,
            "most": MOST_LETTERS,
        }
        word, minus, plus = queries[0]
        super().__init__(payload, word=word, minus=minus, plus=plus)

    @traitlets.validate("word", "minus", "plus")
    def _check_word(self, proposal: Any) -> str:
        if len(proposal["value"]) > MOST_LETTERS:
            raise ValueError(f"a word of {len(proposal['value'])} letters: give at most {MOST_LETTERS}")
        return str(proposal["value"])

    @property
    def query(self) -> str:
        """What is asked for, as a sum."""
        parts = [shown(self.word)]
        parts += [f"− {shown(self.minus)}"] if self.minus else []
        parts += [f"+ {shown(self.plus)}"] if self.plus else []
        return " ".join(parts)

    def nearest(self) -> list[tuple[str, float]]:
        """The nearest words, with their cosines; none if a word has no vector."""
        signs = {1: self.word, 2: self.minus, 3: self.plus}
        asked = [word for place, word in signs.items() if word or place == 1]
        if any(word not in self.places for word in asked):
            return []
        total = sum(
            (-1 if place == 2 else 1) * self.unit[self.places[word]]
            for place, word in signs.items()
            if word or place == 1
        )
        cosines = self.unit @ total / (np.linalg.norm(total) or 1)
        out = {self.places[word] for word in asked} if self.exclude else set[int]()
        order = [int(i) for i in np.argsort(-cosines, kind="stable") if int(i) not in out]
        return [(self.words[i], float(cosines[i])) for i in order[:N_NEAREST]]

    def still(self) -> Figure:
        """The nearest words of the present question as bars."""
        return draw_nearest(self.nearest(), self.query)

    @property
    def alt(self) -> str:
        """The picture in words."""
        found = self.nearest()
        told = ", ".join(f"{shown(word)} {cosine:.2f}" for word, cosine in found)
        return f"Nearest to {self.query}: {told or 'nothing, since a word has no vector'}."


def vector_explorer(words: Sequence[str], vectors: ArrayLike, examples: Sequence[Example]) -> VectorExplorer:
    """Ask vectors for neighbours and analogies; works in a saved page, without Python.

    Parameters
    ----------
    words : sequence of V different strings
    vectors : (V, D) array
        Kept in whole numbers from -127 to 127 a row: cosines are right to about 0.01.
    examples : sequence of one or three strings each
        ``("bank",)``, or ``("king", "man", "woman")`` for king - man + woman: a button each; the first one is
        shown.

    Returns
    -------
    VectorExplorer
        Its `word`, `minus`, `plus` and `exclude` can be read and set.

    Raises
    ------
    ValueError
        If a word comes twice, rows and words differ in number, or there is no example of known words.

    References
    ----------
    Mikolov et al. 2013c, "Linguistic regularities in continuous space word representations", sec. 4.
    """
    rows = as_array(vectors)
    if rows.ndim != 2 or len(rows) != len(words) or len(set(words)) != len(words):
        raise ValueError(
            f"{len(words)} words, {len(set(words))} of them different, and vectors of shape {rows.shape}: "
            "give each word once, with a row"
        )
    if not examples or any(len(example) not in (1, 3) or isinstance(example, str) for example in examples):
        raise ValueError(f"examples={examples!r}: give a list of tuples of one word or three")
    if unknown := [word for example in examples for word in example if word not in set(words)]:
        raise ValueError(f"the example {unknown[0]!r} has no vector: choose among the words")
    largest = np.abs(rows).max(axis=1, keepdims=True)
    whole = np.rint(127 * rows / np.where(largest == 0, 1, largest)).astype(np.int8)
    return VectorExplorer(words, whole, examples)


@house_style
def draw_nearest(found: Sequence[tuple[str, float]], query: str) -> Figure:
    """Draw words as bars as long as their cosines."""
    title = f"Nearest to {query}" if found else f"{query}: a word has no vector"
    fig = new_figure(title, 0.42 * max(len(found), 2) + 0.3 + title_height(title))
    ax = fig.subplots()
    places = range(len(found))
    ax.barh(places, [max(cosine, 0) for _, cosine in found], height=0.66, color=BLUE)
    for place, (_, cosine) in zip(places, found, strict=True):
        ax.text(max(cosine, 0) + 0.01, place, f"{cosine:.2f}", va="center", fontsize=12)
    ax.set_yticks(places, [shown(word)[:24] for word, _ in found], parse_math=False)
    ax.set(xlim=(0, 1.1), xlabel="cosine")
    ax.invert_yaxis()
    ax.grid(visible=False)
    ax.tick_params(axis="y", length=0)
    return fig
