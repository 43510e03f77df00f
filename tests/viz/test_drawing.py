"""What drawings are made of."""

from __future__ import annotations

import pytest

from bertlab.viz.drawing import arrow, box, canvas, words
from bertlab.viz.style import DPI, WIDTH, house_style


def test_a_sheet_measures_in_inches():
    _, ax = canvas("A title", 2.0)
    origin, corner = ax.transData.transform([(0, 0), (WIDTH, 2)])
    assert origin == pytest.approx((0, 0))
    assert corner == pytest.approx((WIDTH * DPI, 2 * DPI))


@house_style
def test_words_share_one_size_and_fit_into_their_room():
    fig, ax = canvas("A title", 2.0)
    words(ax, [1.0, 3.0], 1.0, ["a", "Donaudampfschifffahrt"], 0.8)
    fig.draw_without_rendering()
    sizes = {text.get_fontsize() for text in ax.texts}
    assert len(sizes) == 1
    assert max(text.get_window_extent().width for text in ax.texts) <= 0.85 * DPI


def test_D38_words_are_text():
    _, ax = canvas("A title", 2.0)
    words(ax, [1.0], 1.0, ["$x$"], 1.0)
    assert not ax.texts[0].get_parse_math()


def test_a_box_holds_its_text_in_its_middle_and_an_arrow_joins_two_points():
    _, ax = canvas("A title", 2.0)
    box(ax, (2.0, 1.0), "h", "black", "white", width=0.6, height=0.4)
    arrow(ax, (0.0, 0.0), (1.0, 1.0))
    shape, joined = ax.patches
    assert shape.get_bbox().bounds == pytest.approx((1.7, 0.8, 0.6, 0.4))
    assert ax.texts[0].get_position() == (2.0, 1.0)
    assert joined._posA_posB == [(0.0, 0.0), (1.0, 1.0)]
