"""Checks for the exercises of notebook 14, GPT: positions without a cache, top-p, the surprise of a batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bertlab.classroom.checks import close, exercise, expect

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
TopP = Callable[[Floats, float], ArrayLike]
Surprise = Callable[[Floats, Ids], ArrayLike]

BEGUN, WRITTEN = 10, 30


@exercise("Exercise 1 (what the cache saves)")
def check_positions(answer: float) -> None:
    """Check how many positions are read to write 30 tokens after 10, if nothing is kept."""
    given = float(np.asarray(answer, dtype=float))
    right = sum(range(BEGUN, BEGUN + WRITTEN))
    mistakes = {
        BEGUN + WRITTEN - 1: "so many are read *with* a cache, each once",
        BEGUN + WRITTEN: "so many tokens the text has in the end; without a cache each is read many times",
        BEGUN * WRITTEN: "every step reads 10: but the text grows with each step",
        (BEGUN + WRITTEN) * WRITTEN: "every step reads 40: but at first there are only 10",
        right + WRITTEN: "you begin with 11: the first step reads the 10 that are there",
        right + BEGUN + WRITTEN: "one step too many: the last token is written and never read",
        right - BEGUN: "the first step reads, too: 10 tokens",
    }
    for wrong, sentence in mistakes.items():
        expect(not close(given, wrong), sentence)
    expect(
        close(given, right),
        f"{given:g} is not it: step 1 reads {BEGUN} tokens, step 2 reads {BEGUN + 1}, and so on, for "
        f"{WRITTEN} steps",
    )


@exercise("Exercise 2 (top-p)")
def check_top_p(top_p: TopP) -> None:
    """Check a function of probabilities (V,) and a share that keeps the fewest tokens that have it."""
    p = np.array([0.15, 0.5, 0.1, 0.25])
    kept = _kept(top_p, p, 0.8)
    expect(
        not close(kept, np.array([0.15, 0.5, 0, 0.25])),
        "the right tokens are left, but they sum to 0.9: divide by their sum",
    )
    expect(
        not close(kept, np.array([0, 0.5, 0, 0.25]) / 0.75),
        "1/2 and 1/4 have 0.75 together, which is less than 0.8: the token that passes the share is needed, "
        "too; ask what those *before* it have",
    )
    expect(
        not close(kept, np.array([0.5, 0.25, 0.15, 0]) / 0.9),
        "the numbers are right, in the order of size: put each back where it stood in `p`",
    )
    expect(not close(kept, p), "nothing is cut off: 0.1 is not needed to have 0.8")
    _check_kept(kept, np.array([0.15, 0.5, 0, 0.25]) / 0.9, p, 0.8)
    exact, half = np.array([0.25, 0.5, 0.25]), np.array([0.0, 1.0, 0.0])
    kept = _kept(top_p, exact, 0.5)
    expect(
        close(kept, half),
        f"of {exact.tolist()} with share 0.5 you kept {np.count_nonzero(kept)}: one token has at least 0.5, "
        "so it is enough",
    )
    kept = _kept(top_p, exact, 0.2)
    expect(close(kept, half), "with a share below the best token's, that token is still kept")
    rng = np.random.default_rng(0)
    for share in (0.3, 0.9):
        p = rng.dirichlet(np.ones(11))
        order = np.argsort(-p)
        n = int(np.searchsorted(np.cumsum(p[order]), share)) + 1
        wanted = np.where(np.isin(np.arange(11), order[:n]), p, 0)
        _check_kept(_kept(top_p, p, share), wanted / wanted.sum(), p, share)


def _kept(top_p: TopP, p: Floats, share: float) -> Floats:
    """Call the student's function, and see whether it leaves its argument alone."""
    handed = p.copy()
    kept = np.asarray(top_p(handed, share), dtype=float)
    expect(np.array_equal(handed, p), "you changed `p` in place: make a new array")
    expect(kept.shape == p.shape, f"you returned shape {kept.shape}, expected {p.shape}, as `p`")
    expect(bool(np.isfinite(kept).all()), "a probability is no number: is something divided by 0?")
    return kept


def _check_kept(kept: Floats, wanted: Floats, p: Floats, share: float) -> None:
    expect(
        close(kept, wanted),
        f"of {p.round(2).tolist()} with share {share} you made {kept.round(3).tolist()}, expected "
        f"{wanted.round(3).tolist()}",
    )


@exercise("Exercise 3 (the surprise of a batch)")
def check_surprise(surprise: Surprise) -> None:
    """Check a function of logarithms (B, T, V) and ids (B, T), 0 for padding: the mean surprise."""
    ids = np.array([[2, 4, 1, 3], [2, 3, 0, 0]])
    scores = np.random.default_rng(1).normal(size=(2, 4, 5))
    log_p = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
    given = np.asarray(surprise(log_p.copy(), ids.copy()), dtype=float)
    expect(given.shape == (), f"you returned shape {given.shape}: return one number")
    real, answers = ids != 0, ids[:, 1:]
    at = -np.take_along_axis(log_p[:, :-1], answers[..., None], 2)[..., 0]  # (B, T - 1)
    asked = answers != 0
    own = -np.take_along_axis(log_p, ids[..., None], 2)[..., 0]
    back = -np.take_along_axis(log_p[:, 1:], ids[:, :-1, None], 2)[..., 0]
    right = at[asked].mean()
    mistakes = [
        (own[real].mean(), "there is no shift: position t has *read* token t, and speaks of token t + 1"),
        (own.mean(), "there is no shift, and padding counts"),
        (back[real[:, 1:]].mean(), "shifted the wrong way: position t speaks of token t + 1, not of t - 1"),
        (at.mean(), "padding counts: the second text has one answer, not three"),
        (
            np.mean([row[mask].mean() for row, mask in zip(at, asked, strict=True)]),
            "that is the mean of the rows' means: a token of a short text would count more than others",
        ),
        (at[real[:, :-1]].mean(), "what position t says counts if token t + 1 is real, not if token t is"),
        (at[asked].sum(), "that is the sum: divide by the number of tokens that were asked for"),
        (-right, "a surprise is positive: minus the logarithm"),
        (right / np.log(2), "that is in bits: `log_p` are natural logarithms, and so is the answer"),
        (np.exp(right), "that is the perplexity: its logarithm is asked for"),
    ]
    for wrong, sentence in mistakes:
        expect(not close(given, wrong), sentence)
    expect(
        close(given, right),
        f"{given:.4f} is not it: the mean over 4 tokens (4, 1, 3 of the first text, 3 of the second) of "
        "minus what the position before each gave it",
    )
