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


def test_of_512_tokens_40_are_drawn_in_good_time(rng):
    weights = rng.dirichlet(np.full(512, 0.02), size=(12, 512))
    tokens = [f"w{i}" for i in range(512)]
    started = time.process_time()
    fig = viz.head_lines(weights, tokens, tokens, "A long text", queries=[300])
    png(fig)
    assert time.process_time() - started < 6  # 0.6 s on a laptop that does nothing else
    assert fig.texts[0].get_text() == "A long text (tokens 280–319 of 512, counted from 0)"
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


def test_what_stands_over_the_numbers_names_them(weights):
    def above(**chosen):
        return {"mean", "sum", "weight"} & set(texts(viz.head_lines(weights, TOKENS, TOKENS, "x", **chosen)))

    assert above() == set()
    assert above(queries=[2]) == {"mean"}
    assert above(queries=[2], heads=[1]) == {"weight"}
    assert above(looked_at=[2, 4]) == {"sum"}
    foot = texts(viz.head_lines(weights, TOKENS, TOKENS, "x", queries=[1, 2, 3]))
    assert any("Numbers: sum over the 3 chosen, mean of 4 heads." in text.replace("\n", " ") for text in foot)


def test_heads_of_one_colour_are_told_apart_by_their_dashes(rng):
    weights = rng.dirichlet(np.ones(3), size=(20, 3))
    fig = viz.head_lines(weights, list("abc"), list("abc"), "x", threshold=0)
    looks = zip(lines(fig).get_colors(), lines(fig).get_linestyle(), lines(fig).get_linewidths(), strict=True)
    seen = {
        (to_hex(colour), str(np.round(np.array(dash[1] or ()) / width, 2))) for colour, dash, width in looks
    }
    assert len(seen) == 20  # no two heads look alike
    assert any("Lines of heads 8–15 are dashed, from head 16 on dotted." in text for text in texts(fig))


def test_of_a_long_sentence_it_is_said_where_the_rest_of_the_weight_is():
    weights = np.full((2, 100, 100), 0.35 / 40)
    weights[:, 80, :60] = 0.05 / 59
    weights[:, 80, 0] = 0.6
    tokens = ["[CLS]", *[f"w{i}" for i in range(1, 100)]]
    fig = viz.head_lines(weights, tokens, tokens, "x", queries=[80])
    foot = " ".join(" ".join(texts(fig)).split())
    assert "0.35 of 1 is shown; most of the rest goes to “[CLS]” (token 0)." in foot
    weights[:] = 0.005
    weights[:, 2, 80] = 0.505
    foot = " ".join(texts(viz.head_lines(weights, tokens, tokens, "x", looked_at=[80]))).split()
    assert "0.2 of 1 is shown; most of the rest comes from “w2” (token 2)." in " ".join(foot)


def test_numbers_are_over_all_chosen_tokens_even_those_that_are_not_drawn():
    weights = np.full((1, 100, 100), 0.01)
    tokens = [f"w{i}" for i in range(100)]
    fig = viz.head_lines(weights, tokens, tokens, "x", queries=[3, 99])
    assert texts(fig).count("0.02") == 40
