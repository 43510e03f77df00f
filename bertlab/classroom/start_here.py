"""Checks for the exercises of notebook 00, where one learns how checks speak."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from types import EllipsisType
from typing import Any

import numpy as np

from bertlab.classroom.checks import close, exercise, expect

Array = np.ndarray
Alike = Callable[[str], Mapping[str, float]]


@exercise("Exercise 1 (how alike, with a pencil)")
def check_by_hand(answer: float) -> None:
    """Check the cosine of (3, 4) and (4, 3)."""
    expect(np.ndim(answer) == 0, f"asked for is one number, you gave {answer!r}")
    value = float(answer)
    expect(not close(value, 24), "24 is the sum of products: divide it by the product of both lengths")
    expect(not close(value, 4.8), "you divided by one length: both arrows have the length 5, divide by 5 · 5")
    expect(
        not close(value, np.sqrt(2), 1e-2),
        "this is the distance between the points: the cosine compares directions",
    )
    expect(
        not close(value, 0.28),
        "0.28 is (4·4 - 3·3) / 25: multiply first number by first, second by second, and add",
    )
    expect(-1 <= value <= 1, f"{value:g} is no cosine: it lies between -1 and 1")
    expect(
        close(value, 0.96, 5e-3), f"{value:g} is not it: 3·4 + 4·3, divided by the product of both lengths"
    )


@exercise("Exercise 2 (how alike, for any two vectors)")
def check_cosine(cosine: Callable[[Array, Array], float]) -> None:
    """Check a function of two vectors (D,) that gives their cosine, and 0 if one of them is all zeros."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=5), 3 * rng.normal(size=5)
    answer = np.asarray(cosine(a.copy(), b.copy()), dtype=float)
    lengths = np.linalg.norm(a), np.linalg.norm(b)
    expect(
        answer.shape == (),
        f"two vectors gave {answer.shape}: asked for is one number, sum over the positions",
    )
    expect(
        not close(answer, a @ b),
        "this is the sum of products: a long vector would look like everything; divide by both lengths",
    )
    expect(
        not any(close(answer, a @ b / length) for length in lengths),
        "you divided by one of the lengths: divide by both",
    )
    expect(
        not close(answer, a @ b / (lengths[0] * lengths[1]) ** 2),
        "you divided by the squares of the lengths: a length is the root of the sum of squares",
    )
    expect(
        not close(answer, np.linalg.norm(a - b)),
        "this is a distance: it is small for alike vectors, a cosine is large",
    )
    expect(
        not close(answer, 1 - a @ b / lengths[0] / lengths[1]),
        "this is one minus the cosine, a distance: leave out the 1 -",
    )
    expect(
        close(answer, a @ b / lengths[0] / lengths[1]), "the numbers are not right: (a @ b) / (|a| times |b|)"
    )
    with np.errstate(all="ignore"):
        empty = float(cosine(np.zeros(3), np.ones(3)))
    expect(
        bool(np.isfinite(empty)),
        "a vector of zeros gives NaN, and NaN spreads: it has no direction, give 0 then",
    )
    expect(close(empty, 0), f"a vector of zeros has no direction: give 0, you gave {empty:g}")


def check_misleading(sentence: str | EllipsisType, alike: Alike, shown: Collection[str]) -> None:
    """Check a sentence about a river's bank that is read as one about money.

    Parameters
    ----------
    sentence : the answer.
    alike : of the notebook; how alike a sentence's *bank* is to the known ones, {"money": …, "river": …}.
    shown : sentences of the notebook, which do not count.
    """
    _check_misleading(sentence if sentence is ... else (sentence, alike, shown))


@exercise("Exercise 3 (a sentence that misleads)")
def _check_misleading(answer: Any) -> None:  # the three of check_misleading, or the stub
    sentence, alike, shown = answer
    expect(isinstance(sentence, str), f"give a sentence as a string, not {type(sentence).__name__}")
    words = re.findall(r"[a-z]+", sentence.lower())
    expect(
        "bank" in words,
        "the word bank is not in your sentence: write one with it"
        + (" (bank, not banks)" if "banks" in words else ""),
    )
    expect(words.count("bank") == 1, "bank is there more than once: which one is meant? Use it once")
    expect(
        len(words) >= 4, f"{len(words)} words are too few to tell a river from a desk: write a whole sentence"
    )
    expect(
        words not in [re.findall(r"[a-z]+", one.lower()) for one in shown],
        "this sentence is the notebook's: write one of your own",
    )
    likeness = alike(sentence)
    told = ", ".join(f"{sense} {value:.2f}" for sense, value in likeness.items())
    expect(
        likeness["money"] > likeness["river"],
        f"BERT read it rightly ({told}): try words that stand near money, in a sentence about a shore",
    )
