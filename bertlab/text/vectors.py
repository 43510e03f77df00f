"""Words and their vectors: neighbours, analogies, and files that other programs read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bertlab.text.vector_files import read_vectors, write_vectors

Floats = NDArray[np.floating]
Question = Sequence[str]  # a, b, c, d: a is to b as c is to d
AT_ONCE = 256  # questions; each is compared with all words


class AnalogyScore(NamedTuple):
    """How many questions were answered, and how many could not even be asked."""

    right: int
    asked: int
    left_out: int  # a word of the question has no vector


@dataclass(frozen=True, eq=False, repr=False)
class Vectors:
    """A vector for each of V words.

    Parameters
    ----------
    words : V different words, none of them empty or with a space in it.
    matrix : (V, D) float array, row i for word i.

    Raises
    ------
    ValueError
        If words and rows differ in number, a word comes twice or cannot be written to a file, or a number is
        not finite.

    Examples
    --------
    >>> vectors = Vectors(["man", "woman", "king", "queen"], np.array([[2, 0], [2, 1], [3, 0], [3, 1.6]]))
    >>> vectors.neighbours("woman", 1)[0][0], vectors.analogy("man", "woman", "king", 1)[0][0]
    ('queen', 'queen')
    """

    words: Sequence[str]
    matrix: Floats

    def __post_init__(self) -> None:
        shape = np.shape(self.matrix)
        if len(shape) != 2 or shape[0] != len(self.words):
            raise ValueError(f"{len(self.words)} words and a matrix of shape {shape}: give one row a word")
        if not np.isfinite(self.matrix).all():
            raise ValueError("a vector has a number that is not finite: leave that word out")
        if len(self._places) < len(self.words):
            twice = next(word for i, word in enumerate(self.words) if self._places[word] != i)
            raise ValueError(f"the word {twice!r} comes twice: give each word one vector")
        if odd := [word for word in self.words if not word or " " in word or "\n" in word]:
            raise ValueError(
                f"the word {odd[0]!r} is empty, or has a space or line break: no file can hold it"
            )

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def unit(self) -> Floats:
        """The vectors at length 1 (V, D); one that is all zero stays so."""
        length = np.linalg.norm(self.matrix, axis=1, keepdims=True)
        unit: Floats = self.matrix / np.where(length == 0, 1, length)
        return unit

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._places

    def __getitem__(self, word: str) -> Floats:
        row: Floats = self.matrix[self.place(word)]
        return row

    def __repr__(self) -> str:
        return f"Vectors({len(self):,} words, {self.matrix.shape[1]} numbers each)"

    def place(self, word: str) -> int:
        """Return the number of a word.

        Raises
        ------
        ValueError
            If it has no vector; the sentence proposes words that are spelt like it.
        """
        if word not in self._places:
            like = difflib.get_close_matches(word, list(self.words)[:50_000], n=3)
            hint = (
                f"did you mean {' or '.join(map(repr, like))}?" if like else f"there are {len(self):,} words"
            )
            raise ValueError(f"{word!r} has no vector: {hint}")
        return self._places[word]

    def of(self, words: Iterable[str]) -> Vectors:
        """Take the vectors of some words alone, in the order given.

        Raises
        ------
        ValueError
            If one has no vector.
        """
        wanted = list(words)
        return Vectors(wanted, self.matrix[[self.place(word) for word in wanted]])

    def similarity(self, one: str, other: str) -> float:
        """Cosine of the angle between two words' vectors, from -1 to 1; 0 if one is all zero."""
        return float(self.unit[self.place(one)] @ self.unit[self.place(other)])

    def neighbours(
        self, word: str | ArrayLike, n: int = 10, without: Iterable[str] = ()
    ) -> list[tuple[str, float]]:
        """Find the words whose vectors point most nearly the same way.

        Parameters
        ----------
        word : a word, which is no neighbour of itself, or any vector (D,).
        n : how many.
        without : words to leave out, too.

        Returns
        -------
        words with their cosines, nearest first; equals in the order of the words.

        Raises
        ------
        ValueError
            If a word has no vector.
        """
        hidden = {self.place(other) for other in without}
        if isinstance(word, str):
            hidden.add(self.place(word))
            vector: Floats = self.unit[self.place(word)]
        else:
            given = np.asarray(word, dtype=self.unit.dtype)
            vector = given / (np.linalg.norm(given) or 1)
        cosines = self.unit @ vector  # (V,)
        order = (int(i) for i in np.argsort(-cosines, kind="stable") if int(i) not in hidden)
        return [(self.words[i], float(cosines[i])) for i, _ in zip(order, range(n), strict=False)]

    def analogy(self, a: str, b: str, c: str, n: int = 10) -> list[tuple[str, float]]:
        """Answer "a is to b as c is to …" by adding: the words nearest to b - a + c, but for these three.

        Parameters
        ----------
        a, b, c : words.
        n : how many answers.

        Returns
        -------
        words with their cosines to b - a + c, nearest first.

        Raises
        ------
        ValueError
            If a word has no vector.

        References
        ----------
        Mikolov et al. 2013c, sec. 4; called 3CosAdd by Levy & Goldberg 2014, sec. 3, on vectors of length 1.
        """
        return self.neighbours(self._sums([(a, b, c)])[0], n, without=(a, b, c))

    def analogies(self, questions: Iterable[Question], exclude: bool = True) -> AnalogyScore:
        """Ask many questions, each of four words: a is to b as c is to d.

        Parameters
        ----------
        questions : rows of a, b, c and the right answer d.
        exclude : whether a, b and c cannot be the answer, as everybody does; without it, they often are.

        Raises
        ------
        ValueError
            If a question has not four words.
        """
        rows = [tuple(question) for question in questions]
        if odd := next((row for row in rows if len(row) != 4), None):
            raise ValueError(f"the question {odd!r} has {len(odd)} words: give a, b, c and the answer")
        known = [row for row in rows if all(word in self for word in row)]
        right = 0
        for some in (known[i : i + AT_ONCE] for i in range(0, len(known), AT_ONCE)):
            places = np.array([[self._places[word] for word in row] for row in some])  # (m, 4)
            cosines = self._sums(some) @ self.unit.T  # (m, V)
            if exclude:
                np.put_along_axis(cosines, places[:, :3], -np.inf, axis=1)
            right += int((cosines.argmax(axis=1) == places[:, 3]).sum())
        return AnalogyScore(right, len(known), len(rows) - len(known))

    def _sums(self, questions: Sequence[Question]) -> Floats:
        """Add up b - a + c of each question (m, D)."""
        a, b, c = (self.unit[[self.place(question[i]) for question in questions]] for i in range(3))
        total: Floats = b - a + c
        return total

    def save(self, path: str | Path) -> None:
        """Write a file: .npz, as exact as the vectors are, or .txt, word2vec's text format, exact to float32.

        Raises
        ------
        ValueError
            If the name ends otherwise.
        """
        write_vectors(Path(path), self.words, self.matrix)

    @classmethod
    def load(cls, path: str | Path) -> Vectors:
        """Read what `save` wrote, or a text file with one word and its numbers a line, such as GloVe's.

        Raises
        ------
        ValueError
            If the file is of another kind, or a line is not like the others.
        """
        return cls(*read_vectors(Path(path)))
