"""The still picture of a decoded word."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

from bertlab import viz
from bertlab.viz.output import png
from bertlab.viz.seven_steps import NEW
from bertlab.viz.style import BLUE


def said(fig):
    return [text.get_text() for text in fig.axes[0].texts]


def test_all_seven_steps_are_numbered_and_named(make_trace):
    texts = said(viz.seven_steps(make_trace(), 1))
    for number, name in enumerate(
        ("start", "new state", "scores", "softmax", "context", "combine", "word"), 1
    ):
        assert texts.count(str(number)) == 1
        assert texts.count(name) == 1


def test_weights_are_bars_of_their_height_and_words_bars_of_their_probability(make_trace):
    trace = make_trace()
    fig = viz.seven_steps(trace, 2)
    bars = [patch for patch in fig.axes[0].patches if to_hex(patch.get_facecolor()) == BLUE.lower()]
    heights = np.array([bar.get_height() for bar in bars[:4]])
    np.testing.assert_allclose(heights / heights.sum(), trace.weights[2])
    np.testing.assert_allclose([bar.get_width() for bar in bars[4:]], [0.85 * 0.75, 0.85 * 0.2])
    for text in ("input: hundert", "vier", "0.75", "s₂", "s₃", "C₃", "h₄"):
        assert text in said(fig), text


@pytest.mark.parametrize("position", [0, 3])
def test_every_word_of_a_long_translation_can_be_drawn(make_trace, position):
    source = (
        "nine",
        "hundred",
        "ninety",
        "-",
        "nine",
        "thousand",
        "nine",
        "hundred",
        "ninety",
        "-",
        "nine",
        "</s>",
    )
    data = png(viz.seven_steps(make_trace(source=source, d_model=64), position))
    assert 800 <= Image.open(io.BytesIO(data)).width <= 900
    assert len(data) < 80_000


def test_D38_a_token_is_no_formula_even_in_the_title(make_trace):
    fig = viz.seven_steps(make_trace(source=("$a$",), target=("$x^2$",)), 0)
    fig.draw_without_rendering()
    assert "x^2" in fig.texts[0].get_text()
    assert fig.texts[0].get_text().count(r"\$") == 2
    assert not any(text.get_parse_math() for text in fig.axes[0].texts if text.get_text() in ("$a$", "$x^2$"))


def test_the_new_state_is_what_asks_for_the_scores(make_trace):
    ax = viz.seven_steps(make_trace(), 0).axes[0]
    assert [text.get_text() for text in ax.texts].count("asks") == 1
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    start = dashed[0].get_xdata()[0]
    assert start == pytest.approx(NEW)
