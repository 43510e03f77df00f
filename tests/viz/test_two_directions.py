"""The drawing of two language models over the same words."""

from __future__ import annotations

import pytest
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from bertlab import viz
from bertlab.viz.style import WIDTH
from tests.viz.looking import overlapping

TITLE = "Two readers that never meet"
TOKENS = ["[CLS]", "we", "ran", "[SEP]"]


def texts(fig):
    return [text.get_text() for text in fig.axes[0].texts]


def test_both_models_have_two_layers_over_the_same_words():
    fig = viz.two_directions(TOKENS, TITLE)
    assert texts(fig).count("LSTM") == 2 * 2 * len(TOKENS)
    assert texts(fig).count("x") == 2 * len(TOKENS)
    boxes = [patch for patch in fig.axes[0].patches if isinstance(patch, FancyBboxPatch)]
    assert len(boxes) == 2 * 3 * len(TOKENS)


def test_each_word_is_read_twice_and_predicted_by_those_that_have_a_neighbour_for_it():
    said = texts(viz.two_directions(TOKENS, TITLE))
    assert said.count("[CLS]") == 2 + 1  # nothing comes before it that could predict it
    assert said.count("we") == said.count("ran") == 2 + 2
    assert said.count("[SEP]") == 2 + 1


def test_one_layer_reads_to_the_right_and_the_other_to_the_left():
    fig = viz.two_directions(TOKENS, TITLE)
    ways = [patch._posA_posB for patch in fig.axes[0].patches if isinstance(patch, FancyArrowPatch)]
    along = [(start[0], end[0]) for start, end in ways if start[1] == end[1]]
    middle = WIDTH / 2
    assert len(along) == 2 * 2 * 3
    assert all((end > start) == (start < middle) for start, end in along)


@pytest.mark.parametrize("tokens", [["a", "b"], TOKENS, ["a", "long", "unbelievable", "sentence", "here"]])
def test_no_two_texts_meet(tokens):
    assert overlapping(viz.two_directions(tokens, TITLE)) == []


@pytest.mark.parametrize("n", [1, 6])
def test_too_few_and_too_many_are_refused(n):
    with pytest.raises(ValueError, match=f"{n} tokens: draw two to 5"):
        viz.two_directions(["a"] * n, TITLE)
