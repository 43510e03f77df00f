"""Each check of notebook 15 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.classroom.comparison import BUDGET, check_budget, check_interval, check_pseudo


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


STEPS, BERT, GPT = BUDGET
BUDGETS = {
    "right.": [7500, 2_250_000, 6_000_000],
    "the wrong way round": [1200, BERT, GPT],
    "are the same tokens": [3000, BERT, GPT],
    "7000 steps are not it": [7000, BERT, GPT],
    "*reads*": [STEPS, 15_000_000, GPT],
    "with the same work BERT has 7500": [STEPS, 900_000, GPT],
    "all of them are asked for": [STEPS, 1_800_000, GPT],
    "is not what BERT is asked for": [STEPS, 1.0, GPT],
    "nothing is hidden from GPT": [STEPS, BERT, 900_000],
    "is not what GPT is asked for": [STEPS, BERT, 15_000_000],
    "shape (2,)": [7500, 2_250_000],
    "not tried yet": ...,
}


@pytest.mark.parametrize("sentence", BUDGETS)
def test_exercise_1_names_the_mistake(sentence, capsys):
    assert sentence in said(check_budget, BUDGETS[sentence], capsys)


def pseudo(ids, mask_id, log_probabilities):
    total = 0.0
    for t in range(1, len(ids) - 1):
        hidden = ids.copy()
        hidden[t] = mask_id
        total += log_probabilities(hidden)[t, ids[t]]
    return total


def seen(ids, mask_id, log_probabilities):
    inner = np.arange(1, len(ids) - 1)
    return log_probabilities(ids)[inner, ids[inner]].sum()


def at_once(ids, mask_id, log_probabilities):
    inner, hidden = np.arange(1, len(ids) - 1), ids.copy()
    hidden[inner] = mask_id
    return log_probabilities(hidden)[inner, ids[inner]].sum()


def left_hidden(ids, mask_id, log_probabilities):
    total, hidden = 0.0, ids.copy()
    for t in range(1, len(ids) - 1):
        hidden[t] = mask_id
        total += log_probabilities(hidden)[t, ids[t]]
    return total


def marks_too(ids, mask_id, log_probabilities):
    total = 0.0
    for t in range(len(ids)):
        hidden = ids.copy()
        hidden[t] = mask_id
        total += log_probabilities(hidden)[t, ids[t]]
    return total


def in_place(ids, mask_id, log_probabilities):
    total = pseudo(ids, mask_id, log_probabilities)
    ids[1] = mask_id
    return total


SCORES = {
    "right.": pseudo,
    "nothing was hidden": seen,
    "one at a time": at_once,
    "what was hidden stayed hidden": left_hidden,
    "without a minus": lambda *a: -pseudo(*a),
    "the mean of the pieces": lambda ids, *a: pseudo(ids, *a) / (len(ids) - 2),
    "that is a probability": lambda *a: np.exp(pseudo(*a)),
    "a mark was hidden": marks_too,
    "you changed `ids`": in_place,
    "return one number": lambda ids, *a: np.full(2, pseudo(ids, *a)),
    "is not it": lambda *a: pseudo(*a) + 1,
    "not tried yet": lambda *a: ...,
}


@pytest.mark.parametrize("sentence", SCORES)
def test_exercise_2_names_the_mistake(sentence, capsys):
    assert sentence in said(check_pseudo, SCORES[sentence], capsys)


def paired(a, b, rng, cut=2.5, n=None, draws=2000):
    n = n or len(a)
    drawn = rng.integers(len(a), size=(draws, n))
    gaps = a[drawn].mean(1) - b[drawn].mean(1)
    return (a.mean() - b.mean(), *np.percentile(gaps, [cut, 100 - cut]))


def apart(a, b, rng):
    one, other = (rng.integers(len(a), size=(2000, len(a))) for _ in range(2))
    gaps = a[one].mean(1) - b[other].mean(1)
    return (a.mean() - b.mean(), *np.percentile(gaps, [2.5, 97.5]))


def in_order(a, b, rng):
    gaps = np.array([(a[i] - b[i]).mean() for i in (rng.permutation(len(a)) for _ in range(50))])
    return (a.mean() - b.mean(), *np.percentile(gaps, [2.5, 97.5]))


def items(a, b, rng):
    return (a.mean() - b.mean(), (a - b).mean() - 1.96 * (a - b).std(), (a - b).mean() + 1.96 * (a - b).std())


def other_chance(a, b, rng):
    return paired(a, b, np.random.default_rng())


def of_b(a, b, rng):
    gap, low, high = paired(a, b, rng)
    return gap, low - gap, high - gap


def turned(a, b, rng):
    gap, low, high = paired(a, b, rng)
    return gap, high, low


INTERVALS = {
    "right.": paired,
    "were drawn apart": apart,
    "*with* replacement": in_order,
    "single items": items,
    "about 68 %": lambda a, b, rng: paired(a, b, rng, cut=15.87),
    "cut off 2.5 % on each side, not 5": lambda a, b, rng: paired(a, b, rng, cut=5),
    "nothing was drawn from `rng`": other_chance,
    "does not lie around": of_b,
    "the lower bound first": turned,
    "b minus a": lambda a, b, rng: paired(b, a, rng),
    "in percent": lambda a, b, rng: tuple(100 * x for x in paired(a, b, rng)),
    "the difference is": lambda a, b, rng: (0.5, *paired(a, b, rng)[1:]),
    "return three numbers": lambda a, b, rng: paired(a, b, rng)[1:],
    "expected about": lambda a, b, rng: paired(a, b, rng, n=100),
    "not tried yet": lambda *a: ...,
}


@pytest.mark.parametrize("sentence", INTERVALS)
def test_exercise_3_names_the_mistake(sentence, capsys):
    assert sentence in said(check_interval, INTERVALS[sentence], capsys)


def changing(a, b, rng):
    found = paired(a, b, rng)
    a[:] = 0
    return found


def test_exercise_3_notices_changed_arrays(capsys):
    assert "you changed the arrays" in said(check_interval, changing, capsys)
