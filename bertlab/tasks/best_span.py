"""From scores of start and end to an answer: the best span of a window, and the best one of all windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertlab.tasks.question_answering import WindowedQuestion


@dataclass(frozen=True)
class Span:
    """An answer that may be given: positions of the input, `end` being part of it, and its score."""

    start: int
    end: int
    score: float  # logit of the start + logit of the end


@dataclass(frozen=True)
class Candidate:
    """An answer that may be given, as a text."""

    text: str
    score: float


@dataclass(frozen=True)
class Prediction:
    """The answer to a question, and what else might have been said."""

    text: str  # "" says that the passage has no answer
    candidates: tuple[Candidate, ...]  # best first, each text once
    null_score: float  # of [CLS] as start and end, in the window where that is least

    @property
    def difference(self) -> float:
        """Score of no answer less that of the best one."""
        return self.null_score - self.candidates[0].score


def best_spans(
    start_logits: np.ndarray,
    end_logits: np.ndarray,
    first: int,
    n_pieces: int,
    max_pieces: int = 30,
    n_best: int = 1,
) -> list[Span]:
    """Find the spans of the passage whose start and end together score most.

    All pairs are tried, start ≤ end. (The original release tries the best starts with the best ends, of each
    as many as answers are wanted, and may miss some; it also asks that a window be the one with the most
    context for the start.)

    Parameters
    ----------
    start_logits, end_logits : (T,) float arrays, one number a position of the input.
    first, n_pieces : where the passage begins in the input, and how many pieces it has there.
    max_pieces : most pieces of an answer.
    n_best : how many spans.

    Returns
    -------
    the best ones, best first, as many as there are up to `n_best`. Of equal scores the earlier start comes
    first, then the shorter span.

    Raises
    ------
    ValueError
        If the passage reaches beyond the logits or is empty, `max_pieces` or `n_best` is below 1, or a logit
        is not a number.

    References
    ----------
    Devlin et al. 2019, sec. 4.2: the score of a span is S·T_i + E·T_j, j ≥ i.

    Examples
    --------
    >>> start, end = np.array([1, 6, 0, 2, 0.5, 4, 0]), np.array([0.5, 0, 5, 3.5, 3.6, 0.4, 2])
    >>> best_spans(start, end, first=3, n_pieces=3, n_best=2)  # neither the question nor a [SEP]
    [Span(start=3, end=4, score=5.6), Span(start=3, end=3, score=5.5)]
    """
    if min(max_pieces, n_best) < 1:
        raise ValueError(f"max_pieces={max_pieces}, n_best={n_best}: neither can be below 1")
    shapes = np.shape(start_logits), np.shape(end_logits)
    if not (n_pieces >= 1 and first >= 0 and all(len(s) == 1 and s[0] >= first + n_pieces for s in shapes)):
        raise ValueError(
            f"{n_pieces} pieces from position {first} on, with logits of shapes {shapes[0]} and {shapes[1]}: "
            "give logits (T,) of the window that the pieces are in"
        )
    behind = first + n_pieces  # what stands there, [SEP] and padding, is not looked at
    start, end = (np.asarray(logits, np.float64)[:behind] for logits in (start_logits, end_logits))
    if np.isnan([start, end]).any():
        raise ValueError("a logit is NaN, so no span is the best: look for where the model's numbers break")
    start, end = start[first:], end[first:]  # (T,) -> (n_pieces,)
    # Pair (i, k): from piece i on, k further pieces.
    i, k = np.nonzero(np.arange(n_pieces)[:, None] + np.arange(min(max_pieces, n_pieces)) < n_pieces)
    scores = start[i] + end[i + k]
    best = np.argsort(-scores, kind="stable")[:n_best]
    return [Span(first + int(i[n]), first + int(i[n] + k[n]), float(scores[n])) for n in best]


def predict_answer(
    windowed: WindowedQuestion,
    start_logits: Sequence[np.ndarray] | np.ndarray,
    end_logits: Sequence[np.ndarray] | np.ndarray,
    max_pieces: int = 30,
    n_best: int = 20,
    threshold: float | None = None,
) -> Prediction:
    """Take the best span of all windows, and cut it out of the passage.

    Parameters
    ----------
    windowed : the question in W windows.
    start_logits, end_logits : W float arrays (T,), or (W, T); what stands on padding means nothing.
    max_pieces : most pieces of an answer.
    n_best : most answers that are told.
    threshold : no answer is given where `difference` is above it. None: one is always given, as in SQuAD 1.1.

    Raises
    ------
    ValueError
        If there are not W arrays of each, or as in `best_spans`.

    References
    ----------
    Devlin et al. 2019, sec. 4.2 and 4.3: no answer scores S·C + E·C; an answer is given if it scores more
    than that by τ, our -threshold. google-research/bert, run_squad.py: the least such score of all windows.
    """
    windows = windowed.windows
    if not len(windows) == len(start_logits) == len(end_logits):
        raise ValueError(
            f"{len(windows)} windows with {len(start_logits)} arrays of start logits and {len(end_logits)} "
            "of end logits: give one of each to a window"
        )
    found: dict[str, float] = {}  # a text of two windows, or of two places, counts by its best score
    null_score = np.inf
    for window, starts, ends in zip(windows, start_logits, end_logits, strict=True):
        null_score = min(null_score, float(starts[0]) + float(ends[0]))
        for span in best_spans(starts, ends, window.first, window.n_pieces, max_pieces, n_best):
            text = windowed.cut(window, span.start, span.end)
            found[text] = max(found.get(text, -np.inf), span.score)
    candidates = tuple(
        Candidate(text, score) for text, score in sorted(found.items(), key=lambda item: -item[1])[:n_best]
    )
    said = Prediction(candidates[0].text, candidates, null_score)
    if threshold is not None and said.difference > threshold:
        return Prediction("", candidates, null_score)
    return said
