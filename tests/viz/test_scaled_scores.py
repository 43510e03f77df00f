"""Why scores are divided: the formulas, and what random queries and keys show."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bertlab.reference.functional import softmax
from bertlab.viz.payload import entropy
from bertlab.viz.scaled_scores import WIDTHS, deviations, scale_figure, scale_payload, scaled_scores
from tests.viz.looking import overlapping


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(5)
    return rng.normal(size=(200, 512)), rng.normal(size=(200, 8, 512))


@pytest.fixture(scope="module")
def both(drawn):
    return scaled_scores(*drawn)


def test_scores_are_dot_products_of_the_first_parts_and_the_other_arm_divides_them(drawn, both):
    queries, keys = drawn
    for place, draw, key in ((0, 0, 0), (3, 7, 2), (6, 199, 7), (9, 50, 4)):
        d_k = WIDTHS[place]
        score = math.fsum(queries[draw, :d_k] * keys[draw, key, :d_k])
        assert both.plain.scores[place, draw, key] == pytest.approx(score)
        assert both.divided.scores[place, draw, key] == pytest.approx(score / math.sqrt(d_k))


def test_weights_are_the_softmax_and_entropies_are_theirs(both):
    for arm in both:
        np.testing.assert_allclose(arm.weights, softmax(arm.scores), atol=1e-15)
        np.testing.assert_allclose(arm.entropies, entropy(arm.weights))


def test_the_spread_of_scores_is_the_root_of_the_width_and_one_after_the_division(both):
    of_query, of_all = deviations(both.plain.scores)
    assert of_query.shape == (10, 200)
    np.testing.assert_allclose(of_all / np.sqrt(WIDTHS), 1, atol=0.12)  # 1,600 scores, not all independent
    np.testing.assert_allclose(deviations(both.divided.scores)[1], of_all / np.sqrt(WIDTHS))
    assert of_query[2, 3] == pytest.approx(np.std(both.plain.scores[2, 3], ddof=1))


def test_without_the_division_entropy_falls_with_the_width_and_with_it_it_stays(both):
    plain, divided = (arm.entropies.mean(axis=1) for arm in both)
    assert (np.diff(plain) < 0).all()
    assert plain[-1] < 0.3
    assert np.ptp(divided) < 0.25
    assert plain[0] == divided[0]  # width 1: nothing to divide


def test_the_payload_holds_every_place_of_the_slider(both):
    payload = scale_payload(both)
    assert (payload["widths"], payload["queries"], payload["keys"], payload["most"]) == (
        [*WIDTHS],
        200,
        8,
        3.0,
    )
    for name in ("plain", "divided"):
        arm = getattr(both, name)
        np.testing.assert_allclose(payload[name]["scores"], arm.scores, atol=1e-6)
        np.testing.assert_allclose(payload[name]["weights"], arm.weights, atol=1e-6)
        np.testing.assert_allclose(payload[name]["mean_entropy"], arm.entropies.mean(axis=1), atol=1e-6)
        np.testing.assert_allclose(payload[name]["deviation"], deviations(arm.scores)[1], atol=1e-6)


def test_the_picture_has_both_softmaxes_and_the_curves_of_both(both):
    fig = scale_figure(both, place=6, draw=3)
    plain, divided, curve = fig.axes
    for ax, arm in ((plain, both.plain), (divided, both.divided)):
        np.testing.assert_allclose([bar.get_width() for bar in ax.patches], arm.weights[6, 3])
        assert f"entropy {arm.entropies[6, 3]:.2f} of 3 bits" in ax.get_xlabel()
    np.testing.assert_allclose(curve.lines[0].get_ydata(), both.divided.entropies.mean(axis=1))
    np.testing.assert_allclose(curve.lines[1].get_ydata(), both.plain.entropies.mean(axis=1))
    assert curve.lines[2].get_xdata()[0] == 64
    assert overlapping(fig) == []
