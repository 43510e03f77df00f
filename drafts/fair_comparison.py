"""ELMo, GPT, BERT, static vectors, and two GPTs glued together: same text, same size, same tokens or seconds.

What differs between ELMo and BERT is two things at once: what reads (LSTM or Transformer), and whether one
model reads both sides. Two GPTs, one of which reads from the right, stand between them and differ from either
by one. A BERT without next sentences reads exactly the texts that the others read. CBOW is BERT without order
and without layers.

Equal: text (books, wikisplit, masc, without what overlaps the held-out text), 4,096 pieces, parameters to a
percent (0.38 million: 2 layers of 64, which at so little work learn more than 128 do, notebook 09), texts of
a step, float32, optimiser, warm-up, decay, clipping, no dropout; first weights of all Transformers, whose
heads begin by looking at neighbours (else small BERTs stand on a plateau for all of so short a time). Only
the highest learning rate is each arm's own, chosen of three, by a training of a quarter of the seconds with
the first seed, on held-out documents that are not tested. Each arm is trained twice with every seed:

    "same tokens"    all read 0.7 million pieces
    "same seconds"   all train for as long as the slowest takes for that; speeds are measured first, by turns

Not equal, and cannot be: what is asked of a text (CBOW and GPT all pieces, two readers all of them twice,
BERT 15 in 100); BERT with next sentences reads pairs, half of them false; its norms stand behind its
sublayers, those of GPTs before them; two readers share the parameters, each has half of what reads, and give
twice as many numbers for a word; LSTMs have no heads. How seconds compare depends on the machine: one core,
no GPU.

Its own right way: a missing piece is asked for alone, with all of a stretch shown. BERT reads [MASK] there;
GPT what stands left of it; two readers both sides, their opinions joined with three weights (`_arms.joined`)
that are fitted on documents for choosing, beside that by Bayes' rule alone and by a layer trained on top
(`_glue`); CBOW five pieces on either side. Grammar and senses: `_fair_probes`. Tasks, frozen and fine-tuned:
`_arm_tasks`, after the same seconds. Beside each: the same arm before training (first seed), and a plain
method: n-grams, the usual reading, TF-IDF, a conditional random field.

A larger size: change SIZE, PIECES and BATCH in `_fair_text` and TOKENS here, nothing else, and name it anew.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import torch
from _arm_tasks import TASKS, fine_tuned, frozen, plain, task_of
from _arms import Arm, TwoSidedArm
from _arms_made import make, parameters
from _arms_training import Feed, plan, speeds, train
from _fair_probes import by_arm, by_counts, grammar, senses
from _fair_summary import results_of
from _fair_text import (
    SETS,
    SIZE,
    Answer,
    Blanks,
    answered,
    blanks,
    by_text,
    counting,
    means,
    together,
    vocabulary,
    world,
)
from _glue import adjust, trained_top
from _glue import plain as plain_product
from torch import Tensor

from bertlab.training import run_arms, save_result
from bertlab.training.memory import keep_freed_memory

NAME = "fair_comparison"
QUESTION = "What do direction, extractor and objective make of the same text, size, tokens or seconds?"
TOKENS, SEEDS = 700_000, 3
ARMS = ("CBOW", "ELMo", "GPT", "two GPTs", "BERT", "BERT, no pairs")
RATES = {arm: (3e-3, 1e-2, 3e-2) if arm == "CBOW" else (1e-3, 3e-3, 1e-2) for arm in ARMS}
TUNING = {arm: (1e-2, 3e-2) if arm == "CBOW" else (1e-3, 3e-3) for arm in ARMS}
ASKED = {True: (400, 6), False: (150, 4)}  # texts of a set, pieces of each: to test, to choose by
TOP_STEPS, TOP_RATE = 100, 3e-3
Row = dict[str, Any]


def clock(arm: Row, path: Path) -> Row:
    """Measure what every arm costs, or what plain methods reach."""
    keep_freed_memory()
    if arm["part"] == "speeds":
        return {"speeds": speeds(ARMS, world())}
    if arm["part"] == "counting":
        return {"words": counting(ASKED), "grammar": grammar(by_counts())}
    return {"plain": plain(arm["part"])}


def weights_file(arm: Row, folder: Path) -> Path:
    """Where the weights of a training are kept until the record is written."""
    return folder / f"weights {arm['arm']} {arm['steps']} {arm['seed']}.pt"


def learn(arm: Row, path: Path) -> Row:
    """Train an arm as its settings say, and keep its weights, unless it chooses a rate."""
    keep_freed_memory()
    watched = [blanks(name, False, *ASKED[False]) for name in SETS]

    def watch(trained: Arm) -> dict[str, float]:
        adjust(trained, *asked_of(watched[-1]), iterations=8)
        found = [answered(trained.log_p, asked).mean(0) for asked in watched]
        loss, accuracy = sum(found) / len(found)
        return {"loss_of_blanks": float(loss), "accuracy": float(accuracy)}

    model = make(arm["arm"], world(), arm["seed"])
    feed = Feed(arm["arm"], world(), arm["seed"])
    curve = train(model, feed, arm["steps"], arm["peak"], path, watch)
    if "part" not in arm:
        torch.save(model.state_dict(), weights_file(arm, path.parent))
    return {"parameters": parameters(model), "curve": curve}


def trained(arm: Row, path: Path) -> Arm:
    """Load an arm that was trained; with 0 steps, one that was not."""
    keep_freed_memory()
    model = make(arm["arm"], world(), arm["seed"])
    if arm["steps"]:
        file = weights_file(arm, path.parent)
        if not file.exists():
            raise FileNotFoundError(f"{file} is gone: delete the training of that name, and run again")
        model.load_state_dict(torch.load(file, weights_only=True))
    return model.eval()


def test(arm: Row, path: Path) -> Row:
    """Ask for missing pieces, grammar, syntax and meaning."""
    model, found = trained(arm, path), dict[str, Any]()
    if isinstance(model, TwoSidedArm):
        adjust(model, *asked_of(together([blanks(name, False, *ASKED[False]) for name in SETS])))
        found["weights"] = [round(weight, 3) for weight in model.weights]
        found["grammar, both likelihoods"] = grammar(by_arm(model, vocabulary(), added=True))
        found["plain"] = words(partial(plain_product, model))
        for side in (0, 1):
            found[("left alone", "right alone")[side]] = words(partial(one_of, model, side))
    found |= {"words": words(model.log_p), "grammar": grammar(by_arm(model, vocabulary()))}
    found["senses"] = senses(model)
    if isinstance(model, TwoSidedArm) and arm["steps"]:
        feed = Feed(arm["arm"], world(), arm["seed"] + 1000)
        found["top"] = words(trained_top(model, feed, TOP_STEPS, TOP_RATE, arm["seed"]).log_p)
    return found


def one_of(model: TwoSidedArm, side: int, ids: Tensor, positions: Tensor) -> Tensor:
    """What one of two readers says."""
    return model.opinions(ids, positions)[side]


def asked_of(some: Blanks) -> tuple[Tensor, Tensor, Tensor]:
    """Texts, places, and what stands there."""
    return some.texts, some.positions, some.answers


def words(answer: Answer) -> Row:
    """Ask for missing pieces of both held-out sets."""
    found = {}
    for name in SETS:
        asked = blanks(name, True, *ASKED[True])
        values = answered(answer, asked)
        found[name] = {**means(values), "each": by_text(values, asked)}
    return found


def use(arm: Row, path: Path) -> Row:
    """Use an arm for a task: frozen, or with a rate fine-tuned."""
    model, task = trained(arm, path), task_of(arm["task"], vocabulary(), SIZE.length)
    return fine_tuned(model, task, arm["rate"], arm["seed"]) if arm["rate"] else frozen(model, task)


def short(speed: dict[str, Row]) -> list[Row]:
    """List the trainings by which learning rates are chosen."""
    steps = plan(speed, TOKENS // 4)["same seconds"]
    return [
        {"part": "rate", "arm": name, "steps": steps[name], "peak": peak, "seed": 0}
        for name in ARMS
        for peak in RATES[name]
    ]


def rates_of(tries: list[Row]) -> dict[str, float]:
    """Choose the learning rate with the least loss on documents for choosing; of equals the first."""
    return {
        name: min(
            (row for row in tries if row["arm"] == name), key=lambda row: row["curve"][-1]["loss_of_blanks"]
        )["peak"]
        for name in ARMS
    }


def runs(steps: dict[str, dict[str, int]], rates: dict[str, float], seeds: int) -> list[Row]:
    """List all trainings, the first seed of everything first; where both budgets are one, once."""
    every = [(name, steps[budget][name], seed) for seed in range(seeds) for budget in steps for name in ARMS]
    return [
        {"arm": name, "steps": n, "peak": rates[name], "seed": seed} for name, n, seed in dict.fromkeys(every)
    ]


def tests(rows: list[Row]) -> list[Row]:
    """List all arms to test: those that were trained, and each before training."""
    new = [{"arm": name, "steps": 0, "seed": 0, "test": "all"} for name in ARMS]
    return [
        {"arm": row["arm"], "steps": row["steps"], "seed": row["seed"], "test": "all"} for row in rows
    ] + new


def uses(steps: dict[str, int], seeds: int, rates: dict[tuple[str, str], float] | None) -> list[Row]:
    """List all uses for tasks; without chosen rates, those by which they are chosen."""
    found: list[Row] = []
    for task in TASKS:
        for name in ARMS:
            one = {"task": task, "arm": name, "steps": steps[name]}
            if rates is None:
                found += [{**one, "seed": 0, "rate": rate} for rate in TUNING[name]]
                continue
            for rate in (0.0, rates[task, name]):
                found += [{**one, "seed": seed, "rate": rate} for seed in range(seeds)]
                found.append({**one, "steps": 0, "seed": 0, "rate": rate})
    return found


def tuning_of(tries: list[Row]) -> dict[tuple[str, str], float]:
    """Choose the rate of each fine-tuning by its validation part; of equals the first."""
    best: dict[tuple[str, str], Row] = {}
    for row in tries:
        key = row["task"], row["arm"]
        if key not in best or row["val"] > best[key]["val"]:
            best[key] = row
    return {key: row["rate"] for key, row in best.items()}


def main() -> None:
    """Measure everything, what is not measured yet; then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"so many (default: {SEEDS})")
    given = parser.parse_args()
    clocked = run_arms(NAME, [{"part": "speeds"}], clock, 1)
    steps_of = plan(clocked[0]["speeds"], TOKENS)
    tries = run_arms(NAME, short(clocked[0]["speeds"]), learn, given.workers)
    trainings = run_arms(NAME, runs(steps_of, rates_of(tries), given.seeds), learn, given.workers)
    tested = run_arms(NAME, tests(trainings), test, given.workers)
    clocked += run_arms(NAME, [{"part": part} for part in ("counting", *TASKS)], clock, given.workers)
    same = steps_of["same seconds"]
    tuned = run_arms(NAME, uses(same, given.seeds, None), use, given.workers)
    used = run_arms(NAME, uses(same, given.seeds, tuning_of(tuned)), use, given.workers)
    every = [*clocked, *tries, *trainings, *tested, *tuned, *used]
    seconds = sum({repr(sorted(row.items())): row["seconds"] for row in every}.values())
    settings = {"size": SIZE._asdict(), "tokens": TOKENS, "seeds": given.seeds, "top_steps": TOP_STEPS}
    settings |= {"rates_tried": RATES, "rates": rates_of(tries), "tuning_tried": TUNING, "steps": steps_of}
    results = results_of(clocked, tries, trainings, tested, used, steps_of)
    save_result(NAME, QUESTION, {"settings": settings, **results}, seconds=seconds)


if __name__ == "__main__":
    main()
