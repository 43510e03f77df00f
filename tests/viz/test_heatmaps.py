"""Attention maps: every cell where it belongs, one scale for all, tokens as text."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab import viz

TITLE = "Each word looks at itself"
HOSTILE = ["<img src=x onerror=alert(1)>", "a<b&c", "$x^2$", "$", r"\frac{1}{2}", "a_b", "", " ", "\n"]


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def column_names(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def weights(rng, *shape):
    powers = np.exp(rng.normal(size=shape))
    return powers / powers.sum(axis=-1, keepdims=True)


def test_rows_are_queries_and_columns_are_keys(rng):
    given = weights(rng, 2, 3)
    ax = viz.attention_map(given, ["q0", "q1"], ["k0", "k1", "k2"], TITLE, "German", "English").axes[0]
    np.testing.assert_array_equal(np.asarray(ax.images[0].get_array()), given)
    assert row_names(ax) == ["q0", "q1"]
    assert column_names(ax) == ["k0", "k1", "k2"]
    assert "German" in ax.get_ylabel()
    assert "English" in ax.get_xlabel()
    assert ax.get_ylim() == (1.5, -0.5)  # the first query is at the top


def test_D39_repeated_tokens_stay_five_by_five_cells(rng):
    tokens = ["the", "cat", "saw", "the", "cat"]
    given = weights(rng, 2, 5, 5)
    for head in (0, 1):
        ax = viz.attention_map(given[head], tokens, tokens, TITLE).axes[0]
        assert np.asarray(ax.images[0].get_array()).shape == (5, 5)
        assert row_names(ax) == column_names(ax) == tokens
        numbers = [text.get_text() for text in ax.texts]
        assert numbers == [f"{value:.2f}".removeprefix("0") for value in given[head].ravel()]


def test_D38_tokens_are_drawn_letter_by_letter_never_as_formulas(rng):
    n = len(HOSTILE)
    fig = viz.attention_map(weights(rng, n, n), HOSTILE, HOSTILE, TITLE)
    fig.draw_without_rendering()
    labels = [*fig.axes[0].get_xticklabels(), *fig.axes[0].get_yticklabels()]
    assert not any(label.get_parse_math() for label in labels)
    assert row_names(fig.axes[0]) == [*HOSTILE[:6], "∅", "␣", "↵"]


def test_compared_maps_share_one_colour_scale(rng):
    tokens = list("abc")
    panels = [viz.Attention(weights(rng, 3, 3) / scale, tokens, tokens, f"over {scale}") for scale in (1, 9)]
    fig = viz.attention_maps(panels, TITLE)
    assert [ax.images[0].get_clim() for ax in fig.axes[:2]] == [(0, 1), (0, 1)]
    assert [ax.get_title(loc="left") for ax in fig.axes[:2]] == ["over 1", "over 9"]
    assert fig.axes[2].get_ylabel() == "weight"


def test_numbers_are_printed_where_they_fit(rng):
    def numbers(n):
        fig = viz.attention_map(weights(rng, n, n), ["t"] * n, ["t"] * n, TITLE)
        return len(fig.axes[0].texts)

    assert numbers(4) == 16
    assert numbers(30) == 0


def test_a_tensor_with_gradient_is_taken(rng):
    tensor = torch.tensor(weights(rng, 2, 2), dtype=torch.bfloat16, requires_grad=True)
    viz.attention_map(tensor, ["a", "b"], ["a", "b"], TITLE)


@pytest.mark.parametrize("n_keys", [2, 9, 40, 47, 130, 700])
def test_title_and_tokens_lie_inside_the_picture(rng, n_keys):
    tokens = [f"antidisestablish{i}" for i in range(n_keys)]
    fig = viz.attention_map(weights(rng, n_keys, n_keys), tokens, tokens, "A sentence that is long " * 4)
    for _ in range(2):
        fig.draw_without_rendering()
    ax, title = fig.axes[0], fig.texts[0].get_window_extent()
    for label in [*ax.get_xticklabels(), *ax.get_yticklabels()]:
        box = label.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= fig.bbox.x1
        assert box.y1 <= title.y0 + 1


def test_of_many_tokens_every_so_many_are_written_with_their_position(rng):
    def written(n):
        return row_names(viz.attention_map(weights(rng, n, n), ["the"] * n, ["the"] * n, TITLE).axes[0])

    assert written(40) == ["the"] * 40
    assert written(100) == [f"{i} the" for i in range(0, 100, 5)]


def test_a_very_long_token_is_cut_and_leaves_room_for_the_cells(rng):
    fig = viz.attention_map(weights(rng, 2, 2), ["x" * 300, "y"], ["x" * 300, "y"], TITLE)
    assert row_names(fig.axes[0]) == column_names(fig.axes[0]) == ["x" * 29 + "…", "y"]
    for _ in range(2):
        fig.draw_without_rendering()
    assert fig.axes[0].get_window_extent().width > 150


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.ones((1, 2, 2, 2)), "choose one example and one head"),
        (np.ones((3, 2)) / 2, "do not fit 2 query tokens and 2 key tokens"),
        (-np.eye(2), "not the scores"),
        (np.full((2, 2), np.nan), "after the softmax"),
        (5 * np.eye(2), "above vmax=1.0"),
    ],
)
def test_what_is_no_attention_matrix_is_refused_in_one_sentence(given, said):
    with pytest.raises(ValueError, match=said):
        viz.attention_map(given, ["a", "b"], ["c", "d"], TITLE)
