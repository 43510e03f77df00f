"""Each check of notebook 07 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import math

import pytest

from bertlab.classroom.transformer import END, check_beam, check_layer_parameters, check_smoothed
from bertlab.nn import DecoderLayer, EncoderLayer


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


RIGHT = [0.04, 0.04, 0.84, 0.04, 0.04]
SMOOTHED = {
    "without smoothing": [0, 0, 1, 0, 0],
    "among all five": [0.05, 0.05, 0.8, 0.05, 0.05],
    "they sum to 0.96": [0.04, 0.04, 0.8, 0.04, 0.04],
    "a smoothing of 1": [0.2] * 5,
    "they sum to 1.6": [0.2, 0.2, 0.8, 0.2, 0.2],
    "sum to 0.9": [0, 0, 0.9, 0, 0],
    "the third word is the right one": [0.84, 0.04, 0.04, 0.04, 0.04],
    "each of five gets": [0.1, 0.1, 0.6, 0.1, 0.1],
    "one number for each of five": [0.84, 0.04],
}


@pytest.mark.parametrize("sentence", SMOOTHED)
def test_exercise_1_names_the_mistake(sentence, capsys):
    assert sentence in said(check_smoothed, SMOOTHED[sentence], capsys)


def count(d, f, *, bias=1, network=1, matrices=4, norm=2, norms=2, halves=2, cross=1, last_norm=1):
    attention = matrices * (d * d + bias * d)
    encoder = attention + halves * d * f + network * (f + d) + norms * norm * d
    return encoder, encoder + cross * attention + last_norm * norm * d


COUNTS = {
    "4·D are missing": {"bias": 0},
    "F + D are missing": {"network": 0},
    "5·D + F are missing": {"bias": 0, "network": 0},
    "a matrix and its bias": {"matrices": 3},
    "2·D are missing": {"norm": 1},
    "a norm of its own, with": {"norms": 1},
    "each of the two norms": {"norm": 0},
    "D·F are missing": {"halves": 1},
    "is not the": {"halves": 3},
    "no encoder layer": {"cross": 0, "last_norm": 0},
    "its third part has a norm": {"last_norm": 0},
    "an attention and a norm more": {"cross": 2},
}


@pytest.mark.parametrize("sentence", COUNTS)
def test_exercise_2_names_the_mistake(sentence, capsys):
    assert sentence in said(check_layer_parameters, lambda d, f: count(d, f, **COUNTS[sentence]), capsys)


def test_exercise_2_wants_two_numbers(capsys):
    assert "return two numbers" in said(check_layer_parameters, lambda d, f: sum(count(d, f)), capsys)


def test_exercise_2_counts_as_the_layers_do(capsys):
    def by_building(d, f):
        layers = EncoderLayer(d, 2, f), DecoderLayer(d, 2, f)
        return tuple(sum(p.numel() for p in layer.parameters()) for layer in layers)

    assert said(check_layer_parameters, by_building, capsys).startswith("✓")
    assert by_building(8, 32) == count(8, 32)


def beam(step, size, limit, *, per_beginning=False, keep_ended=True, first=False, add=False, on=0):
    live, done = [((), 0.0)], []
    for _ in range(limit + on):
        candidates = []
        for words, score in live:
            mine = [((*words, w), score + (p if add else math.log(p))) for w, p in step(words).items()]
            candidates += sorted(mine, key=lambda c: -c[1])[:size]
        best = sorted(candidates, key=lambda c: -c[1])
        best = best if per_beginning else best[:size]
        ended = [c for c in best if c[0][-1] == END]
        done = done + ended if keep_ended else ended
        live = [c for c in best if c[0][-1] != END]
        if not live or (first and done):
            break
    return max(done, key=lambda c: c[1])[0]


BEAMS = {
    "keep the two best beginnings": lambda step, size, limit: beam(step, 1, limit),
    "got lost": lambda step, size, limit: beam(step, size, limit, keep_ended=False),
    "followed 4 beginnings of length 2": lambda *args: beam(*args, per_beginning=True),
    "followed 3 beginnings of length 1": lambda step, size, limit: beam(step, 9, limit),
    "beyond `limit`": lambda step, size, limit: beam(step, size, limit, on=2),
    "multiply along the way": lambda step, size, limit: ("a", "cat", END),
    "does not end with": lambda step, size, limit: beam(step, size, limit)[:-1],
    "the words of one sentence": lambda step, size, limit: 0.36,
    "with one place": lambda step, size, limit: beam(step, max(size, 2), limit),
    "which has ended": lambda step, size, limit: step((*beam(step, size, limit),)),
}


@pytest.mark.parametrize("sentence", BEAMS)
def test_exercise_3_names_the_mistake(sentence, capsys):
    assert sentence in said(check_beam, BEAMS[sentence], capsys)


def test_adding_probabilities_is_found_out(capsys):
    assert "✗" in said(check_beam, lambda *args: beam(*args, add=True), capsys)


@pytest.mark.parametrize(
    ("check", "answer"),
    [(check_smoothed, RIGHT), (check_layer_parameters, count), (check_beam, beam)],
)
def test_a_right_answer_is_called_right(check, answer, capsys):
    assert said(check, answer, capsys).startswith("✓")


def test_a_stub_is_not_tried_yet(capsys):
    assert "not tried yet" in said(check_smoothed, ..., capsys)
    assert "not tried yet" in said(check_layer_parameters, lambda d, f: ..., capsys)
    assert "not tried yet" in said(check_beam, lambda *args: ..., capsys)
