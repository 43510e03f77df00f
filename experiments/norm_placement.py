"""Post-LN or pre-LN, with and without warm-up, at several depths and rates: which of them learns?

An encoder reads numbers in words and says their digits. Where the norm stands, the warm-up, the number of
layers and the peak of the learning rate vary, and for post-LN the size of the first weights. The gradient of
the loss is measured at every layer before the first step.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from _digit_reader import DigitReader, batch_loss, feed_forward_networks, held_out_numbers, right
from bertlab.training import fit, run_arms, save_result

NAME = "norm_placement"
QUESTION = (
    "At which depths and rates does an encoder learn in post-LN and in pre-LN, with and without warm-up?"
)
SEEDS = (0, 1, 2)
DEPTHS = (2, 6, 12)
RATES = (3e-3, 1e-2)
SMALLER = ("pytorch", (6, 12), 1e-2)  # first weights, at some depths and a rate, in post-LN alone
WARM_UPS = (0, 60)
STEPS, BATCH = 200, 32


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model, after a look at its gradients; test it on numbers that it has not seen."""
    torch.manual_seed(arm["seed"])
    model = DigitReader(arm["layers"], arm["norm_first"], arm["init"])
    loss, warm_up, rate = batch_loss(model, arm["seed"], BATCH), arm["warm_up"], arm["rate"]
    at_start = gradients_by_layer(model, loss(0))
    losses = fit(
        model, loss, steps=STEPS,
        learning_rate=lambda step: rate * min(1, step / max(warm_up, 1)) * (1 - step / (STEPS + 1)),
    )  # fmt: skip
    model.eval()
    accuracy = right(model, *held_out_numbers())
    curve = np.mean(np.reshape(losses, (20, -1)), axis=1).round(4).tolist()
    return {"accuracy": accuracy, "losses": curve, "gradients_at_start": at_start}


def gradients_by_layer(model: DigitReader, loss: Tensor) -> list[float]:
    """Norm of the gradient of each layer's feed-forward weights, from the first layer to the last."""
    model.zero_grad()
    loss.backward()
    norms = []
    for network in feed_forward_networks(model):
        gradients = [p.grad.flatten() for p in network.parameters() if p.grad is not None]
        norms.append(float(f"{torch.cat(gradients).norm().item():.4g}"))
    model.zero_grad()
    return norms


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    workers = parser.parse_args().workers
    kinds = [
        ("xavier", n, first, rate)
        for rate in RATES for n in DEPTHS for first in (False, True)
    ]  # fmt: skip
    init, depths, rate = SMALLER
    kinds += [(init, n, False, rate) for n in depths]
    arms = [
        {"init": init, "layers": n, "norm_first": first, "warm_up": steps, "rate": rate, "seed": seed}
        for init, n, first, rate in kinds for steps in WARM_UPS for seed in SEEDS
    ]  # fmt: skip
    rows = run_arms(NAME, arms, train_and_test, workers)
    settings = {"steps": STEPS, "batch": BATCH, "depths": DEPTHS, "rates": RATES, "warm_ups": WARM_UPS}
    save_result(
        NAME, QUESTION, {"settings": settings, "arms": rows}, seconds=sum(row["seconds"] for row in rows)
    )


if __name__ == "__main__":
    main()
