"""Checks for the exercises of notebook 10: count what is new, find the best span, score entities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertlab.classroom.checks import close, exercise, expect

Floats = NDArray[np.float64]
BestSpan = Callable[[Floats, Floats, int, int], Any]
Sentences = Sequence[Sequence[str]]
EntityF1 = Callable[[Sentences, Sentences], Any]

D = 768  # of BERT-base


@exercise("Exercise 1 (what is new)")
def check_new_numbers(answer: Sequence[float]) -> None:
    """Check how many numbers are new for two classes, three classes of pairs, spans, and nine labels."""
    expect(not isinstance(answer, Mapping), "write a list of four numbers, without names")
    given = np.asarray(answer, dtype=float)
    expect(given.shape == (4,), f"your answer has shape {given.shape}: write a list of four numbers")
    right = np.array([2, 3, 2, 9]) * (D + 1)
    pooler = D * (D + 1)
    known = "the pooler is not new: BERT-base comes with one, which next sentences have trained"
    mistakes: list[tuple[Any, str]] = [
        (right - [2, 3, 2, 9], "the matrices are right; a layer has a bias for each of its outputs, too"),
        ([2, 3, 2, 9], "that is how many outputs there are: each reads all 768 numbers of a state"),
        (right + pooler, known),
        (right + np.array([pooler, pooler, 0, 0]), known),
        (right - [D + 1, 0, 0, 0], "one output could tell two classes apart; BERT's layer has one for each"),
    ]
    for wrong, sentence in mistakes:
        expect(not close(given, wrong), sentence)
    expect(
        not close(given[1], 3 * (2 * D + 1)) and not close(given[1], 6 * D),
        "a pair is one input with one [CLS]: its layer reads 768 numbers, not 768 for each text",
    )
    expect(
        not close(given[2], 512 * (D + 1)) and not close(given[2], 2 * 512 * (D + 1)),
        "the same two vectors are used at all 512 positions: they are counted once",
    )
    for labels, why in (
        (4, "the four types alone leave out O, and B and I"),
        (5, "the four types and O: each type has a label B and a label I"),
        (8, "B and I of four types are eight; O is the ninth"),
    ):
        expect(not close(given[3], labels * (D + 1)), f"{labels} labels? {why}")
    names = ("two classes", "three classes of pairs", "start and end", "nine labels")
    for one, wanted, name in zip(given, right, names, strict=True):
        expect(close(one, wanted), f"{one:g} for {name}? Outputs times 768, and a bias for each output")


@exercise("Exercise 2 (the best span)")
def check_best_span(best_span: BestSpan) -> None:
    """Check a function of start and end scores (T,), the first position of the passage, and the most pieces.

    It returns the first and the last position of the span that scores most, both part of it.
    """
    rng = np.random.default_rng(0)
    found = _span(best_span, [0, 1, 0, 3, 0, 5, 0], [0, 0, 0, 0, 6, 0, 3], 2, 5)
    expect(
        found != (5, 4), "your answer ends before it begins: of all pairs, only those with start ≤ end count"
    )
    expect(found != (3, 5), "the last position is part of the answer: return it, not the one behind it")
    expect(found != (1, 2), "count positions from the begin of the input, not from that of the passage")
    expect(found == (3, 4), f"you answer {found}; start 3 and end 4 score most: 3 + 6")
    _check_scores(best_span)
    _check_limits(best_span)
    for _ in range(60):
        T = int(rng.integers(3, 12))
        first, most = int(rng.integers(0, T)), int(rng.integers(1, T + 1))
        start, end = rng.normal(size=(2, T))
        wanted = _by_trying(start, end, first, most)
        found = _span(best_span, start, end, first, most)
        expect(
            found == wanted,
            f"of scores {start.round(1).tolist()} and {end.round(1).tolist()} from {first} on, at most "
            f"{most} pieces, the best is {wanted}, you say {found}",
        )


def _check_scores(best_span: BestSpan) -> None:
    """Find out products, and a question that is let in."""
    found = _span(best_span, [0, 9, 0, 1, 0], [0, 9, 0, 0, 2], 2, 5)
    expect(found != (1, 1), "position 1 is in the question: an answer stands in the passage, from `first` on")
    expect(found == (3, 4), f"you answer {found}; in the passage start 3 and end 4 score most: 1 + 2")
    found = _span(best_span, [-1, -5, -1], [-1, -5, -2], 0, 3)
    expect(
        found != (1, 1), "two negative scores multiplied are a high one: the score of a span is their *sum*"
    )
    expect(found == (0, 0), f"you answer {found}; start 0 and end 0 score most: -1 - 1")


def _check_limits(best_span: BestSpan) -> None:
    """See whether the most pieces are a limit, and the right one."""
    start, end = [5, 0, 0, 0, 1, 0], [0, 0, 0, 3, 0, 4]
    found = _span(best_span, start, end, 0, 4)
    expect(found != (0, 5), "six pieces, though four are the most: `most` is a limit of last − first + 1")
    expect(found == (0, 3), f"you answer {found}; four pieces from 0 to 3 are allowed, and score 5 + 3")
    found = _span(best_span, start, end, 0, 3)
    expect(found != (0, 3), "four pieces, though three are the most: count both ends")
    short = _span(best_span, [1, 2, 0], [0, 0, 9], 0, 1)
    expect(short == (2, 2), f"with at most one piece you answer {short}: start and end must be one, here 2")


def _span(best_span: BestSpan, start: Any, end: Any, first: int, most: int) -> tuple[int, int]:
    """Call the student's function, and see whether it gives two positions and leaves its scores alone."""
    handed = [np.array(scores, dtype=float) for scores in (start, end)]
    answer = best_span(handed[0], handed[1], first, most)
    two = isinstance(answer, tuple | list | np.ndarray) and len(answer) == 2
    expect(two, "return two positions: where the answer begins, and where it ends")
    for mine, given in zip(handed, (start, end), strict=True):
        expect(
            np.array_equal(mine, np.array(given, float)), "you changed the scores in place: work on a copy"
        )
    whole = all(float(one) == int(one) for one in answer)
    expect(whole, f"you answer {answer}: positions are whole numbers")
    return int(answer[0]), int(answer[1])


def _by_trying(start: Floats, end: Floats, first: int, most: int) -> tuple[int, int]:
    pairs = [(i, j) for i in range(first, len(start)) for j in range(i, min(i + most, len(start)))]
    return max(pairs, key=lambda pair: start[pair[0]] + end[pair[1]])


@exercise("Exercise 3 (entities)")
def check_entity_f1(entity_f1: EntityF1) -> None:
    """Check a function of the labels of sentences, gold and predicted, in BIO: F1 over whole entities.

    An I that goes on with nothing begins an entity, as conlleval reads it.
    """
    for gold, said, wanted, mistakes in CASES:
        found = entity_f1(gold, said)
        number = isinstance(found, int | float | np.floating) and not isinstance(found, bool)
        expect(number, f"your function gives {found!r}: give one number from 0 to 1")
        for wrong, sentence in mistakes:
            expect(not close(found, wrong, 1e-4), sentence)
        expect(
            close(found, wanted, 1e-4),
            f"gold {gold} and predicted {said}: F1 is {wanted:.3f}, yours is {float(found):.3f}",
        )


_NONE: list[tuple[float, str]] = []
CASES: list[tuple[Sentences, Sentences, float, list[tuple[float, str]]]] = [
    (
        [["B-PER", "I-PER", "O", "O", "O", "B-LOC"]],
        [["B-PER", "O", "O", "O", "O", "B-LOC"]],
        0.5,
        [
            (5 / 6, "that is the share of right words, which is high where nothing is found: most are O"),
            (0.8, "that is F1 over words: half of a name is not a name; compare whole entities"),
            (1.0, "the person was found in part: both ends of an entity must be right"),
        ],
    ),
    (
        [["B-PER", "O"]],
        [["B-LOC", "O"]],
        0.0,
        [(1.0, "the right words with another type count as wrong: compare the type, too")],
    ),
    (
        [["B-PER", "B-PER"]],
        [["B-PER", "I-PER"]],
        0.0,
        [(1.0, "two persons side by side are two entities: a B begins a new one even within a name")],
    ),
    (
        [["B-PER", "B-PER"]],
        [["B-PER", "B-PER"]],
        1.0,
        _NONE,
    ),
    (
        [["B-PER", "I-LOC"]],
        [["B-PER", "B-LOC"]],
        1.0,
        [
            (0.0, "I-LOC does not go on with a PER: an I of another type begins an entity"),
            (2 / 3, "an I that goes on with nothing begins an entity, as conlleval reads it"),
        ],
    ),
    (
        [["O", "I-PER"]],
        [["O", "B-PER"]],
        1.0,
        [(0.0, "an I that goes on with nothing begins an entity, as conlleval reads it")],
    ),
    (
        [["B-PER"], ["B-PER"], ["B-PER"], ["O", "B-LOC", "B-LOC"]],
        [["B-PER"], ["O"], ["O"], ["B-PER", "O", "B-LOC"]],
        0.5,
        [
            (0.4, "that is recall, the share of gold entities that were found: F1 weighs precision, too"),
            (2 / 3, "that is precision, the share of predicted ones that are right: F1 weighs recall, too"),
            (0.8, "an entity of another sentence is another entity: do not throw all into one set"),
            (0.375, "that is the mean of the sentences' F1: count over all sentences, then divide once"),
        ],
    ),
    ([["O", "O"]], [["O", "B-PER"]], 0.0, _NONE),
    ([["O"]], [["O"]], 0.0, [(1.0, "no entity at all: conlleval says 0 there")]),
    (
        [["B-PER", "I-PER", "I-PER", "O"]],
        [["B-PER", "I-PER", "I-PER", "I-PER"]],
        0.0,
        [(1.0, "the names begin alike, but one goes on: compare where they end, too")],
    ),
]  # fmt: skip
