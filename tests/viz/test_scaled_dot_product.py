"""The drawing of scaled dot-product attention."""

from __future__ import annotations

import pytest

from bertlab import viz
from tests.viz.looking import overlapping


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_matrices_of_attention_are_all_there_with_their_shapes(n):
    fig = viz.qkv_diagram(["the", "cat", "sat", "down"][:n], "Attention in one picture")
    said = [text.get_text() for text in fig.axes[0].texts]
    for name in ("X", "Q", "K", "V", "scores", "weights", "output", "softmax"):
        assert said.count(name) == 1, name
    assert [said.count(shape) for shape in ("T × D", "T × dₖ", "T × dᵥ", "T × T")] == [1, 2, 2, 2]
    assert overlapping(fig) == []


@pytest.mark.parametrize(("tokens", "focus"), [(["one"], 0), (["a"] * 5, 0), (["a", "b"], 2)])
def test_attention_of_too_few_or_too_many_words_is_refused(tokens, focus):
    with pytest.raises(ValueError, match="give 2 to 4 tokens"):
        viz.qkv_diagram(tokens, "Attention in one picture", focus)


def test_one_word_is_marked_all_the_way_through():
    def marks(focus):
        fig = viz.qkv_diagram(["the", "cat", "sat"], "Attention in one picture", focus)
        return sorted(p.get_y() for p in fig.axes[0].patches if p.get_linewidth() == 2.6)

    assert len(marks(0)) == 5  # X, Q, scores, weights, output
    assert all(upper > lower for upper, lower in zip(marks(0), marks(2), strict=True))


def test_D38_tokens_are_text():
    fig = viz.qkv_diagram(["$a$", "$b$"], "Attention in one picture")
    tokens = [text for text in fig.axes[0].texts if text.get_text() in ("$a$", "$b$")]
    assert len(tokens) == 2
    assert not any(text.get_parse_math() for text in tokens)
