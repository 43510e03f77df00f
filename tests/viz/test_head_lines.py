"""The still picture of the head view."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex

from bertlab import viz
from bertlab.viz.output import png
from bertlab.viz.style import HEAD_COLOURS
from tests.viz.looking import overlapping

TOKENS = ["[CLS]", "the", "cat", "saw", "the", "cat", "##s", "[SEP]"]


@pytest.fixture
def weights(rng):
    return rng.dirichlet(np.full(8, 0.4), size=(4, 8))  # (H, Tq, Tk)


def lines(fig):
    return fig.axes[0].collections[0]


def texts(fig):
    return [text.get_text() for text in fig.axes[0].texts]


def test_every_weight_from_the_threshold_on_is_a_line_and_strong_ones_lie_on_top(weights):
    fig = viz.head_lines(weights, TOKENS, TOKENS, "Where each token looks", threshold=0.1)
    assert len(lines(fig).get_segments()) == (weights >= 0.1).sum()
    assert f"{(weights >= 0.1).sum()} lines; those under 0.1 are not drawn." in texts(fig)
    opacities = lines(fig).get_colors()[:, 3]
    assert all(weak <= strong for weak, strong in pairwise(opacities))
    assert all(weak <= strong for weak, strong in pairwise(lines(fig).get_linewidths()))


def test_a_weight_of_zero_is_no_line():
    fig = viz.head_lines(np.eye(3)[None], ["a", "b", "c"], ["a", "b", "c"], "One each", threshold=0)
    assert len(lines(fig).get_segments()) == 3


def test_lines_of_chosen_tokens_alone_are_drawn_each_in_the_colour_and_lane_of_its_head(weights):
    fig = viz.head_lines(weights, TOKENS, TOKENS, "x", heads=[1, 3], queries=[2], threshold=0)
    drawn = lines(fig).get_segments()
    assert len(drawn) == 2 * 8
    starts = sorted({round(float(segment[0][1]), 6) for segment in drawn}, reverse=True)
    assert len(starts) == 2  # two heads, two places at the token
    for segment, colour in zip(drawn, lines(fig).get_colors(), strict=True):
        head = (1, 3)[starts.index(round(float(segment[0][1]), 6))]
        assert to_hex(colour) == HEAD_COLOURS[head].lower()


@pytest.mark.parametrize("chosen", [{"queries": [2, 5]}, {"looked_at": [1, 6]}])
def test_beside_the_other_column_stands_what_each_head_gives_and_the_mean(weights, chosen):
    fig = viz.head_lines(weights, TOKENS, TOKENS, "x", heads=[0, 2], **chosen)
    summed = weights[:, [2, 5]].sum(axis=1) if "queries" in chosen else weights[:, :, [1, 6]].sum(axis=2)
    means = [f"{mean:.2f}" for mean in summed[[0, 2]].mean(axis=0)]
    found = [text for text in texts(fig) if len(text) == 4 and text[1] == "."]
    assert found == means
    cells = fig.axes[0].patches
    assert len(cells) == 4 * 8
    opacities = np.array([cell.get_facecolor()[3] for cell in cells]).reshape(8, 4)
    np.testing.assert_allclose(opacities[:, [0, 2]], np.minimum(1, summed[[0, 2]].T) ** 0.5)
    assert (opacities[:, [1, 3]] == 0).all()  # heads that are off keep their place
    numbers = [text for text in texts(fig) if text in "0123"]
    assert sorted(numbers) == sorted(["0", "1", "2", "3", "0", "2"])  # above the cells, and on the lines


def test_the_strongest_line_of_each_head_carries_its_number_and_no_texts_overlap(rng):
    weights = rng.dirichlet(np.full(17, 0.1), size=(16, 17))
    tokens = [f"token{i}" for i in range(17)]
    fig = viz.head_lines(weights, tokens, tokens, "Sixteen heads, each with its number")
    assert sum(text.isdigit() for text in texts(fig)) == 14
    assert overlapping(fig) == []
    twelve = viz.head_lines(weights[:12], tokens, tokens, "Twelve heads and a token", queries=[8])
    assert overlapping(twelve) == []


def test_of_512_tokens_40_are_drawn_in_less_than_a_second(rng):
    weights = rng.dirichlet(np.full(512, 0.02), size=(12, 512))
    tokens = [f"w{i}" for i in range(512)]
    started = time.perf_counter()
    fig = viz.head_lines(weights, tokens, tokens, "A long text", queries=[300])
    png(fig)
    assert time.perf_counter() - started < 3  # 0.5 s on a laptop that does nothing else
    assert fig.texts[0].get_text() == "A long text (tokens 281–320 of 512)"
    assert fig.get_figheight() < 11


def test_what_does_not_fit_is_refused(weights):
    with pytest.raises(ValueError, match=r"shape \(4, 8, 8\) do not fit 7 query tokens and 8 key tokens"):
        viz.head_lines(weights, TOKENS[1:], TOKENS, "x")
    with pytest.raises(ValueError, match="choose tokens on one side"):
        viz.head_lines(weights, TOKENS, TOKENS, "x", queries=[1], looked_at=[2])
    with pytest.raises(ValueError, match="heads has 4: there are 4, from 0 to 3"):
        viz.head_lines(weights, TOKENS, TOKENS, "x", heads=[0, 4])
    with pytest.raises(ValueError, match="looked_at has 8: there are 8"):
        viz.head_lines(weights, TOKENS, TOKENS, "x", looked_at=[8])
