"""How many labelled sentences does it take? sst2 with 10, 30, … 3000 labels, those to choose by among them.

Of n sentences, as many of each class, a fifth chooses the epoch and the others are trained on: there is no
further validation part that somebody would have had to label. Few labels get more epochs, so that all up to
1,000 are trained for 100 to 150 steps (3,000 for 300): who learns little from few labels has not had fewer
steps. The learning rates are those that `four_tasks` chose with *all* labels: of that, the few know
something that they could not have paid for, and it is a (small) help for fine-tuning.

Beside fine-tuning, on the same sentences: TF-IDF with logistic regression; and trunks that stay as they are,
with a logistic regression on the mean of all pieces. All are asked for every third sentence of the test
part. The bar to reach is counting on all labels: TF-IDF of the whole training part, its penalty chosen by
the whole validation part. Small sets differ much from one another: five draws of those up to 100, three of
the others; a draw is the same for all, and its small sets are the beginning of its large ones.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch

from _fine_tuned import BF16, chosen_rate, encoder, head_of, parts_of, task_of
from _mean_states import mean_states, regression
from _plain_baselines import both_texts, linear
from bertlab.tasks.classification import Example, accuracy, class_ids
from bertlab.tasks.finetune import FineTuning, fine_tune
from bertlab.tasks.task import Classification
from bertlab.training import run_arms, save_result
from bertlab.training.memory import keep_freed_memory

NAME = "number_of_labels"
QUESTION = "How many labelled sentences does a model need, pre-trained or not?"
TASK, TEST_EVERY, CHOOSING = "sst2", 3, 5
EPOCHS = {10: 100, 30: 34, 100: 20, 300: 7, 1000: 3, 3000: 2}  # by number of labels
BATCH, SMALL_BATCH = 16, 8  # the smaller one for fewer than 100 labels
DRAWS = {n: 5 if n <= 100 else 3 for n in EPOCHS}
PLAIN = "TF-IDF"
TUNED = ("random mini", "bert-mini", "bert-6l", "all-MiniLM-L6-v2")
FROZEN = {f"{model}, mean of pieces": model for model in ("bert-mini", "bert-6l", "all-MiniLM-L6-v2")}
Row = dict[str, Any]


def drawn(examples: list[Example], n: int, seed: int) -> tuple[list[Example], list[Example]]:
    """Draw n examples, as many of each class, and keep a fifth of them to choose by.

    Parameters
    ----------
    examples : all there are.
    n : an even number of them.
    seed : of the draw; of the larger of two draws, the smaller one is the beginning.

    Returns
    -------
    those to train on, and those to choose by.
    """
    rng, by_class = np.random.default_rng(seed), []
    for label in sorted({str(example.label) for example in examples}):
        own = [example for example in examples if example.label == label]
        by_class.append([own[i] for i in rng.permutation(len(own))[: n // 2]])
    some = [example for pair in zip(*by_class, strict=True) for example in pair]  # the classes in turn
    pairs = [some[i : i + 2] for i in range(0, len(some), 2)]
    choosing = [one for i, pair in enumerate(pairs) if i % CHOOSING == CHOOSING - 1 for one in pair]
    train = [one for i, pair in enumerate(pairs) if i % CHOOSING != CHOOSING - 1 for one in pair]
    return train, choosing


def train_and_test(arm: Row, path: Path) -> Row:
    """Learn from some labels, and look at a third of the test part; a frozen trunk does all at once."""
    if arm["way"] in FROZEN:
        return {"all": by_mean(FROZEN[arm["way"]])}
    whole, labels = parts_of(TASK)
    train, val = drawn(whole["train"], arm["labels"], arm["seed"])
    test = whole["test"][::TEST_EVERY]
    if arm["way"] == PLAIN:
        said = linear(both_texts, train, val, test, labels, least=1)
        return {"accuracy": round(accuracy(class_ids(test, labels), said), 4)}
    return tuned(arm, train, val, test)


def tuned(arm: Row, train: list[Example], val: list[Example], test: list[Example]) -> Row:
    """Fine-tune everything."""
    keep_freed_memory()
    bert, tokenizer = encoder(arm["way"], arm["seed"])
    task = task_of(TASK, tokenizer, {"train": train, "val": val, "test": test})
    torch.manual_seed(arm["seed"])
    model = head_of(task, bert)
    settings = FineTuning(
        epochs=EPOCHS[arm["labels"]],
        batch_size=BATCH if arm["labels"] >= 100 else SMALL_BATCH,
        rate=chosen_rate(arm["way"], TASK),
        bf16=BF16,
        seed=arm["seed"],
    )
    found = fine_tune(model, task, settings)
    return {
        "accuracy": round(task.scores(model, "test")["accuracy"], 4),
        "best_epoch": found.epoch,
        "steps": len(found.losses),
    }


def by_mean(name: str) -> list[Row]:
    """Read train and a third of test once with a trunk that stays as it is; then learn from all draws."""
    keep_freed_memory()
    bert, tokenizer = encoder(name, 0)
    whole, labels = parts_of(TASK)
    test = whole["test"][::TEST_EVERY]
    task = task_of(TASK, tokenizer, {"train": whole["train"], "val": whole["val"], "test": test})
    assert isinstance(task, Classification)
    read, asked = (mean_states(bert, task.inputs[part]) for part in ("train", "test"))
    row_of = {example: row for row, example in enumerate(whole["train"])}
    found = []
    for n, draws in DRAWS.items():
        for seed in range(draws):
            parts = dict(zip(("train", "val"), drawn(whole["train"], n, seed), strict=True))
            x: Any = {part: read[[row_of[example] for example in some]] for part, some in parts.items()}
            y: Any = {part: class_ids(some, labels) for part, some in parts.items()}
            said, strength = regression(x | {"test": asked}, y)
            right = round(accuracy(task.right["test"], said), 4)
            found.append({"labels": n, "seed": seed, "accuracy": right, "strength": strength})
    return found


def counting_on_all() -> float:
    """Learn from all labels by TF-IDF; the validation part chooses the penalty."""
    whole, labels = parts_of(TASK)
    test = whole["test"][::TEST_EVERY]
    said = linear(both_texts, whole["train"], whole["val"], test, labels)
    return round(accuracy(class_ids(test, labels), said), 4)


def crossings(rows: list[Row], goal: float) -> dict[str, list[int | None]]:
    """Tell with how many labels each way first reaches a goal, in each draw that has all sizes.

    Examples
    --------
    >>> rows = [{"way": "a", "seed": 0, "labels": n, "accuracy": n / 4000} for n in EPOCHS]
    >>> crossings(rows, 0.2), crossings(rows, 0.9)
    ({'a': [1000]}, {'a': [None]})
    """
    found: dict[str, list[int | None]] = {}
    for way in dict.fromkeys(row["way"] for row in rows):
        for seed in range(min(DRAWS.values())):
            own = [row for row in rows if (row["way"], row["seed"]) == (way, seed)]
            enough = [row["labels"] for row in own if row["accuracy"] >= goal]
            if own:
                found.setdefault(way, []).append(min(enough, default=None))
    return found


def summary(measured: list[Row], goal: float) -> Row:
    """Put the arms of a frozen trunk one by one, and tell where each way reaches the goal."""
    rows = []
    for row in measured:
        told = {name: value for name, value in row.items() if name != "all"}
        rows += [told | one for one in row["all"]] if "all" in row else [told]
    return {"arms": rows, "counting_on_all_labels": goal, "crossings": crossings(rows, goal)}


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[Row] = [{"way": way} for way in FROZEN]
    arms += [
        {"way": way, "labels": n, "seed": seed}
        for n, draws in DRAWS.items()
        for seed in range(draws)
        for way in (PLAIN, *TUNED)
    ]
    rows = run_arms(NAME, arms, train_and_test, parser.parse_args().workers)
    settings = {
        "task": TASK,
        "test": len(parts_of(TASK)[0]["test"][::TEST_EVERY]),
        "epochs": EPOCHS,
        "rates": {model: chosen_rate(model, TASK) for model in TUNED},
        "bf16": BF16,
    }
    results = {"settings": settings, **summary(rows, counting_on_all())}
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
