"""Histograms and softmaxes side by side."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab import viz


def test_histograms_share_edges_and_count_everything(rng):
    panels = {"narrow": rng.normal(size=500), "wide": 8 * rng.normal(size=300)}
    fig = viz.histograms(panels, "Wide heads have wide scores", "q·k")
    steps = [ax.patches[0].get_data() for ax in fig.axes]
    np.testing.assert_array_equal(steps[0].edges, steps[1].edges)
    assert [float(step.values.sum()) for step in steps] == pytest.approx([100, 100])
    said = [text.get_text() for ax in fig.axes for text in ax.texts]
    assert said == [part for name, v in panels.items() for part in (name, f"variance {v.var():.3g}")]


def test_softmax_bars_have_the_heights_and_the_entropy_of_the_probabilities():
    fig = viz.softmax_bars({"sharp": [1, 0], "flat": [0.5, 0.5]}, ["$a$", "b"], "Temperature decides")
    assert [[bar.get_width() for bar in ax.patches] for ax in fig.axes] == [[1, 0], [0.5, 0.5]]
    assert [ax.get_xlabel() for ax in fig.axes] == ["entropy 0.00 bits", "entropy 1.00 bits"]
    labels = fig.axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["$a$", "b"]
    assert not any(label.get_parse_math() for label in labels)
    assert fig.axes[0].get_ylim()[0] > fig.axes[0].get_ylim()[1]  # the first label is at the top


@pytest.mark.parametrize("wrong", [[0.5, 0.2], [1.0], [0.5, 0.5, 0.0]])
def test_what_is_no_distribution_over_the_labels_is_refused(wrong):
    with pytest.raises(ValueError, match="give 2 probabilities"):
        viz.softmax_bars({"wrong": wrong}, ["a", "b"], "Temperature decides")
