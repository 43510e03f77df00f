"""Exams on text that no checkpoint was trained on: which words are hidden, and whether B follows A.

Always the same questions: 1,024 pairs of texts of each held-out set, half of them true, and of each the same
15 % of pieces. Two kinds ask for the same pieces. In "as trained" 80 % of them read [MASK], 10 % another
piece and 10 % themselves, as in training; in "hidden" all read [MASK].

What is examined is any function that gives scores. It sees the questions and never the answers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from _bert_corpus import held_out_documents
from bertlab.text import Corpus, Masker, WordPiece, sentence_pairs, tokenise
from bertlab.text.masked_lm import SHARES, Bools, Ids
from bertlab.text.pretraining_examples import epoch_order, pair_batch

KINDS = {"as trained": SHARES, "hidden": (1.0, 0.0, 0.0)}
SETS = ("books", "wikitext-2")
INPUTS, LENGTH, BATCH, SEED = 1024, 128, 32, 20181011  # the day BERT was published

Floats = NDArray[np.float64]


class Question(NamedTuple):
    """What a model reads, and which pieces it is asked for."""

    ids: Ids  # (B, T) with pieces hidden
    segments: Ids  # (B, T)
    mask: Bools  # (B, T) True where there is a piece
    positions: Ids  # (M,) hidden pieces, row * T + column


class Answers(NamedTuple):
    """What is right."""

    pieces: Ids  # (M,) what stood there
    next: Ids  # (B,) 0: B follows A, 1: it is from another document


Exam = list[tuple[Question, Answers]]
Scores = Callable[[Question], ArrayLike]


def exams(tokenizer: WordPiece, kinds: Iterable[str] = KINDS, n: int = INPUTS) -> dict[tuple[str, str], Exam]:
    """Set the exams, by the name of the held-out set and the kind.

    Parameters
    ----------
    tokenizer : from `_bert_vocabulary.tokenizer`.
    kinds : of `KINDS`.
    n : pairs of each set.
    """
    corpora = {name: tokenise(documents, tokenizer) for name, documents in held_out_documents().items()}
    return {
        (name, kind): exam(corpus, tokenizer, KINDS[kind], n)
        for name, corpus in corpora.items()
        for kind in kinds
    }


def exam(
    corpus: Corpus,
    tokenizer: WordPiece,
    shares: Sequence[float] = SHARES,
    n: int = INPUTS,
    max_length: int = LENGTH,
    batch_size: int = BATCH,
    seed: int = SEED,
) -> Exam:
    """Take pairs out of a corpus, half of them true, and hide pieces.

    Parameters
    ----------
    corpus : held-out documents in numbers.
    tokenizer : of the corpus.
    shares : of the chosen pieces: replaced by [MASK], by a random one, unchanged.
    n : pairs, an even number.
    max_length, batch_size : of inputs.
    seed : one seed, one exam. Which pieces are asked for does not depend on `shares`.

    Raises
    ------
    ValueError
        If the corpus has too few pairs of a kind.
    """
    pairs = sentence_pairs(corpus, seed, 0, max_length)
    order = epoch_order(len(pairs), seed, 0)
    by_label = [order[pairs.labels[order] == label][: n // 2] for label in (0, 1)]
    if n % 2 or min(map(len, by_label)) < n // 2:
        raise ValueError(f"n={n}: choose an even number of pairs, at most {2 * min(map(len, by_label))}")
    chosen = np.stack(by_label, axis=1).reshape(-1)  # true and false in turn
    masker = Masker(tokenizer, seed, shares=shares)
    found = Exam()
    for first in range(0, n, batch_size):
        rows = chosen[first : first + batch_size]
        batch = pair_batch(corpus, pairs, rows, tokenizer, max_length)
        ids, positions, pieces = masker.mask_sparse(batch.ids, rows, epoch=0)
        question = Question(ids, batch.segments, batch.mask, positions)
        found.append((question, Answers(pieces, pairs.labels[rows])))
    return found


def fingerprint(questions: Exam) -> str:
    """Identify an exam by all its questions and answers: sha256.

    Examples
    --------
    >>> len(fingerprint([]))
    64
    """
    sha = hashlib.sha256()
    for pair in questions:
        for array in (field for part in pair for field in part):
            sha.update(str(array.shape).encode())
            sha.update(array.astype("<i8").tobytes())
    return sha.hexdigest()


def masked_words(questions: Exam, scores: Scores) -> dict[str, Any]:
    """Examine masked language modelling.

    Parameters
    ----------
    questions : from `exam`.
    scores : gives (M, V) for the M positions of a question: logits, or log probabilities; array or tensor.

    Returns
    -------
    targets, inputs : how many pieces were asked for, in how many inputs.
    loss : mean of -ln p(piece), with its 95 % interval.
    accuracy, top5 : share of pieces with the highest score, or among the five highest, with theirs.

    A piece that shares its score with others comes behind them: who scores all alike, knows nothing. Pieces
    of one input are not independent, so the intervals count inputs (ratio estimate, 1.96 standard errors).
    """
    return summary(answered(questions, scores))


class Answered(NamedTuple):
    """How each of the M pieces of an exam was answered."""

    values: Floats  # (M, 3) loss, whether the right piece comes first, whether among the first five
    inputs: Ids  # (M,) number of the input that it stands in

    def of(self, chosen: Bools) -> Answered:
        """Keep some of the pieces."""
        return Answered(self.values[chosen], self.inputs[chosen])


def answered(questions: Exam, scores: Scores) -> Answered:
    """Ask for all pieces; see `masked_words`."""
    rows, measured, seen = [], [], 0
    for question, answers in questions:
        rows.append(seen + question.positions // question.ids.shape[1])
        seen += len(question.ids)
        measured.append(_measure(_checked(scores(question), len(answers.pieces)), answers.pieces))
    return Answered(np.concatenate(measured), np.concatenate(rows))


def summary(found: Answered) -> dict[str, Any]:
    """Give what `masked_words` returns."""
    result = _means(*found, ("loss", "accuracy", "top5"))
    return {"targets": len(found.values), "inputs": len(np.unique(found.inputs)), **result}


def difference(one: Answered, other: Answered) -> dict[str, Any]:
    """Compare answers to the same questions: means of one minus those of the other, piece by piece.

    The intervals are as in `masked_words`, and much narrower than those of two separate results: what is hard
    for one is mostly hard for the other.
    """
    return _means(one.values - other.values, one.inputs, ("loss", "accuracy", "top5"))


def next_sentences(questions: Exam, scores: Scores) -> dict[str, Any]:
    """Examine next sentence prediction.

    Parameters
    ----------
    questions : from `exam`; texts are masked as the kind says, as they are in training.
    scores : gives (B, 2) for the B pairs of a question: "B follows A", "B is from another document".

    Returns
    -------
    pairs : how many, half of them true.
    loss, accuracy : with their 95 % intervals.
    """
    measured = [
        _measure(_checked(scores(question), len(answers.next)), answers.next)
        for question, answers in questions
    ]
    values = np.concatenate(measured)[:, :2]
    return {"pairs": len(values), **_means(values, np.arange(len(values)), ("loss", "accuracy"))}


def _checked(scores: ArrayLike, n: int) -> NDArray[Any]:
    found = np.asarray(scores)
    if found.ndim != 2 or len(found) != n:
        raise ValueError(f"scores of shape {found.shape} for {n} questions: give a row for each")
    if not np.isfinite(found).all():
        raise ValueError("some scores are NaN or infinite: look for the fault in the model")
    return found


def _measure(scores: NDArray[Any], right: Ids) -> Floats:
    """(M, 3): loss, whether the right one is first, whether it is among the first five."""
    wanted = np.take_along_axis(scores, right[:, None], axis=1)  # (M, 1)
    peak = scores.max(axis=1, keepdims=True)
    loss = np.log(np.exp(scores - peak).sum(axis=1, dtype=np.float64)) + (peak - wanted)[:, 0]
    not_behind = (scores >= wanted).sum(axis=1)  # itself among them
    return np.stack([loss, not_behind <= 1, not_behind <= 5], axis=1)


def _means(values: Floats, groups: Ids, names: Sequence[str]) -> dict[str, Any]:
    """Means with 95 % intervals, where values of one group are not independent."""
    _, group = np.unique(groups, return_inverse=True)
    n = np.bincount(group)
    found: dict[str, Any] = {}
    for name, column in zip(names, values.T, strict=True):
        mean = float(column.mean())
        apart = np.bincount(group, column) - mean * n
        half = 1.96 * math.sqrt(len(n) / max(len(n) - 1, 1) * float((apart**2).sum())) / len(column)
        found[name] = round(mean, 4)
        found[f"{name}_interval"] = [round(mean - half, 4), round(mean + half, 4)]
    return found
