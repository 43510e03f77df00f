"""Checks for the exercises of notebook 12, before BERT: pairs, a step of skip-gram, analogies, two senses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bertlab.classroom.checks import close, exercise, expect

Floats = NDArray[np.float64]
SENTENCE = ("we", "ran", "home", "fast")
WIDTHS = (1, 2, 1, 3)
Step = Callable[[Floats, Floats, Floats, float], tuple[Floats, Floats, Floats]]
Answer = Callable[[Sequence[str], Floats, str, str, str], str]
Mixed = Callable[[float, float, float], float]


def _pairs(inside: Callable[[int, int], bool]) -> set[tuple[str, str]]:
    places = range(len(SENTENCE))
    return {(SENTENCE[i], SENTENCE[j]) for i in places for j in places if inside(i, j)}


@exercise("Exercise 1 (pairs)")
def check_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """Check the pairs (word, word in its window) of "we ran home fast", windows 1, 2, 1 and 3 wide."""
    found = [tuple(pair) for pair in pairs]
    expect(all(len(pair) == 2 for pair in found), "a pair has two words: the word, and one in its window")
    strange = {word for pair in found for word in pair} - set(SENTENCE)
    expect(not strange, f"{sorted(strange)} are no words of the sentence")
    expect(all(a != b for a, b in found), "no word is in its own window")
    expect(
        len(set(found)) == len(found), "a pair stands twice: each word asks once for each word in its window"
    )
    right = _pairs(lambda i, j: i != j and abs(i - j) <= WIDTHS[i])
    mistakes = [
        (
            _pairs(lambda i, j: i != j and abs(i - j) <= WIDTHS[j]),
            "these are the right pairs the wrong way round: the window is that of the first word of a pair",
        ),
        (
            _pairs(lambda i, j: 0 < j - i <= WIDTHS[i]),
            "a window reaches to both sides: words to the left are missing",
        ),
        (
            _pairs(lambda i, j: i != j and abs(i - j) <= max(WIDTHS)),
            "you gave every word the widest window: each has its own",
        ),
        (
            _pairs(lambda i, j: i != j and abs(i - j) <= min(WIDTHS[i], WIDTHS[j])),
            "that one word has another in its window does not mean that the other has it, too",
        ),
    ]
    for wrong, sentence in mistakes:
        expect(set(found) != wrong, sentence)
    missing, extra = sorted(right - set(found)), sorted(set(found) - right)
    expect(not missing, f"{len(missing)} pairs are missing, {missing[0]} among them" if missing else "")
    expect(not extra, f"{extra[0]} is no pair: count the places between the two" if extra else "")


def _sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def _step(h: Floats, v: Floats, noise: Floats, rate: float) -> tuple[Floats, Floats, Floats]:
    error = _sigmoid(h @ v) - 1
    errors = _sigmoid(noise @ h)
    return h - rate * (error * v + errors @ noise), v - rate * error * h, noise - rate * np.outer(errors, h)


@exercise("Exercise 2 (a step)")
def check_step(step: Step) -> None:
    """Check a function that moves a word, a true neighbour and N words of noise by one step of descent."""
    rng = np.random.default_rng(0)
    h, v, noise, rate = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(4, 3)), 0.5
    given = [part.copy() for part in (h, v, noise)]
    result = step(h, v, noise, rate)
    expect(len(result) == 3, "return three things: the new h, the new v, the new noise")
    unchanged = all(np.array_equal(a, b) for a, b in zip(given, (h, v, noise), strict=True))
    expect(unchanged, "your function changed its arguments (h -= …): make new arrays (h = h - …)")
    new_h, new_v, new_noise = result
    expect(np.shape(new_noise) == noise.shape, f"the noise has shape {np.shape(new_noise)}, expected (4, 3)")
    right_h, right_v, right_noise = _step(h, v, noise, rate)
    error, errors = _sigmoid(h @ v) - 1, _sigmoid(noise @ h)
    mistakes = [
        (close(new_h, 2 * h - right_h), "that climbs: subtract the slope, so that the loss falls"),
        (close(new_h, h - rate * error * v), "h moves away from the noise, too: add the errors of the noise"),
        (
            close(new_h, h - rate * (error * v + errors @ noise / len(noise))),
            "the loss adds up the words of noise: a sum, not a mean",
        ),
        (
            close(new_h, h - rate * ((h @ v - 1) * v + (noise @ h) @ noise)),
            "the error is σ(score) minus what is true, not the score itself",
        ),
        (close(new_v, v - rate * error * right_h), "v moves by the old h: compute all slopes, then move"),
        (close(new_v, v), "v has not moved: the true neighbour comes nearer to h"),
        (close(new_noise, noise), "the noise has not moved: it goes away from h"),
        (close(new_noise, 2 * noise - right_noise), "the noise comes nearer to h: 0 is asked for, not 1"),
        (
            close(new_noise, noise - rate * np.outer(_sigmoid(noise @ right_h), right_h)),
            "the noise moves by the old h: compute all slopes, then move",
        ),
    ]
    for wrong, sentence in mistakes:
        expect(not wrong, sentence)
    expect(close(new_h, right_h), "the new h is not right: its slope is (σ(h·v) - 1) v + Σ σ(h·n) n")
    expect(close(new_v, right_v), "the new v is not right: its slope is (σ(h·v) - 1) h")
    expect(close(new_noise, right_noise), "the new noise is not right: each n has the slope σ(h·n) h")


WORDS = ("man", "woman", "king", "queen", "throne", "shout")
MATRIX = np.array(
    [
        [2.4, 0.1, -0.1],
        [2.0, 1.8, -0.2],
        [-0.2, 0.2, 1.6],
        [-0.9, 0.4, 0.0],
        [1.0, -0.9, 1.1],
        [10.4, 1.3, 5.5],
    ]
)  # drawn until each mistake gives an answer of its own


@exercise("Exercise 3 (analogy)")
def check_analogy(answer: Answer) -> None:
    """Check a function that answers "a is to b as c is to …" from words and their vectors."""
    given = MATRIX.copy()
    said = answer(WORDS, given, "man", "woman", "king")
    expect(np.array_equal(given, MATRIX), "your function changed the matrix that it was given")
    expect(isinstance(said, str), f"return a word, not {type(said).__name__}")
    expect(said in WORDS, f"{said!r} is none of the words")
    mistakes = [
        ("king", "the answer is one of the words of the question: leave out a, b and c"),
        ("woman", "the answer is one of the words of the question: leave out a, b and c"),
        ("man", "the answer is one of the words of the question: leave out a, b and c"),
        ("shout", "the longest vector wins by its length: bring all to length 1 first"),
        ("throne", "you went the wrong way: b - a + c, from man to woman, then on from king"),
    ]
    for wrong, sentence in mistakes:
        expect(said != wrong, sentence)
    lengths = np.array([[1], [100], [1], [0.01], [1]])
    said = answer(WORDS[:5], MATRIX[:5] * lengths, "man", "woman", "king")
    expect(said == "queen", "other lengths gave another answer: bring a, b and c to length 1, too")
    back = answer(WORDS[:5], MATRIX[:5], "woman", "man", "queen")
    expect(back == "king", f"man is to woman as … is to queen: you said {back!r}, not 'king'")


@exercise("Exercise 4 (two senses)")
def check_mixed(mixed: Mixed) -> None:
    """Check the best score of a word with two senses: from each sense's score, and the first one's share."""
    one, other, share = 2.0, -3.0, 0.25
    said = float(mixed(one, other, share))
    right = float(np.log(share * np.exp(one) + (1 - share) * np.exp(other)))
    mistakes = [
        (share * one + (1 - share) * other, "chances are mixed, not their logarithms: exp first, log last"),
        ((one + other) / 2, "chances are mixed, not their logarithms; and the senses have shares"),
        (share * np.exp(one) + (1 - share) * np.exp(other), "that is a ratio of chances: take its logarithm"),
        (np.log((np.exp(one) + np.exp(other)) / 2), "the senses are not equally frequent: use the share"),
        (np.log(np.exp(one) + np.exp(other)), "a share of all occurrences has the first sense: use it"),
        ((1 - share) * one + share * other, "the share is that of the first sense; and mix chances"),
        (np.log((1 - share) * np.exp(one) + share * np.exp(other)), "the share is that of the first sense"),
        (max(one, other), "the stronger sense wins nearly, but not all: it has a share only"),
    ]
    for wrong, sentence in mistakes:
        expect(not close(said, wrong), sentence)
    expect(close(said, right), f"mixed(2, -3, 0.25) is {said:.3f}, expected {right:.3f}")
    expect(close(mixed(1.0, 1.0, 0.3), 1.0), "two senses with one score have that score together")
    expect(close(mixed(5.0, -1.0, 1.0), 5.0), "with a share of 1 there is the first sense alone")
