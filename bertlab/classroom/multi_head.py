"""Checks for the exercises of notebook 03, multi-head attention. Words are rows here: q = x @ w."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bertlab.classroom.checks import close, exercise, expect
from bertlab.reference.functional import softmax

Array = np.ndarray


@exercise("Exercise 1 (split)")
def check_split(split: Callable[[Array, int], Array]) -> None:
    """Check a function of x (T, D) and the number of heads that returns (H, T, K)."""
    for n_words, n_heads in ((3, 2), (2, 3)):
        x = np.arange(n_words * 6.0).reshape(n_words, 6)  # D = 6
        answer, K = np.asarray(split(x.copy(), n_heads)), 6 // n_heads
        by_word = x.reshape(n_words, n_heads, K)
        shape = f"x of shape {x.shape} in {n_heads} heads"
        expect(
            not close(answer, by_word),
            f"{shape} gave (T, H, K): the numbers are right, now bring the heads to the front",
        )
        expect(
            not close(answer, x.reshape(n_heads, n_words, K)),
            "you reshaped straight to (H, T, K): that cuts through the words; a head must have K numbers of "
            "every word, so split the last axis first",
        )
        expect(
            not close(answer, x.reshape(n_words, K, n_heads).transpose(2, 0, 1)),
            "you dealt the numbers out in turn, like cards: head 0 has the first K in a row",
        )
        expect(
            answer.shape == (n_heads, n_words, K),
            f"{shape} gave {answer.shape}, expected {(n_heads, n_words, K)}: (H, T, K)",
        )
        expect(close(answer, by_word.swapaxes(0, 1)), "the shape is right, the numbers are in other places")


@exercise("Exercise 2 (multi-head attention)")
def check_multi_head(multi_head: Callable[..., Array]) -> None:
    """Check a function of x (T, D), four matrices (D, D) and the number of heads that returns (T, D)."""
    rng = np.random.default_rng(2)
    x, *weights = (rng.normal(size=shape) for shape in ((5, 6), *[(6, 6)] * 4))
    answer = np.asarray(multi_head(x, *weights, 2))
    wanted = _multi_head(x, weights)
    _, joined, _ = _inside(x, weights)
    expect(
        answer.shape == (5, 6),
        f"the output has shape {answer.shape}, expected (5, 6): as many words, as wide",
    )
    expect(not close(answer, joined), "these are the heads laid side by side: multiply by w_output")
    mistakes: list[tuple[dict[str, Any], str]] = [
        ({"width": 6}, "you divided by the root of D: a score is made of K products, so divide by √K"),
        ({"width": 1}, "you did not divide: divide the scores by √K"),
        ({"axis": -2}, "softmax over the queries: in each head, the weights of a row must share out 1"),
        ({"heads": 1}, "that is one head of width D: cut the projections into heads before the scores"),
        ({"slice_x": True}, "you cut x itself, before the projection: each head must see whole words"),
    ]
    for changed, sentence in mistakes:
        expect(not close(answer, _multi_head(x, weights, **changed)), sentence)
    mixed = _inside(x, weights)[0]
    expect(
        not close(answer, mixed.reshape(5, 6) @ weights[3]),
        "you reshaped (H, T, K) straight to (T, D), which mixes up the words: bring T to the front first",
    )
    expect(
        not close(answer, joined @ weights[3].T),
        "w_output is transposed: with words as rows it stands on the right as it is",
    )
    summed = mixed.sum(axis=0)
    expect(
        not close(answer, np.tile(summed, 2) @ weights[3]),
        "you added the heads up: lay them side by side, each has its own rows of w_output",
    )
    expect(close(answer, wanted), "the shape is right, the numbers are not: compare head by head")
    expect(
        close(multi_head(x, *weights, 3), _multi_head(x, weights, heads=3)),
        "right for 2 heads of 3, wrong for 3 heads of 2: is a number of heads or a width fixed in your code?",
    )


@exercise("Exercise 3 (take a head out)")
def check_prune(prune: Callable[..., tuple[Array, ...]]) -> None:
    """Check a function of four matrices (D, D), the number of heads and a head, that returns smaller ones."""
    rng = np.random.default_rng(3)
    x, *weights = (rng.normal(size=shape) for shape in ((5, 6), *[(6, 6)] * 4))
    for head in (1, 0, 2):
        answer = prune(*(w.copy() for w in weights), 3, head)
        expect(
            len(answer) == 4,
            "return four matrices: w_query, w_key, w_value, w_output",
        )
        small = [np.asarray(w) for w in answer]
        shapes = [w.shape for w in small]
        expect(
            shapes != [(6, 6)] * 4, "the matrices are as large as before: take the numbers out, not to zero"
        )
        expect(
            shapes[:3] != [(4, 6)] * 3,
            "you took rows out of w_query, w_key and w_value: their rows are the numbers of a word; a head "
            "is K of their columns",
        )
        expect(
            shapes[3] != (6, 4),
            "you took columns out of w_output, numbers of the result: a head is read by K of its rows",
        )
        wanted = [(6, 4)] * 3 + [(4, 6)]
        expect(shapes == wanted, f"the shapes are {shapes}, expected {wanted}")
        found = _multi_head(x, small, heads=2)
        others = [_multi_head(x, _without(weights, other), heads=2) for other in range(3)]
        for other in range(3):
            expect(
                other == head or not close(found, others[other]),
                f"asked for head {head}, you took out head {other}: heads are counted from 0",
            )
        expect(
            close(found, others[head]),
            "the shapes are right, but another output comes out than when the head is silent: are the same "
            "columns gone from w_query, w_key and w_value as rows from w_output?",
        )


@exercise("Exercise 4 (both neighbours)")
def check_neighbours(neighbours: Callable[[int, int], tuple[Array, ...]]) -> None:
    """Check a function of the numbers of places T and of words V that returns four matrices for two heads."""
    for n_places, n_words in ((5, 4), (8, 6)):
        answer = neighbours(n_places, n_words)
        expect(
            len(answer) == 4,
            "return four matrices: w_query, w_key, w_value, w_output",
        )
        weights = [np.asarray(w, dtype=float) for w in answer]
        D = n_places + n_words
        for name, w in zip(("w_query", "w_key", "w_value"), weights[:3], strict=True):
            expect(
                w.ndim == 2 and w.shape[0] == D and w.shape[1] % 2 == 0,
                f"{name} has shape {w.shape}: give it T + V = {D} rows and two heads of columns",
            )
        expect(weights[0].shape == weights[1].shape, "queries and keys must be equally wide")
        expect(
            weights[3].shape == (weights[2].shape[1], 2 * n_words),
            f"w_output has shape {weights[3].shape}: give it as many rows as w_value has columns, and 2V = "
            f"{2 * n_words} columns",
        )
        _check_neighbours(weights, n_places, n_words)


def _check_neighbours(weights: list[Array], n_places: int, n_words: int) -> None:
    rng = np.random.default_rng(n_places)
    for _ in range(20):
        words = rng.integers(n_words, size=n_places)
        x = np.hstack([np.eye(n_places), np.eye(n_words)[words]])  # (T, T + V)
        _, _, attention = _inside(x, weights)
        output = _multi_head(x, weights).reshape(n_places, 2, n_words)[1:-1]  # inner words have both
        left, right = words[:-2], words[2:]
        said = output.argmax(axis=-1)  # (T - 2, 2)
        inner = np.arange(1, n_places - 1)
        to_left, to_right = (attention[:, inner, inner + step].min(axis=1) for step in (-1, 1))
        best = max(to_left.max(), to_right.max())
        expect(
            best > 0.5,
            f"no head gives a neighbour more than {best:.2f} at every place: let "
            "the query of a place point at the key of its neighbour, and make it long enough for the softmax",
        )
        expect(
            to_left.max() > 0.5 and to_right.max() > 0.5,
            f"only the {'left' if to_left.max() > 0.5 else 'right'} neighbour is looked at: the other head "
            "has keys of its own",
        )
        expect(
            not ((said[:, 0] == right).all() and (said[:, 1] == left).all()),
            "left and right are swapped: the first V numbers are for the left neighbour",
        )
        expect(
            bool((said[:, 0] == left).all() and (said[:, 1] == right).all()),
            "each head looks at its neighbour, but another word comes out: look at w_value and w_output",
        )


def _inside(
    x: Array,
    weights: Sequence[Array],
    heads: int = 2,
    width: int | None = None,
    axis: int = -1,
    slice_x: bool = False,
) -> tuple[Array, Array, Array]:
    """What heads mixed (H, T, K), the same as (T, D), the weights (H, T, T); one thing wrong on demand."""
    q, k, v = (_cut(x @ w, heads) for w in weights[:3])
    if slice_x:
        pieces = _cut(x, heads)  # (H, T, K): each head has a slice of every word, and a block of each matrix
        q, k, v = (np.stack([pieces[h] @ _block(w, heads, h) for h in range(heads)]) for w in weights[:3])
    attention = softmax(q @ k.swapaxes(1, 2) / np.sqrt(width or q.shape[-1]), axis=axis)
    mixed = attention @ v  # (H, T, T) @ (H, T, K)
    return mixed, mixed.swapaxes(0, 1).reshape(len(x), -1), attention


def _multi_head(x: Array, weights: Sequence[Array], **changed: Any) -> Array:
    """Multi-head attention written out again, so that the check leans on nothing."""
    return np.asarray(_inside(x, weights, **changed)[1] @ weights[3])


def _cut(x: Array, heads: int) -> Array:
    return x.reshape(len(x), heads, -1).swapaxes(0, 1)  # (T, D) -> (H, T, K)


def _block(w: Array, heads: int, head: int) -> Array:
    K = len(w) // heads
    return w[K * head : K * head + K, K * head : K * head + K]


def _without(weights: list[Array], head: int) -> list[Array]:
    """Three heads of two, less one of them."""
    kept = [i for i in range(6) if i // 2 != head]
    return [*(w[:, kept] for w in weights[:3]), weights[3][kept]]
