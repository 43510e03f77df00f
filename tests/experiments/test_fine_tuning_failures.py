"""A failure is told from a success by the last epoch, not by the best one."""

from __future__ import annotations

import pytest

import _fine_tuned
import fine_tuning_failures
from fine_tuning_failures import (
    EPOCHS,
    FAILED,
    KEPT_ON,
    LONGER,
    RATES,
    SETTINGS,
    Last,
    compared,
    failed,
    gradient_lengths,
    train_and_test,
)
from tests.experiments.small_tasks import small_encoder, stand_in


@pytest.fixture(autouse=True)
def small(monkeypatch):
    stand_in(monkeypatch, _fine_tuned, fine_tuning_failures, sizes={"train": 40, "val": 10, "test": 60})
    monkeypatch.setattr(fine_tuning_failures, "EXAMPLES", 32)
    monkeypatch.setattr(fine_tuning_failures, "BATCH", 8)


def some_task():
    return fine_tuning_failures.part_of_task(small_encoder("bert-6l", 0)[1])


@pytest.mark.parametrize("name", SETTINGS)
def test_an_arm_tells_how_it_ended(name, tmp_path):
    found = train_and_test({"settings": name, "rate": 1e-3, "epochs": 3, "seed": 0}, tmp_path)
    assert found["accuracy"] == found["epochs_accuracy"][-1]
    assert len(found["epochs_accuracy"]) == 3
    assert 0.5 <= found["favourite"] <= 1
    assert list(found["gradients_before"]) == ["embeddings", "layer 1", "layer 2", "head"]
    assert len(found["losses"]) <= fine_tuning_failures.CURVE
    for when, ratio in found["first_to_head"].items():
        lengths = found[f"gradients_{when}"]
        assert ratio == pytest.approx(lengths["layer 1"] / lengths["head"], rel=0.01)
    assert found["first_to_head"]["before"] != found["first_to_head"]["after"]


def test_the_last_epoch_is_kept_be_it_worse():
    class Falling:
        batch = fingerprint = None

        def __init__(self):
            self.told = iter([0.9, 0.2])

        def scores(self, model, part):
            return {"accuracy": next(self.told)}

    watched = Last(Falling())
    first, second = (watched.scores(None, "val") for _ in range(2))
    assert second[Last.best_by] > first[Last.best_by]
    assert [row["accuracy"] for row in watched.seen] == [0.9, 0.2]


def test_settings_change_what_they_name():
    assert {correction for correction, _ in SETTINGS.values()} == {True, False}
    assert {warm_up for _, warm_up in SETTINGS.values()} == {0.0, fine_tuning_failures.WARM_UP}
    assert len(set(SETTINGS.values())) == 4


def test_no_better_than_always_the_same_is_failed():
    assert failed({"accuracy": 0.5 + FAILED, "most_frequent": 0.5})
    assert not failed({"accuracy": 0.51 + FAILED, "most_frequent": 0.5})


def test_a_gradient_is_as_long_as_the_numbers_of_its_part():
    task, (bert, _) = some_task(), small_encoder("bert-6l", 0)
    model = _fine_tuned.head_of(task, bert)
    found = gradient_lengths(model, task)
    assert all(parameter.grad is None for parameter in model.parameters())
    batch, _ = task.batch(model, list(range(32)))
    model.loss(*batch).backward()
    wanted = sum(float(p.grad.norm() ** 2) for p in model.classifier.parameters()) ** 0.5
    assert found["head"] == pytest.approx(wanted, rel=0.01)


def some_rows(fails):
    """All arms, of which those fail that `fails` names."""
    arms = [(name, rate, EPOCHS) for rate in RATES for name in SETTINGS]
    arms += [(name, RATES[-1], LONGER) for name in KEPT_ON]
    return [
        {"settings": name, "rate": rate, "epochs": epochs, "failed": fails(name, rate, epochs, seed)}
        for name, rate, epochs in arms
        for seed in range(6)
    ]


def test_a_remedy_is_judged_over_both_settings_of_the_other_one():
    rows = some_rows(lambda name, rate, epochs, seed: name in ("neither", "no correction") and epochs < 9)
    found = {(one["what"], one["rate"]): one for one in compared(rows)}
    for rate in RATES:
        assert found["correction", rate]["without"] == [12, 12]
        assert found["correction", rate]["with"] == [0, 12]
        assert found["correction", rate]["p"] < 0.001
        assert found["warm-up", rate]["without"] == found["warm-up", rate]["with"] == [6, 12]
        assert found["warm-up", rate]["p"] == 1
    assert found["longer, neither", RATES[-1]] == {
        "what": "longer, neither",
        "rate": RATES[-1],
        "epochs": [EPOCHS, LONGER],
        "without": [6, 6],
        "with": [0, 6],
        "p": 0.0022,
    }
    assert found["longer, both", RATES[-1]]["p"] == 1


def test_longer_runs_tell_length_and_setting_apart():
    rows = some_rows(lambda name, rate, epochs, seed: (name, epochs) == ("neither", LONGER) and seed < 5)
    found = {one["what"]: one for one in compared(rows)}
    assert found["both instead of neither"]["without"] == [5, 6]
    assert found["both instead of neither"]["with"] == [0, 6]
    assert found["both instead of neither"]["p"] < 0.05
    assert found["longer, neither"]["with"] == [5, 6]
    assert len(compared(rows)) == 7
