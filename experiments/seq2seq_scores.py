"""Which way of scoring learns fastest? Bahdanau's and Luong's scores on the same numbers, steps and seeds.

Trains the model of notebook 01 (single numbers below a million, English to German) without attention and with
each of the four scores, several seeds. Counts held-out numbers translated without a fault along the way and,
at the end, how often the largest weight lies on the word that the written piece means.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from _number_words import exact, translate, vocabularies
from bertlab.datasets.numbers import Pair, alignment, sample_pairs
from bertlab.nn import Seq2Seq, Seq2SeqConfig
from bertlab.nn.functional import cross_entropy
from bertlab.training import fit, linear_decay, run_arms, save_result

NAME = "seq2seq_scores"
QUESTION = "How fast does a translator learn with each way of scoring the encoder's states?"
SEEDS = (0, 1, 2, 3, 4)
ATTENTION = ("none", "additive", "dot", "general", "concat")
D_EMBEDDING, WIDTH, BATCH, STEPS, EVERY, PEAK, WARMUP = 64, 128, 64, 600, 50, 2e-3, 50
TEST = 1000


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model, stopping at every 50 steps to translate the held-out numbers."""
    torch.manual_seed(arm["seed"])
    english, german = vocabularies()
    config = Seq2SeqConfig(
        source_vocab=len(english),
        target_vocab=len(german),
        d_embedding=D_EMBEDDING,
        d_model=WIDTH,
        bidirectional=True,
        attention=arm["attention"],
    )
    model = Seq2Seq(config)

    def loss(step: int) -> torch.Tensor:
        pairs = sample_pairs(np.random.default_rng([arm["seed"], step]), BATCH)
        targets = german.batch([p[1] for p in pairs])
        logits = model(english.batch([p[0] for p in pairs]), targets).logits
        return cross_entropy(logits, targets, ignore_index=german.pad_id)

    pairs = sample_pairs(np.random.default_rng(0), TEST, held_out=True)
    rate, shares = linear_decay(PEAK, WARMUP, STEPS), []
    for stop in range(EVERY, STEPS + 1, EVERY):
        fit(model, loss, steps=stop, learning_rate=rate, checkpoint=path.with_suffix(".pt"))
        shares.append(exact(translate(model, pairs, english, german, max_length=20), pairs))
    weights = model(english.batch([p[0] for p in pairs]), german.batch([p[1] for p in pairs])).weights
    parameters = sum(p.numel() for p in model.parameters())
    return {
        "parameters": parameters,
        "exact": shares,
        "aligned": {} if weights is None else aligned(pairs, weights),
    }


def aligned(pairs: list[Pair], weights: Tensor) -> dict[str, float]:
    """Count, for each kind of piece, how often the largest weight (B, Tt, Ts) lies on what it means."""
    hits: dict[str, list[bool]] = {kind: [] for kind in ("units", "tens", "hundred", "thousand")}
    for (source, target), looks_at in zip(pairs, weights.argmax(dim=-1).tolist(), strict=True):
        for t, s, value in alignment(source, target, ("en", "de")):
            kind = {100: "hundred", 1000: "thousand"}.get(value, "units" if value < 20 else "tens")
            hits[kind].append(looks_at[t] == s)
    return {kind: float(np.mean(found)) for kind, found in hits.items()}


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    workers = parser.parse_args().workers
    arms = [{"attention": a, "seed": s} for s in SEEDS for a in ATTENTION]
    rows = run_arms(NAME, arms, train_and_test, workers)
    settings = {"d_embedding": D_EMBEDDING, "width": WIDTH, "batch": BATCH, "peak": PEAK, "tested": TEST}
    results = {"arms": rows, "steps": [*range(EVERY, STEPS + 1, EVERY)], "settings": settings}
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
