"""Arms are compared seed by seed and image by image."""

from __future__ import annotations

import pytest

import _transfer_table
from _transfer_table import (
    MARKS,
    best_rates,
    fives,
    gains,
    layers,
    paired,
    runs_of,
    speed,
    steps_to,
    told,
    tried,
)


def run(start, labels, n_right, rate=1.0, curve=(), n=20):
    return {
        "start": start,
        "labels": labels,
        "rate": rate,
        "curve": list(curve),
        "hits": "1" * n_right + "0" * (n - n_right),
    }


def rising(at):
    """A curve that reaches 85 % at a mark, and no more."""
    return [0.85 if mark >= at else 0.2 for mark in MARKS]


def test_the_best_rate_is_of_the_mean_and_of_equals_the_lowest():
    arms = [
        {"runs": [run("a", "2", 10, 1.0), run("a", "2", 14, 3.0), run("a", "10", 9, 3.0)]},
        {"runs": [run("a", "2", 16, 1.0), run("a", "2", 11, 3.0), run("a", "10", 9, 1.0)]},
    ]
    means = tried(arms)
    assert means["a"]["2"] == {1.0: pytest.approx(0.65), 3.0: pytest.approx(0.625)}
    assert best_rates(means) == {"a": {"2": 1.0, "10": 1.0}}


def test_only_runs_with_the_chosen_rate_count():
    rates = {"a": {"2": 1.0, "10": 3.0}}
    arms = [{"runs": [run("a", "1", 5, 1.0), run("a", "1", 6, 3.0), run("a", "20", 7, 3.0)]}]
    found = runs_of(arms, rates)
    assert {key: [row["rate"] for row in rows] for key, rows in found.items()} == {
        ("1", "a"): [1.0],
        ("20", "a"): [3.0],
    }


def test_a_difference_that_every_seed_has_is_surer_than_the_scores_are():
    rows = [[run("a", "1", right) for right in (4, 10, 16)], [run("b", "1", right) for right in (6, 12, 18)]]
    a, b = (_transfer_table.hits_of(own) for own in rows)
    assert paired(a, a) == {"difference": 0, "interval": [0, 0]}
    found = paired(b, a)
    assert found["difference"] == pytest.approx(0.1)
    (low, high), (lowest, highest) = found["interval"], told(rows[0])["interval"]
    assert high - low < (highest - lowest) / 2


def test_steps_are_counted_to_the_first_mark():
    assert steps_to(0.8, rising(11)) == 11
    assert steps_to(0.9, rising(11)) is None


def test_an_arm_tells_each_seed():
    found = told([run("a", "1", right, curve=rising(at)) for right, at in ((10, 8), (20, 64))])
    assert found["accuracy"] == 0.75
    assert found["seeds"] == [0.5, 1.0]
    assert found["steps"] == {"0.8": [8, 64], "0.9": [None, None]}
    assert found["curve"][MARKS.index(8)] == pytest.approx((0.85 + 0.2) / 2)


def test_speed_is_a_ratio_within_seeds_and_who_never_arrives_counts_as_at_the_last_mark():
    runs = {
        ("1", "scratch"): [run("scratch", "1", 1, curve=rising(at)) for at in (16, 64, 200)],
        ("1", "A"): [run("A", "1", 1, curve=rising(at)) for at in (4, 16, 32)],
        ("1", "pixels"): [run("pixels", "1", 1)],
    }
    found = speed(runs, "1", 0.8)
    assert found["A"]["times"] == 4
    assert found["A"]["interval"] == [4, 4]
    assert found["A"]["median"] == 16
    assert found["scratch"]["reached"] == 2
    assert set(found) == {"scratch", "A"}
    assert speed(runs, "1", 0.9)["A"] == {"reached": 0, "median": None, "times": 1.0, "interval": [1, 1]}


def test_a_gain_is_compared_with_the_gain_at_all_labels():
    runs = {
        ("1", "A 4 trained"): [run("A 4 trained", "1", 14)] * 2,
        ("1", "scratch"): [run("scratch", "1", 8)] * 2,
        ("all", "A 4 trained"): [run("A 4 trained", "all", 20)] * 2,
        ("all", "scratch"): [run("scratch", "all", 19)] * 2,
    }
    (found,) = gains(runs).values()
    assert found["1"]["difference"] == pytest.approx(0.3)
    assert found["1"]["more_than_at_all"]["difference"] == pytest.approx(0.25)
    assert "more_than_at_all" not in found["all"]


def test_a_gap_that_grows_with_the_layers_is_compared_with_that_of_one_layer():
    runs = {("10", "scratch"): [run("scratch", "10", 10)] * 2}
    for n, right in zip((1, 2, 3, 4), (18, 16, 12, 9), strict=True):
        runs["10", f"A {n} frozen"] = [run(f"A {n} frozen", "10", right)] * 2
        runs["10", f"B {n} frozen"] = [run(f"B {n} frozen", "10", 18)] * 2
    found = layers(runs)["10"]
    assert set(found) == {"A n frozen - scratch", "B n frozen - scratch", "B n frozen - A n frozen"}
    gap = found["B n frozen - A n frozen"]
    assert [one["difference"] for one in gap] == pytest.approx([0, 0.1, 0.3, 0.45])
    assert [one["more_than_first"]["difference"] for one in gap] == pytest.approx([0, 0.1, 0.3, 0.45])


def test_fives_are_compared_five_by_five_though_their_images_differ(monkeypatch):
    monkeypatch.setattr(_transfer_table, "SOME_LABELS", ("2",))
    rates = {start: {"2": 1.0} for start in ("scratch", "A 4 frozen")}
    arms = [
        {"five": "01234", "runs": [run("scratch", "2", 10), run("A 4 frozen", "2", 15)]},
        {"five": "13579", "runs": [run("scratch", "2", 10, n=40), run("A 4 frozen", "2", 20, n=40)]},
    ]
    found = fives(arms, rates)
    assert found["fives"] == ["01234", "13579"]
    assert found["arms"]["2"] == {"scratch": [0.5, 0.25], "A 4 frozen": [0.75, 0.5]}
    assert found["gains"]["A 4 frozen - scratch"]["2"] == {"difference": 0.25, "interval": [0.25, 0.25]}
