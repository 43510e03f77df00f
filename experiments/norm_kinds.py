"""Over what should a norm average, and is a steady distribution what it is good for?

An encoder of four layers in pre-LN reads numbers in words. Its norms are LayerNorm; BatchNorm over all
positions of the batch, padding counted or left out; none; or LayerNorm whose output is shaken: at every step
chance stretches and shifts each feature of each norm, for the whole batch alike, so that the inputs of the
sublayers are distributed otherwise at every step (Santurkar et al. 2018, sec. 2.1, did so with BatchNorm).
LayerNorm and none also begin with larger weights. Each comes with two learning rates.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from _digit_reader import DigitReader, batch_loss, draw, feed_forward_networks, held_out_numbers, right
from bertlab.nn import Residual
from bertlab.training import fit, run_arms, save_result

NAME = "norm_kinds"
QUESTION = "How well does an encoder learn with other norms, or none, and how far do its inputs drift?"
SEEDS = (0, 1, 2)
RATES = (3e-3, 1e-2)
LAYERS, STEPS, WARM_UP, BATCH, WATCH_EVERY, WIDE = 4, 200, 20, 32, 20, 24
ARMS = {  # kinds of norm for each initialisation of `DigitReader`
    "pytorch": ("layer", "layer, shaken a little", "layer, shaken", "none", "batch", "batch, no padding"),
    "xavier": ("layer", "none"),
}


class Shaken(nn.LayerNorm):
    """LayerNorm, whose features are stretched and shifted by chance at every step of the training.

    Parameters
    ----------
    d_model : width D.
    by : standard deviation of the stretch around 1, and of the shift around 0.
    """

    def __init__(self, d_model: int, by: float) -> None:
        super().__init__(d_model)
        self.by = by

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, T, D) to (B, T, D); the whole batch is shaken alike."""
        normed: Tensor = super().forward(x)
        if not self.training:
            return normed
        return normed * (1 + self.by * torch.randn(x.shape[-1])) + self.by * torch.randn(x.shape[-1])


class BatchNorm(nn.BatchNorm1d):
    """Mean and variance of each feature over positions and sentences.

    Parameters
    ----------
    d_model : width D.
    real : tells which positions of the present batch (B, T) are counted.
    """

    def __init__(self, d_model: int, real: Callable[[], Tensor]) -> None:
        super().__init__(d_model)
        self.real = real

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, T, D) to (B, T, D); what is not counted passes through untouched."""
        counted = self.real()
        normed = x.clone()
        normed[counted] = super().forward(x[counted])
        return normed


def set_norms(model: DigitReader, kind: str) -> None:
    """Put other norms into a model."""
    ids = torch.empty(0)

    def look(_: nn.Module, inputs: tuple[Tensor]) -> None:
        nonlocal ids
        ids = inputs[0]

    model.register_forward_pre_hook(look)
    d_model = model.output.in_features
    make: dict[str, Callable[[], nn.Module]] = {
        "layer": lambda: nn.LayerNorm(d_model),
        "layer, shaken a little": lambda: Shaken(d_model, 0.1),
        "layer, shaken": lambda: Shaken(d_model, 0.5),
        "none": nn.Identity,
        "batch": lambda: BatchNorm(d_model, lambda: torch.ones_like(ids, dtype=torch.bool)),
        "batch, no padding": lambda: BatchNorm(d_model, lambda: ids != 0),
    }
    for place in [part for part in model.modules() if isinstance(part, Residual)] + [model.encoder]:
        place.norm = make[kind]()  # type: ignore[assignment]


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model, watch it as it learns, and test it on numbers that it has not seen."""
    torch.manual_seed(arm["seed"])
    model = DigitReader(LAYERS, norm_first=True, init=arm["init"])
    set_norms(model, arm["norm"])
    loss, rate = batch_loss(model, arm["seed"], BATCH), arm["rate"]
    probe, _ = draw(np.random.default_rng(20_000), 64)
    drifts: list[float] = []
    before = torch.empty(0)

    def watched(step: int) -> Tensor:
        nonlocal before
        if step % WATCH_EVERY == 0:
            before = inputs_of_sublayers(model, probe)
        elif step % WATCH_EVERY == 1:
            drifts.append(drift(before, inputs_of_sublayers(model, probe)))
        return loss(step)

    losses = fit(
        model, watched, steps=STEPS,
        learning_rate=lambda step: rate * min(1, step / WARM_UP) * (1 - step / (STEPS + 1)),
    )  # fmt: skip
    curve = np.mean(np.reshape(losses, (20, -1)), axis=1).round(4).tolist()
    return {"losses": curve, "drifts": drifts, **at_the_end(model)}


@torch.no_grad()
def inputs_of_sublayers(model: DigitReader, ids: Tensor) -> Tensor:
    """What the feed-forward networks get to see of the words in a batch: (L, N, D), as in training."""
    model = copy.deepcopy(model)  # a look leaves no trace in running means
    seen: list[Tensor] = []
    for network in feed_forward_networks(model):
        network.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0][ids != 0]))
    with torch.random.fork_rng():
        model(ids)
    return torch.stack(seen)


def drift(before: Tensor, after: Tensor) -> float:
    """How far one step moved the mean of a feature, in standard deviations of it: (L, N, D) each."""
    moved = (after.mean(1) - before.mean(1)).abs() / (before.std(1) + 1e-6)
    return round(moved.mean().item(), 5)


def at_the_end(model: DigitReader) -> dict[str, float]:
    """Share of unseen numbers right: as it is used; in training mode; in training mode, padded wider."""
    ids, digits = held_out_numbers()
    wide = nn.functional.pad(ids, (0, WIDE - ids.shape[1]))
    model.eval()
    measured = {"accuracy": right(model, ids, digits), "wide": right(model, wide, digits)}
    model.train()
    torch.manual_seed(0)
    trained = copy.deepcopy(model)
    measured["training_mode"] = right(trained, ids, digits)
    measured["training_mode_wide"] = right(trained, wide, digits)
    return measured


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
        {"init": init, "norm": kind, "rate": rate, "seed": seed}
        for seed in SEEDS for init, kinds in ARMS.items() for kind in kinds for rate in RATES
    ]  # fmt: skip
    rows = run_arms(NAME, arms, train_and_test, workers)
    settings = {"layers": LAYERS, "steps": STEPS, "batch": BATCH, "rates": RATES, "wide": WIDE}
    save_result(
        NAME, QUESTION, {"settings": settings, "arms": rows}, seconds=sum(row["seconds"] for row in rows)
    )


if __name__ == "__main__":
    main()
