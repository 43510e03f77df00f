"""What does it cost to leave the trunk as it is? Only a head is trained, on states that were computed once.

The same tasks, parts and heads as in `four_tasks`, where everything is trained: compare with its record.
Every text is read once, without dropout; then three heads with new weights learn from what was said of it
(for texts: pooler and classifier). Their rate is chosen of three, by the validation part, with the first
seed; they have more epochs than training everything has, and so more of them to choose the best of.

What [CLS] became is not all that a trunk says of a text. So for texts also: a logistic regression on the
mean of all pieces, its penalty chosen by the validation part; no chance is in it, so it has no seeds. Random
trunks show what a head makes of states that know nothing but which pieces stand where.
"""

from __future__ import annotations

import argparse
import copy
import time
from pathlib import Path
from typing import Any

import torch

from _comparison import each_of, interval
from _fine_tuned import BF16, encoder, groups_of, head_of, judge, task_of
from _mean_states import STRENGTHS, mean_states, regression
from bertlab.nn import BertModel
from bertlab.tasks.classification import accuracy, macro_f1
from bertlab.tasks.finetune import FineTuned, FineTuning, fine_tune
from bertlab.tasks.reading import ReadOnce, trunk_read_once
from bertlab.tasks.task import Classification, Task
from bertlab.training import run_arms, save_result
from bertlab.training.memory import keep_freed_memory

NAME = "frozen_trunk"
QUESTION = "How far does a head come on states that are computed once, beside training everything?"
SEEDS, RATES, BATCH = (0, 1, 2), (1e-3, 3e-3, 1e-2), 16
EPOCHS = {"sst2": 10, "wikigold": 20, "nli-wikipedia": 10, "xquad": 10}
TRAINED = ("bert-mini", "bert-6l", "all-MiniLM-L6-v2")
ARMS = [(model, task) for task in EPOCHS for model in TRAINED]
ARMS += [("random 6l", task) for task in ("sst2", "wikigold")]


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Read everything once, train heads with all seeds, and look at the test part."""
    keep_freed_memory()
    bert, tokenizer = encoder(arm["model"], 0)
    task, kept = task_of(arm["task"], tokenizer), dict[bytes, torch.Tensor]()
    epochs, tries = EPOCHS[arm["task"]], {}
    mean = by_mean(bert, task, arm["task"], kept) if isinstance(task, Classification) else None
    for rate in RATES:
        tries[rate] = head_on(bert, task, arm["task"], kept, epochs, rate, SEEDS[0])
    best = max(tries, key=lambda rate: tries[rate][0].scores[task.best_by])
    heads = [tries[best]]
    heads += [head_on(bert, task, arm["task"], kept, epochs, best, seed) for seed in SEEDS[1:]]
    return {
        "rate": best,
        "seeds": [judged["test"] for _, judged, _ in heads],
        "interval": interval_of([judged["each"] for _, judged, _ in heads], arm["task"]),
        "best_epochs": [tuned.epoch for tuned, _, _ in heads],
        "last_is_best": [tuned.epoch == epochs for tuned, _, _ in heads],
        "epochs": epochs,
        "tries": [
            {"rate": rate, "val": round(tuned.scores[task.best_by], 4), "best_epoch": tuned.epoch}
            for rate, (tuned, _, _) in tries.items()
        ],
        "mean_of_pieces": mean,
        "seconds_of_a_head": min(seconds for _, _, seconds in heads[1:]),  # the others have read it all
    }


def interval_of(each: list[list[list[float]]], name: str) -> list[float]:
    """Give the interval of a score on a test part, of one or more seeds."""
    return [round(end, 4) for end in interval(each_of(each, groups_of(name)))]


def by_mean(
    bert: BertModel, task: Classification, name: str, kept: dict[bytes, torch.Tensor]
) -> dict[str, Any]:
    """Classify texts by the mean of what their pieces became; see `head_on` for `kept`."""
    said, strength = regression(
        {part: mean_states(bert, inputs, kept) for part, inputs in task.inputs.items()}, task.right
    )
    right = task.right["test"]
    return {
        "test": {
            "accuracy": round(accuracy(right, said), 4),
            "macro_f1": round(macro_f1(right, said, len(task.labels)), 4),
        },
        "interval": interval_of([[[float(hit), 1.0] for hit in right == said]], name),
        "strength": strength,
    }


def head_on(
    bert: BertModel,
    task: Task[Any],
    name: str,
    kept: dict[bytes, torch.Tensor],
    epochs: int,
    rate: float,
    seed: int,
) -> tuple[FineTuned, dict[str, Any], float]:
    """Train a head with new weights on what a trunk says.

    Parameters
    ----------
    kept : what was read before, by this trunk; what is read now is put there.

    Returns
    -------
    the training, what `judge` says of the test part, and core seconds.
    """
    pooler = bert.pooler
    bert.pooler = copy.deepcopy(pooler)  # each head begins with the one that was there
    torch.manual_seed(seed)
    model = head_of(task, bert)
    with trunk_read_once(model, bf16=BF16):
        once: Any = model.bert
        assert isinstance(once, ReadOnce)
        once.kept = kept
        start = time.process_time()
        tuned = fine_tune(model, task, FineTuning(epochs=epochs, batch_size=BATCH, rate=rate, seed=seed))
        seconds = round(time.process_time() - start, 1)
        judged = judge(task, model, name)
    bert.pooler = pooler
    return tuned, judged, seconds


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[dict[str, Any]] = [{"model": model, "task": task} for model, task in ARMS]
    rows = run_arms(NAME, arms, train_and_test, parser.parse_args().workers)
    settings = {
        "epochs": EPOCHS,
        "rates_tried": RATES,
        "batch_size": BATCH,
        "strengths_tried": STRENGTHS,
        "bf16": BF16,
    }
    save_result(
        NAME, QUESTION, {"settings": settings, "arms": rows}, seconds=sum(row["seconds"] for row in rows)
    )


if __name__ == "__main__":
    main()
