"""A number for each head of each layer, on one scale, the largest framed."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from bertlab import viz
from tests.viz.looking import overlapping_anywhere


def made(rng, n=4, shape=(6, 12)):
    return {f"${n}$ <b>": rng.random(shape) for n in range(n)}


def test_each_map_shows_its_numbers_on_one_scale(rng):
    panels = made(rng)
    fig = viz.head_maps(panels, "Heads differ", vmax=1)
    images = [ax.images[0] for ax in fig.axes if ax.images]
    for image, values in zip(images, panels.values(), strict=True):
        np.testing.assert_array_equal(image.get_array(), values)
        assert image.get_clim() == (0, 1)


def test_without_a_scale_the_largest_number_of_all_maps_is_darkest(rng):
    panels = made(rng, 2)
    fig = viz.head_maps(panels, "Heads differ")
    top = max(values.max() for values in panels.values())
    assert {ax.images[0].get_clim() for ax in fig.axes if ax.images} == {(0, top)}


def test_the_largest_is_framed_and_told_by_layer_and_head(rng):
    values = rng.random((3, 5)) / 2
    values[2, 4] = 0.75
    ax = viz.head_maps({"previous": values}, "One head looks back").axes[0]
    (frame,) = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert frame.get_xy() == (3.5, 1.5)
    assert "0.75: layer 2, head 4" in ax.get_xlabel()


def test_names_are_drawn_letter_by_letter(rng):
    panels = made(rng, 2)
    fig = viz.head_maps(panels, "Heads differ")
    titles = [text for text in fig.findobj(Text) if text.get_text() in panels]
    assert [title.get_text() for title in titles] == list(panels)
    assert not any(title.get_parse_math() for title in titles)


@pytest.mark.parametrize(
    ("n", "shape"), [(1, (2, 2)), (2, (4, 4)), (6, (6, 12)), (3, (12, 12)), (4, (24, 16))]
)
def test_words_do_not_overlap(rng, n, shape):
    fig = viz.head_maps(made(rng, n, shape), "All heads in one number each, whatever the model")
    assert overlapping_anywhere(fig) == []


def test_a_long_name_is_written_smaller_and_stays_over_its_map(rng):
    names = ["itself", "the same word elsewhere in the sentence", "[SEP]"]
    fig = viz.head_maps({name: rng.random((6, 12)) for name in names}, "Heads differ")
    fig.draw_without_rendering()
    for ax, name in zip(fig.axes, names, strict=False):
        (title,) = [text for text in ax.findobj(Text) if text.get_text() == name]
        assert title.get_window_extent().width <= ax.get_window_extent().width


@pytest.mark.parametrize(
    "panels",
    [
        {},
        {"a": np.zeros(3)},
        {"a": np.zeros((2, 2)), "b": np.zeros((2, 3))},
        {"a": np.array([[-1.0]])},
        {"a": np.array([[np.nan]])},
    ],
)
def test_what_are_no_maps_of_heads_is_refused(panels):
    with pytest.raises(ValueError, match="give"):
        viz.head_maps(panels, "Nothing")
