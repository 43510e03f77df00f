"""The ELMo that the repository carries: trained, examined and written.

A character CNN with a highway layer, two layers of LSTMs in each direction with projections and a residual
connection, and one softmax for both directions, as in Peters et al. 2018, sec. 3; all of it small. It reads
books, wikisplit and masc in stretches of 62 words, and is asked for each next and for each previous word
among 8,187; while it trains, beside 1,024 others that are drawn (`_elmo_training`). On books and articles
that it has not read, it is asked among all, beside the same sizes with new weights and n-grams counted on the
same text. `_elmo_text` tells what "unknown" means here.

Fixed before the run: the sizes, so that one pass over the text takes about an hour of one core; no dropout,
since no text is read often enough to be learnt by heart; the rate, which no run was used to choose.

An interrupted training goes on where it was.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
from dataclasses import asdict
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch

from _bert_corpus import held_out_documents, sizes
from _elmo_card import card
from _elmo_text import (
    HELD_OUT,
    SHARDS,
    WORDS,
    Text,
    by_counting,
    by_elmo,
    exam,
    examined,
    frequencies,
    prepared,
    targets,
)
from _elmo_training import asked_both_ways
from bertlab.interop.checkpoint_folders import CHECKPOINTS
from bertlab.interop.elmo import load_elmo, save_elmo
from bertlab.nn import ELMoConfig, ELMoForPreTraining
from bertlab.training import save_result
from bertlab.training.journal import read_journal
from bertlab.training.results import ROOT
from bertlab.training.run_folder import JOURNAL, MODEL
from bertlab.training.running_text import TextPretrainConfig, train_on_text

NAME, CHECKPOINT = "elmo_mini", "elmo-mini"
QUESTION = "How well does a small ELMo predict words from either side, beside counted n-grams?"
SIZES: dict[str, Any] = {
    "d_model": 128,
    "d_memory": 384,
    "n_layers": 2,
    "d_character": 16,
    "filters": ((1, 16), (2, 32), (3, 64), (4, 64), (5, 64)),
    "n_highway": 1,
}
CONFIG = TextPretrainConfig(
    shards=(str(SHARDS.relative_to(ROOT)),),
    vocab=str(WORDS.relative_to(ROOT)),
    lowercase=False,
    out="runs/elmo_mini",
    model=SIZES,
    steps=3200,
    batch_size=32,
    max_length=64,
    rate=2e-3,
    warmup=200,
    dropout=0.0,
    report_every=200,
    save_every=50,
    held_out=(str(HELD_OUT.relative_to(ROOT)),),
    held_out_batches=10,
)


def trained(config: TextPretrainConfig, text: Text) -> ELMoForPreTraining:
    """Train the model, or go on, or open what was trained before."""
    torch.manual_seed(config.seed)
    told: dict[str, Any] = {"vocab_size": len(text.known), "pad_id": text.known.pad_id}
    assert isinstance(config.model, dict)
    model = ELMoForPreTraining(ELMoConfig(**told, dropout=config.dropout, **config.model))
    losses = asked_both_ways(model, text, frequencies(text))
    with contextlib.chdir(ROOT):  # from where the paths of the configuration count
        train_on_text(
            config,
            model,
            text.words,
            losses,
            torch.device("cpu"),
            lambda folder: save_elmo(model, text.known, folder),
        )
        return load_elmo(Path(config.out) / MODEL)[0]


def curve(rows: list[dict[str, float]]) -> list[dict[str, float]]:
    """Give the losses on held-out text at each report, and the words and marks read until then."""
    read = accumulate(row["n_tokens"] for row in rows)
    return [
        {"step": row["step"], "tokens": int(n)}
        | {name: round(row[f"held_out_{name}"], 4) for name in ("forward", "backward")}
        for row, n in zip(rows, read, strict=True)
    ]


def ship(model: ELMoForPreTraining, text: Text, name: str = CHECKPOINT) -> ELMoForPreTraining:
    """Write the checkpoint in float16, and give back what is read from there."""
    folder = CHECKPOINTS / name
    if folder.exists():
        shutil.rmtree(folder)
    save_elmo(model, text.known, folder, dtype=torch.float16)
    return load_elmo(folder)[0]


def measured(model: ELMoForPreTraining, text: Text) -> dict[str, Any]:
    """Examine a model, new weights and counting on both held-out sets."""
    torch.manual_seed(0)
    alone = frequencies(text)
    guesses = {
        "elmo": by_elmo(model, text, alone),
        "counting": by_counting(text, alone),
        "untrained": by_elmo(ELMoForPreTraining(model.config), text, alone),
    }
    found = {}
    for name, documents in held_out_documents().items():
        asked, unknown = exam(documents, text)
        found[name] = {"unknown": round(unknown, 4), **examined(guesses, asked)}
    return found


def main() -> None:
    """Make the checkpoint, then write the record and the card."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    text = prepared()
    model = ship(trained(CONFIG, text), text)
    rows = read_journal(ROOT / CONFIG.out / JOURNAL)
    answers = targets(text.words, text.known)
    unknown = sum(int((answers[shard[:]] < 0).sum()) for shard in text.corpus.shards)
    results = {
        "config": CONFIG.as_json(),
        "sizes": asdict(model.config),
        "parameters": sum(p.numel() for p in model.parameters()),
        "parts": model.config.parts,
        "text": sizes(text.corpus) | {"unknown": round(unknown / int(text.corpus.borders[-1]), 4)},
        "hours": round(rows[-1]["seconds"] / 3600, 2),
        "curve": curve(rows),
        "held_out": measured(model, text),
    }
    save_result(NAME, QUESTION, results, seconds=rows[-1]["seconds"])
    (CHECKPOINTS / CHECKPOINT / "README.md").write_text(card(results), encoding="utf-8")


if __name__ == "__main__":
    main()
