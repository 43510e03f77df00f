"""The main table: rates are chosen by validation parts, everything is compared on the same examples."""

from __future__ import annotations

import pytest

import _fine_tuned
import _plain_baselines
import four_tasks
from _fine_tuned import MODELS, RATES, RECIPES, Recipe
from four_tasks import MAIN, N_SEEDS, kept, plan, rates_of, summary, train_and_test
from tests.experiments.small_tasks import stand_in


def row(model, task, rate=1e-4, seed=0, val=0.5, each=((1, 1), (0, 1))):
    main = MAIN[task]
    scores = {main: sum(a for a, _ in each) / sum(b for _, b in each)}
    return {
        "model": model,
        "task": task,
        "rate": rate,
        "seed": seed,
        "val": {main: val},
        "test": scores,
        "each": [list(map(float, pair)) for pair in each],
        "mistakes": ["some"],
        "seconds": 2.0,
    }


def test_the_rate_is_chosen_by_val_for_each_model_and_of_equals_the_first():
    tries = [
        row(model, task, rate, val=val, each=[(1 - val, 1)])
        for model, task, vals in (
            ("bert-6l", "sst2", (0.6, 0.7, 0.8)),
            ("bert-6l", "wikigold", (0.5, 0.6, 0.6)),
            ("bert-mini", "sst2", (0.9, 0.8, 0.9)),
        )
        for rate, val in zip(RATES[model], vals, strict=True)
    ]
    assert rates_of(tries) == {
        "bert-6l": {"sst2": 3e-4, "wikigold": 1e-4},
        "bert-mini": {"sst2": 1e-4},
    }


def test_every_model_is_trained_for_every_task_with_all_its_seeds_the_first_ones_first():
    rates = {
        model: {"sst2": 1e-4, "nli-wikipedia": 1e-4, "wikigold": 3e-4, "wnut17": 3e-4} for model in MODELS
    }
    arms = plan(rates, 3)
    assert [arm["seed"] for arm in arms] == sorted(arm["seed"] for arm in arms)
    for task in RECIPES:
        for model in MODELS:
            own = [arm for arm in arms if (arm["task"], arm["model"]) == (task, model)]
            assert len(own) == N_SEEDS[model]
            assert {arm["rate"] for arm in own} == {3e-4 if MAIN[task] == "f1" else 1e-4}
    assert len(plan(rates, 1)) == len(MODELS) * len(RECIPES)


def test_a_summary_has_means_spread_and_comparisons_with_the_plain_method_named_beforehand():
    good, bad = [(1, 1)] * 60, [(1, 1)] * 20 + [(0, 1)] * 40
    rows = [
        row(model, "sst2", seed=seed, each=bad if model.startswith("random") else good)
        for model in MODELS
        for seed in range(N_SEEDS[model])
    ]
    plain = {"sst2": {"guess": row("", "sst2", each=bad), "TF-IDF": row("", "sst2", each=good)}}
    found = summary(rows, plain)["sst2"]
    assert found["models"]["bert-6l"]["mean"] == {"accuracy": 1.0}
    assert len(found["models"]["random 6l"]["seeds"]) == 2
    low, high = found["models"]["random mini"]["interval"]
    assert low < 1 / 3 < high
    by_pair = {(one["a"], one["b"]): one for one in found["compared"]}
    assert by_pair["bert-6l", "random 6l"]["p"] < 0.01
    assert by_pair["all-MiniLM-L6-v2", "bert-6l"]["difference"] == 0
    assert by_pair["random mini", "TF-IDF"]["difference"] == pytest.approx(-2 / 3, abs=1e-3)


def test_a_plain_method_that_is_better_by_test_is_not_compared_for_that():
    rows = [row(model, "sst2", seed=seed) for model in MODELS for seed in range(N_SEEDS[model])]
    plain = {"sst2": {"guess": row("", "sst2", each=[(1, 1), (1, 1)]), "TF-IDF": row("", "sst2")}}
    found = summary(rows, plain)["sst2"]
    assert found["plain_method"] == "TF-IDF"
    assert {one["b"] for one in found["compared"] if one["b"] not in MODELS} == {"TF-IDF"}


def test_a_record_keeps_no_single_examples_and_mistakes_of_two_models_alone():
    assert "mistakes" in kept(row("bert-6l", "wikigold"))
    for one in (row("bert-6l", "wikigold", seed=1), row("bert-mini", "wikigold"), row("bert-6l", "sst2")):
        assert "mistakes" not in kept(one)
    assert "each" not in kept(row("bert-6l", "wikigold"))
    assert kept(row("bert-6l", "wikigold"))["test"]


@pytest.mark.parametrize("task", RECIPES)
def test_an_arm_is_trained_and_looked_at(task, monkeypatch, tmp_path):
    stand_in(monkeypatch, _fine_tuned, _plain_baselines, four_tasks)
    monkeypatch.setitem(four_tasks.RECIPES, task, Recipe(2, 8, "sst2"))
    found = train_and_test({"model": "bert-mini", "task": task, "rate": 1e-3, "seed": 0}, tmp_path)
    assert len(found["epochs"]) == 2
    assert found["val"].keys() == found["test"].keys()
    assert found["each"]
    assert MAIN[task] in found["test"]
    longer = train_and_test(
        {"model": "bert-mini", "task": task, "rate": 1e-3, "seed": 0, "n_epochs": 3}, tmp_path
    )
    assert len(longer["epochs"]) == 3
