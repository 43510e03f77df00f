"""A picture of a position table, and how alike positions are."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bertlab import viz
from bertlab.viz.position_table import colour_limit, similarities
from tests.viz.looking import overlapping


def sinusoids(n_positions, width):
    """Vaswani et al. 2017, sec. 3.5."""
    angles = np.arange(n_positions)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n_positions, width)


def test_similarity_is_the_cosine(rng):
    table = rng.normal(size=(5, 3))
    for other in range(5):
        a, b = table[2], table[other]
        assert similarities(table, 2)[other] == pytest.approx(a @ b / np.sqrt((a @ a) * (b @ b)))


def test_of_sinusoids_the_similarity_depends_on_the_distance_alone():
    table = sinusoids(40, 16)
    curves = [similarities(table, position) for position in (10, 25)]
    np.testing.assert_allclose(curves[0][10:25], curves[1][25:40], atol=1e-12)
    np.testing.assert_allclose(curves[0][10:0:-1], curves[1][25:35], atol=1e-12)
    np.testing.assert_allclose(table @ table[3], 8 * similarities(table, 3), atol=1e-12)  # D/2 = 8


def test_colours_end_before_a_few_large_numbers_but_not_before_many():
    table = np.ones((100, 10))
    table[0, :3] = -50
    assert colour_limit(table) == 1
    table[0] = -50
    assert colour_limit(table) == 50
    assert colour_limit(np.zeros((2, 2))) == 1


def test_the_colour_bar_says_where_colours_end_before_the_numbers_do():
    table = np.ones((100, 10))
    table[0, :3] = -50
    bar = viz.position_table(table).axes[-1]
    assert [label.get_text() for label in bar.get_yticklabels()] == ["≤ −1", "0", "≥ 1"]
    assert bar.get_ylabel() == "value, up to ±50"
    bar = viz.position_table(table[1:]).axes[-1]
    assert [label.get_text() for label in bar.get_yticklabels()] == ["−1", "0", "1"]
    assert bar.get_ylabel() == "value"


def test_the_picture_holds_the_table_the_row_the_column_and_the_similarities():
    table = sinusoids(20, 8)
    fig = viz.position_table(table, position=5, dimension=2)
    heat, row, column, alike = fig.axes[:4]
    np.testing.assert_array_equal(heat.images[0].get_array(), table)
    np.testing.assert_array_equal(row.lines[0].get_ydata(), table[5])
    np.testing.assert_array_equal(column.lines[0].get_ydata(), table[:, 2])
    np.testing.assert_array_equal(alike.lines[0].get_ydata(), similarities(table, 5))
    assert [ax.get_xlabel() for ax in (row, column, alike)] == ["dimension", "position", "position"]
    assert [ax.lines[-1].get_xdata()[0] for ax in (alike,)] == [5]
    assert overlapping(fig) == []


def test_the_colours_are_told_apart_in_grey():
    from matplotlib import colormaps

    from bertlab.viz.position_table import SIGN_COLOURS
    from bertlab.viz.style import lightness

    levels = lightness(colormaps[SIGN_COLOURS](np.linspace(0, 1, 33))[:, :3])
    assert (np.diff(levels) < 0).all()
    assert levels[0] - levels[-1] > 70


def test_a_large_table_is_drawn_in_good_time():
    began = time.process_time()  # of the processor: others may be at work beside us
    viz.position_table(sinusoids(512, 768)).draw_without_rendering()
    assert time.process_time() - began < 4  # a fraction of a second on a machine that does nothing else


def test_what_is_no_table_is_refused(rng):
    with pytest.raises(ValueError, match=r"a position table of shape \(1, 4, 2\).*take table\[0\]"):
        viz.position_table(rng.normal(size=(1, 4, 2)))
    with pytest.raises(ValueError, match="infinite or not a number"):
        viz.position_table([[0.0], [np.nan]])
    with pytest.raises(ValueError, match="position=2: there are 2, from 0"):
        viz.position_table(np.ones((2, 3)), position=2)
    with pytest.raises(ValueError, match="dimension=-1: there are 3, from 0"):
        viz.position_table(np.ones((2, 3)), dimension=-1)
