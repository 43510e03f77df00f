"""Why do some fine-tunings on few examples fail? The optimiser's beginning, and chance.

500 sentences of sst2, three epochs, six seeds for each of: Adam with and without correction of its means
(the original release of BERT has none), a rate that rises over the first tenth of the steps or stands at
its height at once, two rates. And with both and with neither for three times as long, at the higher rate: is
it length that saves a run, or the setting? A run has failed if, at the end of its last epoch, it is no better
than saying always the same (Mosbach et al. 2021, sec. 2; Zhang et al. 2021, sec. 4 and 5).

Six runs against six tell little: 3 failures against 0 have p = 0.18. So each of the two remedies is judged
over both settings of the other one, twelve runs against twelve, at one rate and length.

Kept of each run: its losses, its score, how often it says its favourite answer, the lengths of the gradient
by layer before and after, and its length in layer 1 as a part of that in the head. Where a run has learnt,
and the loss is near zero, gradients are short, too: only the ratio tells whether they vanish on the way down.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import fisher_exact

from _fine_tuned import BF16, encoder, head_of, parts_of, task_of
from bertlab.tasks.finetune import FineTuning, fine_tune
from bertlab.tasks.task import Classification
from bertlab.training import run_arms, save_result
from bertlab.training.memory import keep_freed_memory

NAME = "fine_tuning_failures"
QUESTION = "When does a fine-tuning on 500 sentences fail, and what prevents it?"
MODEL, TASK, EXAMPLES, TEST_EVERY = "bert-6l", "sst2", 500, 6
SEEDS, RATES, EPOCHS, LONGER, BATCH, WARM_UP = range(6), (3e-4, 1e-3), 3, 9, 16, 0.1
SETTINGS = {  # name: bias correction, share of the steps that warms up
    "both": (True, WARM_UP),
    "no warm-up": (True, 0.0),
    "no correction": (False, WARM_UP),
    "neither": (False, 0.0),
}
KEPT_ON = ("neither", "both")  # for three times as long, too
FAILED = 0.05  # so much above the most frequent class, or less, is no better than it
CURVE = 20  # points of a curve of losses


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Fine-tune once, and look at the end of it, be it good or bad."""
    keep_freed_memory()
    bert, tokenizer = encoder(MODEL, 0)
    task = part_of_task(tokenizer)
    torch.manual_seed(arm["seed"])
    model: Any = head_of(task, bert)
    before = gradient_lengths(model, task)
    correction, warm_up = SETTINGS[arm["settings"]]
    watched: Any = Last(task)
    settings = FineTuning(
        epochs=arm["epochs"],
        batch_size=BATCH,
        rate=arm["rate"],
        warmup=warm_up,
        bias_correction=correction,
        bf16=BF16,
        seed=arm["seed"],
    )
    tuned = fine_tune(model, watched, settings)  # keeps the last epoch: Last says that each is better
    after = gradient_lengths(model, task)
    said = np.bincount(task.predict(model, task.inputs["val"]), minlength=len(task.labels))
    return {
        "accuracy": round(watched.seen[-1]["accuracy"], 4),
        "epochs_accuracy": [round(row["accuracy"], 4) for row in watched.seen],
        "favourite": round(float(said.max() / said.sum()), 4),
        "most_frequent": round(float(np.bincount(task.right["val"]).max() / len(task.right["val"])), 4),
        "losses": in_points(tuned.losses, CURVE),
        "gradients_before": before,
        "gradients_after": after,
        "first_to_head": {"before": first_to_head(before), "after": first_to_head(after)},
    }


class Last:
    """A task of which the last epoch counts: whoever looks for failures must not choose the best one.

    Parameters
    ----------
    task : what is trained for.
    """

    best_by = "epoch"

    def __init__(self, task: Classification) -> None:
        self.task, self.seen = task, list[dict[str, float]]()
        self.batch, self.fingerprint = task.batch, task.fingerprint

    def __len__(self) -> int:
        return len(self.task)

    def scores(self, model: Any, part: Any) -> dict[str, float]:
        """Measure a model; the later, the better."""
        self.seen.append(self.task.scores(model, part))
        return self.seen[-1] | {"epoch": float(len(self.seen))}


def part_of_task(tokenizer: Any) -> Classification:
    """Make the task of the first examples, and of every sixth one of the test part as val."""
    whole, _ = parts_of(TASK)
    order = np.random.default_rng(0).permutation(len(whole["train"]))[:EXAMPLES]
    train = [whole["train"][i] for i in order]
    made = task_of(TASK, tokenizer, {"train": train, "val": whole["test"][::TEST_EVERY]})
    assert isinstance(made, Classification)
    return made


def gradient_lengths(model: Any, task: Classification, n: int = 64) -> dict[str, float]:
    """Measure how long the gradient of the mean loss of n examples is in each layer, without dropout."""
    model.eval()
    model.zero_grad()
    batch, _ = task.batch(model, list(range(min(n, len(task)))))
    model.loss(*batch).backward()
    layers = {f"layer {i + 1}": layer for i, layer in enumerate(model.bert.encoder.layers)}
    parts = {"embeddings": model.bert.embeddings, **layers, "head": model.classifier}
    found = {
        name: float(torch.stack([p.grad.norm() for p in part.parameters() if p.grad is not None]).norm())
        for name, part in parts.items()
    }
    model.zero_grad(set_to_none=True)
    return {name: float(f"{length:.3g}") for name, length in found.items()}


def first_to_head(lengths: dict[str, float]) -> float:
    """Tell how long the gradient is in layer 1, as a part of its length in the head.

    Examples
    --------
    >>> first_to_head({"embeddings": 1.0, "layer 1": 0.5, "head": 2.0})
    0.25
    """
    return float(f"{lengths['layer 1'] / max(lengths['head'], 1e-30):.3g}")


def in_points(losses: list[float], n: int) -> list[float]:
    """Draw a curve together to at most n points, each a mean.

    Examples
    --------
    >>> in_points([4.0, 2.0, 1.0, 1.0], 2)
    [3.0, 1.0]
    """
    return [round(float(part.mean()), 4) for part in np.array_split(losses, min(n, len(losses)))]


def failed(row: dict[str, Any]) -> bool:
    """Tell whether a run is no better than saying always the same."""
    return bool(row["accuracy"] <= row["most_frequent"] + FAILED)


def compared(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare numbers of failed runs by Fisher's exact test, two-sided.

    Parameters
    ----------
    rows : the arms, with "failed".

    Returns
    -------
    for each question: what differs, and at which rate and length; [failed, runs] without it and with it; p.
    """
    height, asked = RATES[-1], []
    for rate in RATES:
        short = [row for row in rows if (row["rate"], row["epochs"]) == (rate, EPOCHS)]
        for place, what in enumerate(("correction", "warm-up")):  # over both settings of the other one
            groups = [[row for row in short if bool(SETTINGS[row["settings"]][place]) == on] for on in (0, 1)]
            asked.append(({"what": what, "rate": rate, "epochs": EPOCHS}, groups))
    high = [row for row in rows if row["rate"] == height]
    for name in KEPT_ON:
        groups = [[r for r in high if (r["settings"], r["epochs"]) == (name, n)] for n in (EPOCHS, LONGER)]
        asked.append(({"what": f"longer, {name}", "rate": height, "epochs": [EPOCHS, LONGER]}, groups))
    groups = [[r for r in high if (r["settings"], r["epochs"]) == (name, LONGER)] for name in KEPT_ON]
    asked.append(({"what": "both instead of neither", "rate": height, "epochs": LONGER}, groups))
    return [question | fisher(*groups) for question, groups in asked]


def fisher(without: list[dict[str, Any]], having: list[dict[str, Any]]) -> dict[str, Any]:
    """Count failures in two groups of runs; how often would chance part them as far?

    Examples
    --------
    >>> runs = [{"failed": True}] * 3 + [{"failed": False}] * 3
    >>> fisher(runs, [{"failed": False}] * 6)
    {'without': [3, 6], 'with': [0, 6], 'p': 0.1818}
    """
    counts = [[sum(run["failed"] for run in runs), len(runs)] for runs in (without, having)]
    p = fisher_exact([[failed, n - failed] for failed, n in counts]).pvalue
    return {"without": counts[0], "with": counts[1], "p": round(float(p), 4)}


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[dict[str, Any]] = [
        {"settings": name, "rate": rate, "epochs": EPOCHS, "seed": seed}
        for seed in SEEDS
        for rate in RATES
        for name in SETTINGS
    ]
    arms += [
        {"settings": name, "rate": RATES[-1], "epochs": LONGER, "seed": seed}
        for seed in SEEDS
        for name in KEPT_ON
    ]
    measured = run_arms(NAME, arms, train_and_test, parser.parse_args().workers)
    rows = [row | {"failed": failed(row)} for row in measured]
    settings = {
        "model": MODEL,
        "task": TASK,
        "examples": EXAMPLES,
        "batch_size": BATCH,
        "failed": FAILED,
        "bf16": BF16,
    }
    results = {"settings": settings, "arms": rows, "compared": compared(rows)}
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
