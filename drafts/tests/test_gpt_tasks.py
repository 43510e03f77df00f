"""Fine-tuning of a GPT: rates by validation, λ alone varied, the same examples for all."""

from __future__ import annotations

import gpt_tasks
import numpy as np
import pytest
import torch
from gpt_tasks import (
    BERT,
    KINDS,
    NEW,
    SEEDS,
    TASKS,
    WITH,
    WITHOUT,
    plan,
    rates_of,
    summary,
    train_and_test,
    tries,
)

import _fine_tuned
from _fine_tuned import Recipe
from bertlab.nn import GPT, GPTConfig
from tests.experiments.small_tasks import small_parts, stand_in
from tests.tasks.learnable import TOKENIZER


def test_the_rate_is_chosen_by_val_in_each_task_and_the_second_loss_changes_nothing_else():
    rows = [
        {**arm, "val": {"accuracy": 0.9 if arm["rate"] == (3e-4 if arm["task"] == "sst2" else 1e-4) else 0.5}}
        for arm in tries()
    ]
    rates = rates_of(rows)
    assert rates[WITH] == rates[WITHOUT] == {"sst2": 3e-4, "nli-wikipedia": 1e-4}
    for row in rows:
        row["val"]["accuracy"] = 0.5
    assert rates_of(rows)[WITH] == {"sst2": 1e-4, "nli-wikipedia": 1e-4}


def test_all_seeds_of_all_models_are_planned_and_the_tries_among_them_are_not_trained_again():
    rates = {model: dict.fromkeys(TASKS, 1e-4) for model in KINDS}
    arms = plan(rates)
    assert len(arms) == len(KINDS) * len(TASKS) * len(SEEDS)
    assert [arm["seed"] for arm in arms] == sorted(arm["seed"] for arm in arms)
    assert sum(arm in arms for arm in tries()) == 2


def row(model, task, seed, each):
    return {
        "model": model,
        "task": task,
        "seed": seed,
        "each": each,
        "test": {"accuracy": np.mean(each, 0)[0]},
    }


def test_a_summary_compares_on_the_same_examples(monkeypatch):
    monkeypatch.setattr(gpt_tasks, "groups_of", lambda task: None)
    good, bad = [[1.0, 1.0]] * 60, [[1.0, 1.0]] * 20 + [[0.0, 1.0]] * 40
    rows = [row(m, t, s, bad if m == NEW else good) for m in (*KINDS, BERT) for t in TASKS for s in SEEDS]
    plain = {task: {"TF-IDF": row("", task, 0, bad)} for task in TASKS}
    found = summary(rows, plain)["sst2"]
    assert found["models"][WITH]["mean"] == 1.0
    apart = {one["b"]: one for one in found["compared"]}
    assert apart[NEW]["difference"] == apart["TF-IDF"]["difference"] == pytest.approx(2 / 3, abs=1e-3)
    assert apart[NEW]["p"] < 0.01
    assert apart[WITHOUT]["difference"] == apart[BERT]["difference"] == 0


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("model", KINDS)
def test_an_arm_is_trained_and_looked_at(task, model, monkeypatch, tmp_path):
    def small_trunk(trained, seed):
        torch.manual_seed(seed)
        sizes = {"d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 32, "max_positions": 128}
        return GPT(GPTConfig(vocab_size=len(TOKENIZER.vocab), **sizes)), TOKENIZER

    stand_in(monkeypatch, _fine_tuned)
    monkeypatch.setattr(gpt_tasks, "parts_of", small_parts)
    monkeypatch.setattr(gpt_tasks, "trunk", small_trunk)
    monkeypatch.setitem(gpt_tasks.RECIPES, task, Recipe(2, 8, task))
    found = train_and_test({"model": model, "task": task, "rate": 1e-3, "seed": 0}, tmp_path)
    assert len(found["epochs"]) == 2
    assert len(found["each"]) == 24
    assert found["val"].keys() == found["test"].keys()
