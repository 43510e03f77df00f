"""Pre-train, then fine-tune, as GPT-1 did: what each half brings, and what the second loss beside it.

Sentiment (sst2), and a premise with its hypothesis (nli-wikipedia, no premise in two parts). The input says
what the task is: start, text, extract; or start, premise, delimiter, hypothesis, extract. The extract token,
the only one that has seen everything, is classified. Arms: GPT-mini with the language model's loss beside
(λ = 0.5, as the paper), GPT-mini without it (λ = 0), and the same sizes with new weights. Beside them
BERT-mini, by `four_tasks`' own arms, the most frequent class, and TF-IDF with logistic regression.

Decided before the run: epochs, batches and parts are those of `four_tasks`. GPT-mini's rate is chosen of two,
with the first seed, by the validation part, in each task for itself, with λ = 0, which is cheaper; with
λ = 0.5 it has the same one, so that one thing varies. New weights have λ = 0, and the rate that `four_tasks`
has chosen for a BERT of these sizes with new weights. Three seeds each; intervals are over test examples and
seeds, examples that share a premise are drawn together.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import four_tasks
from _comparison import Each, difference, each_of, interval, told
from _fine_tuned import BF16, DROPOUT, LENGTH, RECIPES, chosen_rate, groups_of, judge, parts_of
from _plain_baselines import baselines
from bertlab.interop import load_gpt
from bertlab.nn import GPT
from bertlab.tasks.finetune import FineTuning, described, fine_tune
from bertlab.tasks.gpt_heads import GPTForClassification
from bertlab.tasks.task import Classification
from bertlab.text import BytePair, WordPiece
from bertlab.training import run_arms, save_result
from bertlab.training.memory import keep_freed_memory

NAME = "gpt_tasks"
QUESTION = "What do pre-training and the language model's loss add when a GPT is fine-tuned?"
TASKS, SEEDS, RATES = ("sst2", "nli-wikipedia"), (0, 1, 2), (1e-4, 3e-4)
WITH, WITHOUT, NEW, BERT = "gpt-mini", "gpt-mini, λ = 0", "new weights", "bert-mini"
KINDS = {WITH: (True, 0.5), WITHOUT: (True, 0.0), NEW: (False, 0.0)}  # trained weights? λ
COMPARED = ((WITH, NEW), (WITH, WITHOUT), (WITH, BERT))
PLAIN = "TF-IDF"
Row = dict[str, Any]


def trunk(trained: bool, seed: int) -> tuple[GPT, BytePair | WordPiece]:
    """Load GPT-mini, or make one of its sizes with new weights; both with the dropout of fine-tuning."""
    loaded, tokenizer = load_gpt("gpt-mini")
    torch.manual_seed(seed)
    gpt = GPT(replace(loaded.config, dropout=DROPOUT, attention_dropout=DROPOUT))
    if trained:
        gpt.load_state_dict(loaded.state_dict())
    return gpt, tokenizer


def train_and_test(arm: Row, path: Path) -> Row:
    """Fine-tune one model, and look at the test part."""
    keep_freed_memory()
    trained, lm_weight = KINDS[arm["model"]]
    gpt, tokenizer = trunk(trained, arm["seed"])
    model = GPTForClassification(gpt, len(parts_of(arm["task"])[1]), DROPOUT, lm_weight)
    parts, labels = parts_of(arm["task"])
    task, recipe = Classification(parts, labels, tokenizer, LENGTH, marks=model.marks), RECIPES[arm["task"]]
    settings = FineTuning(
        epochs=recipe.epochs, batch_size=recipe.batch_size, rate=arm["rate"], bf16=BF16, seed=arm["seed"]
    )
    tuned = fine_tune(model, task, settings)
    looked = judge(task, model, arm["task"])
    return {
        "val": {name: round(value, 4) for name, value in tuned.scores.items()},
        **described(tuned),
        **{name: looked[name] for name in ("test", "each", "said")},
    }


def tries() -> list[Row]:
    """List the arms by which the rates are chosen."""
    return [
        {"model": WITHOUT, "task": task, "rate": rate, "seed": SEEDS[0]} for task in TASKS for rate in RATES
    ]


def rates_of(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Choose GPT-mini's rate in each task by validation, of equals the first; say all models' rates."""
    best = {}
    for task in TASKS:
        own = [row for row in rows if row["task"] == task]
        best[task] = max(own, key=lambda row: row["val"]["accuracy"])["rate"]
    return {WITH: best, WITHOUT: best, NEW: {task: chosen_rate("random mini", task) for task in TASKS}}


def plan(rates: dict[str, dict[str, float]]) -> list[Row]:
    """List all arms, the first seed of everything first."""
    return [
        {"model": model, "task": task, "rate": rates[model][task], "seed": seed}
        for seed in SEEDS
        for task in TASKS
        for model in KINDS
    ]


def of_bert() -> list[Row]:
    """List the arms of `four_tasks` that are compared with: measured there, or else now."""
    return [
        {"model": BERT, "task": task, "rate": chosen_rate(BERT, task), "seed": seed}
        for task in TASKS
        for seed in SEEDS
    ]


def summary(rows: Sequence[Row], plain: dict[str, dict[str, Row]]) -> Row:
    """Put scores, intervals and comparisons of each task together."""
    found = {}
    for task in TASKS:
        groups = groups_of(task)
        by_model = {model: [row for row in rows if (row["task"], row["model"]) == (task, model)]
                    for model in (*KINDS, BERT)}  # fmt: skip
        each = {model: each_of([row["each"] for row in own], groups) for model, own in by_model.items()}
        others = {name: each_of([row["each"]], groups) for name, row in plain[task].items()}
        found[task] = {
            "models": {model: _scores(own, each[model]) for model, own in by_model.items()},
            "plain": {name: _scores([row], others[name]) for name, row in plain[task].items()},
            "compared": _compared(each, others[PLAIN]),
        }
    return found


def _scores(rows: Sequence[Row], each: Each) -> Row:
    seeds = [row["test"]["accuracy"] for row in rows]
    return {
        "mean": round(float(np.mean(seeds)), 4),
        "seeds": seeds,
        "interval": [round(end, 4) for end in interval(each)],
        "core_seconds": round(float(np.mean([row.get("seconds", 0.0) for row in rows])), 1),
    }


def _compared(each: dict[str, Each], plain: Each) -> list[Row]:
    pairs = [(a, b, each[a], each[b]) for a, b in COMPARED]
    pairs += [(WITH, PLAIN, each[WITH], np.repeat(plain, len(each[WITH]), axis=0))]
    return [{"a": a, "b": b, **told(difference(ours, theirs))} for a, b, ours, theirs in pairs]


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    workers = parser.parse_args().workers
    tried = run_arms(NAME, tries(), train_and_test, workers)
    rates = rates_of(tried)
    rows = run_arms(NAME, plan(rates), train_and_test, workers)
    berts = run_arms(four_tasks.NAME, of_bert(), four_tasks.train_and_test, workers)
    results = {
        "settings": {"rates_tried": RATES, "recipes": {task: RECIPES[task]._asdict() for task in TASKS}},
        "rates": rates,
        "tries": [{name: row[name] for name in ("model", "task", "rate", "val")} for row in tried],
        "tasks": summary([*rows, *berts], {task: baselines(task) for task in TASKS}),
        "arms": [{name: value for name, value in row.items() if name != "each"} for row in rows],
    }
    every = {(row["model"], row["task"], row["rate"], row["seed"]): row["seconds"] for row in tried + rows}
    save_result(NAME, QUESTION, results, seconds=sum(every.values()))


if __name__ == "__main__":
    main()
