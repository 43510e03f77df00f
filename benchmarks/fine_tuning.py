"""An epoch of fine-tuning beside `transformers`: the same batches of real sentences of unequal length.

Theirs is `BertForSequenceClassification` or `BertForTokenClassification` as people use it: padding to the
longest of the batch, fused attention (sdpa), fused AdamW, clipping, a rate that rises and falls; in float32,
and in bfloat16 by `torch.autocast`. It is called in a bare loop, which costs less than their `Trainer`. Ours
is `fine_tune`, with all that it does besides: in float32, and with `bf16`. Both load one folder, so that they
begin with the same weights; both take the same rows in the same order, and pad or pack within the time.
bfloat16 is left out on processors that only imitate it.

Before anything is timed, both train without dropout on the same batches: in float32, losses and weights must
stay together. Times are with a dropout of 0.1, as used.

Freed memory that a process keeps (`keep_freed_memory`) helps both, so each side is timed with it and without.
Each contender is a process of its own that goes through the epoch once. A round is some batches of it: all
contenders take turns at a round, each alone on the machine, every other round in reverse order; a short
first one is to warm up. A ratio is taken within each round, on the same batches; its median and range are
told.

    python benchmarks/fine_tuning.py                 # some minutes on a quiet machine; writes the record
    python benchmarks/fine_tuning.py --quick         # 8 batches of each, printed only, to see that it runs
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import time
from collections.abc import Sequence
from contextlib import redirect_stderr
from importlib.metadata import version
from io import StringIO
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch
from _fine_tuning_peers import (
    MODES,
    SETTINGS,
    TRAIN,
    SomeTask,
    differences,
    save_first,
    sizes_of,
    task_of,
)
from tqdm import tqdm

from bertlab.interop import load_bert
from bertlab.nn import BertModel
from bertlab.tasks import command
from bertlab.training import save_result
from bertlab.training.memory import keep_freed_memory

NAME = "fine_tuning"
QUESTION = "How fast is fine-tuning on real sentences, beside transformers?"
MODEL, DROPOUT = "all-MiniLM-L6-v2", 0.1
CASES = ("nli-wikipedia", "wikigold")  # pairs of texts, a class each; sentences, a label for each word
ROUNDS, BATCHES = 5, 6  # those that count, and the batches of each
WARM_UP, COMPARED = 2, 8  # batches before the first round; batches without dropout
KEEPS = hasattr(command, "keep_freed_memory")  # whether `python -m bertlab finetune` keeps freed memory

Times = dict[str, list[float]]  # seconds of each round, by contender


class Contender(NamedTuple):
    """Who trains, and how."""

    side: str  # ours, theirs
    mode: str  # float32, bfloat16
    keeps: bool  # freed memory

    def __str__(self) -> str:
        """Name it in the record."""
        return f"{self.side} {self.mode}" + ("" if self.keeps else ", freed memory given back")


CONTENDERS = [
    Contender(side, mode, keeps) for keeps in (True, False) for side in ("theirs", "ours") for mode in MODES
]


def pairs_of_contenders() -> dict[str, tuple[Contender, Contender]]:
    """Say which ratios are told: seconds of the first by those of the second."""
    found = {}
    for mode in MODES:
        for keeps, told in ((True, "all keep freed memory"), (False, "none keeps freed memory")):
            found[f"{mode}, {told}"] = Contender("theirs", mode, keeps), Contender("ours", mode, keeps)
    as_used = Contender("theirs", "float32", False)
    for mode in MODES:
        found[f"our command in {mode}, to theirs as used"] = as_used, Contender("ours", mode, KEEPS)
    return found


class Turns:
    """Waits for a turn before some batches, and tells how long the last turn took.

    Parameters
    ----------
    pipe : to who gives the turns.
    borders : how many batches are done where a turn begins, or where the last one ends.
    """

    def __init__(self, pipe: Connection, borders: Sequence[int]) -> None:
        self.pipe, self.borders, self.done, self.start = pipe, borders, 0, time.perf_counter()

    def __call__(self) -> None:
        """Come by before each batch, and behind the last."""
        if self.done in self.borders:
            self.pipe.send(time.perf_counter() - self.start)  # the first one says: ready
            self.pipe.recv()
            self.start = time.perf_counter()
        self.done += 1


def serve(
    pipe: Connection, who: Contender, task: SomeTask, folder: Path, borders: Sequence[int], threads: int
) -> None:
    """Be one contender: load the model, go through the epoch in turns, tell the losses."""
    if who.keeps:
        keep_freed_memory()
    torch.set_num_threads(threads)
    with redirect_stderr(StringIO()):  # bars of all contenders would draw over each other
        _, losses = TRAIN[who.side](task, folder, who.mode, Turns(pipe, borders))
    pipe.send(losses)


def rounds(
    task: SomeTask, folder: Path, borders: Sequence[int], threads: int
) -> tuple[Times, dict[str, list[float]]]:
    """Let all contenders take turns: seconds of each round but the first, and losses of each step."""
    context = multiprocessing.get_context("spawn")
    pipes, processes = {}, []
    for who in CONTENDERS:
        pipes[who], other = context.Pipe()
        given = (other, who, task, folder, borders, threads)
        processes.append(context.Process(target=serve, args=given, daemon=True))
        processes[-1].start()
        other.close()
    for pipe in pipes.values():
        pipe.recv()  # all have loaded their models
    times: Times = {str(who): [] for who in CONTENDERS}
    for number in tqdm(range(len(borders) - 1), desc="rounds"):
        for who in CONTENDERS[:: -1 if number % 2 else 1]:
            pipes[who].send("go on")
            seconds = pipes[who].recv()
            if number:  # the first is to warm up
                times[str(who)].append(seconds)
    losses = {}
    for who, process in zip(CONTENDERS, processes, strict=True):
        pipes[who].send("finish")
        losses[str(who)] = pipes[who].recv()
        process.join()
    return times, losses


def summary(times: Times, sizes: dict[str, Any], batches_of_epoch: int) -> dict[str, Any]:
    """Turn seconds of rounds into ratios and rates; an epoch is the whole part for training."""
    ratios = {}
    for name, (theirs, ours) in pairs_of_contenders().items():
        of_rounds = [a / b for a, b in zip(times[str(theirs)], times[str(ours)], strict=True)]
        ratios[name] = {
            "median": round(statistics.median(of_rounds), 2),
            "range": [round(min(of_rounds), 2), round(max(of_rounds), 2)],
            "rounds": [round(ratio, 2) for ratio in of_rounds],
        }
    n, whole = sizes["batches"], {who: sum(found) for who, found in times.items()}
    return {
        "ratios": ratios,
        "ms_a_batch": {who: round(1000 * s / n, 1) for who, s in whole.items()},
        "seconds_an_epoch": {who: round(s * batches_of_epoch / n, 1) for who, s in whole.items()},
        "pieces_a_second": {who: round(sizes["pieces"] / s) for who, s in whole.items()},
    }


def measure(name: str, n_rounds: int, batches: int, compared: int, threads: int) -> dict[str, Any]:
    """Hold both sides against each other on a data set, then time them."""
    start = time.perf_counter()
    bert, tokenizer = load_bert(MODEL, BertModel)
    borders = [0, *(WARM_UP + batches * number for number in range(n_rounds + 1))]
    task, of_epoch = task_of(name, tokenizer, borders[-1])
    with TemporaryDirectory() as folder:
        first, without = Path(folder) / "first", Path(folder) / "without dropout"
        save_first(bert, tokenizer, task, DROPOUT, first)
        save_first(bert, tokenizer, task, 0.0, without)
        with redirect_stderr(StringIO()):
            apart = differences(task_of(name, tokenizer, compared)[0], without)
        times, losses = rounds(task, first, borders, threads)
    timed = sizes_of(task, skip=WARM_UP)
    return {
        "apart_from_theirs": apart,
        "timed": timed,
        "batches_of_an_epoch": of_epoch,
        **summary(times, timed, of_epoch),
        "loss_of_last_round": {
            who: round(statistics.mean(found[-batches:]), 4) for who, found in losses.items()
        },
        "seconds": round(time.perf_counter() - start, 1),
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure all, and write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    sizes = (1, 6, 2) if chosen.quick else (ROUNDS, BATCHES, COMPARED)
    results = {name: measure(name, *sizes, chosen.threads) for name in CASES}
    if chosen.quick:
        print(json.dumps(results, indent=1))
        return
    cost = sum(found.pop("seconds") for found in results.values()) * chosen.threads
    told = {
        "transformers": version("transformers"),
        "model": MODEL,
        "threads": chosen.threads,
        "batch_size": SETTINGS.batch_size,
        "rounds": ROUNDS,
        "compared_batches": COMPARED,
        "modes": MODES,
        "our_command_keeps_freed_memory": KEEPS,
    }
    print(save_result(NAME, QUESTION, told | {"cases": results}, cost, command="make bench"))


if __name__ == "__main__":
    main()
