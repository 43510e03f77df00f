"""Claims about intervals, comparisons and calibration: against formulas, exact tests, and numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from _comparison import calibration, difference, each_of, interval, resampled, same_order, score, told
from bertlab.tasks.bio import find_entities
from bertlab.tasks.entity_metrics import entity_scores

DRAWS = 2000


def hits(*rows):
    """Right or wrong of each example, for some seeds."""
    return each_of([[(float(hit), 1.0) for hit in row] for row in rows])


def test_a_score_is_what_the_measures_of_the_field_say():
    gold = [["B-PER", "I-PER", "O"], ["O", "B-LOC"], ["O"]]
    said = [["B-PER", "O", "O"], ["B-PER", "B-LOC"], ["O"]]
    pairs = [(set(find_entities(a)), set(find_entities(b))) for a, b in zip(gold, said, strict=True)]
    each = each_of([[(2.0 * len(a & b), float(len(a) + len(b))) for a, b in pairs]])
    assert score(each) == pytest.approx(entity_scores(gold, said).overall.f1)
    assert score(hits([1, 0, 1, 1])) == 0.75
    assert score(hits([1, 0, 1, 1], [0, 0, 1, 1])) == pytest.approx(0.625)  # mean of two seeds


def test_an_interval_is_as_wide_as_the_formula_for_shares_says(rng):
    n, p = 400, 0.8
    row = rng.permutation(np.arange(n) < p * n)
    low, high = interval(hits(row), draws=DRAWS)
    half = 1.96 * np.sqrt(p * (1 - p) / n)
    assert low == pytest.approx(p - half, abs=0.1 * half)
    assert high == pytest.approx(p + half, abs=0.1 * half)


def test_resampling_draws_as_many_examples_as_there_are():
    drawn = resampled(7, draws=50)
    assert (drawn.sum(1) == 7).all()
    assert drawn.mean(0) == pytest.approx(np.ones(7), abs=0.6)
    assert not np.array_equal(drawn[0], drawn[1])


def test_the_p_of_two_models_is_that_of_the_exact_sign_test(rng):
    a = rng.random(300) < 0.85
    b = np.where(rng.random(300) < 0.15, ~a, a)
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    exact = stats.binomtest(only_a, only_a + only_b).pvalue  # McNemar's
    found = difference(hits(a), hits(b))
    assert found["difference"] == pytest.approx(a.mean() - b.mean())
    assert found["p"] == pytest.approx(exact, abs=0.02)


def test_a_model_does_not_differ_from_itself_and_a_much_better_one_does(rng):
    a, b = hits(rng.random(200) < 0.9), hits(rng.random(200) < 0.5)
    same = difference(a, a, draws=DRAWS)
    assert same == {"difference": 0.0, "interval": [0.0, 0.0], "p": 1.0}
    other = difference(a, b, draws=DRAWS)
    assert other["p"] < 0.01
    low, high = other["interval"]
    assert 0 < low < other["difference"] < high
    back = difference(b, a, draws=DRAWS)
    assert back["difference"] == pytest.approx(-other["difference"])
    assert back["interval"] == pytest.approx([-high, -low])


def test_where_nothing_differs_one_test_in_twenty_says_so(rng):
    found = [
        difference(hits(rng.random(80) < 0.7), hits(rng.random(80) < 0.7), seed=i, draws=300)["p"] < 0.05
        for i in range(200)
    ]
    assert 0.005 <= np.mean(found) <= 0.1


def test_an_example_goes_to_the_other_model_with_what_it_counts():
    """Of entities an example has its own weight: were hits exchanged alone, F1 would leave 0 to 1."""
    a = each_of([[(0.0, 1.0), (20.0, 20.0)]])
    b = each_of([[(0.0, 20.0), (0.0, 1.0)]])
    found = difference(a, b, draws=DRAWS)
    assert found["difference"] == pytest.approx(20 / 21)
    assert found["p"] == pytest.approx(1.0, abs=0.55)  # with two examples nothing can be shown
    assert -1 <= found["interval"][0] <= found["interval"][1] <= 1


def test_of_more_seeds_the_first_ones_are_compared():
    a, b = hits([1, 1, 0], [1, 1, 1]), hits([1, 0, 0])
    assert difference(a, b, draws=100)["difference"] == pytest.approx(1 / 3)


def test_examples_of_one_group_are_one_thing_to_draw(rng):
    row = (rng.random(100) < 0.7).astype(float)
    single = each_of([[(hit, 1.0) for hit in row]])
    tripled = each_of(
        [[(hit, 1.0) for hit in np.repeat(row, 3)]], groups=np.repeat(np.arange(100), 3).tolist()
    )
    assert score(tripled) == pytest.approx(score(single))
    assert interval(tripled, draws=DRAWS) == pytest.approx(
        interval(single, draws=DRAWS)
    )  # no surer by copies
    mixed = each_of([[(1, 1), (2, 4), (0, 2)]], groups=["a", "b", "a"])
    assert mixed.tolist() == [[[1, 3], [2, 4]]]
    with pytest.raises(ValueError, match="2 groups of 3 examples"):
        each_of([[(1, 1), (1, 1), (0, 1)]], groups=["a", "b"])


def test_seeds_that_differ_widen_an_interval(rng):
    row = rng.random(400) < 0.7
    alike, apart = hits(row, row, row), hits(row, row, np.zeros(400))
    low, high = interval(alike, draws=DRAWS)
    assert high - low < 0.1
    low, high = interval(apart, draws=DRAWS)
    assert low < 0.3  # all three draws may be the bad one, or none
    assert high > 0.65
    low, high = difference(apart, apart, draws=DRAWS)["interval"]
    assert low < -0.3 < 0.3 < high


def test_seeds_of_other_examples_are_refused():
    with pytest.raises(ValueError, match=r"\(2, 2\), \(3, 2\).*the same examples"):
        each_of([[(1, 1), (1, 1)], [(1, 1), (1, 1), (0, 1)]])


def test_calibration_by_hand():
    found = calibration([0.95, 0.85, 0.65, 0.65], [1, 0, 1, 0])
    assert found["bins"] == [[2, 0.65, 0.5], [1, 0.85, 0.0], [1, 0.95, 1.0]]
    assert found["error"] == pytest.approx((2 * 0.15 + 0.85 + 0.05) / 4, abs=1e-4)
    assert (found["confidence"], found["accuracy"]) == (0.775, 0.5)
    assert calibration([1.0, 1.0], [1, 1])["error"] == 0.0
    assert calibration([1.0, 1.0], [1, 0])["error"] == 0.5  # 1.0 is in the last bin


def test_who_is_right_as_often_as_sure_has_no_error(rng):
    sure = rng.uniform(0.5, 1, 20_000)
    assert calibration(sure, rng.random(20_000) < sure)["error"] < 0.02
    assert calibration(sure, rng.random(20_000) < 0.5)["error"] > 0.2


def test_two_orders():
    assert same_order([1, 2, 3, 4, 5, 6], [10, 20, 30, 40, 50, 60])["kendall"] == 1.0
    assert same_order([1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1])["spearman"] == -1.0
    one_pair = same_order([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 6, 5])
    assert one_pair["kendall"] == pytest.approx(13 / 15, abs=1e-3)


def test_what_is_told_is_rounded():
    assert told({"difference": 0.123456, "interval": [0.1, 0.23456], "p": 0.00010001}) == {
        "difference": 0.1235,
        "interval": [0.1, 0.2346],
        "p": 0.0001,
    }
