"""Thumbnails of all heads: each pixel the largest of its block, each head in its place."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from bertlab import viz
from bertlab.viz.attentions import AttentionLayers
from bertlab.viz.style import WEIGHTS
from bertlab.viz.thumbnails import GAP, thumbnails


def random_layers(rng, n=5, heads=(2, 3)):
    return [rng.dirichlet(np.full(n, 0.3), size=(h, n)).astype(np.float32) for h in heads]


def test_a_thumbnail_has_the_head_as_parts_of_its_largest_weight(rng):
    weights = random_layers(rng)
    weights[0][0] *= 0.02 / weights[0][0].max()
    drawn = thumbnails(AttentionLayers(weights, list("abcde")))
    for layer, head in ((0, 0), (0, 1), (1, 2)):
        back = drawn.pictures[layer][head] / 255 * drawn.largest[layer][head]
        np.testing.assert_allclose(back, weights[layer][head], atol=0.51 / 255 * weights[layer][head].max())


def test_a_long_sentence_is_shrunk_to_the_largest_weight_of_each_block(rng):
    weights = random_layers(rng, n=100, heads=(1,))
    picture = thumbnails(AttentionLayers(weights, ["a"] * 100)).pictures[0][0]
    assert picture.shape == (40, 40)
    block = weights[0][0][50:52, 97:100]  # pixel (20, 39): rows 50–51, columns 97–99
    assert picture[20, 39] == round(255 * block.max() / weights[0][0].max())


def test_a_head_without_any_weight_is_drawn_blank():
    assert not thumbnails(AttentionLayers(np.zeros((2, 2)), ["a", "b"])).pictures[0].any()


def cell(fig, layer, head, n=5):
    """The pixels of one thumbnail in the picture, one for each weight."""
    sheet = np.asarray(fig.axes[0].images[0].get_array())
    times = -(-32 // n)
    side = n * times + GAP
    corner = sheet[layer * side : (layer + 1) * side, head * side : (head + 1) * side]
    return corner[2:-2:times, 2:-2:times]


@pytest.mark.parametrize("own_scale", [False, True])
def test_each_head_stands_in_its_row_and_column_as_dark_as_its_weights(rng, own_scale):
    weights = random_layers(rng)
    fig = viz.all_heads(weights, list("abcde"), own_scale=own_scale)
    for layer, head in ((0, 0), (0, 1), (1, 0), (1, 2)):
        given = weights[layer][head] / (weights[layer][head].max() if own_scale else 1)
        wanted = WEIGHTS(given, bytes=True)[..., :3].astype(int)
        assert np.abs(cell(fig, layer, head).astype(int) - wanted).max() <= 6
    assert (cell(fig, 0, 2) == 255).all()  # layer 0 has two heads only
    assert "largest" in fig.axes[1].get_ylabel() or not own_scale


def test_layers_and_heads_are_counted_from_0(rng):
    ax = viz.all_heads(random_layers(rng), list("abcde")).axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "1", "2"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "1"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("head →", "← layer")
    assert ax.get_ylim() == (2, 0)  # layer 0 is at the top


def test_the_chosen_head_is_framed_and_ranked_ones_are_numbered():
    weights = [np.stack([np.eye(4), np.eye(4, k=-1) + np.eye(4)[[0]] * np.eye(4)[:, [0]]])] * 2
    fig = viz.all_heads(weights, list("abcd"), mark="previous", chosen=(1, 0))
    (frame,) = fig.axes[0].patches
    assert (round(frame.get_x()), round(frame.get_y())) == (0, 1)
    places = {text.get_text(): text.get_position() for text in fig.axes[0].texts}
    assert places == {"1": (1.98, 0.03), "2": (1.98, 1.03)}
    assert "the token before" in fig.get_suptitle().replace("\n", " ")
    assert viz.all_heads(weights, list("abcd"), title="Own words").get_suptitle() == "Own words"
    assert "most tokens" in viz.all_heads(weights, list("abcd"), mark="spread").get_suptitle()


def test_each_thumbnail_has_a_line_where_a_token_looks_at_itself_but_between_two_sentences(rng):
    (lines,) = viz.all_heads(random_layers(rng), list("abcde")).axes[0].collections
    starts = [tuple(map(int, segment[0])) for segment in lines.get_segments()]
    assert starts == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1)]
    assert all((np.diff(segment, axis=0) > 0.8).all() for segment in lines.get_segments())
    assert not viz.all_heads(random_layers(rng), list("abcde"), list("vwxyz")).axes[0].collections


@pytest.mark.parametrize("shape", [(1, 1), (6, 12), (24, 16), (3, 40)])
def test_nothing_overlaps_and_all_lies_inside_the_picture(rng, shape):
    fig = viz.all_heads([rng.dirichlet(np.ones(4), size=(shape[1], 4))] * shape[0], list("abcd"))
    for _ in range(2):
        fig.draw_without_rendering()
    ax = fig.axes[0]
    texts = [*fig.texts, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]
    for name, box in boxes:
        assert box.x0 >= 0, name
        assert box.y0 >= 0, name
        assert box.x1 <= fig.bbox.x1, name
        assert box.y1 <= fig.bbox.y1, name
    assert [(a, b) for (a, box), (b, other) in combinations(boxes, 2) if box.overlaps(other)] == []


def test_several_sets_or_an_unknown_mark_are_refused(rng):
    layers = AttentionLayers(random_layers(rng), list("abcde"))
    with pytest.raises(ValueError, match="attentions has encoder, decoder: one picture shows one of them"):
        viz.all_heads({"encoder": layers, "decoder": layers})
    with pytest.raises(ValueError, match="mark='up'"):
        viz.all_heads(layers, mark="up")
