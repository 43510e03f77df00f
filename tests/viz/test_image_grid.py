"""Small images in a grid: each as it is, named, in the same grey."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab import viz
from tests.viz.looking import overlapping_anywhere


@pytest.mark.parametrize("n", [1, 10, 13])
def test_every_image_is_shown_with_its_name_in_one_scale_of_grey(rng, n):
    images, names = rng.random((n, 8, 8)), [f"${i}$" for i in range(n)]
    fig = viz.image_grid(images, names, "Ten digits")
    drawn = [ax for ax in fig.axes if ax.images]
    assert [ax.get_title() for ax in drawn] == names
    for ax, image in zip(drawn, images, strict=True):
        np.testing.assert_array_equal(ax.images[0].get_array(), image)
        assert ax.images[0].get_clim() == (0, images.max())
        assert not ax.title.get_parse_math()
    assert len(fig.axes) % min(n, 10) == 0
    assert overlapping_anywhere(fig) == []


def test_names_stand_below_their_images_and_inside_the_picture(rng):
    fig = viz.image_grid(rng.random((12, 8, 8)), [*"0123456789ab"], "Digits")
    fig.draw_without_rendering()
    for ax in (ax for ax in fig.axes if ax.images):
        box, name = ax.get_window_extent(), ax.title.get_window_extent()
        assert name.y1 <= box.y0 + 1
        assert name.y0 >= fig.bbox.y0


@pytest.mark.parametrize(
    ("images", "names"),
    [(np.zeros((2, 3)), ["a", "b"]), (np.zeros((0, 3, 3)), []), (np.zeros((2, 3, 3)), ["a"])],
)
def test_what_are_no_images_with_names_is_refused(images, names):
    with pytest.raises(ValueError, match=f"{len(names)} names for images of shape"):
        viz.image_grid(images, names, "None")
