"""What does pre-training buy? The same BERT begins with new weights, or with those of all-MiniLM-L6-v2.

6 layers of 384 read the same text in the same order for the same number of steps. Cold arms begin with new
weights, as published or looking beside them; the warm one with trained embeddings and layers, its heads new.
Three seeds each, at a rate of 1e-3 for new weights and 3e-4 for trained ones; one seed at the other rate
shows that this choice does not decide.
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
RATES = {"cold": 1e-3, "cold, looking beside": 1e-3, "warm": 3e-4}
OTHER_RATE = {1e-3: 3e-4, 3e-4: 1e-3}  # with the first seed
STEPS = 400
SIZES: dict[str, Any] = {"layers": 6, "width": 384, "heads": 12}  # those of all-MiniLM-L6-v2
BEGINNINGS: dict[str, dict[str, Any]] = {
    "cold": {**SIZES, "first_weights": "as published"},
    "cold, looking beside": {**SIZES, "first_weights": "look beside"},
    "warm": {"start": "all-MiniLM-L6-v2"},
}


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model, and ask it for hidden pieces of both held-out sets."""
    changes = BEGINNINGS[arm["beginning"]] | {"peak": arm["peak"], "steps": STEPS, "vocabulary": "cut"}
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
        {"beginning": beginning, "peak": peak, "seed": seed}
        for seed in SEEDS
        for beginning, peak in RATES.items()
    ]
    arms += [
        {"beginning": beginning, "peak": OTHER_RATE[peak], "seed": SEEDS[0]}
        for beginning, peak in RATES.items()
    ]
    rows = run_arms(NAME, arms, train_and_test, parser.parse_args().workers)
    settings = {"steps": STEPS, "batch": BATCH, "length": LENGTH, "beginnings": BEGINNINGS, "rates": RATES}
    save_result(
        NAME, QUESTION, {"settings": settings, "arms": rows}, seconds=sum(row["seconds"] for row in rows)
    )


if __name__ == "__main__":
    main()
