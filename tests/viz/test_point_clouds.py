"""Points in groups, in the same planes, told apart by colour and shape."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.text import Text

from bertlab import viz
from tests.viz.looking import overlapping_anywhere

GROUPS = ["$money$", "river", "$money$", "river", "river"]


def test_each_panel_shows_every_point_in_its_group(rng):
    panels = {f"layer {n}": rng.normal(size=(5, 2)) for n in range(3)}
    fig = viz.point_clouds(panels, GROUPS, "Senses come apart")
    for ax, points in zip(fig.axes, panels.values(), strict=True):
        money, river = (np.stack(line.get_data(), axis=1) for line in ax.lines)
        np.testing.assert_array_equal(money, points[[0, 2]])
        np.testing.assert_array_equal(river, points[[1, 3, 4]])


def test_groups_differ_in_colour_and_in_shape_and_are_named_once(rng):
    fig = viz.point_clouds({"a": rng.normal(size=(5, 2))}, GROUPS, "Senses come apart")
    first, second = fig.axes[0].lines
    assert first.get_color() != second.get_color()
    assert first.get_marker() != second.get_marker()
    (legend,) = fig.legends
    assert [text.get_text() for text in legend.get_texts()] == ["$money$", "river"]
    assert not any(text.get_parse_math() for text in legend.get_texts())


def test_a_step_is_as_long_in_both_directions(rng):
    fig = viz.point_clouds({"a": rng.normal(size=(5, 2)) * [9, 1]}, GROUPS, "Senses come apart")
    fig.draw_without_rendering()
    ax = fig.axes[0]
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    box = ax.get_window_extent()
    assert box.width / (right - left) == pytest.approx(box.height / (high - low))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_words_do_not_overlap(rng, n):
    panels = {f"layer {layer}: 92 % right": rng.normal(size=(5, 2)) for layer in range(n)}
    fig = viz.point_clouds(panels, [*"abcde"], "Senses come apart on their way up through the layers")
    assert overlapping_anywhere(fig) == []
    for ax, name in zip(fig.axes, panels, strict=True):
        (title,) = [text for text in ax.findobj(Text) if text.get_text() == name]
        assert title.get_window_extent().width <= ax.get_window_extent().width


@pytest.mark.parametrize(
    ("panels", "groups", "sentence"),
    [
        ({}, ["a"], "0 panels"),
        ({str(n): np.zeros((1, 2)) for n in range(5)}, ["a"], "5 panels"),
        ({"p": np.zeros((6, 2))}, [*"abcdef"], "6 groups"),
        ({"p": np.zeros((2, 3))}, ["a", "b"], r"give \(2, 2\)"),
        ({"p": np.zeros((3, 2))}, ["a", "b"], r"give \(2, 2\)"),
    ],
)
def test_what_cannot_be_drawn_is_refused(panels, groups, sentence):
    with pytest.raises(ValueError, match=sentence):
        viz.point_clouds(panels, groups, "Nothing")
