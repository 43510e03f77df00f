"""Checks for the exercises of notebook 11: six choices of layers, a weighted sum, a control task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bertlab.classroom.checks import close, exercise, expect

Floats = NDArray[np.float64]
Mix = Callable[[Floats, Floats, float], ArrayLike]
Control = Callable[[list[str], list[str], np.random.Generator], Any]

CHOICES = (
    "embeddings",
    "second to last",
    "last",
    "sum of the last four",
    "last four side by side",
    "sum of all",
)
RIGHT = ((0, 0, 768), (11, 11, 768), (12, 12, 768), (9, 12, 768), (9, 12, 3072), (1, 12, 768))


@exercise("Exercise 1 (six choices)")
def check_six_choices(answer: Sequence[Sequence[float]]) -> None:
    """Check, for BERT-base, first layer, last layer and width of the features of each of the six choices."""
    expect(
        not isinstance(answer, Mapping),
        "write a list of six rows (first layer, last layer, width), without names",
    )
    given = np.asarray(answer, dtype=float)
    expect(given.shape == (6, 3), f"your answer has shape {given.shape}: write six rows of three numbers")
    right = np.array(RIGHT, float)
    expect(
        not close(given[1:, :2], right[1:, :2] - 1) or not close(given[0, :2], [0, 0]),
        "BERT-base has 13 sets of states: 0 is what enters the first layer, 12 is the last layer, not 11",
    )
    expect(
        not close(given[5, :2], [0, 12]),
        "the paper's sum is over *all 12 layers*: without the embeddings, from 1 on",
    )
    expect(not close(given[1, :2], [10, 10]), "the last layer is 12, so the one before it is 11")
    for row in (3, 4):
        expect(not close(given[row, :2], [8, 12]), "8 to 12 are five layers: the last four begin with 9")
        expect(not close(given[row, :2], [8, 11]), "8 to 11 are not the last four: the last layer is 12")
    expect(
        not close(given[4, 2], 768),
        "side by side, four vectors of 768 make one of 4 · 768; only a sum stays as wide as it was",
    )
    expect(
        not close(given[3, 2], 3072),
        "a sum of vectors is as wide as each of them; side by side they are 3072",
    )
    expect(not close(given[5, 2], 12 * 768), "a sum of vectors is as wide as each of them, however many")
    for row, wanted, name in zip(given, right, CHOICES, strict=True):
        expect(
            close(row, wanted),
            f"{name}: first layer, last layer, width are not {', '.join(f'{one:g}' for one in row)}",
        )


@exercise("Exercise 2 (a weighted sum)")
def check_mix(mix: Mix) -> None:
    """Check a function of layers (n, T, D), raw weights (n,) and a factor, to one vector a word (T, D)."""
    rng = np.random.default_rng(0)
    layers, raw, factor = rng.normal(size=(3, 4, 5)), np.array([0.0, 1.0, 2.0]), 1.5
    found = _mixed(mix, layers, raw, factor)
    expect(
        found.shape == (4, 5),
        f"your result has shape {found.shape}, expected (4, 5): one vector for each word",
    )
    shares = np.exp(raw) / np.exp(raw).sum()
    wrong = {
        "the weights must sum to 1: send them through a softmax first": np.tensordot(factor * raw, layers, 1),
        "the factor is missing: multiply the sum by it": np.tensordot(shares, layers, 1),
        "that is the mean of the layers: their weights are not used": factor * layers.mean(0),
        "the weights are exp(w), but do not sum to 1: divide by their sum": np.tensordot(
            factor * np.exp(raw), layers, 1
        ),
        "the raw weights are divided by their sum; a softmax takes exp first": np.tensordot(
            factor * raw / raw.sum(), layers, 1
        ),
        "the factor stands in the softmax; it multiplies the sum": np.tensordot(
            np.exp(factor * raw) / np.exp(factor * raw).sum(), layers, 1
        ),
    }
    for sentence, values in wrong.items():
        expect(not close(found, values), sentence)
    expect(
        close(found, factor * np.tensordot(shares, layers, 1)),
        "the numbers are not factor · Σ softmax(w)ₗ · layerₗ",
    )
    square = rng.normal(size=(3, 3, 3))
    wanted = factor * np.tensordot(shares, square, 1)
    expect(
        close(_mixed(mix, square, raw, factor), wanted),
        "with 3 layers, 3 words and 3 numbers another axis is summed: the layers are the first one",
    )
    large = _mixed(mix, layers, np.array([1000.0, 0.0, 0.0]), 1.0)
    expect(
        bool(np.isfinite(large).all()), "a weight of 1000 gives nan: take the largest weight off before exp"
    )
    expect(close(large, layers[0]), "a weight of 1000 beside two of 0 should give that layer alone")


def _mixed(mix: Mix, layers: Floats, raw: Floats, factor: float) -> Floats:
    handed = layers.copy(), raw.copy()
    with np.errstate(all="ignore"):
        found = np.asarray(mix(handed[0], handed[1], factor), dtype=float)
    unharmed = np.array_equal(handed[0], layers) and np.array_equal(handed[1], raw)
    expect(unharmed, "you changed `layers` or `weights` in place: work on a copy")
    return found


@exercise("Exercise 3 (a control task)")
def check_control(control: Control) -> None:
    """Check a function of words, their labels and an rng: a label for each word that says nothing of it.

    Each kind of word has one label, drawn as often as the real ones; judged on 3000 kinds of words.
    """
    words, labels = _text()
    found = _controlled(control, words, labels, 1)
    by_kind: dict[str, set[str]] = {}
    for word, label in zip(words, found, strict=True):
        by_kind.setdefault(word, set()).add(label)
    several = sum(len(some) > 1 for some in by_kind.values())
    expect(
        several == 0,
        f"{several:,} kinds of words have two labels or more: draw once for each *kind*, for all its places",
    )
    strange = set(found) - set(labels)
    expect(not strange, f"label {sorted(strange)[:1]} is none of the real ones: draw from `labels`")
    expect(found != labels, "these are the real labels: a control task must have nothing to do with them")
    real = _of_kinds(words, labels)
    mine = {word: next(iter(some)) for word, some in by_kind.items()}
    alike = float(np.mean([mine[word] == label for word, label in real.items()]))
    expect(
        alike < 0.95,
        f"{alike:.0%} of the kinds have the label that they have in truth: draw it, whatever the real one is",
    )
    share, wanted = Counter(mine.values())["rare"] / len(mine), labels.count("rare") / len(labels)
    expect(
        abs(share - 1 / 2) > 0.1,
        f"both labels are drawn equally often, but {wanted:.0%} of the words are 'rare': draw from `labels`",
    )
    expect(
        abs(share - wanted) < 0.035,
        f"'rare' is drawn for {share:.0%} of the kinds, but is the label of {wanted:.0%} of the words: "
        "draw from `labels` with all its repetitions",
    )
    expect(
        found == _controlled(control, words, labels, 1),
        "the same seed gives two different tasks: draw everything from `rng`",
    )
    expect(
        found != _controlled(control, words, labels, 2),
        "two seeds give the same task: draw from the `rng` that is handed in",
    )


def _text() -> tuple[list[str], list[str]]:
    """Make 9000 words of 3000 kinds; one kind in four is rare, as is one word in ten."""
    kinds = [f"word{i}" for i in range(3000)]
    words = kinds + [kind for i, kind in enumerate(kinds) if i % 4 for _ in range(2)] + kinds[1:1501]
    labels = ["rare" if int(word[4:]) % 4 == 0 else "usual" for word in words]
    order = np.random.default_rng(0).permutation(len(words))
    return [words[i] for i in order], [labels[i] for i in order]


def _of_kinds(words: list[str], labels: list[str]) -> dict[str, str]:
    return dict(zip(words, labels, strict=True))


def _controlled(control: Control, words: list[str], labels: list[str], seed: int) -> list[str]:
    handed = list(words), list(labels)
    found = control(*handed, np.random.default_rng(seed))
    expect(handed == (words, labels), "you changed `words` or `labels` in place: work on a copy")
    one_each = (
        isinstance(found, Sequence | np.ndarray) and not isinstance(found, str) and len(found) == len(words)
    )
    expect(one_each, f"return a label for each of the {len(words):,} words, in their order")
    return [str(label) for label in found]
