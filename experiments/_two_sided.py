"""A masked piece guessed from its neighbours on both sides, by counts alone.

Four experts: Kneser-Ney from the left and from the right, each up to three pieces; what stood between the
same neighbours (of three or two pieces around, falling back on the first two experts multiplied); and the
unigram. Their log probabilities are weighted and added up (a product of experts), and so is whether the piece
stands elsewhere in the input: texts repeat their words. The weights are fitted on text that was not counted,
apart for each length of the contexts that were seen.

Neighbours that are hidden themselves, and special tokens, end a context: what lies behind is not used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from _bert_held_out import Exam, Floats, Question
from _ngrams import KneserNey, Probabilities, Table, fold, runs
from bertlab.text import WordPiece
from bertlab.text.masked_lm import Bools, Ids, kinds

NEIGHBOURS = 3  # on each side
EXPERTS = ("left", "right", "unigram", "around", "repeated", "repeated, rare")
CELLS = (NEIGHBOURS + 1) ** 2
START = np.array(
    [1.0, 1, -1, 0, 0, 0]
)  # weights: left times right, the unigram divided out as both contain it
RIDGE = 10.0  # how much data, in targets, the start is worth
STEPS = 5  # of Newton's method

Terms = NDArray[np.float32]


class Blanks(NamedTuple):
    """What is seen around the M pieces that are asked for."""

    left: Ids  # (M, NEIGHBOURS) the nearest first
    right: Ids
    left_known: Ids  # (M,) how many of them are no special tokens
    right_known: Ids
    shown: Ids  # (M,) what is read at the place itself
    repeated: Bools  # (M, V) whether a piece stands elsewhere in the input


def blanks(question: Question, ordinary: Bools) -> Blanks:
    """Look around each piece that is asked for.

    Parameters
    ----------
    question : what the model reads.
    ordinary : (V,) which pieces are no special tokens.
    """
    ids = question.ids
    rows, columns = np.divmod(question.positions, ids.shape[1])
    left, left_known = _neighbours(ids, rows, columns, -1, ordinary)
    right, right_known = _neighbours(ids, rows, columns, 1, ordinary)
    counts = np.zeros((len(ids), len(ordinary)), np.int16)
    np.add.at(counts, (np.arange(len(ids))[:, None], ids), 1)
    elsewhere = counts[rows]
    shown = ids[rows, columns]
    elsewhere[np.arange(len(rows)), shown] -= 1
    return Blanks(left, right, left_known, right_known, shown, (elsewhere > 0) & ordinary)


def _neighbours(ids: Ids, rows: Ids, columns: Ids, step: int, ordinary: Bools) -> tuple[Ids, Ids]:
    near, known, open_ = [], np.zeros(len(rows), np.int64), np.ones(len(rows), dtype=bool)
    for distance in range(1, NEIGHBOURS + 1):
        column = columns + step * distance
        piece = ids[rows, np.clip(column, 0, ids.shape[1] - 1)]
        open_ &= (column >= 0) & (column < ids.shape[1]) & ordinary[piece]
        known += open_
        near.append(np.where(open_, piece, 0))
    return np.stack(near, axis=1), known


class TwoSided:
    """The model.

    Parameters
    ----------
    row : the text that is counted, from `one_row`.
    tokenizer : of the text.
    """

    def __init__(self, row: Ids, tokenizer: WordPiece) -> None:
        self.kinds = kinds(tokenizer)
        self.left, self.right = (KneserNey(text, len(tokenizer), NEIGHBOURS + 1) for text in (row, row[::-1]))
        bits = self.left.bits
        self.around = [  # how many neighbours on either side, and what stood between them
            (a, b, Table(runs(row, [*range(a), *range(a + 1, a + b + 1), a], bits), bits))
            for a, b in ((1, 2), (2, 1), (1, 1))
        ]
        nothing = np.zeros((1, NEIGHBOURS), np.int64)
        self.unigram: Terms = np.log(self.left.predict(nothing, np.zeros(1, np.int64))[0])  # (1, V)

    def terms(self, seen: Blanks) -> tuple[list[Terms], Ids]:
        """What each expert says, (M, V) or (1, V), in the order of `EXPERTS`; and the cell of each piece."""
        left, left_depth = self.left.predict(seen.left, seen.left_known)
        right, right_depth = self.right.predict(seen.right, seen.right_known)
        left, right = np.log(left), np.log(right)
        around = np.log(self._between(seen, softmax(left + right - self.unigram)))
        terms = [left, right, self.unigram, around, *_repetition(seen.repeated, self.unigram)]
        return terms, left_depth * (NEIGHBOURS + 1) + right_depth

    def _between(self, seen: Blanks, product: Probabilities) -> Probabilities:
        p, rest = np.zeros_like(product), np.ones(len(product), np.float32)
        for a, b, table in self.around:
            rows = np.flatnonzero((seen.left_known >= a) & (seen.right_known >= b))
            context = [seen.left[rows, i] for i in reversed(range(a))] + [
                seen.right[rows, i] for i in range(b)
            ]
            table.add(p, rest, rows, fold(context, self.left.bits))
        return p + rest[:, None] * product

    def scores(self, question: Question, weights: Floats) -> Terms:
        """Log probabilities but for a constant, (M, V), under the weights (cells, experts)."""
        seen = blanks(question, self.kinds.ordinary)
        terms, cells = self.terms(seen)
        return shown_too(weighted(terms, weights[cells]), seen.shown, self.kinds.random)

    def unigram_scores(self, question: Question) -> Terms:
        """The unigram guess: the same for every piece that is hidden."""
        shown = question.ids.reshape(-1)[question.positions]
        return shown_too(np.repeat(self.unigram, len(shown), axis=0), shown, self.kinds.random)


def shown_too(scores: Terms, shown: Ids, random: Ids) -> Terms:
    """Take into account what is read at the place itself, where that is no [MASK]. Works in place.

    Of pieces that are asked for and do not read [MASK], half are unchanged, and half are one of R at random.
    By Bayes' rule the piece that is read becomes 1 + R times as likely, beside all others.

    Parameters
    ----------
    scores : (M, V) log probabilities.
    shown : (M,) what is read.
    random : (R,) the pieces that may come instead of another one.

    Examples
    --------
    >>> shown_too(np.zeros((2, 3), np.float32), np.array([0, 2]), random=np.array([1, 2])).round(2).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 1.100000023841858]]
    """
    rows = np.flatnonzero(np.isin(shown, random))
    scores[rows, shown[rows]] += np.log1p(len(random))
    return scores


def softmax(scores: Terms) -> Probabilities:
    """Probabilities of scores, row by row."""
    p: Probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p


def weighted(terms: list[Terms], weights: Floats) -> Terms:
    """Add up what the experts say: (M, V) from the weights (M, experts)."""
    total: Terms = np.zeros(np.broadcast_shapes(*(term.shape for term in terms)), np.float32)
    for term, weight in zip(terms, weights.T.astype(np.float32), strict=True):
        total += weight[:, None] * term
    return total


def everywhere(weights: ArrayLike) -> Floats:
    """The same weights (experts,) in all cells: (cells, experts)."""
    return np.tile(np.asarray(weights, np.float64), (CELLS, 1))


def fitted(model: TwoSided, exam: Exam, n_experts: int = len(EXPERTS)) -> Floats:
    """Find the weights under which the answers are most likely: Newton's method; the likelihood is concave.

    Parameters
    ----------
    model : has not counted the text of the exam.
    exam : of the kind "hidden".
    n_experts : fit the weights of the first so many, and let the others be.

    Returns
    -------
    (cells, experts) weights.
    """
    weights, free = everywhere(START), slice(n_experts)
    made = []
    for question, answers in exam:
        seen = blanks(question, model.kinds.ordinary)
        (left, right, _, around, *_), cells = model.terms(seen)
        made.append((left, right, around, seen.repeated, cells, answers.pieces))
    for _ in range(STEPS):
        slope = RIDGE * (START - weights)  # (cells, experts)
        bend = np.tile(RIDGE * np.eye(len(START)), (CELLS, 1, 1))
        for left, right, around, repeated, cells, pieces in made:
            terms = [left, right, model.unigram, around, *_repetition(repeated, model.unigram)]
            p = softmax(weighted(terms, weights[cells]))
            x = np.stack(np.broadcast_arrays(*terms), axis=2)  # (M, V, experts)
            mean = np.einsum("mv,mvk->mk", p, x)
            np.add.at(slope, cells, x[np.arange(len(pieces)), pieces] - mean)
            square = np.matmul((x * p[:, :, None]).swapaxes(1, 2), x)
            np.add.at(bend, cells, square - mean[:, :, None] * mean[:, None, :])
        for cell in range(CELLS):
            weights[cell, free] += np.linalg.solve(bend[cell, free, free], slope[cell, free])
    return weights


def _repetition(repeated: Bools, unigram: Terms) -> tuple[Terms, Terms]:
    """Whether a piece is repeated, and how rare it is: rare ones come back far more often than by chance."""
    is_repeated = repeated.astype(np.float32)
    return is_repeated, -unigram * is_repeated
