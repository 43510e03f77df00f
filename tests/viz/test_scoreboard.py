"""Each measurement has its panel, each thing its row with all draws, their mean and its control."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab import viz
from bertlab.viz import Measured
from tests.viz.looking import overlapping_anywhere

VALUES = {"BERT": [20.0, 24.0], "$GPT$": [10.0]}


def panel(**more):
    return Measured(VALUES, {"BERT": [4.0]}, **more)


def drawn(ax):
    """Marks of a panel: (x, y, filled) of each that stands alone."""
    return [
        (line.get_xdata()[0], line.get_ydata()[0], line.get_markerfacecolor() != "white")
        for line in ax.lines
        if len(line.get_xdata()) == 1
    ]


def test_each_thing_has_its_row_with_draws_mean_and_control():
    ax = viz.scoreboard({"right, %": panel()}, "BERT is ahead", "never trained").axes[0]
    assert (4.0, 0, False) in drawn(ax)  # the control
    assert (22.0, 0, True) in drawn(ax)  # the mean
    assert (10.0, 1, True) in drawn(ax)
    assert [20.0, 24.0] in [list(line.get_xdata()) for line in ax.lines]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["BERT", "$GPT$"]
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
    assert {text.get_text() for text in ax.texts} == {"22.0", "10.0"}
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first thing on top


def test_small_marks_are_spoken_of_only_where_there_are_several_draws():
    one = Measured({"BERT": [20.0]}, {"BERT": [4.0]})
    assert "each draw" not in viz.scoreboard({"right, %": one}, "BERT is ahead").get_supxlabel()
    assert "each draw" in viz.scoreboard({"right, %": panel()}, "BERT is ahead").get_supxlabel()


def test_a_line_of_all_is_drawn_and_told():
    ax = viz.scoreboard({"right, %": panel(line=("majority", 8.0))}, "BERT is ahead").axes[0]
    assert [8.0, 8.0] in [list(line.get_xdata()) for line in ax.lines]
    assert "majority 8.0" in ax.get_xlabel()


def test_panels_have_axes_of_their_own_and_names_of_rows_once_a_line():
    wide = Measured({name: [100 * v for v in values] for name, values in VALUES.items()}, {})
    fig = viz.scoreboard({"a": panel(), "b": wide, "c": panel(), "d": panel()}, "Four")
    shown = [ax for ax in fig.axes if ax.axison]
    assert len(shown) == 4
    assert shown[0].get_xlim()[1] < 50 < shown[1].get_xlim()[1]
    assert [bool(ax.get_yticklabels()[0].get_text()) for ax in shown] == [True, False, False, True]


@pytest.mark.parametrize("n", [1, 5, 9])
def test_words_do_not_overlap(rng, n):
    names = ("BERT", "GPT", "ELMo", "two GPTs", "CBOW")
    panels = {
        f"names, fine-tuned, F1 {i}": Measured(
            {name: 40 + rng.normal(size=3) * 9 for name in names},
            dict.fromkeys(names, 20),
            ("chance", 33.3),
        )
        for i in range(n)
    }
    fig = viz.scoreboard(panels, "Who reads both sides at once is ahead where the right side is needed")
    assert overlapping_anywhere(fig) == []


@pytest.mark.parametrize(
    ("panels", "sentence"),
    [
        ({}, "0 panels"),
        ({str(i): panel() for i in range(13)}, "13 panels"),
        ({"a": Measured({str(i): [1.0] for i in range(6)}, {})}, "6 things"),
        ({"a": panel(), "b": Measured({"BERT": [1.0]}, {})}, "panel 'b'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(panels, sentence):
    with pytest.raises(ValueError, match=sentence):
        viz.scoreboard(panels, "Nothing")


def test_one_number_is_a_draw():
    ax = viz.scoreboard({"a": Measured({"BERT": 3.0}, {})}, "One").axes[0]
    assert np.isfinite(ax.get_xlim()).all()
    assert (3.0, 0, True) in drawn(ax)
