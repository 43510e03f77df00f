"""Residual, norm, both or neither: which of them does an encoder need to learn, at what depth?

An encoder reads numbers in words and says their digits. Varied are how its sublayers are wired into the
stream, the number of layers, the first weights and the peak of the learning rate; all else is equal. The
output is read through one last norm in every arm. Three of the ways are trained at one depth and rate alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from _digit_reader import DIGITS, DigitReader, batch_loss, held_out_numbers, right
from bertlab.nn import EncoderLayer
from bertlab.nn.masking import padding_mask
from bertlab.training import fit, run_arms, save_result

NAME = "residual_and_norm"
QUESTION = (
    "Does an encoder learn with a residual connection alone, a norm alone, both, or neither, at what depth?"
)
SEEDS, INITS = (0, 1, 2), ("xavier", "pytorch")
STEPS, WARM_UP, BATCH = 200, 20, 32
Function = Callable[[Tensor], Tensor]
WAYS: dict[str, Callable[[Tensor, Function, Function], Tensor]] = {  # of a stream x, a sublayer f, a norm n
    "nothing": lambda x, f, n: f(x),
    "norm alone": lambda x, f, n: n(f(x)),
    "residual alone": lambda x, f, n: x + f(x),
    "post-LN": lambda x, f, n: n(x + f(x)),
    "pre-LN": lambda x, f, n: x + f(n(x)),
}
TWO = ("residual alone", "pre-LN")
GRID = (  # layers, peak of the rate, ways
    (6, 1e-2, tuple(WAYS)),
    (12, 1e-2, TWO),
    (6, 3e-3, TWO),
    (2, 1e-2, TWO),
    (12, 3e-3, TWO),
)


class WiredReader(DigitReader):
    """A `DigitReader` whose sublayers are wired into the stream in one of five ways.

    Parameters
    ----------
    n_layers, init : as in `DigitReader`.
    way : a name of `WAYS`.
    """

    def __init__(self, n_layers: int, way: str, init: str) -> None:
        super().__init__(n_layers, norm_first=False, init=init)
        self.way = WAYS[way]
        self.last_norm = nn.LayerNorm(self.output.in_features)

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids (B, T) to logits (B, DIGITS, 10)."""
        x, mask = self.positions(self.words(ids)), padding_mask(ids)
        for layer in self.encoder.layers:
            assert isinstance(layer, EncoderLayer)
            x = self.way(x, _looking(layer.attention, mask), layer.attention_residual.norm)
            x = self.way(x, layer.feed_forward, layer.feed_forward_residual.norm)
        logits: Tensor = self.output(self.last_norm(x)[:, :DIGITS])
        return logits


def _looking(attention: nn.Module, mask: Tensor) -> Function:
    return lambda x: attention(x, x, x, mask)[0]


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model and test it on numbers that it has not seen; one whose loss overflows reads none."""
    torch.manual_seed(arm["seed"])
    model = WiredReader(arm["layers"], arm["way"], arm["init"])
    try:
        losses = fit(
            model, batch_loss(model, arm["seed"], BATCH), steps=STEPS,
            learning_rate=lambda step: arm["rate"] * min(1, step / WARM_UP) * (1 - step / (STEPS + 1)),
        )  # fmt: skip
    except FloatingPointError:
        return {"accuracy": 0.0, "losses": None}
    model.eval()
    curve = np.mean(np.reshape(losses, (20, -1)), axis=1).round(4).tolist()
    return {"accuracy": right(model, *held_out_numbers()), "losses": curve}


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
        {"way": way, "layers": n, "init": init, "rate": rate, "seed": seed}
        for n, rate, ways in GRID for seed in SEEDS for init in INITS for way in ways
    ]  # fmt: skip
    rows = run_arms(NAME, arms, train_and_test, workers)
    settings = {"steps": STEPS, "warm_up": WARM_UP, "batch": BATCH, "optimiser": "Adam, gradients cut to 1"}
    save_result(
        NAME, QUESTION, {"settings": settings, "arms": rows}, seconds=sum(row["seconds"] for row in rows)
    )


if __name__ == "__main__":
    main()
