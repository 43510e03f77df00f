"""Rows in the order of their means, with every draw."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab import viz
from tests.viz.looking import overlapping_anywhere

ROWS = {"$nurse$": [0.1, 0.3], "judge": [-0.1, 0.0], "queen": [0.5, 0.7]}


def test_the_largest_mean_is_on_top_with_all_its_draws():
    ax = viz.ranked_points(ROWS, "Jobs differ", "nearer to she").axes[0]
    named = [label.get_text() for label in ax.get_yticklabels()]
    assert named == ["judge", "$nurse$", "queen"]
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
    for y, name in enumerate(named):
        draws, mean = ax.lines[2 * y : 2 * y + 2]
        np.testing.assert_allclose(draws.get_xdata(), ROWS[name])
        np.testing.assert_allclose(mean.get_xdata(), np.mean(ROWS[name]))
        assert {*draws.get_ydata(), *mean.get_ydata()} == {y}


def test_groups_differ_in_colour_and_mark_and_are_named_once():
    ax = viz.ranked_points(ROWS, "Jobs differ", "x", groups=["job", "job", "$kin$"]).axes[0]
    queen, judge = ax.lines[5], ax.lines[1]
    assert queen.get_color() != judge.get_color()
    assert queen.get_marker() != judge.get_marker()
    said = ax.get_legend().get_texts()
    assert [text.get_text() for text in said] == ["job", "$kin$"]
    assert not any(text.get_parse_math() for text in said)


def test_there_is_a_line_to_compare_with():
    ax = viz.ranked_points(ROWS, "Jobs differ", "x", baseline=("neither", 0.25)).axes[0]
    assert list(ax.lines[-1].get_xdata()) == [0.25, 0.25]
    assert [text.get_text() for text in ax.texts] == ["neither"]


@pytest.mark.parametrize("n", [1, 12, 30])
def test_words_do_not_overlap(rng, n):
    rows = {f"a hairdresser {i}": rng.normal(size=8) for i in range(n)}
    fig = viz.ranked_points(rows, "Jobs differ, and so do templates, even for one and the same job", "cosine")
    assert overlapping_anywhere(fig) == []


@pytest.mark.parametrize(
    ("rows", "groups", "sentence"),
    [
        ({}, [], "0 rows"),
        ({str(i): [1.0] for i in range(31)}, [], "31 rows"),
        ({str(i): [1.0] for i in range(6)}, [*"abcdef"], "6 groups"),
        ({"a": [1.0]}, ["x", "y"], "2 groups for 1 rows"),
    ],
)
def test_what_cannot_be_drawn_is_refused(rows, groups, sentence):
    with pytest.raises(ValueError, match=sentence):
        viz.ranked_points(rows, "Nothing", "x", groups)
