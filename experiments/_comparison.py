"""How sure a score is, and whether two models differ: resampling, randomisation, calibration, order.

All scores here are of one form. Each of N test examples (a text, a question, a sentence with names) has two
numbers, what it brings and what it counts; the score is the sum of the first by that of the second.
Accuracy: 1 if right, of 1. SQuAD's F1: F1, of 1. Entity F1: twice the right names, of those in gold and
those predicted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Each = NDArray[np.float64]  # (S, N, 2): seeds, examples, (what it brings, what it counts)
DRAWS, COVERED, BINS = 10_000, 0.95, 10


def each_of(rows: Sequence[ArrayLike], groups: Sequence[Hashable] | None = None) -> Each:
    """Join the examples of several seeds.

    Parameters
    ----------
    rows : of each seed, (N, 2).
    groups : of each example, what it shares with others (a premise, a passage). Such examples are right or
        wrong together; so a group is one thing to draw, with the sums of its examples.

    Raises
    ------
    ValueError
        If the seeds have not the same examples.
    """
    arrays = [np.asarray(row, dtype=np.float64) for row in rows]
    if len({array.shape for array in arrays}) != 1 or arrays[0].ndim != 2 or arrays[0].shape[1] != 2:
        shapes = [array.shape for array in arrays]
        raise ValueError(f"seeds of shapes {shapes}: give (N, 2) of the same examples for each")
    each = np.stack(arrays)
    if groups is None:
        return each
    if len(groups) != each.shape[1]:
        raise ValueError(f"{len(groups)} groups of {each.shape[1]} examples: give each example its group")
    number = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    member = np.eye(len(number))[[number[group] for group in groups]]  # (N, G)
    sums: Each = member.T @ each
    return sums


def score(each: Each, weights: NDArray[np.float64] | None = None) -> Any:
    """Compute the score, a mean over seeds; with weights (R, N) of the examples, R scores of each seed."""
    sums = each.sum(1)[:, None] if weights is None else weights @ each  # (S, 1 or R, 2)
    found = sums[..., 0] / np.maximum(sums[..., 1], 1e-12)
    return float(found.mean()) if weights is None else found


def with_other_seeds(scores: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Give R means of S seeds, each of seeds drawn anew out of the S that there are."""
    drawn = rng.integers(len(scores), size=scores.shape)
    means: NDArray[np.float64] = np.take_along_axis(scores, drawn, axis=0).mean(0)
    return means


def resampled(n: int, seed: int = 0, draws: int = DRAWS) -> NDArray[np.float64]:
    """Draw how often each of n examples is in a test set of n drawn from them: (draws, n)."""
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), draws).astype(np.float64)


def interval(each: Each, seed: int = 0, draws: int = DRAWS) -> list[float]:
    """Give the 95 % interval of a score: what it might have been with another test set and other seeds.

    References
    ----------
    The percentile bootstrap: Efron and Tibshirani 1993, ch. 13. Of two or three seeds it knows little: so
    seeds are told one by one, too.
    """
    scores = score(each, resampled(each.shape[1], seed, draws))
    return _middle(with_other_seeds(scores, np.random.default_rng([seed, 1])))


def difference(a: Each, b: Each, seed: int = 0, draws: int = DRAWS) -> dict[str, Any]:
    """Compare two models on the same examples, seed by seed; of more seeds on one side the first ones count.

    Returns
    -------
    difference : score of a less that of b.
    interval : its 95 % interval, by resampling the examples, for both the same ones, and the seeds, for each
        its own.
    p : how often a difference as large comes about if chance says, for each example, which of the two models
        said what; a two-sided test. It speaks of these trained models, not of other seeds.

    References
    ----------
    Approximate randomisation: Noreen 1989; Yeh 2000, "More accurate tests for the statistical significance of
    result differences". Paired resampling: Koehn 2004.
    """
    n = min(len(a), len(b))
    a, b = a[:n], b[:n]
    found = score(a) - score(b)
    weights = resampled(a.shape[1], seed, draws)
    swap = np.random.default_rng(seed).integers(0, 2, (draws, a.shape[1])).astype(np.float64)
    rng = np.random.default_rng([seed, 1])
    drawn = with_other_seeds(score(a, weights), rng) - with_other_seeds(score(b, weights), rng)
    as_large = int((np.abs(_swapped(a, b, swap)) >= abs(found) - 1e-12).sum())
    return {
        "difference": found,
        "interval": _middle(drawn),
        "p": (as_large + 1) / (draws + 1),
    }


def _swapped(a: Each, b: Each, swap: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences when some examples (draws, N) are given to the other model."""
    total_a, total_b = a.sum(1)[:, None], b.sum(1)[:, None]  # (S, 1, 2)
    moved = swap @ (b - a)  # (S, draws, 2)
    sums = total_a + moved, total_b - moved
    one, other = ((s[..., 0] / np.maximum(s[..., 1], 1e-12)).mean(0) for s in sums)
    difference: NDArray[np.float64] = one - other
    return difference


def _middle(values: NDArray[np.float64]) -> list[float]:
    rest = (1 - COVERED) / 2
    low, high = np.quantile(values, [rest, 1 - rest])
    return [float(low), float(high)]


def calibration(confidences: ArrayLike, right: ArrayLike, bins: int = BINS) -> dict[str, Any]:
    """Say whether who is sure at 80 % is right in 80 of 100 cases.

    Parameters
    ----------
    confidences : (N,) probabilities of what was said.
    right : (N,) whether it was right.
    bins : between 0 and 1, equally wide.

    Returns
    -------
    error : mean distance of confidence and accuracy over the bins, weighted by their examples.
    confidence, accuracy : of all.
    bins : for each with examples in it (how many, mean confidence, accuracy).

    References
    ----------
    Guo et al. 2017, "On calibration of modern neural networks", eq. (3).
    """
    sure, hit = np.asarray(confidences, dtype=np.float64), np.asarray(right, dtype=np.float64)
    number = np.minimum((sure * bins).astype(int), bins - 1)
    rows = [
        (int(own.sum()), float(sure[own].mean()), float(hit[own].mean()))
        for own in (number == b for b in range(bins))
        if own.any()
    ]
    error = sum(n * abs(confidence - accuracy) for n, confidence, accuracy in rows) / len(sure)
    return {
        "error": round(error, 4),
        "confidence": round(float(sure.mean()), 4),
        "accuracy": round(float(hit.mean()), 4),
        "bins": [[n, round(confidence, 4), round(accuracy, 4)] for n, confidence, accuracy in rows],
    }


def same_order(ours: Sequence[float], theirs: Sequence[float]) -> dict[str, float]:
    """Compare two orders of the same things: Spearman's ρ and Kendall's τ, with the p of the latter."""
    rho, tau = stats.spearmanr(ours, theirs), stats.kendalltau(ours, theirs)
    return {
        "spearman": round(float(rho.statistic), 3),
        "kendall": round(float(tau.statistic), 3),
        "p": round(float(tau.pvalue), 4),
    }


def told(found: dict[str, Any]) -> dict[str, Any]:
    """Round a difference for a record."""
    rounded = {name: round(found[name], 4) for name in ("difference", "p")}
    return {**rounded, "interval": [round(end, 4) for end in found["interval"]]}
