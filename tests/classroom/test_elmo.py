"""Each check of notebook 13 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.classroom.elmo import check_count, check_missing_word, check_turn_round
from bertlab.nn.bidirectional_lm import ProjectedLSTM


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


RIGHT = 18_890_752


def test_exercise_1_is_the_layer_of_the_package_but_for_its_second_biases(capsys):
    layer = ProjectedLSTM(512, 4096)
    n = sum(p.numel() for name, p in layer.named_parameters() if name != "b_hidden")
    assert n == RIGHT
    assert "right." in said(check_count, n, capsys)


COUNTS = {
    "the projection is missing": 16_793_600,
    "the biases are missing": 18_874_368,
    "two biases for each gate": 18_907_136,
    "the projection has no bias": RIGHT + 512,
    "the gates read the last *state*": 4 * (4096 * 512 + 4096 * 4096 + 4096) + 512 * 4096,
    "one gate has so many": 4096 * 1024 + 4096 + 512 * 4096,
    "you counted three gates": 3 * (4096 * 1024 + 4096) + 512 * 4096,
    "read the last state, too": 4 * (4096 * 512 + 4096) + 512 * 4096,
    "that is both directions": 2 * RIGHT,
    "all four of ELMo's": 4 * RIGHT,
    "write the whole number": 18.9,
    "is not it": 12345,
    "not tried yet": ...,
}


@pytest.mark.parametrize("sentence", COUNTS)
def test_exercise_1_names_the_mistake(sentence, capsys):
    assert sentence in said(check_count, COUNTS[sentence], capsys)


def by_loop(ids, lengths):
    turned = ids.copy()
    for row, n in zip(turned, lengths, strict=True):
        row[:n] = row[:n][::-1].copy()
    return turned


def by_places(ids, lengths):
    columns = np.arange(ids.shape[1])
    order = np.where(columns < lengths[:, None], lengths[:, None] - 1 - columns, columns)
    return np.take_along_axis(ids, order, axis=1)


@pytest.mark.parametrize("answer", [by_loop, by_places])
def test_exercise_2_lets_right_answers_pass(answer, capsys):
    assert "right." in said(check_turn_round, answer, capsys)


def in_place(ids, lengths):
    ids[:] = by_loop(ids, lengths)
    return ids


def by_zeros(ids, lengths):
    """What is 0 is taken for padding, wherever it stands."""
    return np.stack([np.r_[row[row != 0][::-1], row[row == 0]] for row in ids])


def cut(ids, lengths):
    return by_loop(ids, lengths)[:, : lengths.max() - 1]


TURNS = {
    "you reversed the whole rows": lambda ids, lengths: ids[:, ::-1],
    "the order of the *rows*": lambda ids, lengths: ids[::-1],
    "nothing is reversed": lambda ids, lengths: ids.copy(),
    "you changed `ids` in place": in_place,
    "expected (4, 5)": cut,
    "of [5, 6, 7, 0, 0] with length 3 you made": lambda ids, lengths: by_loop(ids, lengths - 1),
    "not by what is 0": by_zeros,
    "right for our small rows": lambda ids, lengths: by_loop(ids, np.minimum(lengths, 5)),
    "not tried yet": lambda ids, lengths: ...,
    "your code stopped with IndexError": lambda ids, lengths: ids[99],
}


@pytest.mark.parametrize("sentence", TURNS)
def test_exercise_2_names_the_mistake(sentence, capsys):
    assert sentence in said(check_turn_round, TURNS[sentence], capsys)


def normed(scores):
    return scores - np.log(np.exp(scores).sum())


def missing(of_next, of_previous, log_frequency, place):
    if place == 0:
        return of_previous[1]
    if place == len(of_next) - 1:
        return of_next[place - 1]
    return normed(of_next[place - 1] + of_previous[place + 1] - log_frequency)


def variant(formula):
    """Right at the borders, the formula elsewhere."""

    def answer(of_next, of_previous, log_frequency, place):
        if place in (0, len(of_next) - 1):
            return missing(of_next, of_previous, log_frequency, place)
        return formula(of_next, of_previous, log_frequency, place)

    return answer


def frequency_everywhere(of_next, of_previous, log_frequency, place):
    if place in (0, len(of_next) - 1):
        return normed(missing(of_next, of_previous, log_frequency, place) - log_frequency)
    return missing(of_next, of_previous, log_frequency, place)


def wraps_round(of_next, of_previous, log_frequency, place):
    """Negative places count from the end in NumPy."""
    n = len(of_next)
    return normed(of_next[place - 1] + of_previous[(place + 1) % n] - log_frequency)


MISSING = {
    "the logarithms are right but for one number": variant(lambda n, p, f, t: n[t - 1] + p[t + 1] - f),
    "these are probabilities": variant(lambda n, p, f, t: np.exp(normed(n[t - 1] + p[t + 1] - f))),
    "counted twice: subtract `log_frequency` once\n": variant(lambda n, p, f, t: normed(n[t - 1] + p[t + 1])),
    "subtract `log_frequency` once; and then take off": variant(lambda n, p, f, t: n[t - 1] + p[t + 1]),
    "at `place` both models have read": variant(lambda n, p, f, t: normed(n[t] + p[t] - f)),
    "and subtract `log_frequency`": variant(lambda n, p, f, t: normed(n[t] + p[t])),
    "the sides are exchanged": variant(lambda n, p, f, t: normed(n[t + 1] + p[t - 1] - f)),
    "the frequency is added": variant(lambda n, p, f, t: normed(n[t - 1] + p[t + 1] + f)),
    "that is the mean of both": variant(lambda n, p, f, t: normed((n[t - 1] + p[t + 1]) / 2)),
    "you averaged the probabilities": variant(
        lambda n, p, f, t: np.log((np.exp(n[t - 1]) + np.exp(p[t + 1])) / 2)
    ),
    "that is the left side alone": variant(lambda n, p, f, t: n[t - 1]),
    "that is the right side alone": variant(lambda n, p, f, t: p[t + 1]),
    "the probabilities sum to": variant(lambda n, p, f, t: n[t - 1] + 0.3),
    "of_next[1] + of_previous[3] - log_frequency": variant(lambda n, p, f, t: normed(n[t - 1] - f)),
    "no second opinion to take the frequency out": frequency_everywhere,
    "at place 0 there is no left side": wraps_round,
    "you returned shape ()": variant(lambda n, p, f, t: np.argmax(n[t - 1] + p[t + 1] - f)),
    "a logarithm is infinite": variant(lambda n, p, f, t: np.full(4, -np.inf)),
    "your code stopped with IndexError": lambda n, p, f, t: n[99],
    "not tried yet": lambda n, p, f, t: ...,
}


def test_exercise_3_lets_the_right_answer_pass(capsys):
    assert "right." in said(check_missing_word, missing, capsys)


@pytest.mark.parametrize("sentence", MISSING)
def test_exercise_3_names_the_mistake(sentence, capsys):
    assert sentence in said(check_missing_word, MISSING[sentence], capsys)
