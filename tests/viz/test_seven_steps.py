"""The still picture of a decoded word."""

from __future__ import annotations

import io
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch
from PIL import Image

from bertlab import viz
from bertlab.viz.output import png
from bertlab.viz.seven_steps import NEW
from bertlab.viz.style import BLUE, ORANGE
from bertlab.viz.trace import score_said


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


@pytest.mark.parametrize("n", [8, 12, 16])
def test_large_scores_of_many_tokens_neither_meet_nor_lie_under_the_arrow(make_trace, n):
    scores = np.tile(np.resize([-15.52, -9.14, -12.04, 10.61], n), (n, 1))
    trace = make_trace(source=("t",) * n, target=("t",) * n, scores=scores)
    fig = viz.seven_steps(trace, 0)
    fig.draw_without_rendering()
    wanted = [score_said(score, n) for score in scores[0]]
    boxes = [
        text.get_window_extent()
        for text in fig.axes[0].texts
        if text.get_text() in {"−16", "−9.1", "−12", "11"}
    ]
    assert sum(text in wanted for text in said(fig)) >= n
    level = [box for box in boxes if abs(box.y0 - boxes[0].y0) < 1][:n]
    assert all(left.x1 + 1 < right.x0 for left, right in pairwise(level))
    asks = [
        patch
        for patch in fig.axes[0].patches
        if isinstance(patch, FancyArrowPatch) and to_hex(patch.get_edgecolor()) == ORANGE.lower()
    ]
    assert len(asks) == 1
    assert asks[0].get_window_extent().x0 > level[-1].x1
