"""What does pre-training buy? The same BERT begins with new weights, or with those of all-MiniLM-L6-v2.

6 layers of 384 read the same text in the same order for the same number of steps. Cold arms begin with new
weights, as published or looking beside them; the warm one with trained embeddings and layers, its heads new.
Each at two learning rates; the better one, once as published and with three seeds for the others.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from _bert_answers import measure, questions
from _bert_held_out import KINDS, SETS
from _small_bert import BATCH, LENGTH, train
from bertlab.training import run_arms, save_result

NAME = "cold_and_warm"
QUESTION = "How far does the same BERT come with the same work, from new weights and from trained ones?"
SEEDS = (0, 1, 2)
RATES = (1e-3, 3e-4)
CHOSEN = {"cold, looking beside": 3e-4, "warm": 3e-4}  # the better one with the first seed; all seeds have it
STEPS, WARM_UP = 500, 125
SIZES: dict[str, Any] = {"layers": 6, "width": 384, "heads": 12}  # those of all-MiniLM-L6-v2
BEGINNINGS: dict[str, dict[str, Any]] = {
    "cold": {**SIZES, "first_weights": "as published"},
    "cold, looking beside": {**SIZES, "first_weights": "look beside"},
    "warm": {"start": "all-MiniLM-L6-v2"},
}


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model, and ask it for hidden pieces of both held-out sets."""
    settings = {"peak": arm["peak"], "steps": STEPS, "warm_up": WARM_UP, "vocabulary": "cut"}
    changes = BEGINNINGS[arm["beginning"]] | settings
    model, record = train(changes, arm["seed"], path)
    for name in SETS:
        record[name] = {kind: measure(model, questions(name, kind, 256, LENGTH, "cut")) for kind in KINDS}
    return record


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[dict[str, Any]] = [
        {"beginning": beginning, "peak": peak, "seed": SEEDS[0]} for beginning in BEGINNINGS for peak in RATES
    ]
    arms += [
        {"beginning": beginning, "peak": peak, "seed": seed}
        for seed in SEEDS[1:]
        for beginning, peak in CHOSEN.items()
    ]
    rows = run_arms(NAME, arms, train_and_test, parser.parse_args().workers)
    settings: dict[str, Any] = {"steps": STEPS, "warm_up": WARM_UP, "batch": BATCH, "length": LENGTH}
    settings |= {"beginnings": BEGINNINGS, "rates": RATES, "chosen": CHOSEN}
    save_result(
        NAME, QUESTION, {"settings": settings, "arms": rows}, seconds=sum(row["seconds"] for row in rows)
    )


if __name__ == "__main__":
    main()
