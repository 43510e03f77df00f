"""Each check of notebook 12 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.classroom.word_vectors import (
    MATRIX,
    SENTENCE,
    WIDTHS,
    WORDS,
    check_analogy,
    check_mixed,
    check_pairs,
    check_step,
)

PLACES = range(len(SENTENCE))


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


def pairs(inside):
    return [(SENTENCE[i], SENTENCE[j]) for i in PLACES for j in PLACES if i != j and inside(i, j)]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(h, v, noise, rate):
    error, errors = sigmoid(h @ v) - 1, sigmoid(noise @ h)
    return (
        h - rate * (error * v + errors @ noise),
        v - rate * error * h,
        noise - rate * errors[:, None] * h,
    )


def analogy(words, matrix, a, b, c):
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    place = {word: i for i, word in enumerate(words)}
    scores = unit @ (unit[place[b]] - unit[place[a]] + unit[place[c]])
    scores[[place[a], place[b], place[c]]] = -np.inf
    return words[int(scores.argmax())]


def mixed(one, other, share):
    return np.log(share * np.exp(one) + (1 - share) * np.exp(other))


def test_the_right_answers_pass(capsys):
    right = pairs(lambda i, j: abs(i - j) <= WIDTHS[i])
    assert len(right) == 9
    for check, answer in (
        (check_pairs, right),
        (check_step, step),
        (check_analogy, analogy),
        (check_mixed, mixed),
    ):
        assert said(check, answer, capsys).startswith("✓")
    assert said(check_pairs, [list(pair) for pair in reversed(right)], capsys).startswith("✓")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (pairs(lambda i, j: abs(i - j) <= WIDTHS[j]), "the wrong way round"),
        (pairs(lambda i, j: 0 < j - i <= WIDTHS[i]), "words to the left are missing"),
        (pairs(lambda i, j: True), "the widest window"),
        (pairs(lambda i, j: abs(i - j) <= min(WIDTHS[i], WIDTHS[j])), "does not mean that the other has it"),
        ([("we", "we")], "in its own window"),
        ([("we", "ran"), ("we", "ran")], "stands twice"),
        ([("we", "walked")], "['walked'] are no words"),
        ([("we", "ran", "home")], "a pair has two words"),
        (pairs(lambda i, j: abs(i - j) <= WIDTHS[i])[1:], "1 pairs are missing, ('we', 'ran') among them"),
        ([*pairs(lambda i, j: abs(i - j) <= WIDTHS[i]), ("we", "fast")], "('we', 'fast') is no pair"),
        (..., "not tried yet"),
    ],
)
def test_exercise_1_names_the_mistake(answer, sentence, capsys):
    assert sentence in said(check_pairs, answer, capsys)


def in_place(h, v, noise, rate):
    new = step(h, v, noise, rate)
    h[:] = new[0]
    return new


def with_part(part):
    """A right step with one part made otherwise, by the old values and the right result."""

    def wrong(h, v, noise, rate):
        right = step(h, v, noise, rate)
        return part(h, v, noise, rate, *right)

    return wrong


def climbs(h, v, noise, rate):
    return tuple(2 * old - new for old, new in zip((h, v, noise), step(h, v, noise, rate), strict=True))


def of_u(slope):
    """A right step, but for the slope of h: a function of error, errors, v and noise."""
    return with_part(
        lambda h, v, n, r, _, b, c: (h - r * slope(sigmoid(h @ v) - 1, sigmoid(n @ h), v, n), b, c)
    )


def scores(h, v, n, r, _, b, c):
    return h - r * ((h @ v - 1) * v + (n @ h) @ n), b, c


def one_after_the_other(h, v, n, r, a, _, c):
    return a, v - r * (sigmoid(h @ v) - 1) * a, c


def noise_last(h, v, n, r, a, b, _):
    return a, b, n - r * sigmoid(n @ a)[:, None] * a


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (climbs, "climbs"),
        (of_u(lambda error, errors, v, n: error * v), "away from the noise"),
        (of_u(lambda error, errors, v, n: error * v + errors @ n / 4), "a sum, not a mean"),
        (with_part(scores), "not the score itself"),
        (with_part(one_after_the_other), "v moves by the old h"),
        (with_part(lambda h, v, n, r, a, b, c: (a, v, c)), "v has not moved"),
        (with_part(lambda h, v, n, r, a, b, c: (a, b, n)), "the noise has not moved"),
        (with_part(lambda h, v, n, r, a, b, c: (a, b, 2 * n - c)), "comes nearer to h"),
        (with_part(noise_last), "the noise moves by the old h"),
        (with_part(lambda h, v, n, r, a, b, c: (a + 1, b, c)), "the new h is not right"),
        (with_part(lambda h, v, n, r, a, b, c: (a, b + 1, c)), "the new v is not right"),
        (with_part(lambda h, v, n, r, a, b, c: (a, b, c + 1)), "the new noise is not right"),
        (with_part(lambda h, v, n, r, a, b, c: (a, b, c[0])), "expected (4, 3)"),
        (lambda h, v, n, r: step(h, v, n, r)[:2], "return three things"),
        (in_place, "changed its arguments"),
        (lambda u, v, n, r: ..., "not tried yet"),
    ],
)
def test_exercise_2_names_the_mistake(answer, sentence, capsys):
    assert sentence in said(check_step, answer, capsys)


def without_exclusion(words, matrix, a, b, c):
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    place = {word: i for i, word in enumerate(words)}
    return words[int((unit @ (unit[place[b]] - unit[place[a]] + unit[place[c]])).argmax())]


def dot_product(words, matrix, a, b, c):
    place = {word: i for i, word in enumerate(words)}
    scores = matrix @ (matrix[place[b]] - matrix[place[a]] + matrix[place[c]])
    scores[[place[a], place[b], place[c]]] = -np.inf
    return words[int(scores.argmax())]


def units_at_the_end(words, matrix, a, b, c):
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    place = {word: i for i, word in enumerate(words)}
    scores = unit @ (matrix[place[b]] - matrix[place[a]] + matrix[place[c]])
    scores[[place[a], place[b], place[c]]] = -np.inf
    return words[int(scores.argmax())]


def changing(words, matrix, a, b, c):
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return analogy(words, matrix, a, b, c)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (without_exclusion, "leave out a, b and c"),
        (lambda w, m, a, b, c: "woman", "leave out a, b and c"),
        (lambda w, m, a, b, c: "man", "leave out a, b and c"),
        (dot_product, "the longest vector wins"),
        (lambda w, m, a, b, c: analogy(w, m, b, a, c), "the wrong way"),
        (units_at_the_end, "bring a, b and c to length 1, too"),
        (changing, "changed the matrix"),
        (lambda w, m, a, b, c: 3, "return a word, not int"),
        (lambda w, m, a, b, c: "prince", "'prince' is none of the words"),
        (lambda w, m, a, b, c: "queen" if a == "man" else "throne", "you said 'throne', not 'king'"),
        (lambda w, m, a, b, c: ..., "not tried yet"),
    ],
)
def test_exercise_3_names_the_mistake(answer, sentence, capsys):
    assert sentence in said(check_analogy, answer, capsys)


def test_the_words_of_exercise_3_lie_as_its_sentences_say():
    assert analogy(WORDS, MATRIX, "man", "woman", "king") == "queen"
    assert without_exclusion(WORDS, MATRIX, "man", "woman", "king") == "king"
    assert dot_product(WORDS, MATRIX, "man", "woman", "king") == "shout"
    assert analogy(WORDS, MATRIX, "woman", "man", "king") == "throne"
    lengths = np.array([[1], [100], [1], [0.01], [1]])
    assert units_at_the_end(WORDS[:5], MATRIX[:5] * lengths, "man", "woman", "king") == "throne"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda a, b, p: p * a + (1 - p) * b, "exp first, log last"),
        (lambda a, b, p: (a + b) / 2, "and the senses have shares"),
        (lambda a, b, p: p * np.exp(a) + (1 - p) * np.exp(b), "take its logarithm"),
        (lambda a, b, p: np.log((np.exp(a) + np.exp(b)) / 2), "not equally frequent"),
        (lambda a, b, p: np.log(np.exp(a) + np.exp(b)), "has the first sense: use it"),
        (lambda a, b, p: (1 - p) * a + p * b, "that of the first sense; and mix"),
        (lambda a, b, p: np.log((1 - p) * np.exp(a) + p * np.exp(b)), "that of the first sense"),
        (lambda a, b, p: max(a, b), "the stronger sense wins nearly"),
        (lambda a, b, p: 7.0, "is 7.000, expected"),
        (lambda a, b, p: mixed(a, b, p) if a != b else 0.0, "two senses with one score"),
        (lambda a, b, p: mixed(a, b, p) if p < 1 else 0.0, "with a share of 1"),
        (lambda a, b, p: ..., "not tried yet"),
    ],
)
def test_exercise_4_names_the_mistake(answer, sentence, capsys):
    assert sentence in said(check_mixed, answer, capsys)
