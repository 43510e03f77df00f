"""Four tasks on real data: random weights, our checkpoints, a published encoder; plain methods beside each.

Sentiment (sst2), a premise and its hypothesis (nli-wikipedia, no premise in two parts), names (wikigold,
wnut17), answers in passages (xquad, no article in two parts). All weights are trained, by one recipe for
each task. The learning rate of a model is chosen of two or three, with the first seed, by validation parts
alone: in each task for itself, but xquad takes that of wikigold. Small new weights are also trained four
times as long on both tasks of [CLS]: do they fail for want of steps?

Intervals are over test examples and seeds; examples that share a premise or a passage are drawn together.
Models are compared on the same examples, and with one plain method, named beforehand for each task.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch

from _comparison import Each, difference, each_of, interval, told
from _fine_tuned import (
    BF16,
    LENGTH,
    MODELS,
    RATES,
    RECIPES,
    STEP,
    encoder,
    groups_of,
    head_of,
    judge,
    task_of,
)
from _plain_baselines import baselines
from bertlab.tasks.finetune import FineTuning, described, fine_tune
from bertlab.training import run_arms, save_result
from bertlab.training.memory import keep_freed_memory

NAME = "four_tasks"
QUESTION = "What does pre-training add on four tasks, and where do plain methods stand?"
N_SEEDS = {name: 2 if name == "random 6l" else 3 for name in MODELS}  # the dearest and least interesting: two
MAIN = {task: "accuracy" if task in ("sst2", "nli-wikipedia") else "f1" for task in RECIPES}
COMPARED = (
    ("bert-mini", "random mini"),
    ("bert-6l", "random 6l"),
    ("all-MiniLM-L6-v2", "random 6l"),
    ("bert-6l", "bert-mini"),
    ("all-MiniLM-L6-v2", "bert-6l"),
)
PLAIN = {
    "sst2": "TF-IDF",
    "nli-wikipedia": "TF-IDF",
    "wikigold": "conditional random field",
    "wnut17": "conditional random field",
    "xquad": "longest new span of the best sentence",
}
AGAINST_PLAIN = ("random mini", "bert-mini", "bert-6l", "all-MiniLM-L6-v2")
LONGER = [  # of new weights
    {"model": "random mini", "task": task, "rate": 1e-4, "seed": 0, "n_epochs": 8}
    for task in ("sst2", "nli-wikipedia")
]
WITH_MISTAKES = ("bert-6l", "all-MiniLM-L6-v2")  # of the first seed
Row = dict[str, Any]


def train_and_test(arm: Row, path: Path) -> Row:
    """Fine-tune one model, and look at the test part."""
    keep_freed_memory()
    bert, tokenizer = encoder(arm["model"], arm["seed"])
    task, recipe = task_of(arm["task"], tokenizer), RECIPES[arm["task"]]
    torch.manual_seed(arm["seed"])
    model = head_of(task, bert)
    settings = FineTuning(
        epochs=arm.get("n_epochs", recipe.epochs),
        batch_size=recipe.batch_size,
        rate=arm["rate"],
        bf16=BF16,
        seed=arm["seed"],
    )
    tuned = fine_tune(model, task, settings)
    val = {name: round(value, 4) for name, value in tuned.scores.items()}
    return {"val": val, **described(tuned), **judge(task, model, arm["task"])}


def rates_of(tries: list[Row]) -> dict[str, dict[str, float]]:
    """Choose the rate of each model on the tasks where it was tried; of equals the first."""
    chosen: dict[str, dict[str, Row]] = {}
    for row in tries:
        by, of_model = MAIN[row["task"]], chosen.setdefault(row["model"], {})
        best = of_model.get(row["task"])
        if best is None or row["val"][by] > best["val"][by]:
            of_model[row["task"]] = row
    return {model: {task: row["rate"] for task, row in rows.items()} for model, rows in chosen.items()}


def plan(rates: dict[str, dict[str, float]], seeds: int) -> list[Row]:
    """List all arms, the first seed of everything first."""
    return [
        {"model": model, "task": task, "rate": rates[model][RECIPES[task].rate_of], "seed": seed}
        for seed in range(seeds)
        for task in RECIPES
        for model in MODELS
        if seed < N_SEEDS[model]
    ]


def summary(rows: list[Row], plain: dict[str, dict[str, Row]]) -> dict[str, Any]:
    """Put scores, intervals and comparisons of each task together."""
    found = {}
    for task in dict.fromkeys(row["task"] for row in rows):
        models = {model: [r for r in rows if (r["task"], r["model"]) == (task, model)] for model in MODELS}
        groups = groups_of(task)
        each = {model: each_of([row["each"] for row in own], groups) for model, own in models.items()}
        others = {name: each_of([row["each"]], groups) for name, row in plain[task].items()}
        found[task] = {
            "measure": MAIN[task],
            "plain_method": PLAIN[task],
            "models": {model: _scores(own, each[model]) for model, own in models.items()},
            "plain": {name: _scores([row], others[name]) for name, row in plain[task].items()},
            "compared": _compared(each, PLAIN[task], others[PLAIN[task]]),
        }
    return found


def _scores(rows: list[Row], each: Each) -> Row:
    """Mean over seeds, each seed, and the interval of the main score."""
    names = rows[0]["test"]
    return {
        "mean": {name: round(float(np.mean([row["test"][name] for row in rows])), 4) for name in names},
        "seeds": [row["test"] for row in rows],
        "interval": [round(end, 4) for end in interval(each)],
        "core_seconds": round(float(np.mean([row.get("seconds", 0.0) for row in rows])), 1),
    }


def _compared(each: dict[str, Each], plain: str, of_plain: Each) -> list[Row]:
    pairs = [(a, b, each[a], each[b]) for a, b in COMPARED]
    pairs += [(a, plain, each[a], np.repeat(of_plain, len(each[a]), axis=0)) for a in AGAINST_PLAIN]
    return [{"a": a, "b": b, **told(difference(ours, theirs))} for a, b, ours, theirs in pairs]


def kept(row: Row) -> Row:
    """Leave out of a row what is too long for a record: what each example brings, and most mistakes."""
    out = {"each", "exact"}
    if row["model"] not in WITH_MISTAKES or row["seed"] or row["task"] == "sst2":  # whose text has no licence
        out.add("mistakes")
    return {name: value for name, value in row.items() if name not in out}


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    parser.add_argument("--seeds", type=int, default=3, help="at most (default: 3)")
    chosen = parser.parse_args()
    tried: list[Row] = [
        {"model": model, "task": task, "rate": rate, "seed": 0}
        for task in dict.fromkeys(RECIPES[task].rate_of for task in RECIPES)
        for model in MODELS
        for rate in RATES[model]
    ]
    tries = run_arms(NAME, tried, train_and_test, chosen.workers)
    rates = rates_of(tries)
    rows = run_arms(NAME, plan(rates, chosen.seeds), train_and_test, chosen.workers)
    longer = run_arms(NAME, LONGER, train_and_test, chosen.workers)
    plain = {task: baselines(task) for task in RECIPES}
    results = {
        "settings": {
            "recipes": {task: recipe._asdict() for task, recipe in RECIPES.items()},
            "rates_tried": RATES,
            "length": LENGTH,
            "step": STEP,
            "bf16": BF16,
        },
        "rates": rates,
        "tries": [{name: row[name] for name in ("model", "task", "rate", "val")} for row in tries],
        "longer": [
            {name: row[name] for name in ("model", "task", "rate", "n_epochs", "val", "test")}
            for row in longer
        ],
        "tasks": summary(rows, plain),
        "arms": [kept(row) for row in rows],
    }
    every = {(row["model"], row["task"], row["rate"], row["seed"]): row["seconds"] for row in tries + rows}
    save_result(NAME, QUESTION, results, seconds=sum([*every.values(), *(row["seconds"] for row in longer)]))


if __name__ == "__main__":
    main()
