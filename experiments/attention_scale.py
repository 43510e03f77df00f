"""Does dividing by the root of d_k matter in training, or only on paper? One head learns to look things up.

A memory of 16 key-value pairs and a query key: the answer is the value stored under that key. The vectors of
the keys, the two projections of width d_k and the read-out are learned, with and without the division, from
three initialisations, by two optimisers, each at four learning rates; what counts is the best of the four, so
that no arm suffers from a rate that was chosen for another.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bertlab.nn.attention import attend, dot_scores
from bertlab.nn.functional import cross_entropy
from bertlab.training import run_arms, save_result

NAME = "attention_scale"
QUESTION = (
    "With and without the division by the root of d_k: how often does a trained head find the right pair?"
)
SEEDS = (0, 1, 2, 3, 4)
D_HEADS = (16, 64, 256, 1024)
D_MODEL, N_KEYS, N_VALUES, N_PAIRS = 64, 32, 32, 16
BATCH, STEPS, TEST_EVERY, TEST = 64, 600, 100, 1000
# Standard deviation of a weight of the query and key projections, for inputs of variance 1 and width D_MODEL.
# What follows for q·k before any division: variance d_k (as the paper assumes), d_k / 9, and 1.
INITIALISATIONS: dict[str, Callable[[int], float]] = {
    "unit": lambda d_head: D_MODEL**-0.5,
    "pytorch": lambda d_head: (3 * D_MODEL) ** -0.5,
    "matched": lambda d_head: D_MODEL**-0.5 * d_head**-0.25,
}
RATES = {"adam": (3e-4, 1e-3, 3e-3, 1e-2), "sgd": (0.03, 0.1, 0.3, 1.0)}
OPTIMISERS = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}


class Lookup(nn.Module):
    """One head of attention over a memory of key-value pairs.

    Parameters
    ----------
    d_head : width of queries and keys.
    divide : whether the scores are divided by the root of `d_head`.
    std : standard deviation of the weights of the two projections at the start.
    """

    def __init__(self, d_head: int, divide: bool, std: float) -> None:
        super().__init__()
        self.scale = d_head**-0.5 if divide else 1.0
        self.keys = nn.Embedding(N_KEYS, D_MODEL)  # variance 1, PyTorch's default
        self.values = nn.Embedding(N_VALUES, D_MODEL)
        self.query, self.key = (nn.Linear(D_MODEL, d_head, bias=False) for _ in range(2))
        for projection in (self.query, self.key):
            nn.init.normal_(projection.weight, std=std)
        self.read_out = nn.Linear(D_MODEL, N_VALUES, bias=False)

    def forward(self, asked: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Look up: (B,), (B, T) and (B, T) ids -> logits (B, V) and weights (B, T)."""
        # Without positions a score depends on two words alone: project each word once, then pick the pairs.
        q, k = self.query(self.keys.weight), self.key(self.keys.weight)  # (V, K)
        scores = (dot_scores(q, k) * self.scale)[asked[:, None], keys]  # (V, V) -> (B, T)
        mixed, weights = attend(scores[:, None], self.values(values))  # (B, 1, D), (B, 1, T)
        return self.read_out(mixed[:, 0]), weights[:, 0]


def draw(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Draw n memories, a question for each, and its answer's place: (n,), (n, T), (n, T) and (n,) ids."""
    keys = torch.rand(n, N_KEYS, generator=generator).argsort(dim=1)[:, :N_PAIRS]  # no key twice
    values = torch.randint(N_VALUES, (n, N_PAIRS), generator=generator)
    where = torch.randint(N_PAIRS, (n,), generator=generator)
    return keys[torch.arange(n), where], keys, values, where


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train at each learning rate, and count right answers about memories not seen in training."""
    runs = [train_at(rate, arm) for rate in RATES[arm["optimiser"]]]
    return {"rates": list(RATES[arm["optimiser"]]), **{key: [run[key] for run in runs] for key in runs[0]}}


def train_at(rate: float, arm: dict[str, Any]) -> dict[str, Any]:
    """Train one model, testing it as it learns."""
    torch.manual_seed(arm["seed"])
    model = Lookup(arm["d_head"], arm["divide"], INITIALISATIONS[arm["init"]](arm["d_head"]))
    optimizer = OPTIMISERS[arm["optimiser"]](model.parameters(), lr=rate)
    generator = torch.Generator().manual_seed(arm["seed"])
    start, accuracies = test(model), []
    for step in range(STEPS):
        asked, keys, values, where = draw(BATCH, generator)
        loss = cross_entropy(model(asked, keys, values)[0], values.gather(1, where[:, None])[:, 0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % TEST_EVERY == 0:
            accuracies.append(test(model)["accuracy"])
    return {
        "accuracies": accuracies,
        "accuracy": accuracies[-1],
        "largest_weight_at_start": start["largest_weight"],
    }


@torch.no_grad()
def test(model: Lookup) -> dict[str, float]:
    """Ask about new memories, the same for every arm. A model whose numbers overflowed knows nothing."""
    asked, keys, values, where = draw(TEST, torch.Generator().manual_seed(10_000))
    logits, weights = model(asked, keys, values)
    right = logits.argmax(dim=-1) == values.gather(1, where[:, None])[:, 0]
    accuracy = right.float().mean().item() if logits.isfinite().all() else 0.0
    return {"accuracy": round(accuracy, 4), "largest_weight": round(weights.amax(dim=-1).mean().item(), 4)}


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
        {"optimiser": optimiser, "init": init, "d_head": d_head, "divide": divide, "seed": seed}
        for optimiser in OPTIMISERS for init in INITIALISATIONS for d_head in D_HEADS
        for divide in (True, False) for seed in SEEDS
    ]  # fmt: skip
    rows = run_arms(NAME, arms, train_and_test, workers)
    settings = {"d_model": D_MODEL, "pairs": N_PAIRS, "batch": BATCH, "steps": STEPS, "chance": 1 / N_VALUES}
    results = {
        "arms": rows,
        "settings": settings,
        "expected_score_variance": "unit d_k, pytorch d_k / 9, matched 1",
    }
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
