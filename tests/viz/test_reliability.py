"""The picture of calibration: points are bins, the diagonal is where confidence and accuracy are equal."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.viz.reliability import reliability
from tests.viz.looking import overlapping_anywhere

MODELS = {
    "random weights": [(40, 0.55, 0.5), (10, 0.75, 0.6), (5, 0.95, 0.8)],
    "pre-trained": [(5, 0.6, 0.55), (30, 0.97, 0.93)],
}


def test_points_are_bins_and_their_size_tells_how_many_answers():
    fig = reliability(MODELS, "Surer than right")
    for points, bins in zip(fig.axes[0].collections, MODELS.values(), strict=True):
        np.testing.assert_allclose(points.get_offsets(), [bin[1:] for bin in bins])
        assert np.argsort(points.get_sizes()).tolist() == np.argsort([bin[0] for bin in bins]).tolist()


def test_the_diagonal_begins_at_the_least_confidence():
    line = reliability(MODELS, "Surer than right").axes[0].lines[0]
    assert list(line.get_xdata()) == list(line.get_ydata()) == [0.55, 1]


def test_every_model_is_named_at_its_line():
    fig = reliability(MODELS, "Surer than right")
    said = " ".join(text.get_text() for text in fig.axes[0].texts)
    for name in (*MODELS, "as right as sure"):
        assert name in said
    assert overlapping_anywhere(fig) == []


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ({}, "0 models"),
        ({f"m{i}": [(1, 0.5, 0.5)] for i in range(5)}, "5 models: draw one to 4"),
        ({"m": []}, "'m' has no bin"),
        ({"m": [(0, 0.5, 0.5)]}, "give a count, and"),
        ({"m": [(3, 80.0, 0.5)]}, "shares from 0 to 1"),
    ],
)
def test_what_is_no_bin_is_refused(models, said):
    with pytest.raises(ValueError, match=said):
        reliability(models, "Nothing")
