"""Checks for the exercises of notebook 02, self-attention."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bertlab.classroom.checks import close, exercise, expect
from bertlab.reference.functional import softmax, softmax_vjp

Array = np.ndarray


@exercise("Exercise 1 (one query)")
def check_weights(weights_of: Callable[[Array, Array], Array]) -> None:
    """Check a function of a query (K,) and keys (T, K) that returns the weights (T,)."""
    rng = np.random.default_rng(0)
    query, keys = rng.normal(size=4), rng.normal(size=(3, 4))
    answer, scores = np.asarray(weights_of(query, keys)), keys @ query
    expect(
        answer.shape == (3,), f"the weights have shape {answer.shape}, expected (3,): one weight for each key"
    )
    expect(not close(answer, scores / 2), "these are the scores: put them through the softmax")
    expect(
        not close(answer, softmax(scores)), "you did not divide: the scores grow with the width of the keys"
    )
    expect(not close(answer, softmax(scores / 4)), "you divided by d_k, not by its root: √4 is 2")
    expect(
        not close(answer, softmax(scores) / 2), "you divided after the softmax: divide the scores, before it"
    )
    expect(not close(answer, softmax(scores * 2)), "you multiplied by the root of d_k: divide by it")
    by_length = softmax(scores / np.sqrt(3))
    expect(
        not close(answer, by_length), "you divided by the root of the number of keys: take the width of a key"
    )
    expect(
        abs(answer.sum() - 1) < 1e-6,
        f"your weights sum to {answer.sum():.3g}: a softmax shares out exactly 1",
    )
    expect(close(answer, softmax(scores / 2)), "they sum to 1 but are off: softmax(keys @ query / √K)")


@exercise("Exercise 2 (all queries at once)")
def check_self_attention(self_attention: Callable[[Array, Array, Array, Array], Array]) -> None:
    """Check a function of x (T, D) and three matrices (D, K) that returns the output (T, K)."""
    for n_words, d_head in (
        (5, 3),
        (3, 3),
    ):  # a missing transpose stops the first and slips through the second
        rng = np.random.default_rng(n_words)
        x, *weights = (rng.normal(size=shape) for shape in ((n_words, 4), *[(4, d_head)] * 3))
        try:
            answer = np.asarray(self_attention(x, *weights))
        except ValueError as error:
            expect("matmul" not in str(error), "two matrices do not fit: is K transposed, and x on the left?")
            raise
        _name_the_mistake(answer, x @ weights[0], x @ weights[1], x @ weights[2], x)


def _name_the_mistake(answer: Array, q: Array, k: Array, v: Array, x: Array) -> None:
    """Compare an answer with self-attention, and with what comes out when one thing is wrong."""
    scores, K = q @ k.T, q.shape[-1]
    scaled = scores / np.sqrt(K)
    mistakes = [
        (softmax(scaled), "these are the weights: mix the values by them, weights @ v"),
        (scaled @ v, "you mixed by the raw scores: put each row through the softmax first"),
        (softmax(scores) @ v, "you did not divide the scores: divide by the root of d_k before the softmax"),
        (softmax(scores / K) @ v, "you divided by d_k, not by its root"),
        (
            softmax(scores / np.sqrt(x.shape[-1])) @ v,
            "you divided by the root of D: take the width of the keys, K",
        ),
        (softmax(scaled, axis=0) @ v, "softmax over the queries: your columns sum to 1, the rows must"),
        (
            softmax(scaled.T) @ v,
            "queries and keys are swapped: a row belongs to a query, and the softmax runs along it",
        ),
        (softmax(scaled) @ x, "you mixed the words themselves: mix their values, x @ w_value"),
        (softmax(scaled) @ k, "you mixed the keys: they are for finding, the values are what is handed over"),
    ]
    if len(q) == K:
        mistakes.append(
            (softmax(q @ k / np.sqrt(K)) @ v, "K is not transposed: it only fits since T = K here")
        )
    for wrong, sentence in mistakes:
        expect(not close(answer, wrong), sentence)
    wanted = softmax(scaled) @ v
    expect(
        answer.shape == wanted.shape, f"the output has shape {answer.shape}, expected {wanted.shape}: (T, K)"
    )
    expect(
        close(answer, wanted),
        "the shape is right, the numbers are not: softmax(q @ k.T / √K) @ v, row by row",
    )


@exercise("Exercise 3 (back through the softmax)")
def check_softmax_backward(softmax_backward: Callable[[Array, Array], Array]) -> None:
    """Check a function of d_weights (T, T) and weights (T, T) that returns d_scores (T, T)."""
    rng = np.random.default_rng(3)
    scores, grad = rng.normal(size=(2, 4, 4))
    weights = softmax(scores)
    answer = np.asarray(softmax_backward(grad, weights))
    expect(
        answer.shape == (4, 4), f"the gradient has shape {answer.shape}, expected (4, 4), that of the scores"
    )
    product, total = weights * grad, (weights * grad).sum(axis=-1, keepdims=True)
    alone = (
        "each weight is treated alone: raising one score lowers the others of its row; subtract their part"
    )
    expect(not close(answer, product), alone)
    expect(not close(answer, product * (1 - weights)), alone)
    across = weights * (grad - (weights * grad).sum(axis=0, keepdims=True))
    expect(not close(answer, across), "you summed over the queries: sum over the keys of one row, axis=-1")
    expect(not close(answer, grad - total), "the factor in front is missing: weights * (…)")
    expect(not close(answer, product - total), "the sum must be weighted too: weights * (d_weights - sum)")
    unweighted = weights * (grad - grad.sum(axis=-1, keepdims=True))
    expect(not close(answer, unweighted), "the sum inside needs the weights: sum(weights * d_weights)")
    mean = weights * (grad - (weights * grad).mean(axis=-1, keepdims=True))
    expect(
        not close(answer, mean),
        "you took the mean over the keys: take the sum, the weights already share out 1",
    )
    if not close(answer.sum(axis=-1), np.zeros(4)):
        expect(
            False,
            "the rows of your gradient do not sum to 0, yet adding 1 to a row of scores changes no weight",
        )
    expect(
        close(answer, softmax_vjp(grad, scores)), "the rows sum to 0, as they must, but the numbers are off"
    )


@exercise("Exercise 4 (give it order)")
def check_order(with_order: Callable[[Array], Array]) -> None:
    """Check a function of x (T, D) that returns x with the order of its words made visible, (T, D)."""
    rng = np.random.default_rng(4)
    x, other = rng.normal(size=(2, 5, 4))
    weights = rng.normal(size=(3, 4, 4)) / 2
    swap = np.array([2, 1, 0, 3, 4])
    answer = np.asarray(with_order(x.copy()))
    expect(answer.shape == (5, 4), f"x came back with shape {answer.shape}, expected (5, 4): keep T and D")
    expect(
        close(with_order(x.copy()), answer), "the same sentence came back differently: leave chance out of it"
    )
    expect(not close(answer, x), "x came back unchanged: let each row also depend on its place")
    expect(
        not close(with_order(other.copy()), answer),
        "two sentences came back the same: keep the words, add the place",
    )
    swapped = np.asarray(with_order(x[swap].copy()))
    only_swapped = close(swapped, answer[swap]) or close(
        _mixed(swapped, weights), _mixed(answer, weights)[swap]
    )
    expect(
        not only_swapped,
        "swap two words and the outputs are merely swapped: what you add must depend on the place",
    )
    expect(
        not close(_mixed(swapped, weights).mean(axis=0), _mixed(answer, weights).mean(axis=0)),
        "the mean over the sentence is the same in both orders: each place needs a vector of its own",
    )
    first = np.asarray(with_order(x[:3].copy()))
    expect(
        close(first, answer[:3]),
        "a word at place 2 changes when words follow: count places from the beginning",
    )


def _mixed(x: Array, weights: Array) -> Array:
    """Self-attention of one sentence (T, D), written out again so that the check leans on nothing."""
    q, k, v = x @ weights
    return np.asarray(softmax(q @ k.T / np.sqrt(q.shape[-1])) @ v)
