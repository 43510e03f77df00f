"""What of BERT's pre-training matters? Masks, pairs, direction and first weights, one thing at a time.

BERTs of 2 layers of 128 read 8 million pieces of real text. Each arm changes one choice of the usual recipe:
three seeds for what the paper claims, one for the rest, where the spread of the usual recipe tells how much
chance there is. In the end all are asked the same: which pieces were hidden in books and articles that none
has read, with the text masked as in training, with [MASK] alone, and with nothing hidden; in which of its
senses a homograph is meant (`_homographs`, nothing trained but a linear probe); and, trained further, whether
one sentence follows from another (`_entailment`).

The record holds the curves, too: against steps, pieces read, pieces asked for, and seconds of one core.
"""

from __future__ import annotations

import argparse
from functools import cache, partial
from pathlib import Path
from typing import Any

from torch import Tensor

from _bert_answers import fill, judge, left_only, measure, questions, shown
from _bert_held_out import KINDS, SETS, masked_words, next_sentences
from _bert_vocabulary import tokenizer
from _entailment import entailment, fine_tune
from _homographs import probe
from _small_bert import BATCH, CHOICES, LENGTH, STEPS, WARM_UP, train
from bertlab.nn import BertForPreTraining, BertModel
from bertlab.text import WordPiece
from bertlab.training import run_arms, save_result

NAME = "bert_ablations"
QUESTION = "Which choices of BERT's pre-training matter at 2 layers of 128, on real text?"
SEEDS = (0, 1, 2)
HEADLINES = (  # trained with every seed
    "usual",
    "always [MASK]",
    "80 % random, 20 % same",
    "no next-sentence loss",
    "no next-sentence loss, true pairs",
    "left to right",
    "first weights as published",
    "first weights as published, no next-sentence loss",
    "positions begin as sinusoids",
    "2 heads",
    "new weights",
)
INPUTS = 512  # pairs of each held-out set
FEW = 6000  # examples, read 16 times
CHANGES: dict[str, dict[str, Any]] = {
    "usual": {},
    "always [MASK]": {"shares": (1.0, 0.0, 0.0)},
    "80 % random, 20 % same": {"shares": (0.0, 0.8, 0.2)},
    "30 % asked for": {"rate": 0.3},
    "50 % asked for": {"rate": 0.5},
    "80 % asked for": {"rate": 0.8},
    "no next-sentence loss": {"next_sentence": False},
    "no next-sentence loss, true pairs": {"next_sentence": False, "pairs": "all are true"},
    "left to right": {"next_sentence": False, "left_to_right": True},
    "first weights as published": {"first_weights": "as published"},
    "first weights as published, no next-sentence loss": {
        "first_weights": "as published",
        "next_sentence": False,
    },
    "positions begin as sinusoids": {"first_weights": "sinusoids"},
    "room for sinusoids": {"first_weights": "room for sinusoids"},
    "2 of 4 heads look beside": {"first_weights": "look one place beside"},
    "2 of 4 heads look beside, half empty": {"first_weights": "look one place beside, half empty"},
    "2 heads": {"heads": 2},
    "new weights": {"steps": 1, "warm_up": 1, "peak": 1e-9},  # as good as none
    "few texts, new masks": {"examples": FEW},
    "few texts, 4 masks each": {"examples": FEW, "masks": 4},
    "few texts, 1 mask each": {"examples": FEW, "masks": 1},
    "64 wide": {"width": 64},
    "4 layers": {"layers": 4},
    "256 wide": {"width": 256},
    "64 wide, same work": {"width": 64, "steps": 9340},
    "4 layers, same work": {"layers": 4, "steps": 1750},
    "256 wide, same work": {"width": 256, "steps": 870},
}


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model and ask it everything."""
    changes = CHANGES[arm["change"]]
    model, record = train(changes, arm["seed"], path)
    left_to_right = changes.get("left_to_right", False)
    for name in SETS:
        found = {kind: questions(name, kind, INPUTS, LENGTH) for kind in KINDS}
        record[name] = {kind: measure(model, exam, left_to_right) for kind, exam in found.items()}
        if not left_to_right:
            seen = [(shown(*pair), pair[1]) for pair in found["hidden"]]
            record[name]["shown"] = masked_words(seen, fill(model))
        if model.next_sentence:
            record[name]["next_sentence"] = next_sentences(found["as trained"], judge(model))
    return record | transfer(model, left_to_right, arm["seed"])


def transfer(model: BertForPreTraining, left_to_right: bool, seed: int) -> dict[str, Any]:
    """Use the encoder for something else: first with its weights as they are, then trained further."""
    vocab = with_offsets()

    def read(bert: BertModel, ids: Tensor, segments: Tensor | None = None) -> Tensor:
        mask = left_only(ids, model) if left_to_right else None
        states: Tensor = bert(ids, segments, mask).states
        return states

    words = probe(vocab, partial(read, model.bert), LENGTH)
    task = entailment(vocab, LENGTH)
    right = fine_tune(model.bert, partial(read, model.bert), task, model.config.d_model, seed)
    return {"homographs": words, "entailment": right}


@cache
def with_offsets() -> WordPiece:
    """The tokenizer of all arms, once a process, which gives offsets quickly."""
    return WordPiece(tokenizer("trained").vocab, fast=True)


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[dict[str, Any]] = [
        {"change": change, "seed": seed}
        for seed in SEEDS
        for change in (CHANGES if seed == SEEDS[0] else HEADLINES)
    ]
    rows = run_arms(NAME, arms, train_and_test, parser.parse_args().workers)
    settings = {"steps": STEPS, "batch": BATCH, "length": LENGTH, "warm_up": WARM_UP}
    results = {"settings": settings | {"usual": CHOICES, "changes": CHANGES}, "arms": rows}
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
