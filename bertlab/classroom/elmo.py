"""Checks for the exercises of notebook 13, ELMo: count an LSTM, turn rows round, glue two directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bertlab.classroom.checks import close, exercise, expect

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
TurnRound = Callable[[Ids, Ids], ArrayLike]
MissingWord = Callable[[Floats, Floats, Floats, int], ArrayLike]

D, M = 512, 4096  # width of what is read and handed on, and of the memory
GATES, PROJECTION = 4 * (M * D + M * D + M), D * M


@exercise("Exercise 1 (count an LSTM)")
def check_count(answer: float) -> None:
    """Check the number of parameters of an LSTM of 512 with a memory of 4,096 and a projection."""
    given = float(np.asarray(answer, dtype=float))
    mistakes = {
        GATES: "the projection is missing: from the memory of 4,096 to the state of 512",
        GATES + PROJECTION - 4 * M: "the biases are missing: each of the four gates has 4,096 of them",
        GATES + PROJECTION + 4 * M: "that is PyTorch's way, with two biases for each gate: here is one",
        GATES + PROJECTION + D: "the projection has no bias here",
        4 * (M * D + M * M + M)
        + PROJECTION: "the gates read the last *state*, 512 wide since the projection, "
        "not the memory of 4,096: that is what the projection is for",
        GATES // 4 + PROJECTION: "one gate has so many: an LSTM has four (input, forget, candidate, output)",
        3 * GATES // 4 + PROJECTION: "you counted three gates: input, forget and output; the candidate has "
        "weights, too",
        4 * (M * D + M) + PROJECTION: "the gates read the last state, too: a second matrix for each",
        4 * (M * 2 * D + M) * 2 + 2 * PROJECTION: "that is both directions: asked is one",
        (GATES + PROJECTION) * 4: "that is all four of ELMo's: asked is one layer in one direction",
    }
    for wrong, sentence in mistakes.items():
        expect(not close(given, wrong, 0.5), sentence)
    right = GATES + PROJECTION
    expect(
        not close(given, right / 1e6, 0.1),
        f"write the whole number, not millions: {given:g} is in millions",
    )
    expect(
        close(given, right, 0.5),
        f"{given:,.0f} is not it: four gates, each with 4,096 × 512 for the input, 4,096 × 512 for the state "
        "and 4,096 biases; then 512 × 4,096 for the projection",
    )


@exercise("Exercise 2 (turn each row round)")
def check_turn_round(turn_round: TurnRound) -> None:
    """Check a function of ids (B, T) and lengths (B,) that reverses the real part of each row."""
    ids = np.array([[5, 6, 7, 8, 9], [5, 6, 7, 0, 0], [3, 0, 0, 0, 0], [4, 0, 6, 8, 0]])
    lengths = np.array([5, 3, 1, 4])  # 0 is an id like any other in the last row
    wanted = np.array([[9, 8, 7, 6, 5], [7, 6, 5, 0, 0], [3, 0, 0, 0, 0], [8, 6, 0, 4, 0]])
    turned = _array(turn_round, ids, lengths)
    expect(
        not np.array_equal(turned, ids[:, ::-1]),
        "you reversed the whole rows: the padding comes first now, and the backward model reads it before "
        "the text; reverse the first `length` places of each row alone",
    )
    expect(
        not np.array_equal(turned, ids[::-1]),
        "you turned the order of the *rows* round: reverse inside each row",
    )
    expect(not np.array_equal(turned, ids), "nothing is reversed: the rows came back as they were")
    expect(
        np.array_equal(turned[:3], wanted[:3]),
        f"of {ids[1].tolist()} with length 3 you made {turned[1].tolist()}, expected {wanted[1].tolist()}",
    )
    expect(
        np.array_equal(turned, wanted),
        f"of {ids[3].tolist()} with length 4 you made {turned[3].tolist()}: which places are real is said by "
        "`lengths`, not by what is 0",
    )
    again = _array(turn_round, wanted, lengths)
    expect(np.array_equal(again, ids), "turned round twice, a row should be as it was")
    rng = np.random.default_rng(0)
    other = rng.integers(1, 99, size=(7, 11))
    sizes = rng.integers(0, 12, size=7)
    expected = np.stack([np.r_[row[:n][::-1], row[n:]] for row, n in zip(other, sizes, strict=True)])
    expect(
        np.array_equal(_array(turn_round, other, sizes), expected),
        "right for our small rows, wrong for 7 rows of 11 with lengths from 0 to 11: is a number of the "
        "small ones written into your function?",
    )


def _array(turn_round: TurnRound, ids: Ids, lengths: Ids) -> Ids:
    """Call the student's function, and see whether it leaves its arguments alone."""
    handed = ids.copy()
    turned = np.asarray(turn_round(handed, lengths.copy()))
    expect(np.array_equal(handed, ids), "you changed `ids` in place: begin with a copy, ids.copy()")
    expect(
        turned.shape == ids.shape,
        f"you returned an array of shape {turned.shape}, expected {ids.shape}, as `ids`: the padding stays",
    )
    return turned


@exercise("Exercise 3 (the missing word)")
def check_missing_word(missing_word: MissingWord) -> None:
    """Check a function of both models' logarithms (T, V), the words' (V,) and a place that glues them."""
    of_next, of_previous, log_frequency = _opinions()
    for place in (2, 1, 3):
        _check_middle(missing_word, of_next, of_previous, log_frequency, place)
    for place, side, own in ((0, "left", of_previous[1]), (4, "right", of_next[3])):
        said = _said(missing_word, of_next, of_previous, log_frequency, place)
        expect(
            not close(said, _normed(own - log_frequency)),
            f"at place {place} there is no {side} side, and so no second opinion to take the frequency out "
            "of: give back the one that is there as it is",
        )
        expect(
            close(said, own), f"at place {place} there is no {side} side: give back what the other one says"
        )


def _opinions() -> tuple[Floats, Floats, Floats]:
    """Five places, four words: two models that disagree, and words of very different frequency."""
    rng = np.random.default_rng(3)
    of_next, of_previous = (_normed(2 * rng.normal(size=(5, 4))) for _ in range(2))
    return of_next, of_previous, np.log([0.6, 0.25, 0.1, 0.05])


def _normed(scores: Floats) -> Floats:
    normed: Floats = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
    return normed


def _said(missing_word: MissingWord, *arguments: Any) -> Floats:
    said = np.asarray(missing_word(*arguments), dtype=float)
    expect(
        said.shape == (4,),
        f"you returned shape {said.shape}: return the logarithms for all {4} words at `place`, (V,)",
    )
    expect(
        bool(np.isfinite(said).all()), "a logarithm is infinite or no number: add them, do not multiply them"
    )
    return said


def _check_middle(
    missing_word: MissingWord, of_next: Floats, of_previous: Floats, log_frequency: Floats, place: int
) -> None:
    """See what is said of a place with both sides, and name the likely mistakes."""
    said = _said(missing_word, of_next, of_previous, log_frequency, place)
    left, right = of_next[place - 1], of_previous[place + 1]
    both = left + right - log_frequency
    at, crossed = of_next[place] + of_previous[place], of_next[place + 1] + of_previous[place - 1]
    where = "at `place` both models have read the word: their opinions stand at `place - 1` and `place + 1`"
    twice = "the words' frequency is in both opinions, so it is counted twice: subtract `log_frequency` once"
    one = "take off log(sum(exp(…))), so that they are of probabilities that sum to 1"
    exchanged = "`of_next` says what comes behind `place - 1`, `of_previous` what comes before `place + 1`"
    mistakes = [
        (both, f"the logarithms are right but for one number: {one}"),
        (np.exp(_normed(both)), "these are probabilities: asked are their logarithms"),
        (_normed(left + right), twice),
        (left + right, f"{twice}; and then {one}"),
        (_normed(at - log_frequency), where),
        (_normed(at), f"{where}; and subtract `log_frequency`"),
        (_normed(crossed - log_frequency), f"the sides are exchanged: {exchanged}"),
        (_normed(left + right + log_frequency), "the frequency is added; it must be taken out: subtract it"),
        (_normed((left + right) / 2), "that is the mean of both opinions: by Bayes' rule they are added"),
        (np.log((np.exp(left) + np.exp(right)) / 2), "you averaged the probabilities: they are multiplied"),
        (left, "that is the left side alone"),
        (right, "that is the right side alone"),
    ]
    for wrong, sentence in mistakes:
        expect(not close(said, wrong), sentence)
    total = np.exp(said).sum()
    expect(close(total, 1.0, 1e-4), f"the probabilities sum to {total:.3f}: take off log(sum(exp(…)))")
    expect(
        close(said, _normed(both)),
        f"at place {place} it is of_next[{place - 1}] + of_previous[{place + 1}] - log_frequency, made to "
        "sum to 1",
    )
