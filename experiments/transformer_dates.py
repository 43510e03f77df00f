"""What does label smoothing do to a small Transformer that learns to read dates? Words of ten locales to ISO.

The training of notebook 07 with and without smoothing, several seeds. Tested on days that were never shown:
whole dates right, in all and by locale; how sure the model is of the right character, and by how much its
logit leads the others; which share of the looks across lands on the piece that says what is being written.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertlab.datasets import dates
from bertlab.nn import Transformer, TransformerConfig, greedy_decode
from bertlab.nn.functional import cross_entropy
from bertlab.text import Vocabulary
from bertlab.training import fit, noam, read_journal, run_arms, save_result

NAME = "transformer_dates"
QUESTION = (
    "What does label smoothing do to the logits, the confidence and the accuracy of a small Transformer?"
)
SEEDS = (0, 1, 2, 3, 4)
SMOOTHING = (0, 10)  # in percent
STEPS, BATCH, WARMUP, SCALE, REPORT = 600, 64, 100, 0.3, 50
N_TEST = 1000
PARTS = {"date": slice(0, 11), "year": slice(0, 4), "month": slice(5, 7), "day": slice(8, 10)}
TARGETS = Vocabulary(list("0123456789-"))
SOURCES = Vocabulary.from_sentences(e.source for e in dates.sample_examples(np.random.default_rng(0), 5000))


def tensors(examples: list[dates.Example]) -> tuple[Tensor, Tensor]:
    """Lay examples into ids (B, Ts) and (B, 11)."""
    return SOURCES.batch([e.source for e in examples]), TARGETS.batch([e.target for e in examples])


def build() -> Transformer:
    """Make the model of the notebook with new weights."""
    return Transformer(
        TransformerConfig(
            source_vocab=len(SOURCES), target_vocab=len(TARGETS), d_model=64, n_heads=4, d_ff=128, n_layers=2,
            norm_first=True, share_embeddings="target", max_length=32,
        )
    )  # fmt: skip


def write(model: Transformer, examples: list[dates.Example]) -> list[str]:
    """Write each date, greedily."""
    ids, _ = greedy_decode(model, tensors(examples)[0], max_length=12)
    return ["".join(TARGETS.decode(row)) for row in ids.tolist()]


def right(written: list[str], examples: list[dates.Example], part: slice = PARTS["date"]) -> np.ndarray:
    """Say of each date whether every character of it, or of a part of it, is right: (B,)."""
    return np.array([a[part] == "".join(e.target)[part] for a, e in zip(written, examples, strict=True)])


def by_locale(hits: np.ndarray, examples: list[dates.Example]) -> dict[str, float]:
    """Give the share of hits for each locale."""
    return {name: float(hits[[e.locale == name for e in examples]].mean()) for name in dates.LOCALES}


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model, and look at it."""
    torch.manual_seed(arm["seed"])
    model = build()
    test = dates.sample_examples(np.random.default_rng(10_000), N_TEST, held_out=True)

    def loss(step: int) -> Tensor:
        source, targets = tensors(dates.sample_examples(np.random.default_rng([arm["seed"], step]), BATCH))
        return cross_entropy(model(source, targets).logits, targets, TARGETS.pad_id, arm["smoothing"] / 100)

    fit(
        model, loss, steps=STEPS, learning_rate=noam(64, WARMUP, SCALE), betas=(0.9, 0.98), eps=1e-9,
        evaluate=lambda: {"exact": float(right(write(model, test[:200]), test[:200]).mean())},
        report_every=REPORT,
        journal=path.with_suffix(".jsonl"), checkpoint=path.with_suffix(".pt"),
    )  # fmt: skip
    model.eval()
    written = write(model, test)
    parts = {name: right(written, test, part) for name, part in PARTS.items()}
    curve = read_journal(path.with_suffix(".jsonl"))
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "steps": [row["step"] for row in curve],
        "curve": [row["exact"] for row in curve],
        "exact": float(parts["date"].mean()),
        "exact_by_locale": by_locale(parts["date"], test),
        "part_by_locale": {name: by_locale(parts[name], test) for name in ("year", "month", "day")},
        **confidence(model, test),
        "looks": looks(model, test),
    }


@torch.no_grad()
def confidence(model: Transformer, test: list[dates.Example]) -> dict[str, float]:
    """How sure the model is of the right characters, given those before."""
    source, targets = tensors(test)
    logits = model(source, targets).logits  # (B, Tt, V)
    rightly = logits.gather(-1, targets[..., None])[..., 0]  # (B, Tt)
    others = (logits.sum(-1) - rightly) / (logits.shape[-1] - 1)
    log_p = torch.log_softmax(logits, -1).gather(-1, targets[..., None])
    return {
        "nats": -log_p.mean().item(),
        "median_probability": log_p.exp().median().item(),
        "lead": (rightly - others).mean().item(),  # of the right logit before the mean of the others
        "largest_logit": logits.abs().amax(-1).mean().item(),
    }


@torch.no_grad()
def looks(model: Transformer, test: list[dates.Example]) -> dict[str, list[list[float]]]:
    """Share of the looks whose largest weight lies on the right piece: for each part (L, H)."""
    hits: dict[str, list[Tensor]] = {"year": [], "month": [], "day": []}
    for e in test[:300]:
        out = model(*tensors([e]), need_weights=True)
        assert out.weights is not None
        largest = torch.stack(out.weights.cross)[:, 0].argmax(-1)  # (L, H, Tt)
        for t, s, part in e.links:
            hits[part].append(largest[:, :, t] == s)
    return {part: torch.stack(found).float().mean(0).tolist() for part, found in hits.items()}


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=2, help="processes side by side (default: 2)")
    arms: list[dict[str, Any]] = [{"smoothing": s, "seed": seed} for seed in SEEDS for s in SMOOTHING]
    rows = run_arms(NAME, arms, train_and_test, parser.parse_args().workers)
    settings = {"steps": STEPS, "batch": BATCH, "warmup": WARMUP, "scale": SCALE, "test_dates": N_TEST}
    save_result(
        NAME, QUESTION, {"arms": rows, "settings": settings}, seconds=sum(row["seconds"] for row in rows)
    )


if __name__ == "__main__":
    main()
