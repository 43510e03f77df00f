"""At one width of the model, what do more and narrower heads do?

A row of players (see `_rows_of_cards`). Each must name two cards: that of its left neighbour, found by place,
and that of its friend, found by name among 32 names. One layer of width 64, split into 1, 2, 4, … 64 heads:
from one head of 64 to 64 heads of width 1, always with the same number of parameters. The better of two
learning rates counts.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from _rows_of_cards import CARDS, NAMES, PLAYERS, Rows, best_of
from bertlab.training import run_arms, save_result

NAME = "head_width"
QUESTION = (
    "How well does one layer fetch two things, one by place and one by name, as its heads get narrower?"
)
SEEDS = (0, 1, 2, 3, 4)
WIDTH, HEADS = 64, (1, 2, 4, 8, 16, 32, 64)
RATES, STEPS = (1e-3, 3e-3), 2000


def measure(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one arm at each rate."""
    return best_of(RATES, steps=STEPS, things=2, width=WIDTH, **arm)


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    workers = parser.parse_args().workers
    arms = [{"heads": heads, "seed": seed} for heads in HEADS for seed in SEEDS]
    rows = run_arms(NAME, arms, measure, workers)
    parameters = {heads: sum(p.numel() for p in Rows(2, heads, WIDTH).parameters()) for heads in HEADS}
    task = {"players": PLAYERS, "names": NAMES, "cards": CARDS, "width": WIDTH, "steps": STEPS}
    results = {"arms": rows, "parameters": parameters, "settings": {**task, "rates": RATES}}
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
