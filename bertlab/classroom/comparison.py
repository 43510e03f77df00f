"""Checks for the exercises of notebook 15: equal work, pseudo-log-likelihood, a paired interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bertlab.classroom.checks import close, exercise, expect

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
LogProbabilities = Callable[[Ids], Floats]
Score = Callable[[Ids, int, LogProbabilities], ArrayLike]
Interval = Callable[[Floats, Floats, np.random.Generator], Any]

STEPS, GPT, BERT, READ, ASKED = 3000, 9.0, 3.6, 2000, 0.15
BUDGET = (STEPS * GPT / BERT, STEPS * GPT / BERT * READ * ASKED, float(STEPS * READ))
MASK = 4


@exercise("Exercise 1 (equal work)")
def check_budget(answer: ArrayLike) -> None:
    """Check the steps of a BERT with the work of a GPT's 3,000, and what either is asked for in all."""
    given = np.asarray(answer, dtype=float)
    expect(
        given.shape == (3,),
        f"you gave shape {given.shape}: give three numbers, steps of BERT, pieces that BERT is asked for, "
        "pieces that GPT is asked for",
    )
    steps, bert, gpt = BUDGET
    expect(
        not close(given[0], STEPS * BERT / GPT),
        "the wrong way round: a token costs BERT less, so the same work is *more* steps",
    )
    expect(not close(given[0], STEPS), "so many steps are the same tokens, not the same work")
    expect(
        close(given[0], steps),
        f"{given[0]:g} steps are not it: GPT's {STEPS} steps cost {STEPS} · {GPT:g} for each token of a "
        f"step; a step of BERT costs {BERT:g}",
    )
    expect(
        not close(given[1], steps * READ),
        "so many pieces BERT *reads*: it is asked for 15 in 100 of them",
    )
    expect(
        not close(given[1], STEPS * READ * ASKED),
        f"that is what {STEPS} steps ask: with the same work BERT has {steps:g}",
    )
    expect(
        not close(given[1], steps * READ * ASKED * 0.8),
        "of those that are asked for, 80 % read [MASK]; but all of them are asked for",
    )
    expect(close(given[1], bert), f"{given[1]:g} is not what BERT is asked for: steps · {READ} · 15 %")
    expect(
        not close(given[2], STEPS * READ * ASKED),
        "nothing is hidden from GPT: it is asked for every piece, not for 15 %",
    )
    expect(close(given[2], gpt), f"{given[2]:g} is not what GPT is asked for: every piece of {STEPS} steps")


def stand_in(ids: Ids) -> Floats:
    """Logarithms of probabilities (T, V) that depend on all that is read, and on its place."""
    n_pieces, T = 9, len(ids)
    place = np.arange(1, T + 1)
    read = (np.sin(ids * 1.7) * place).sum()
    scores = np.sin(np.outer(place, np.arange(1, n_pieces + 1)) * 0.7 + read)  # (T, V)
    scores[np.arange(T), ids] += 4.0  # who sees a piece says it
    log_p: Floats = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    return log_p


@exercise("Exercise 2 (pseudo-log-likelihood)")
def check_pseudo(score: Score) -> None:
    """Check a function of ids (T,) between marks that sums what each piece gets when it alone is hidden."""
    for ids in (np.array([1, 5, 6, 7, 2]), np.array([1, 8, 2]), np.array([1, 5, 5, 3, 6, 8, 2])):
        handed, asked = ids.copy(), list[Ids]()

        def watched(read: Ids, asked: list[Ids] = asked) -> Floats:
            asked.append(np.array(read))
            return stand_in(np.asarray(read))

        given = np.asarray(score(handed, MASK, watched), dtype=float)
        expect(np.array_equal(handed, ids), "you changed `ids`: hide pieces in a copy")
        expect(given.shape == (), f"you returned shape {given.shape}: return one number")
        _check_score(float(given), ids, asked)


def _check_score(given: float, ids: Ids, asked: list[Ids]) -> None:
    inner = np.arange(1, len(ids) - 1)
    rows = []
    for t in inner:
        hidden = ids.copy()
        hidden[t] = MASK
        rows.append(stand_in(hidden)[t, ids[t]])
    right, plain, all_hidden = np.sum(rows), stand_in(ids), ids.copy()
    all_hidden[inner] = MASK
    growing, left = ids.copy(), 0.0
    for t in inner:  # what was hidden stays hidden
        growing[t] = MASK
        left += stand_in(growing)[t, ids[t]]
    mistakes = [
        (plain[inner, ids[inner]].sum(), "nothing was hidden: each piece was seen, and then it is no guess"),
        (stand_in(all_hidden)[inner, ids[inner]].sum(), "all pieces were hidden at once: hide one at a time"),
        (left, "what was hidden stayed hidden: begin with the whole text again for each piece"),
        (-right, "that is the surprise: a likelihood is the sum of logarithms, without a minus"),
        (right / len(inner), "that is the mean of the pieces: the sum is asked for"),
        (np.exp(right), "that is a probability: its logarithm is asked for"),
    ]
    for wrong, sentence in mistakes:
        expect(close(wrong, right) or not close(given, wrong), sentence)
    marked = [read for read in asked if MASK in read[[0, -1]]]
    expect(
        not marked, "a mark was hidden: the first and the last position are no pieces, and are not asked for"
    )
    expect(
        close(given, right),
        f"{given:.4f} is not it: for each of the {len(inner)} inner positions hide that piece alone, and add "
        "the logarithm that the model gives it there",
    )


@exercise("Exercise 3 (a paired interval)")
def check_interval(interval: Interval) -> None:
    """Check a function of two arrays of hits (N,) and a generator: difference and its 95 % interval."""
    rng = np.random.default_rng(5)
    ability = rng.random(400)
    a, b = (ability < 0.62).astype(float), (ability + 0.12 * rng.random(400) < 0.6).astype(float)
    handed = a.copy(), b.copy()
    chance = np.random.default_rng(0)
    before = chance.bit_generator.state
    given = np.asarray(interval(*handed, chance), dtype=float)
    expect(all(map(np.array_equal, handed, (a, b))), "you changed the arrays that you were given")
    expect(
        given.shape == (3,), f"you returned shape {given.shape}: return three numbers, difference, low, high"
    )
    gap = float((a - b).mean())
    expect(not close(given[0], 100 * gap), "the difference is in percent: give it as a share")
    expect(not close(given[0], -gap), "that is b minus a: give a minus b")
    expect(
        close(given[0], gap),
        f"the difference is {gap:.4f}, you said {given[0]:.4f}: mean of a minus that of b",
    )
    low, high = given[1:]
    expect(low <= high, f"low = {low:.4f} is above high = {high:.4f}: put the lower bound first")
    expect(
        abs((low + high) / 2 - gap) < 0.02,
        f"your interval, {low:.3f} to {high:.3f}, does not lie around the difference, {gap:.3f}: with each "
        "draw compute the difference of the *drawn* items",
    )
    _check_width(high - low, a, b)
    expect(
        chance.bit_generator.state != before,
        "nothing was drawn from `rng`: take all chance from it, so that one seed gives one interval",
    )


def _check_width(width: float, a: Floats, b: Floats) -> None:
    n = len(a)
    paired = 2 * 1.96 * float((a - b).std()) / n**0.5
    apart = 2 * 1.96 * float(np.hypot(a.std(), b.std())) / n**0.5
    expect(
        width > 0.02 * paired, "every draw is the same: draw items *with* replacement, as many as there are"
    )

    def near(wanted: float) -> bool:
        return abs(width / wanted - 1) < 0.13

    expect(
        not near(apart),
        f"your interval is {width:.3f} wide: the items of a and b were drawn apart. Both readers answered "
        "the same items; draw the items once, and take both answers to each",
    )
    expect(not near(paired * n**0.5), "that is how far single items lie apart, not means of all of them")
    expect(
        not near(paired / 1.96),
        "that is one standard error to each side, about 68 %: the middle 95 % are asked for",
    )
    expect(not near(paired * 1.645 / 1.96), "that is the middle 90 %: cut off 2.5 % on each side, not 5 %")
    expect(
        near(paired),
        f"your interval is {width:.3f} wide, expected about {paired:.3f}: draw n items with replacement "
        "2,000 times, and take what cuts off 2.5 % of the differences on each side",
    )
