"""Which part of a small Transformer carries how much? Depth, heads, positions; German to English, Multi30k.

One thing is varied at a time around one small model, all else equal: the pieces, the order of the batches,
the steps, the recipe. Several seeds each; the captions of the validation and the test set are written
greedily. Heads and positions by waves cost no parameters, layers do. All arms train for three epochs only,
so this says what a part is worth early in training, where deeper models have not caught up.

No choice looked at the test set, and no recipe was tuned for an arm. Multi30k is non-commercial: the scores
are kept, no checkpoint is.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import sacrebleu

from _multi30k import PIECES, TEST, corpus
from _translation import END_ID, PAD_ID, SMOOTHING, WEIGHT_DECAY, Run, core_seconds, greedy, signature
from bertlab.nn import TransformerConfig
from bertlab.training import run_arms, save_result
from bertlab.training.memory import keep_freed_memory

NAME = "transformer_ablations"
QUESTION = "What do layers, heads and positions add to a small Transformer that translates?"
SEEDS = (0, 1, 2)
RECIPE: dict[str, Any] = {"epochs": 3, "peak": 1.5e-3, "warmup": 300, "tokens": 1000, "betas": (0.9, 0.98)}
BASE = TransformerConfig(
    source_vocab=PIECES, target_vocab=PIECES, d_model=128, n_heads=4, d_ff=512, n_layers=2, norm_first=True,
    dropout=0.1, attention_dropout=0.1, max_length=256, pad_id=PAD_ID, end_id=END_ID,
)  # fmt: skip
CHANGES: dict[str, dict[str, Any]] = {
    "base": {},
    "1 layer": {"n_layers": 1},
    "4 layers": {"n_layers": 4},
    "1 head": {"n_heads": 1},
    "8 heads": {"n_heads": 8},
    "learned positions": {"positions": "learned"},
    "no positions": {"positions": "none"},
}


def config_of(change: str) -> TransformerConfig:
    """Make the base model with one change."""
    return replace(BASE, **CHANGES[change])


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model and translate both sets that it has not seen."""
    keep_freed_memory()
    run = Run(corpus(), config_of(arm["change"]), RECIPE, arm["seed"])
    summary = run.summary(run.fit(path))
    texts = {split: run.corpus.translate(split, greedy(run.model)) for split in ("val", TEST)}
    return summary | {"bleu": {split: round(corpus().bleu(split, texts[split]), 2) for split in texts}}


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[dict[str, Any]] = [{"change": change, "seed": seed} for seed in SEEDS for change in CHANGES]
    rows = run_arms(NAME, arms, train_and_test, parser.parse_args().workers)
    results = {
        "arms": rows,
        "metric": signature(sacrebleu.BLEU()),
        "settings": {"pieces": PIECES, "smoothing": SMOOTHING, "weight_decay": WEIGHT_DECAY}
        | {"recipe": RECIPE, "base": asdict(BASE), "changes": CHANGES},
    }
    save_result(NAME, QUESTION, results, seconds=core_seconds(rows))


if __name__ == "__main__":
    main()
