"""The two BERTs that the repository carries: trained, examined and written.

BERT-mini begins with new weights, BERT-6L with those of all-MiniLM-L6-v2. Both read books, wikisplit and
masc, masked and in pairs. They are asked for hidden pieces, and for next sentences, in books and articles
that neither has read. Beside them: the same architectures untrained, and what counting reaches
(`masked_ngrams`). `blanks_by_kind` then looks closer, and writes their cards.

Their trainings are those of `python -m bertlab pretrain`, with `bert_mini.toml` and `bert_6l.toml` beside
this file; interrupted ones go on where they were.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
from dataclasses import asdict
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import torch

from _bert_answers import fill, judge
from _bert_corpus import shards, sizes
from _bert_held_out import exams, fingerprint, masked_words, next_sentences
from _bert_vocabulary import tokenizer
from bertlab.interop import load_bert, save_bert
from bertlab.interop.checkpoint_folders import CHECKPOINTS
from bertlab.nn import BertForPreTraining
from bertlab.text import WordPiece
from bertlab.training import load_result, save_result
from bertlab.training.journal import read_journal
from bertlab.training.pretrain import pretrain
from bertlab.training.pretrain_config import PretrainConfig, read_config
from bertlab.training.results import ROOT
from bertlab.training.run_folder import JOURNAL, MODEL

NAME = "bert_checkpoints"
QUESTION = "How well do the shipped BERTs fill blanks and judge next sentences that they have never read?"
SHARD_BYTES = 24_000_000  # the repository has no larger files
HERE = Path(__file__).parent


class Plan(NamedTuple):
    """How a checkpoint is made."""

    config: str
    vocabulary: str


PLANS = {"bert-mini": Plan("bert_mini.toml", "trained"), "bert-6l": Plan("bert_6l.toml", "cut")}


def trained(name: str) -> tuple[PretrainConfig, BertForPreTraining, WordPiece]:
    """Train a checkpoint, or go on, or open what was trained before."""
    plan = PLANS[name]
    shards(plan.vocabulary, tokenizer(plan.vocabulary))
    config = read_config(HERE / plan.config, PretrainConfig)
    with contextlib.chdir(ROOT):  # from where the paths of the configuration count
        pretrain(config, torch.device("cpu"), load_bert, save_bert)
        model, found = load_bert(Path(config.out) / MODEL, BertForPreTraining)
    return config, model, found


def examine(model: BertForPreTraining, vocabulary: str) -> dict[str, Any]:
    """Ask for hidden pieces and next sentences in both held-out sets, by set and kind.

    The questions are those that `masked_ngrams` asked, in the same pieces.
    """
    found: dict[str, Any] = {}
    model.eval()
    asked = load_result("masked_ngrams")[vocabulary]["guesses"]
    for (held_out, kind), questions in exams(tokenizer(vocabulary)).items():
        if (sha256 := fingerprint(questions)) != asked[held_out][kind]["sha256"]:
            raise ValueError(f"{held_out}, {kind}: other questions than masked_ngrams asked: run that again")
        of_set = found.setdefault(held_out, {})
        of_set[kind] = {"sha256": sha256, **masked_words(questions, fill(model))}
        if kind == "as trained":
            of_set["next_sentence"] = next_sentences(questions, judge(model))
    return found


def curve(config: PretrainConfig) -> list[dict[str, float]]:
    """Give the means of the losses since the last report, and the pieces read until then."""
    rows = read_journal(ROOT / config.out / JOURNAL)
    tokens = accumulate(row["n_tokens"] for row in rows)
    return [
        {
            "step": row["step"],
            "tokens": int(n),
            **{k: round(row[k], 4) for k in ("masked_lm", "next_sentence")},
        }
        for row, n in zip(rows, tokens, strict=True)
    ]


def ship(name: str, model: BertForPreTraining, vocab: WordPiece) -> BertForPreTraining:
    """Write a checkpoint in float16, and give back what is read from there."""
    folder = CHECKPOINTS / name
    if folder.exists():
        shutil.rmtree(folder)
    save_bert(model, vocab, folder, dtype=torch.float16, shard_bytes=SHARD_BYTES)
    return load_bert(name, BertForPreTraining)[0]


def measured(name: str) -> dict[str, Any]:
    """Train, ship and examine a checkpoint."""
    config, model, vocab = trained(name)
    torch.manual_seed(0)
    untrained = BertForPreTraining(model.config)
    rows, asked_in = read_journal(ROOT / config.out / JOURNAL), PLANS[name].vocabulary
    if vocab.vocab != tokenizer(asked_in).vocab:
        raise ValueError(f"{name} has other pieces than {asked_in!r}: train it again, from an empty folder")
    return {
        "config": config.as_json(),
        "sizes": asdict(model.config),
        "parameters": sum(p.numel() for p in model.parameters()),
        "text": sizes(shards(asked_in, vocab)),
        "hours": round(rows[-1]["seconds"] / 3600, 2),
        "curve": curve(config),
        "trained": examine(model, asked_in),
        "shipped": examine(ship(name, model, vocab), asked_in),
        "untrained": examine(untrained, asked_in),
    }


def main() -> None:
    """Make both, then write the record."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    results = {name: measured(name) for name in PLANS}
    seconds = 3600 * sum(found["hours"] for found in results.values())  # of one thread each
    save_result(NAME, QUESTION, results, seconds=seconds)


if __name__ == "__main__":
    main()
