"""Each check of notebook 04 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.classroom.positions import check_frequency, check_rotary, check_shift, check_table
from bertlab.reference.positions import sinusoidal_positions


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


def frequency(column, width):
    return 10000 ** (-2 * (column // 2) / width)


FREQUENCIES = {
    "a wave of its own": lambda c, d: 10000 ** (-c / d),
    "the exponent is doubled": lambda c, d: 10000 ** (-2 * c / d),
    "you used i/D": lambda c, d: 10000 ** (-(c // 2) / d),
    "the first pair turns fastest": lambda c, d: 10000 ** (2 * (c // 2) / d),
    "this is the period": lambda c, d: 2 * np.pi / frequency(c, d),
    "in degrees": lambda c, d: np.degrees(frequency(c, d)),
    "1 radian a position": lambda c, d: 2 * frequency(c, d),
    "others are not": lambda c, d: 1000 ** (-2 * (c // 2) / d),
}


@pytest.mark.parametrize("sentence", FREQUENCIES)
def test_exercise_1_names_the_mistake(sentence, capsys):
    assert sentence in said(check_frequency, FREQUENCIES[sentence], capsys)


def table(n, d):
    angles = np.arange(n)[:, None] * np.array([frequency(column, d) for column in range(d)])
    return np.where(np.arange(d) % 2 == 0, np.sin(angles), np.cos(angles))


def in_pairs(n, d):
    """Stops at an odd width."""
    found, angles = np.zeros((n, d)), np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    found[:, ::2], found[:, 1::2] = np.sin(angles), np.cos(angles)
    return found


TABLES = {
    "expected (6, 4)": lambda n, d: table(n, d).T,
    "are swapped": lambda n, d: (
        table(n, d + 2)[:, :d] * 0 + np.roll(in_pairs(n, d).reshape(n, -1, 2), 1, 2).reshape(n, d)
    ),
    "all sines, then all cosines": lambda n, d: np.hstack([table(n, d)[:, ::2], table(n, d)[:, 1::2]]),
    "columns 2i and 2i + 1 share one": lambda n, d: np.where(
        np.arange(d) % 2 == 0,
        np.sin(np.arange(n)[:, None] / 10000 ** (np.arange(d) / d)),
        np.cos(np.arange(n)[:, None] / 10000 ** (np.arange(d) / d)),
    ),
    "your first row is position 1": lambda n, d: table(n + 1, d)[1:],
    "row 0 must be": lambda n, d: table(n, d) + 1,
    "the first pair is off": lambda n, d: table(10 * n, d)[::10],
    "the second is not": lambda n, d: np.hstack([table(n, d)[:, :2], table(10 * n, d)[::10, 2:]]),
    "it stops": in_pairs,
    "the shape is": lambda n, d: table(n, d + d % 2),
    "right at D = 4": lambda n, d: table(n, d) * (1 if d == 4 else 2),
}


@pytest.mark.parametrize("sentence", TABLES)
def test_exercise_2_names_the_mistake(sentence, capsys):
    assert sentence in said(check_table, TABLES[sentence], capsys)


def shift(k, d, speed=None):
    M = np.zeros((d, d))
    for i in range(0, d, 2):
        angle = k * frequency(i if speed is None else speed, d)
        M[i : i + 2, i : i + 2] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    return M


SHIFTS = {
    "expected (6, 6)": lambda k, d: shift(k, d)[:2, :2],
    "the identity": lambda k, d: np.eye(d),
    "goes back by k": lambda k, d: shift(k, d).T,
    "the same matrix": lambda k, d: shift(1, d),
    "a frequency of its own": lambda k, d: shift(k, d, speed=0),
    "outside the 2 × 2 blocks": lambda k, d: shift(k, d) + np.eye(d, k=3),
    "the first block is off": lambda k, d: 2 * shift(k, d),
    "a later one is not": lambda k, d: shift(k, d) * np.where(np.arange(d) < 2, 1, 2),
}


@pytest.mark.parametrize("sentence", SHIFTS)
def test_exercise_3_names_the_mistake(sentence, capsys):
    assert sentence in said(check_shift, SHIFTS[sentence], capsys)


def rotate(x, places=None, speeds=None):
    T, D = x.shape
    speeds = 10000.0 ** (-np.arange(0, D, 2) / D) if speeds is None else speeds
    angles = (np.arange(T) if places is None else places)[:, None] * speeds  # (T, D / 2)
    even, odd = x[:, ::2], x[:, 1::2]
    turned = [even * np.cos(angles) - odd * np.sin(angles), even * np.sin(angles) + odd * np.cos(angles)]
    return np.stack(turned, axis=-1).reshape(T, D)


def mirrored(x):
    """Turned by the size of its place's distance from the middle: not proportional to the place."""
    return rotate(x, np.abs(np.arange(len(x)) - 4.0))


ROTATIONS = {
    "keep T and D": lambda x: rotate(x)[:, :2],
    "unchanged": lambda x: x,
    "you added the table": lambda x: x + sinusoidal_positions(*x.shape),
    "changed their lengths": lambda x: x * np.cos(np.arange(len(x)))[:, None],
    "turned by one angle": lambda x: rotate(x, np.ones(len(x))),
    "on their distance alone": mirrored,
    "all pairs turn equally fast": lambda x: rotate(x, speeds=np.full(x.shape[1] // 2, 0.7)),
}


@pytest.mark.parametrize("sentence", ROTATIONS)
def test_exercise_4_names_the_mistake(sentence, capsys):
    assert sentence in said(check_rotary, ROTATIONS[sentence], capsys)


def in_halves(x):
    """The other usual layout: number i is paired with number i + D/2."""
    D = x.shape[1]
    order = np.arange(D).reshape(2, -1).T.ravel()
    return rotate(x[:, order])[:, np.argsort(order)]


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_frequency, frequency),
        (check_table, table),
        (check_table, sinusoidal_positions),
        (check_shift, shift),
        (check_rotary, rotate),
        (check_rotary, in_halves),
        (check_rotary, lambda x: rotate(x, -np.arange(len(x)))),
    ],
)
def test_a_right_answer_is_called_right(check, answer, capsys):
    assert said(check, answer, capsys).startswith("✓")


@pytest.mark.parametrize("check", [check_frequency, check_table, check_shift, check_rotary])
def test_a_stub_is_not_tried_yet(check, capsys):
    assert "not tried yet" in said(check, lambda *args: ..., capsys)
