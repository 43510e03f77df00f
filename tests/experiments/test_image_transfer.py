"""Rates are chosen where nothing is reported; every number has its rivals."""

from __future__ import annotations

import json

import pytest

import _five_digits
import _transfer_table
import image_transfer
from _five_digits import DEPTH, NEIGHBOUR, REGRESSION, SCRATCH, Start, all_digits, rates_of
from _transfer_table import LABELS, LAYERS_AT, PAIRS, SOME_LABELS, TUNED_AT, best_rates, summary, tried
from image_transfer import ARMS, FIVE, FROZEN, NEW, SEEDS, TRAINED, TUNING, measure, other_fives, plan

STARTS = {start for starts in ARMS.values() for start in starts}
RATES = {str(start): dict.fromkeys(SOME_LABELS, rates_of(start)[0]) for start in STARTS}


def test_rates_are_chosen_by_seeds_that_are_not_reported():
    assert not set(TUNING) & set(SEEDS)
    assert TUNED_AT.keys() == set(LABELS)
    assert set(TUNED_AT.values()) == set(SOME_LABELS)


def test_every_arm_that_is_reported_has_a_rate_chosen_for_it():
    chosen = {(start, labels) for start, labels, _ in plan("val", {})}
    for kind in ("headline", "fives"):
        assert {(start, TUNED_AT[labels]) for start, labels, _ in plan(kind, RATES)} <= chosen
    assert len(plan("val", {})) == sum(len(rates_of(start)) for start, _ in chosen)


def test_every_number_of_labels_has_its_rivals():
    for labels in LABELS:
        assert {SCRATCH, FROZEN, TRAINED, NEW, Start("lot", DEPTH, True), REGRESSION, NEIGHBOUR} <= {
            *ARMS[labels]
        }
    for labels in LAYERS_AT:
        for n in range(1, DEPTH + 1):
            frozen = {Start(source, n, True) for source in ("A", "B", "new")}
            assert frozen | {Start("A", n)} <= {*ARMS[labels]}
    assert {name for pair in PAIRS for name in pair} <= {str(start) for start in STARTS}


def test_no_arm_is_measured_twice_and_scratch_has_every_rate():
    runs = plan("headline", RATES)
    assert len(set(runs)) == len(runs)
    for labels in LAYERS_AT:
        assert {rate for start, at, rate in runs if (start, at) == (SCRATCH, labels)} == {*rates_of(SCRATCH)}


def test_other_fives_differ():
    found = other_fives()
    assert len({*found, FIVE}) == len(found) + 1 == 11
    assert all(len(set(five)) == 5 for five in found)


@pytest.fixture
def small(monkeypatch):
    for module in (_five_digits, _transfer_table):
        monkeypatch.setattr(module, "MARKS", (1, 2))
    monkeypatch.setattr(_five_digits, "SOURCE_STEPS", {"A": 1, "lot": 1, "B": 1})
    monkeypatch.setattr(_transfer_table, "DRAWS", 20)


def test_who_chooses_rates_sees_no_test_image(small, monkeypatch, tmp_path):
    monkeypatch.setattr(
        image_transfer, "plan", lambda kind, rates: [(SCRATCH, "2", 1e-2), (TRAINED, "2", 1e-2)]
    )
    found = measure({"kind": "val", "five": FIVE, "seed": 0}, tmp_path)
    n = sum(digit >= 5 for digit in all_digits()[1][1000:1200])
    assert [len(run["hits"]) for run in found["runs"]] == [n, n]


def test_all_arms_together_make_a_record(small, tmp_path):
    tuning = [measure({"kind": "val", "five": FIVE, "seed": 0}, tmp_path)]
    rates = best_rates(tried(tuning))
    arms = [measure({"kind": "headline", "five": FIVE, "seed": 0}, tmp_path, rates)]
    others = [
        {"five": five} | measure({"kind": "fives", "five": five, "seed": 0}, tmp_path, rates)
        for five in other_fives()[:2]
    ]
    found = json.loads(json.dumps(summary(tuning, arms, others)))
    assert {labels: set(own) for labels, own in found["arms"].items()} == {
        labels: {str(start) for start in starts} for labels, starts in ARMS.items()
    }
    assert set(found["sources"]) == {"A", "lot", "B"}
    assert set(found["gains"]) == {" - ".join(pair) for pair in PAIRS}
    assert len(found["layers"]["all"]["B n trained - A n trained"]) == DEPTH
    assert "B n trained - scratch" not in found["layers"]["10"]
    assert found["speed"]["5"]["0.8"]["scratch"]["times"] == 1
    assert len(found["scratch_at_every_rate"]["10"]) == len(rates_of(SCRATCH))
    assert set(found["other_fives"]["gains"]["A 4 trained - scratch"]) == set(SOME_LABELS)
