"""What does a forward pass of a BERT cost, by the length of its text?

One text after the other through all-MiniLM-L6-v2 in our PyTorch, on one thread: with PyTorch's fused
attention, and with the weights of all heads handed out. The median of several repeats, taken in turns, so
that a slow moment of the machine hits all alike. And the questions of XQuAD in batches of 32: as they come,
in order of length, and without padding.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from _minilm import MiniLM
from _search import Search
from bertlab.nn.packing import Packing
from bertlab.training import save_result

NAME = "bert_length_cost"
QUESTION = "What does a forward pass of a BERT cost, by the length of its text?"
LENGTHS = (8, 16, 32, 64, 128, 256, 512)
REPEATS, BATCH = 9, 32


def milliseconds(ways: dict[str, Callable[[], Any]], repeats: int = REPEATS) -> dict[str, float]:
    """Median time of each way, all in turns; the first round, which also allocates, does not count."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats + 1):
        for name, run in ways.items():
            start = time.perf_counter()
            run()
            times[name].append(1000 * (time.perf_counter() - start))
    return {name: round(statistics.median(found[1:]), 3) for name, found in times.items()}


def by_length(model: MiniLM, length: int) -> dict[str, Any]:
    """Time one text of so many pieces."""
    ids = torch.randint(1996, 20_000, (1, length), generator=torch.Generator().manual_seed(0))  # whole words
    ways = {"fused": lambda: model.bert(ids), "with weights": lambda: model.bert(ids, need_weights=True)}
    return {"length": length, "milliseconds": milliseconds(ways)}


def batched(rows: Sequence[Tensor]) -> list[Tensor]:
    """Rows of ids in batches, padded."""
    return [pad_sequence(list(rows[i : i + BATCH]), True) for i in range(0, len(rows), BATCH)]


def questions(model: MiniLM) -> dict[str, Any]:
    """Time all questions in batches."""
    search = Search(model, "test")
    n = len(search.answers)
    rows = {
        number: row[row != 0]
        for which, ids in search.texts
        for number, row in zip(which.tolist(), ids, strict=True)
    }
    asked = [rows[i] for i in range(n)]
    as_they_come, sorted_ = batched(asked), batched(sorted(asked, key=len))

    def read(batches: Sequence[Tensor], packed: bool = False) -> None:
        for ids in batches:
            model.bert(ids, mask=Packing(ids != 0) if packed else None)

    ways: dict[str, Callable[[], Any]] = {
        "as they come": lambda: read(as_they_come),
        "by length": lambda: read(sorted_),
        "without padding": lambda: read(as_they_come, packed=True),
    }
    padded = {"as they come": as_they_come, "by length": sorted_}
    share = {
        name: round(1 - sum(map(len, asked)) / sum(ids.numel() for ids in b), 3) for name, b in padded.items()
    }
    return {"milliseconds": milliseconds(ways, repeats=3), "padding": share, "questions": n}


def main() -> None:
    """Measure anew, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    torch.set_num_threads(1)
    start = time.process_time()
    with torch.no_grad():
        model = MiniLM()
        arms = [by_length(model, length) for length in LENGTHS]
        results = {
            "arms": arms,
            "batches": questions(model),
            "settings": {"repeats": REPEATS, "batch": BATCH},
        }
    save_result(NAME, QUESTION, results, seconds=time.process_time() - start)


if __name__ == "__main__":
    main()
