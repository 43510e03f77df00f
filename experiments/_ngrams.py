"""N-grams: what follows a few pieces, counted; and the distributions that the counts stand for.

A run of n pieces is one number, the first piece in its highest bits. Sorted, all runs that begin alike lie
side by side, so what was seen after a context is one stretch of an array, found by bisection.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bertlab.text import Corpus
from bertlab.text.masked_lm import Bools, Ids

BORDER = 0  # [PAD], which stands in no text: parts documents

Codes = NDArray[np.uint64]
Probabilities = NDArray[np.float32]


def one_row(corpus: Corpus) -> Ids:
    """Lay all documents of a corpus behind each other, with a border before and behind each.

    Examples
    --------
    >>> from bertlab.datasets.documents import Document
    >>> from bertlab.text import SPECIAL, WordPiece, tokenise
    >>> documents = [Document(["a b"], "letters"), Document(["b", "a"], "letters")]
    >>> one_row(tokenise(documents, WordPiece([*SPECIAL, "a", "b"]))).tolist()
    [0, 5, 6, 0, 6, 5, 0]
    """
    starts = corpus.borders[corpus.documents]
    tokens = np.concatenate([np.asarray(shard, np.int64) for shard in corpus.shards])
    return np.insert(tokens, starts, BORDER)


def runs(row: Ids, places: Sequence[int], bits: int) -> Codes:
    """Code all runs of pieces at some places relative to each other, but for those across a border.

    Parameters
    ----------
    row : from `one_row`.
    places : offsets from 0, in the order in which the pieces are put into the code; all places between count
        as within the run.
    bits : of a piece.

    Examples
    --------
    >>> runs(np.array([0, 1, 2, 3, 0, 1]), [0, 1], bits=4).tolist() == [0x12, 0x23]
    True
    >>> runs(np.array([0, 1, 2, 3, 0, 1]), [0, 2, 1], bits=4).tolist() == [0x132]
    True
    """
    width = max(places) + 1
    n = len(row) - width + 1
    inside = np.ones(n, dtype=bool)
    for place in range(width):
        inside &= row[place : place + n] != BORDER
    return fold([row[place : place + n][inside] for place in places], bits)


def fold(pieces: Sequence[Ids], bits: int) -> Codes:
    """Put columns of pieces into one number a row, the first into the highest bits."""
    code = np.zeros(len(pieces[0]), np.uint64)
    for column in pieces:
        code = code << np.uint64(bits) | column.astype(np.uint64)
    return code


class Table:
    """Runs of pieces, each with its count, and the discounts that make room for what was never seen.

    p(w) = (count(context w) - discount) / count(context) + rest * p_shorter(w), where the rest is what the
    discounts of the context are together, divided by its count.

    Parameters
    ----------
    codes : of the runs, with repetitions, in any order; the last piece is the one to predict.
    bits : of a piece.

    References
    ----------
    Chen & Goodman 1999, sec. 4.1: modified Kneser-Ney's three discounts.
    """

    def __init__(self, codes: Codes, bits: int) -> None:
        self.bits = np.uint64(bits)
        self.codes, counts = np.unique(codes, return_counts=True)
        discount = discounts(counts)[np.minimum(counts, 3)]
        self.kept = (counts - discount).astype(np.float32)
        self._counts = np.cumsum(np.insert(counts, 0, 0)).astype(np.int32)
        self._discounts = np.cumsum(np.insert(discount, 0, 0))

    def add(self, p: Probabilities, rest: Probabilities, rows: Ids, contexts: Codes) -> Bools:
        """Give distributions what was seen after a context; what is left is for shorter contexts.

        Parameters
        ----------
        p : (B, V) distributions in the making.
        rest : (B,) how much each still lacks.
        rows : (R,) which of them.
        contexts : (R,) codes of the pieces before the predicted one.

        Returns
        -------
        (R,) whether the context was ever seen; where it was not, nothing happens.
        """
        low, high = (np.searchsorted(self.codes, (contexts + np.uint64(i)) << self.bits) for i in (0, 1))
        seen = high > low
        rows, low, high = rows[seen], low[seen], high[seen]
        total, n = self._counts[high] - self._counts[low], high - low
        entries = np.arange(n.sum()) + np.repeat(low - (np.cumsum(n) - n), n)
        pieces = (self.codes[entries] & ((np.uint64(1) << self.bits) - np.uint64(1))).astype(np.int64)
        share = (rest[rows] / total).astype(np.float32)
        p[np.repeat(rows, n), pieces] += self.kept[entries] * np.repeat(share, n)
        rest[rows] = share * (self._discounts[high] - self._discounts[low])
        return seen


def discounts(counts: Ids) -> NDArray[np.float64]:
    """Say how much is taken off a count of 0, 1, 2, and 3 or more.

    Examples
    --------
    >>> discounts(np.array([1] * 6 + [2] * 3 + [3] * 2 + [4])).round(2).tolist()
    [0.0, 0.5, 1.0, 2.0]
    """
    n1, n2, n3, n4 = (max(int((counts == i).sum()), 1) for i in (1, 2, 3, 4))
    y = n1 / (n1 + 2 * n2)
    wanted = [1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3]
    return np.array([0.0, *(min(max(d, 0.1), i + 0.9) for i, d in enumerate(wanted))])


class KneserNey:
    """What follows up to three pieces, by interpolated modified Kneser-Ney.

    However many pieces are known, the longest context counts how often each piece followed. The shorter
    ones that it falls back on count behind how many different pieces it did: "Francisco" is frequent, but
    after "San" alone.

    Parameters
    ----------
    row : the text, from `one_row`; reversed, the model predicts from the right.
    n_pieces : V.
    order : length of the longest runs, the predicted piece included.

    References
    ----------
    Kneser & Ney 1995; Chen & Goodman 1999, sec. 4.
    """

    def __init__(self, row: Ids, n_pieces: int, order: int = 4) -> None:
        self.n_pieces, self.order = n_pieces, order
        self.bits = (n_pieces - 1).bit_length()
        self.counted = [Table(runs(row, range(n), self.bits), self.bits) for n in range(1, order + 1)]
        self.kinds = [
            Table(longer.codes & ((np.uint64(1) << np.uint64(self.bits * n)) - np.uint64(1)), self.bits)
            for n, longer in enumerate(self.counted[1:], start=1)
        ]

        everywhere = np.zeros(1, np.int64)
        self._alone = []
        for table in (self.counted[0], self.kinds[0]):
            p, rest = np.zeros((1, n_pieces), np.float32), np.ones(1, np.float32)
            table.add(p, rest, everywhere, fold([everywhere], self.bits))
            self._alone.append(p[0] + rest / n_pieces)

    def predict(self, near: Ids, known: Ids) -> tuple[Probabilities, Ids]:
        """Predict a piece from those before it.

        Parameters
        ----------
        near : (B, order - 1) pieces, the nearest first.
        known : (B,) how many of them are to be used.

        Returns
        -------
        p : (B, V) distributions.
        depth : (B,) length of the longest context that was seen.
        """
        p = np.zeros((len(near), self.n_pieces), np.float32)
        rest = np.ones(len(near), np.float32)
        depth = np.zeros(len(near), np.int64)
        for length in range(self.order - 1, 0, -1):
            kinds = self.kinds[length] if length < self.order - 1 else None
            for rows, table in (
                (np.flatnonzero(known == length), self.counted[length]),
                (np.flatnonzero(known > length), kinds),
            ):
                if table is not None and len(rows):
                    seen = table.add(p, rest, rows, self.context(near[rows], length))
                    depth[rows[seen]] = np.maximum(depth[rows[seen]], length)
        counted, kinds_alone = self._alone
        p += rest[:, None] * np.where(known[:, None] > 0, kinds_alone, counted)
        return p, depth

    def context(self, near: Ids, length: int) -> Codes:
        """Code the nearest pieces, given nearest first, in the order in which they are read."""
        return fold([near[:, i] for i in reversed(range(length))], self.bits)
