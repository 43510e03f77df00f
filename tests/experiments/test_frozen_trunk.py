"""Heads of several seeds share what was read, and nothing else."""

from __future__ import annotations

import pytest
import torch

import _fine_tuned
import frozen_trunk
from _fine_tuned import task_of
from bertlab.nn import BertModel
from frozen_trunk import ARMS, EPOCHS, RATES, SEEDS, by_mean, head_on, train_and_test
from tests.experiments.small_tasks import small_encoder, small_parts, stand_in


@pytest.fixture(autouse=True)
def small(monkeypatch):
    stand_in(monkeypatch, _fine_tuned, frozen_trunk)
    for task in EPOCHS:
        monkeypatch.setitem(EPOCHS, task, 2)


@pytest.mark.parametrize("task", EPOCHS)
def test_an_arm_has_all_seeds_and_they_differ(task, tmp_path):
    found = train_and_test({"model": "bert-mini", "task": task}, tmp_path)
    assert len(found["seeds"]) == len(found["best_epochs"]) == len(SEEDS)
    assert found["last_is_best"] == [epoch == EPOCHS[task] for epoch in found["best_epochs"]]
    low, high = found["interval"]
    assert 0 <= low <= high <= 1
    assert [one["rate"] for one in found["tries"]] == list(RATES)
    best = max(found["tries"], key=lambda one: one["val"])
    assert found["rate"] == best["rate"]
    assert found["best_epochs"][0] == best["best_epoch"]
    mean = found["mean_of_pieces"]
    if task not in ("sst2", "nli-wikipedia"):
        assert mean is None
        return
    assert mean["interval"][0] <= mean["test"]["accuracy"] <= mean["interval"][1]


def test_a_rule_of_single_words_is_read_from_the_mean_of_pieces(monkeypatch):
    stand_in(monkeypatch, _fine_tuned, frozen_trunk, sizes={"train": 300, "val": 60, "test": 60})
    bert, tokenizer = small_encoder("bert-mini", 0)
    found = by_mean(bert, task_of("sst2", tokenizer), "sst2", {})
    assert found["test"]["accuracy"] > 0.85
    assert found["test"]["macro_f1"] == pytest.approx(found["test"]["accuracy"], abs=0.05)


def test_everything_is_read_once_for_all_heads_and_the_trunk_stays_as_it_was(monkeypatch):
    bert, tokenizer = small_encoder("bert-mini", 0)
    task, kept, read = task_of("sst2", tokenizer), {}, []
    before = {name: value.clone() for name, value in bert.state_dict().items()}
    usual = BertModel.forward
    monkeypatch.setattr(
        BertModel, "forward", lambda self, ids, *o: read.append(len(ids)) or usual(self, ids, *o)
    )
    by_mean(bert, task, "sst2", kept)
    results = [head_on(bert, task, "sst2", kept, 3, 1e-2, seed) for seed in (0, 1, 0)]
    n = sum(len(part) for part in small_parts("sst2")[0].values())
    assert sum(read) == len(kept) <= n  # the heads had nothing left to read
    losses = [tuned.losses for tuned, _, _ in results]
    assert losses[0] == losses[2] != losses[1]  # a seed begins anew, the pooler too
    assert all(torch.equal(value, before[name]) for name, value in bert.state_dict().items())


def test_all_tasks_of_the_main_table_are_there_but_the_second_one_with_names():
    assert {task for _, task in ARMS} == {"sst2", "nli-wikipedia", "wikigold", "xquad"}
