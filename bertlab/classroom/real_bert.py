"""Checks for the exercises of notebook 16, a real BERT."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bertlab.classroom.checks import close, exercise, expect
from bertlab.reference.functional import softmax

Array = np.ndarray


@exercise("Exercise 1 (one vector for a text)")
def check_mean(mean: Callable[[Array, Array], Array]) -> None:
    """Check a function of states (B, T, D) and a mask (B, T), True = a real piece; it gives (B, D)."""
    rng = np.random.default_rng(1)
    states, mask = rng.normal(size=(3, 5, 4)), np.arange(5) < np.array([[5], [3], [2]])
    answer = np.asarray(mean(states.copy(), mask.copy()))
    real = np.where(mask[..., None], states, 0.0)
    counts = mask.sum(axis=1, keepdims=True)
    wanted = real.sum(axis=1) / counts
    expect(
        not close(answer, states.mean(axis=1)),
        "padding is averaged in: the vector of a text would change with the texts beside it",
    )
    expect(
        not close(answer, states[:, 0]), "these are the states of [CLS]: take the mean over all real pieces"
    )
    expect(not close(answer, real.sum(axis=1)), "these are sums: divide each by the number of its own pieces")
    expect(
        not close(answer, real.mean(axis=1)),
        "padding is left out of the sum but not of the number: you divided by T, divide by the real pieces",
    )
    expect(
        not close(answer, real.sum(axis=1) / mask.sum()),
        "you divided by the pieces of all texts together: each text has a number of its own",
    )
    expect(
        answer.shape == (3, 4),
        f"states of shape (3, 5, 4) gave {answer.shape}, expected (3, 4): a row for each text",
    )
    unit = wanted / np.linalg.norm(wanted, axis=1, keepdims=True)
    expect(not close(answer, unit), "right, but brought to length 1: here the mean itself is asked for")
    expect(
        close(answer, wanted), "the shape is right, the numbers are not: sum the real states, count, divide"
    )
    with np.errstate(all="ignore"):
        empty = np.asarray(mean(np.ones((1, 2, 3)), np.zeros((1, 2), dtype=bool)))
    expect(
        bool(np.isfinite(empty).all()),
        "a text of padding alone gives NaN, and NaN spreads: divide by at least 1, so that it gives zeros",
    )


@exercise("Exercise 2 (who looks back)")
def check_looking_back(looking_back: Callable[[Array], Array]) -> None:
    """Check a function of weights (H, T, T) that gives the mean weight (H,) on the token before."""
    weights = softmax(3 * np.random.default_rng(2).normal(size=(3, 6, 6)))
    answer = np.asarray(looking_back(weights.copy()))
    back, ahead, own = (np.diagonal(weights, step, 1, 2) for step in (-1, 1, 0))  # (H, 5), (H, 5), (H, 6)
    expect(
        not close(answer, ahead.mean(axis=1)),
        "this is the weight on the token after: rows are queries, so look at [query, query - 1]",
    )
    expect(
        not close(answer, own.mean(axis=1)),
        "this is the weight on the token itself: go one column to the left",
    )
    expect(
        not close(answer, back.sum(axis=1) / 6),
        "you divided by T: the first token has nothing before it, so there are T - 1 queries",
    )
    expect(not close(answer, back.sum(axis=1)), "this is a sum over the queries: take their mean")
    expect(
        not close(answer, back.mean()),
        "this is one number for all heads: they do different things, keep the axis of heads",
    )
    largest = (weights.argmax(axis=2)[:, 1:] == np.arange(5)).mean(axis=1)
    expect(
        not close(answer, largest),
        "you counted how often the token before gets the largest weight: asked for is how much it gets",
    )
    expect(
        not close(answer, weights[:, 1:, 0].mean(axis=1)),
        "this is the weight on the first token: each query has another token before it",
    )
    expect(answer.shape == (3,), f"weights of shape (3, 6, 6) gave {answer.shape}, expected (3,): one a head")
    expect(
        close(answer, back.mean(axis=1)),
        "the shape is right, the numbers are not: np.diagonal takes an offset",
    )


@exercise("Exercise 3 (search)")
def check_search(search: Callable[[Array, Array, int], Sequence[int]]) -> None:
    """Check a function of a query (D,), texts (n, D) and k; it gives the k nearest by cosine in order."""
    query = np.array([2.0, 0.0])
    angles, lengths = np.array([80, 10, 50, 30, 65, 20]), np.array([9.0, 1.0, 3.0, 2.0, 6.0, 0.4])
    texts = lengths[:, None] * np.stack([np.cos(np.deg2rad(angles)), np.sin(np.deg2rad(angles))], axis=1)
    answer = np.asarray(search(query.copy(), texts.copy(), 3))
    cosines = np.cos(np.deg2rad(angles))
    nearest, dots = np.argsort(-cosines), np.argsort(-(texts @ query))
    distances = np.argsort(np.linalg.norm(texts - query, axis=1))
    expect(
        not (answer.dtype.kind == "f" and close(np.sort(answer), np.sort(cosines[nearest[:3]]))),
        "these are the cosines themselves: give the numbers of the texts, as np.argsort does",
    )
    expect(
        not np.array_equal(answer, dots[:3]),
        "you ranked by the dot product: long vectors win; divide by the lengths",
    )
    expect(
        not np.array_equal(answer, distances[:3]),
        "you ranked by distance: a short vector in the right direction is far away; compare directions",
    )
    expect(
        not np.array_equal(answer, nearest[::-1][:3]),
        "these are the farthest: np.argsort begins with the smallest",
    )
    expect(
        not np.array_equal(answer, nearest[:3][::-1]),
        "the right three, but the nearest comes last: turn them round",
    )
    expect(answer.shape == (3,), f"asked for 3 texts, you gave an answer of shape {answer.shape}")
    expect(
        not (set(answer.tolist()) == set(nearest[:3].tolist()) and not np.array_equal(answer, nearest[:3])),
        "the right three, in another order: nearest first",
    )
    expect(
        np.array_equal(answer, nearest[:3]),
        f"the nearest are {nearest[:3].tolist()}, you gave {answer.tolist()}",
    )
    one = np.asarray(search(query, texts, 1))
    expect(
        np.array_equal(one, nearest[:1]), "right for three texts, wrong for one: is a 3 fixed in your code?"
    )


@exercise("Exercise 4 (other weights, the same output)")
def check_other_weights(other_weights: Callable[[Array, Array], Array]) -> None:
    """Check a function of weights (T,) and values (T, K) that gives other weights with the same mixture."""
    rng = np.random.default_rng(4)
    for length, width in ((12, 4), (9, 6)):
        weights, values = softmax(rng.normal(size=length)), rng.normal(size=(length, width))
        answer = np.asarray(other_weights(weights.copy(), values.copy()), dtype=float)
        expect(
            answer.shape == weights.shape,
            f"weights of shape {weights.shape} gave {answer.shape}: give as many",
        )
        moved = np.abs(answer - weights).sum() / 2
        expect(moved > 1e-6, "these are the weights that came in: walk along the null space, away from them")
        total, mixed = answer.sum(), np.abs(answer @ values - weights @ values).max()
        expect(
            not (mixed < 1e-6 < abs(total - 1)),
            f"the output is the same, but the weights sum to {total:.3f}: a column of ones beside the values "
            "keeps the sum, too",
        )
        expect(abs(total - 1) < 1e-6, f"the weights sum to {total:.3f}: they must share out 1")
        expect(
            mixed < 1e-6,
            f"the output moves by up to {mixed:.2g}: step only in directions d with d @ values = 0, the "
            "columns of Q behind the first K + 1 in np.linalg.qr(…, mode='complete')",
        )
        expect(
            answer.min() > -1e-9,
            f"a weight is {answer.min():.3f}: no softmax gives that; go only until the first weight is zero",
        )
        expect(
            moved >= 0.005,
            f"only {moved:.1%} of the weight has moved: go on until a weight is zero (that moves more)",
        )
