"""A learning curve shows every loss, its running mean, its floor, and what the model can do by then."""

from __future__ import annotations

import numpy as np

from bertlab import viz
from bertlab.viz.learning_curves import running_mean

TITLE = "In 600 steps from nothing to nearly every unseen day"


def test_a_learning_curve_shows_every_loss_its_mean_and_what_can_be_done_by_then():
    steps, losses = np.arange(50), np.geomspace(4, 0.01, 50)
    fig = viz.learning_curve(steps, losses, TITLE, held_out=([10, 50], [0.25, 0.985]))
    raw, smooth = fig.axes[0].get_lines()
    np.testing.assert_array_equal(raw.get_ydata(), losses)
    np.testing.assert_array_equal(smooth.get_ydata(), running_mean(losses))
    np.testing.assert_array_equal(fig.axes[1].get_lines()[0].get_xydata(), [[10, 25], [50, 98.5]])
    assert [text.get_text() for text in fig.axes[1].texts] == ["98.5 %"]
    assert len(viz.learning_curve(steps, losses, TITLE).axes) == 1


def test_a_running_mean_of_a_straight_line_is_that_line():
    line = np.linspace(3, 9, 101)
    np.testing.assert_allclose(running_mean(line)[5:-5], line[5:-5])
    assert running_mean(np.ones(7)).tolist() == [1.0] * 7


def test_a_floor_is_a_named_line_at_its_value_and_below_the_losses():
    losses = np.geomspace(4, 0.6, 50)
    ax = viz.learning_curve(range(50), losses, TITLE, floor=("least possible", 0.55)).axes[0]
    assert list(ax.get_lines()[-1].get_ydata()) == [0.55, 0.55]
    (name,) = ax.texts
    assert (name.get_text(), name.get_position()[1]) == ("least possible", 0.55)
    assert ax.get_ylim()[0] < 0.55
    assert len(viz.learning_curve(range(50), losses, TITLE).axes[0].texts) == 0


def test_on_a_short_logarithmic_axis_ticks_between_the_powers_have_plain_numbers():
    fig = viz.learning_curve(range(1, 51), np.linspace(4.0, 0.5, 50), TITLE)
    fig.draw_without_rendering()
    said = {label.get_text() for label in fig.axes[0].yaxis.get_ticklabels(which="both")} - {""}
    assert {"0.6", "1", "2"} <= said
    assert not any("^" in text for text in said)
