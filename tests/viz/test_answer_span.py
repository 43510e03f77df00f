"""The picture of an answer: its bars are the scores, its frame is the span, the question steps back."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.viz.answer_span import MOST_TOKENS, answer_span
from tests.viz.looking import overlapping_anywhere

TOKENS = ["[CLS]", "who", "slept", "[SEP]", "old", "Ida", "<b>", "$x$"]
START, END = np.array([1.0, 0, 0, 0, 4, 2, 0, -1]), np.array([1.0, 0, 0, 0, 0, 3, -np.inf, 0])


def picture(**others):
    given = {"tokens": TOKENS, "start": START, "end": END, "span": (4, 5), "title": "Who slept?", "first": 4}
    return answer_span(**given | others)


def bars(fig):
    return [patch for patch in fig.axes[0].patches if patch.get_width() < 0.5]


def test_bars_are_the_scores_start_left_of_end_and_what_is_forbidden_has_none():
    heights = np.array([bar.get_height() for bar in bars(picture())]).reshape(2, 8)
    np.testing.assert_allclose(heights[0], START)
    np.testing.assert_allclose(heights[1], np.where(np.isfinite(END), END, 0))
    left, right = np.array([bar.get_x() for bar in bars(picture())]).reshape(2, 8)
    assert (left < right).all()


def test_the_frame_is_around_the_span():
    (frame,) = [patch for patch in picture(span=(4, 6)).axes[0].patches if patch.get_width() > 0.5]
    assert (frame.get_x(), frame.get_x() + frame.get_width()) == (3.5, 6.5)
    assert not frame.get_fill() or frame.get_facecolor()[3] == 0


def test_what_stands_before_the_passage_steps_back():
    faint = [bar.get_alpha() is not None for bar in bars(picture())]
    assert faint == ([True] * 4 + [False] * 4) * 2
    colours = {label.get_text(): label.get_color() for label in picture().axes[0].get_xticklabels()}
    assert colours["who"] != colours["Ida"]


def test_tokens_are_text_and_nothing_overlaps():
    fig = picture()
    assert [label.get_text() for label in fig.axes[0].get_xticklabels()] == TOKENS
    assert [pair for pair in overlapping_anywhere(fig) if "" not in pair] == []


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"start": START[:3]}, r"8 tokens, scores of shapes \(3,\) and \(8,\)"),
        ({"span": (5, 4)}, r"span=\(5, 4\) of 8 tokens from 4 on"),
        ({"span": (2, 5)}, "from 4 on"),
        ({"span": (4, 8)}, "first and last"),
    ],
)
def test_what_fits_nothing_is_refused(others, said):
    with pytest.raises(ValueError, match=said):
        picture(**others)


def test_too_many_tokens_are_refused():
    n = MOST_TOKENS + 1
    with pytest.raises(ValueError, match=f"{n} tokens: draw one to {MOST_TOKENS}"):
        answer_span(["a"] * n, np.zeros(n), np.zeros(n), (0, 0), "Too many")
