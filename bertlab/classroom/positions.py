"""Checks for the exercises of notebook 04, positional encoding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bertlab.classroom.checks import close, exercise, expect
from bertlab.reference.positions import sinusoidal_positions

Array = np.ndarray


@exercise("Exercise 1 (which wave)")
def check_frequency(frequency: Callable[[int, int], float]) -> None:
    """Check a function of a column and a width D that returns the column's angle per position, in radians."""
    width = 8
    answer = np.array([float(frequency(column, width)) for column in range(width)])
    column = np.arange(width)
    wanted = 10000.0 ** (-(column - column % 2) / width)
    own = (
        "each column has a wave of its own: a sine and its cosine share one, so round the column down to even"
    )
    expect(not close(answer, 10000.0 ** (-column / width)), own)
    expect(not close(answer, 10000.0 ** (-2 * column / width)), f"the exponent is doubled: {own}")
    expect(
        not close(answer, 10000.0 ** (-(column // 2) / width)),
        "the exponent of pair i is 2i/D: you used i/D, so the slowest wave comes out 100 times too fast",
    )
    expect(not close(answer, 1 / wanted), "this grows with the column: the first pair turns fastest; divide")
    expect(
        not close(answer, 2 * np.pi / wanted),
        "this is the period, the number of positions in a full turn: the angle per position is 2π / period",
    )
    expect(
        not close(answer, np.degrees(wanted)),
        "this is in degrees: the first pair turns by 1 radian a position",
    )
    expect(answer[0] == 1, f"column 0 gives {answer[0]:.3g}: the first pair turns by 1 radian a position")
    expect(close(answer, wanted), "column 0 is right, others are not: 10000 ** (-2i / D), i = column // 2")


@exercise("Exercise 2 (the table)")
def check_table(table_of: Callable[[int, int], Array]) -> None:
    """Check a function of a number of positions T and a width D that returns the sinusoids (T, D)."""
    answer, wanted = np.asarray(table_of(6, 4)), sinusoidal_positions(6, 4)
    expect(answer.shape == (6, 4), f"the table has shape {answer.shape}, expected (6, 4): (positions, width)")
    sines, cosines = wanted[:, ::2], wanted[:, 1::2]
    swapped = np.stack([cosines, sines], axis=-1).reshape(6, 4)
    halves = np.hstack([sines, cosines])
    angles = np.arange(6)[:, None] / 10000 ** (np.arange(4) / 4)
    own = np.where(np.arange(4) % 2 == 0, np.sin(angles), np.cos(angles))
    from_one = sinusoidal_positions(7, 4)[1:]
    expect(not close(answer, swapped), "sine and cosine are swapped: the sine stands in the even columns")
    expect(
        not close(answer, halves),
        "all sines, then all cosines: the same numbers in other columns (many programs do so); "
        "the paper lets them take turns, columns 2i and 2i + 1",
    )
    expect(not close(answer, own), "every column has a wave of its own: columns 2i and 2i + 1 share one")
    expect(not close(answer, from_one), "your first row is position 1: begin at 0, whose row is 0, 1, 0, 1")
    expect(close(answer[0], wanted[0]), "row 0 must be 0, 1, 0, 1: the sine and the cosine of 0")
    expect(close(answer[:, :2], wanted[:, :2]), "the first pair is off: sin(p) and cos(p), in radians")
    expect(close(answer, wanted), "the first pair is right, the second is not: p / 10000^(2/4) = p / 100")
    try:
        odd = np.asarray(table_of(3, 5))
    except ValueError as error:
        expect(False, f"at D = 5 it stops ({error}): there the last sine goes without its cosine")
    expect(odd.shape == (3, 5), f"at D = 5 the shape is {odd.shape}: the last sine goes without its cosine")
    expect(
        close(odd, sinusoidal_positions(3, 5)), "right at D = 4, wrong at D = 5: the last column is a sine"
    )


@exercise("Exercise 3 (a step is a rotation)")
def check_shift(shift: Callable[[int, int], Array]) -> None:
    """Check a function of a step k and an even width D that returns M (D, D): M @ table[p] = table[p + k]."""
    table, k = sinusoidal_positions(40, 6), 3
    answer = np.asarray(shift(k, 6))
    expect(answer.shape == (6, 6), f"the matrix has shape {answer.shape}, expected (6, 6)")
    expect(not close(answer, np.eye(6)), "this is the identity: it goes nowhere")
    expect(
        not close(table[:-k] @ answer, table[k:]) or close(table[:-k] @ answer.T, table[k:]),
        "this goes back by k: in M @ (sin, cos) the minus stands in the row of the cosine",
    )
    one = np.asarray(shift(1, 6))
    expect(not close(answer, one), "k = 1 and k = 3 give the same matrix: the angle is k times the frequency")
    first = answer[:2, :2]
    angle = np.array([[np.cos(k), np.sin(k)], [-np.sin(k), np.cos(k)]])
    expect(
        not close(answer, np.kron(np.eye(3), angle)),
        "every pair turns by the same angle: each pair has a frequency of its own",
    )
    outside = answer.copy()
    for i in (0, 2, 4):
        outside[i : i + 2, i : i + 2] = 0
    expect(
        close(outside, np.zeros((6, 6))), "numbers outside the 2 × 2 blocks: a pair turns without the others"
    )
    expect(close(first, angle), "the first block is off: cos k, sin k over −sin k, cos k")
    expect(close(table[:-k] @ answer.T, table[k:]), "the first block is right, a later one is not")


@exercise("Exercise 4 (rotate the words)")
def check_rotary(rotate: Callable[[Array], Array]) -> None:
    """Check a function of x (T, D) that turns row p by angles that grow with p, pair by pair."""
    rng = np.random.default_rng(4)
    q, k = rng.normal(size=(2, 6))
    rows = np.tile(q, (9, 1))
    answer = np.asarray(rotate(rows.copy()))
    expect(answer.shape == (9, 6), f"x came back with shape {answer.shape}, expected (9, 6): keep T and D")
    expect(not close(answer, rows), "x came back unchanged: turn each row by its place")
    expect(
        not close(answer, rows + sinusoidal_positions(9, 6)), "you added the table: turn the pairs instead"
    )
    lengths = np.linalg.norm(answer, axis=1)
    expect(
        close(lengths, np.full(9, np.linalg.norm(q))),
        "the rows have changed their lengths: a rotation keeps them; each pair needs a sine *and* a cosine",
    )
    expect(
        not close(answer[1:], answer[:-1]), "all rows are turned by one angle: it must grow with the place"
    )
    scores = answer @ np.asarray(rotate(np.tile(k, (9, 1)))).T  # the same query and key at all places
    on_diagonals = all(close(np.ptp(np.diagonal(scores, step)), 0.0) for step in range(-8, 9))
    expect(
        on_diagonals,
        "the score of two words still depends on where they stand, not on their distance alone: "
        "the angle of a pair must be proportional to the place",
    )
    along = scores[0]  # a single wave obeys s[d - 1] + s[d + 1] = c * s[d]
    middle, around = along[1:-1], along[:-2] + along[2:]
    alike = close(around, middle * (around @ middle) / (middle @ middle))
    expect(not alike, "all pairs turn equally fast, so that far places soon look alike: use D/2 speeds")
