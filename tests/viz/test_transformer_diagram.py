"""The drawing of the whole Transformer."""

from __future__ import annotations

import pytest
from matplotlib.patches import FancyBboxPatch

from bertlab import viz
from tests.viz.looking import overlapping

TITLE = "A decoder layer is another thing than an encoder layer"


def test_the_decoder_layer_has_a_part_that_the_encoder_layer_lacks():
    fig = viz.transformer_diagram(TITLE)
    texts = [text.get_text() for text in fig.axes[0].texts]
    for part in ("self-attention", "masked self-attention", "attention to the source"):
        assert texts.count(part) == 1, part
    assert texts.count("feed-forward") == 2
    boxes = [patch for patch in fig.axes[0].patches if isinstance(patch, FancyBboxPatch)]
    assert len(boxes) == 2 + 3 + 1 + 2  # parts, the output layer, a frame around each layer


def test_what_the_encoder_hands_over_ends_at_the_part_in_the_middle():
    ax = viz.transformer_diagram(TITLE).axes[0]
    (way,) = ax.get_lines()
    place = {text.get_text(): text.get_position() for text in ax.texts}
    assert way.get_xdata()[0] == place["self-attention"][0]
    assert way.get_ydata()[-1] == place["attention to the source"][1]


@pytest.mark.parametrize("n_layers", [1, 6, 12])
def test_the_number_of_layers_stands_beside_both_and_no_two_texts_meet(n_layers):
    fig = viz.transformer_diagram(TITLE, n_layers)
    assert sum(text.get_text().endswith(f"× {n_layers}") for text in fig.axes[0].texts) == 2
    assert overlapping(fig) == []


def test_no_layers_are_refused():
    with pytest.raises(ValueError, match="n_layers=0"):
        viz.transformer_diagram(TITLE, 0)
