"""The drawing of multi-head attention."""

from __future__ import annotations

import pytest

from bertlab import viz
from bertlab.viz.drawing import PALE_BLUE, PALE_ORANGE
from tests.viz.looking import overlapping


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_matrices_of_both_heads_are_all_there_with_their_shapes(n):
    fig = viz.multi_head_diagram(["the", "cat", "sat", "down"][:n], "Two heads in one picture")
    said = [text.get_text() for text in fig.axes[0].texts]
    for name in ("X", "Q", "K", "V", "head 0", "head 1", "concat", "output", "$W_O$"):
        assert said.count(name) == 1, name
    assert [said.count(shape) for shape in ("T × D", "T × T", "T × K\na head")] == [6, 2, 1]
    assert overlapping(fig) == []


def test_each_head_has_half_of_every_projection_and_of_the_concatenation():
    cells = [p for p in viz.multi_head_diagram(["a", "b"], "Two heads").axes[0].patches if p.get_fill()]
    colours = [viz.style.mpl.colors.to_hex(cell.get_facecolor()).upper() for cell in cells]
    in_joined = 4 * 2 * 2  # Q, K, V and the concatenation: two words, two columns
    for head in (PALE_BLUE, PALE_ORANGE):
        assert colours.count(head) == in_joined + 2 * 2 + 2 * 2  # its weights, what it mixed


@pytest.mark.parametrize("tokens", [["one"], ["a"] * 5])
def test_heads_over_too_few_or_too_many_words_are_refused(tokens):
    with pytest.raises(ValueError, match="give 2 to 4"):
        viz.multi_head_diagram(tokens, "Two heads")


def test_D38_tokens_are_text():
    fig = viz.multi_head_diagram(["$a$", "$b$"], "Two heads")
    tokens = [text for text in fig.axes[0].texts if text.get_text() in ("$a$", "$b$")]
    assert len(tokens) == 2
    assert not any(text.get_parse_math() for text in tokens)
