"""What tells a Transformer the order of words, and how far beyond the trained length does it reach?

Two tasks on random words: each position says the word before it; a last position says who came first, dog
or man. A small encoder has sinusoids, learned vectors or no positions; the first and the last of these also
come with a causal mask. It is trained on sentences of up to 24 words and tested on up to 96. The learned
table has 96 rows; training fills the first 24.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch

from _order import TASKS, Reader, batch_loss, mean_of, right_by_position
from bertlab.training import fit, linear_decay, run_arms, save_result

NAME = "position_length"
QUESTION = (
    "With which positions, and which mask, can a Transformer tell order, up to and beyond its trained length?"
)
SEEDS = (0, 1, 2)
TRAINED, LONGEST = (3, 24), 96
KINDS = (
    ("sinusoidal", "none"),
    ("learned", "none"),
    ("none", "none"),
    ("none", "causal"),
    ("sinusoidal", "causal"),
)
LENGTHS = (8, 16, 24, 32, 48, 64, 96)
STEPS, PEAK, WARMUP = 1200, 2e-3, 100


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model on short sentences, and count its right answers on short and long ones."""
    torch.manual_seed(arm["seed"])
    model, draw = Reader(arm["positions"], arm["mask"], LONGEST), TASKS[arm["task"]]
    loss = batch_loss(model, draw, arm["seed"], TRAINED)
    losses = fit(model, loss, steps=STEPS, learning_rate=linear_decay(PEAK, WARMUP, STEPS))
    shares = {length: right_by_position(model.eval(), draw, length) for length in LENGTHS}
    return {
        "loss": round(sum(losses[-50:]) / 50, 4),
        "accuracy": [mean_of(shares[length]) for length in LENGTHS],
        "by_position": [round(share, 4) for share in shares[LONGEST][1:]]
        if arm["task"] == "word before"
        else None,
    }


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    workers = parser.parse_args().workers
    arms = [
        {"task": task, "positions": positions, "mask": mask, "seed": seed}
        for seed in SEEDS for task in TASKS for positions, mask in KINDS
    ]  # fmt: skip
    rows = run_arms(NAME, arms, train_and_test, workers)
    settings = {
        "trained": TRAINED,
        "lengths": LENGTHS,
        "steps": STEPS,
        "peak": PEAK,
        "d_model": 64,
        "layers": 2,
    }
    chance = {"word before": 1 / 16, "who bites": 1 / 2}
    results = {"arms": rows, "settings": settings, "chance": chance}
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
