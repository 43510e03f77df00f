"""Where does the fixed vector break? Lists of number words, by their length and by the width of the state.

Trains an LSTM encoder-decoder (English to German) with and without attention at four widths, several seeds,
on lists of one to six numbers below a thousand, and counts lists translated without a fault, of numbers never
seen in training. These lengths were all trained on: what fails there is the memory, not the step to longer
lists. That step is tested apart, with seven.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch

from _number_words import exact, translate, vocabularies
from bertlab.datasets.numbers import sample_pairs
from bertlab.nn import Seq2Seq, Seq2SeqConfig
from bertlab.nn.functional import cross_entropy
from bertlab.text import Vocabulary
from bertlab.training import fit, linear_decay, run_arms, save_result

NAME = "seq2seq_numbers"
QUESTION = "How does accuracy fall with the length of the source and rise with the width of the state?"
SEEDS = (0, 1, 2)
ATTENTION = ("none", "dot")
WIDTHS = (16, 32, 64, 128)
LONGEST, UNSEEN = 6, 7  # numbers in a list: the longest in training, and one more
D_EMBEDDING, BATCH, STEPS, PEAK, WARMUP = 64, 64, 2500, 4e-3, 100
BELOW = 1000  # short numbers give many lengths
LONGER = 4  # times the steps, for the widest model without attention
TEST = 500  # sentences of each length


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model; count faultless sentences and right pieces for each list length."""
    torch.manual_seed(arm["seed"])
    english, german = vocabularies()
    config = Seq2SeqConfig(
        source_vocab=len(english), target_vocab=len(german), d_embedding=D_EMBEDDING, d_model=arm["width"],
        cell="lstm", bidirectional=True, attention=arm["attention"],
    )  # fmt: skip
    model = Seq2Seq(config)

    def loss(step: int) -> torch.Tensor:
        rng = np.random.default_rng([arm["seed"], step])
        pairs = sample_pairs(rng, BATCH, list_length=int(rng.integers(1, LONGEST + 1)), below=BELOW)
        targets = german.batch([p[1] for p in pairs])
        return cross_entropy(
            model(english.batch([p[0] for p in pairs]), targets).logits, targets, german.pad_id
        )

    steps = arm.get("steps", STEPS)
    rate = linear_decay(PEAK, WARMUP, steps)
    losses = fit(model, loss, steps=steps, learning_rate=rate, checkpoint=path.with_suffix(".pt"))
    tests = [test(model, n, english, german) for n in (*range(1, LONGEST + 1), UNSEEN)]
    parameters = sum(p.numel() for p in model.parameters())
    return {
        "parameters": parameters,
        "last_loss": float(np.mean(losses[-100:])),
        **{key: [t[key] for t in tests] for key in tests[0]},
    }


def test(model: Seq2Seq, list_length: int, english: Vocabulary, german: Vocabulary) -> dict[str, float]:
    """Translate held-out lists of one length; the same lists for every arm."""
    rng = np.random.default_rng(list_length)
    pairs = sample_pairs(rng, TEST, held_out=True, list_length=list_length, below=BELOW)
    outputs = translate(model, pairs, english, german, max_length=20 * list_length)
    right = [
        sum(a == b for a, b in zip(output, target, strict=False)) / len(target)
        for output, (_, target) in zip(outputs, pairs, strict=True)
    ]
    return {
        "source_pieces": float(np.mean([len(source) for source, _ in pairs])),
        "exact": exact(outputs, pairs),
        "right_pieces": float(np.mean(right)),
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
    arms = [{"attention": a, "width": w, "seed": s} for s in SEEDS for w in WIDTHS for a in ATTENTION]
    # Is it the memory, or were there too few steps? The widest model without attention, trained longer.
    longer = [{"attention": "none", "width": WIDTHS[-1], "seed": s, "steps": LONGER * STEPS} for s in SEEDS]
    rows = run_arms(NAME, arms + longer, train_and_test, workers)
    results = {
        "arms": rows[: len(arms)],
        "longer": rows[len(arms) :],
        "list_lengths": [*range(1, LONGEST + 1), UNSEEN],
        "trained_up_to": LONGEST,
        "settings": {"d_embedding": D_EMBEDDING, "batch": BATCH, "steps": STEPS, "peak": PEAK, "cell": "lstm"}
        | {"warmup": WARMUP, "tested_each": TEST, "below": BELOW},
    }
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
