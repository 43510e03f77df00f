"""N-gram counts, and the distributions made of them, are those of plain loops."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from _ngrams import BORDER, KneserNey, Table, discounts, fold, runs

V = 7


@pytest.fixture
def row(rng):
    text = rng.choice(np.arange(1, V), size=400, p=[0.4, 0.2, 0.2, 0.1, 0.05, 0.05])
    text[[0, 57, 130, -1]] = BORDER
    return text


def loop_runs(row, n):
    return Counter(
        tuple(int(x) for x in row[i : i + n]) for i in range(len(row) - n + 1) if BORDER not in row[i : i + n]
    )


def loop_kneser_ney(row, context, order=4):
    """Chen & Goodman 1999, written down: p of every piece after a context."""
    length = min(len(context), order - 1)
    p = np.full(V, 1 / V)
    for n in range(1, length + 2):
        if n == length + 1:
            counts = loop_runs(row, n)
        else:
            counts = Counter(run[1:] for run in loop_runs(row, n + 1))
        off = discounts(np.array(list(counts.values())))
        here = {run[-1]: c for run, c in counts.items() if run[:-1] == tuple(context[length - n + 1 :])}
        total = sum(here.values())
        if total:
            rest = sum(off[min(c, 3)] for c in here.values()) / total
            kept = np.array([(here[w] - off[min(here[w], 3)]) / total if w in here else 0 for w in range(V)])
            p = kept + rest * p
    return p


@pytest.mark.parametrize("context", [(), (1,), (2, 1), (3, 1, 2), (6, 5, 6), (1, 1, 1), (4, 6)])
def test_kneser_ney_is_that_of_a_plain_loop(row, context):
    model = KneserNey(row, V)
    near = np.zeros((1, 3), np.int64)
    near[0, : len(context)] = context[::-1]
    p, _ = model.predict(near, np.array([len(context)]))
    np.testing.assert_allclose(p[0], loop_kneser_ney(row, context), rtol=1e-5)


def test_distributions_sum_to_one_and_rule_nothing_out(row, rng):
    near, known = rng.integers(1, V, (50, 3)), rng.integers(0, 4, 50)
    p, _ = KneserNey(row, V).predict(near, known)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
    assert (p > 0).all()


def test_pieces_beyond_what_is_known_change_nothing(row, rng):
    model = KneserNey(row, V)
    near = rng.integers(1, V, (20, 3))
    other = near.copy()
    other[:, 2] = rng.integers(1, V, 20)
    known = np.full(20, 2)
    np.testing.assert_array_equal(model.predict(near, known)[0], model.predict(other, known)[0])
    assert not np.allclose(model.predict(near, known + 1)[0], model.predict(other, known + 1)[0])


def test_the_depth_is_the_longest_context_that_was_seen():
    row = np.array([0, 1, 2, 3, 4, 0, 5, 4, 0])
    near = np.array([[3, 2, 1], [3, 2, 5], [3, 5, 1], [6, 2, 1]])  # the nearest first
    assert KneserNey(row, V).predict(near, np.full(4, 3))[1].tolist() == [3, 2, 1, 0]


def test_no_run_crosses_a_border():
    row = np.array([0, 1, 2, 0, 3, 4, 0])
    assert runs(row, [0, 1], bits=3).tolist() == [fold([np.array([1]), np.array([2])], 3)[0], 0o34]
    assert runs(row, [0, 2, 1], bits=3).tolist() == []


def test_what_stood_between_is_the_last_of_the_run():
    assert runs(np.array([1, 2, 3]), [0, 2, 1], bits=3).tolist() == [0o132]


def test_a_table_counts_each_run(row):
    table = Table(runs(row, [0, 1], 3), 3)
    counted = loop_runs(row, 2)
    assert [(int(code) >> 3, int(code) & 7) for code in table.codes] == sorted(counted)
    assert np.diff(table._counts).tolist() == [counted[run] for run in sorted(counted)]


def test_discounts_are_those_of_chen_and_goodman():
    counts = np.repeat([1, 2, 3, 4], [100, 40, 20, 10])
    y = 100 / 180
    wanted = [0, 1 - 2 * y * 0.4, 2 - 3 * y * 0.5, 3 - 4 * y * 0.5]
    np.testing.assert_allclose(discounts(counts), wanted)
