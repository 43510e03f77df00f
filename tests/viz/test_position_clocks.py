"""Positions drawn as clocks: the hands are the numbers of the table."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import Circle, FancyArrowPatch

from bertlab import viz
from tests.viz.looking import overlapping


def hours(n, *periods):
    angles = 2 * np.pi * np.arange(n)[:, None] / np.array(periods)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, -1)


def drawn_hands(fig):
    """Hands as (pairs · positions, 2), each relative to the middle of its dial."""
    dials = [patch.center for patch in fig.axes[0].patches if isinstance(patch, Circle)]
    ends = [patch._posA_posB for patch in fig.axes[0].patches if isinstance(patch, FancyArrowPatch)]
    np.testing.assert_allclose(dials, [start for start, _ in ends])
    return np.array([np.subtract(end, start) for start, end in ends])


def test_a_hand_is_a_sine_to_the_right_and_a_cosine_up():
    fig = viz.position_clocks(hours(4, 4, 8), ["fast", "slow"], "Two clocks")
    hands = drawn_hands(fig)
    hands = hands / np.linalg.norm(hands, axis=1, keepdims=True)
    half = 0.5**0.5
    fast = [[0, 1], [1, 0], [0, -1], [-1, 0]]
    slow = [[0, 1], [half, half], [1, 0], [half, -half]]
    np.testing.assert_allclose(hands, fast + slow, atol=1e-12)


def test_every_row_and_column_has_its_name_and_no_two_texts_meet():
    fig = viz.position_clocks(hours(13, 12, 60, 400), ["every 12", "every 60", "every 400"], "Clocks")
    texts = [text.get_text() for text in fig.axes[0].texts]
    assert texts == [*map(str, range(13)), "every 12", "every 60", "every 400"]
    assert overlapping(fig) == []
    named = viz.position_clocks(hours(2, 12), ["pair 0"], "Clocks", positions=["40", "43"])
    assert [text.get_text() for text in named.axes[0].texts][:2] == ["40", "43"]


@pytest.mark.parametrize(
    ("table", "pairs", "sentence"),
    [
        (hours(3, 12), ["a", "b"], "two columns for each pair"),
        (hours(3, 12)[0], ["a"], "two columns for each pair"),
        (hours(14, 12), ["a"], "13 and 5 at most"),
        (hours(3, 2, 3, 4, 5, 6, 7), list("abcdef"), "13 and 5 at most"),
        (2 * hours(3, 12), ["a"], "between"),
        (np.full((2, 2), np.nan), ["a"], "between"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(table, pairs, sentence):
    with pytest.raises(ValueError, match=sentence):
        viz.position_clocks(table, pairs, "Clocks")
