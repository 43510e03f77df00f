"""How many heads must a layer have to fetch n things at once?

A row of players (see `_rows_of_cards`). Each must name one to four cards that others hold, from one layer of
attention, with 1 to 8 heads at the same width and the same number of parameters. Then the ways out for a
single head: a non-linear layer behind it, four times the width, a second layer. Each run has two learning
rates and is judged by the better one, so that no arm suffers from a rate that was chosen for another.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from _rows_of_cards import CARDS, LOOKUPS, NAMES, PLAYERS, Rows, best_of
from bertlab.training import run_arms, save_result

NAME = "heads_and_lookups"
QUESTION = "How many heads must one layer of attention have to fetch n things from n places at once?"
SEEDS = (0, 1, 2)
THINGS, HEADS = (1, 2, 3, 4), (1, 2, 4, 8)
RATES, STEPS = (1e-3, 3e-3), 2000


def measure(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one arm at each rate."""
    return best_of(RATES, steps=STEPS, **arm)


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    workers = parser.parse_args().workers
    plain = {"width": 64, "feed_forward": 0, "layers": 1}
    settings = [
        {"things": things, "heads": heads, **plain, "feed_forward": wide}
        for wide in (0, 256) for things in THINGS for heads in HEADS
    ]  # fmt: skip
    settings += [{"things": 2, "heads": 1, **plain, **way} for way in ({"width": 256}, {"layers": 2})]
    ways = [setting for setting in settings if (setting["things"], setting["heads"]) == (2, 1)]
    parameters = [{**way, "parameters": sum(p.numel() for p in Rows(**way).parameters())} for way in ways]
    arms = [{**setting, "seed": seed} for setting in settings for seed in SEEDS]
    rows = run_arms(NAME, arms, measure, workers)
    task = {"players": PLAYERS, "names": NAMES, "cards": CARDS, "lookups": LOOKUPS, "steps": STEPS}
    results = {"arms": rows, "parameters": parameters, "settings": {**task, "rates": RATES}}
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
