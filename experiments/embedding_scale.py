"""Does it matter that the Transformer multiplies its word vectors by √D before it adds positions?

Word vectors start with a variance of 1 / D, since the output layer may share them; sinusoids have a mean
square of 1/2. A small encoder learns to say the word before, with and without the factor, at four widths,
by Adam. The factor also multiplies what a step of Adam does to a word. Tested every ten steps.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch

from _order import TASKS, Reader, batch_loss, mean_of, right_by_position
from bertlab.training import fit, run_arms, save_result

NAME = "embedding_scale"
QUESTION = "With and without the factor √D on the words: how fast does an encoder with sinusoids learn?"
SEEDS = (0, 1, 2)
WIDTHS = (32, 64, 128, 256)
LENGTH, STEPS, EVERY, RATE = 16, 400, 10, 1e-3


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model, testing it as it learns; say how long the vectors of words and positions are."""
    torch.manual_seed(arm["seed"])
    d_model, draw = arm["d_model"], TASKS["word before"]
    model = Reader("sinusoidal", "none", LENGTH, d_model, d_model**0.5 if arm["scaled"] else 1.0)
    loss, accuracy, sizes = batch_loss(model, draw, arm["seed"], (LENGTH, LENGTH)), [], []

    def watched(step: int) -> torch.Tensor:
        if step % EVERY == 0:
            model.eval()
            accuracy.append(mean_of(right_by_position(model, draw, LENGTH, n=100)))
            sizes.append(round((model.words.weight[:16].norm(dim=-1).mean() * model.factor).item(), 3))
            model.train()
        return loss(step)

    fit(model, watched, steps=STEPS + 1, learning_rate=lambda step: RATE)
    return {"accuracy": accuracy, "length_of_words": sizes, "length_of_positions": (d_model / 2) ** 0.5}


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
        {"d_model": d_model, "scaled": scaled, "seed": seed}
        for seed in SEEDS for d_model in WIDTHS for scaled in (True, False)
    ]  # fmt: skip
    rows = run_arms(NAME, arms, train_and_test, workers)
    settings = {
        "length": LENGTH,
        "every": EVERY,
        "steps": STEPS,
        "rate": RATE,
        "optimiser": "Adam",
        "chance": 1 / 16,
    }
    results = {"arms": rows, "settings": settings}
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
