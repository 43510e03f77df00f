"""The picture of layer choices: filled are those that a choice takes, from the embeddings below upwards."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_hex

from bertlab.viz.chosen_layers import chosen_layers
from bertlab.viz.drawing import PALE_BLUE
from tests.viz.looking import overlapping

SIX = {
    "embeddings": ([0], "as it is"),
    "second to last": ([11], "as it is"),
    "last": ([12], "as it is"),
    "weighted sum of the last four": ([9, 10, 11, 12], "sum"),
    "last four side by side": ([9, 10, 11, 12], "4 × wide"),
    "weighted sum of all": (range(1, 13), "sum"),
}
TITLE = "Six ways to make one vector of thirteen"


def stacks(fig, n_layers=12):
    """Which boxes are filled, a list for each choice, from below."""
    boxes = fig.axes[0].patches
    boxes = [box for box in boxes if hasattr(box, "get_height")]
    filled = [to_hex(box.get_facecolor()) == PALE_BLUE.lower() for box in boxes]
    heights = [box.get_y() for box in boxes[: n_layers + 1]]
    assert heights == sorted(heights)
    return [filled[i : i + n_layers + 1] for i in range(0, len(filled), n_layers + 1)]


def test_filled_are_the_layers_that_are_chosen():
    found = stacks(chosen_layers(SIX, 12, TITLE))
    assert [[i for i, taken in enumerate(one) if taken] for one in found] == [
        list(ls) for ls, _ in SIX.values()
    ]


def test_names_and_what_is_made_stand_at_their_stack():
    fig = chosen_layers(SIX, 12, TITLE)
    said = [text.get_text().replace("\n", " ") for text in fig.axes[0].texts]
    for name, (_, made) in SIX.items():
        assert name in said
        assert made in said
    assert {"layer 1", "layer 12"} <= set(said)


@pytest.mark.parametrize("n_layers", [6, 12, 24])
def test_no_text_covers_another(n_layers):
    choices = {name: ([min(max(layers), n_layers)], made) for name, (layers, made) in SIX.items()}
    assert overlapping(chosen_layers(choices, n_layers, TITLE)) == []


@pytest.mark.parametrize(
    ("choices", "n_layers", "said"),
    [
        ({}, 6, "0 choices"),
        ({"last": ([7], "")}, 6, r"'last' takes layers \[7\]: choose from 0 to 6"),
        ({"none": ([], "")}, 6, "'none' takes layers"),
        ({"last": ([1], "")}, 25, "n_layers=25: draw one to 24"),
    ],
)
def test_what_is_not_there_is_refused(choices, n_layers, said):
    with pytest.raises(ValueError, match=said):
        chosen_layers(choices, n_layers, TITLE)
