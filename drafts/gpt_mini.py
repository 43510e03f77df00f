"""The GPT-1 that the repository carries: trained, examined and written.

GPT-mini has BERT-mini's layers (4 of 256), its vocabulary and its training text (books, wikisplit and masc);
it is GPT-1 in all else: post-LN, learned positions, GELU, tied output, asked at every position for the next
piece. First weights are those of the paper. Decided before it was trained: its sizes, its steps (what a core
does in about an hour; BERT-mini had nearly four), its rate (BERT-mini's), and all that is asked of it:

- how surprised it is by held-out books and articles, beside n-grams with and without a memory, and how much
  it gains by what stands far back (`_next_piece`);
- what is wrong with the texts that it writes, for five ways to draw, beside the author's (`_writing`);
- grammar by minimal pairs, beside n-grams and BERT-mini (`_minimal_pairs`).

Training is that of `bertlab.training.pretrain_gpt`, with `gpt_mini.toml` beside this file; an interrupted one
goes on where it was. What is asked is asked of the shipped weights, in float16.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import _minimal_pairs as minimal_pairs
import _next_piece as next_piece
import _writing as writing
import torch
from _gpt_card import card

from _bert_corpus import shards, sizes
from _bert_vocabulary import tokenizer
from _ngrams import KneserNey, one_row
from bertlab.interop import load_bert, load_gpt, save_gpt
from bertlab.interop.checkpoint_folders import CHECKPOINTS
from bertlab.nn import GPT, BertForPreTraining
from bertlab.text import WordPiece
from bertlab.text.masked_lm import Ids
from bertlab.training import run_arms, save_result
from bertlab.training.journal import read_journal
from bertlab.training.memory import keep_freed_memory
from bertlab.training.pretrain_config import read_config
from bertlab.training.pretrain_gpt import GPTPretrainConfig, pretrain_gpt
from bertlab.training.results import ROOT
from bertlab.training.run_folder import JOURNAL, MODEL

NAME, CHECKPOINT, VOCABULARY = "gpt_mini", "gpt-mini", "trained"
QUESTION = "How well does a small GPT know what comes next, what does it write, and how much grammar has it?"
HERE = Path(__file__).parent
GRAMS = {"single pieces": 0, "n-grams of 2": 1, "n-grams of 4": 3}  # how many pieces before are seen
COMPARED = (("gpt-mini", "n-grams of 4"), ("bert-mini", "gpt-mini"))
Row = dict[str, Any]


def trained() -> tuple[GPTPretrainConfig, GPT, WordPiece]:
    """Train it, or go on, or open what was trained before."""
    shards(VOCABULARY, tokenizer(VOCABULARY))
    config = read_config(HERE / "gpt_mini.toml", GPTPretrainConfig)
    with contextlib.chdir(ROOT):  # from where the paths of the configuration count
        if not (Path(config.out) / MODEL).exists():
            pretrain_gpt(config, torch.device("cpu"), save_gpt)
        model, found = load_gpt(Path(config.out) / MODEL)
    assert isinstance(found, WordPiece)
    return config, model, found


def ship(model: GPT, vocab: WordPiece) -> None:
    """Write the checkpoint in float16; [SEP], which stands behind each text, ends what it writes."""
    folder = CHECKPOINTS / CHECKPOINT
    if folder.exists():
        shutil.rmtree(folder)
    model.config = replace(model.config, end_id=vocab.sep_id)
    save_gpt(model, vocab, folder, dtype=torch.float16)


def pretraining() -> Row:
    """Train and ship; tell how."""
    config, model, vocab = trained()
    ship(model, vocab)
    rows = read_journal(ROOT / config.out / JOURNAL)
    read = accumulate(row["n_tokens"] for row in rows)
    return {
        "config": config.as_json(),
        "sizes": asdict(model.config),
        "parameters": sum(p.numel() for p in model.parameters()),
        "text": sizes(shards(VOCABULARY, vocab)),
        "minutes": round(rows[-1]["seconds"] / 60, 1),
        "curve": [
            {"step": row["step"], "tokens": int(n), "next_token": round(row["next_token"], 4)}
            for row, n in zip(rows, read, strict=True)
        ],
    }


def examined(arm: Row, path: Path) -> Row:
    """Ask the shipped GPT one kind of thing."""
    keep_freed_memory()
    torch.set_grad_enabled(False)
    model, vocab = load_gpt(CHECKPOINT)
    assert isinstance(vocab, WordPiece)
    row = one_row(shards(VOCABULARY, vocab))
    asked = {"surprise": surprise, "writing": written, "grammar": grammar}[arm["asked"]]
    return {"found": asked(model, vocab, row)}


def surprise(model: GPT, vocab: WordPiece, row: Ids) -> Row:
    """Measure the surprise by held-out text, and by how much of it was seen."""
    counted, found = next_piece.by_counting(KneserNey(row, len(vocab))), dict[str, Row]()
    for name, texts in next_piece.held_out(vocab).items():
        ids = [text.ids for text in texts]
        given = {"gpt-mini": next_piece.by_gpt(model, vocab)(ids), "n-grams of 4": counted(ids)}
        given["n-grams with a memory"] = next_piece.with_memory(given["n-grams of 4"], ids)
        given["half gpt, half n-grams"] = next_piece.halves(*(given[one] for one in list(given)[::2]))
        windows = next_piece.windows_of(ids)
        near = {"gpt-mini": next_piece.by_gpt(model, vocab, next_piece.ROOM), "n-grams of 4": counted}
        places = {who: next_piece.by_place(chances(windows)) for who, chances in near.items()}
        found[name] = {**next_piece.summary(texts, given), "by_place": places}
    return {"sets": found, "place_ends": next_piece.ENDS, "memory": next_piece.MEMORY}


def written(model: GPT, vocab: WordPiece, row: Ids) -> Row:
    """Let it write, and count what is wrong."""
    counts, begun = KneserNey(row, len(vocab)), writing.beginnings(vocab)
    judges = {"gpt-mini": next_piece.by_gpt(model, vocab), "n-grams of 4": next_piece.by_counting(counts)}
    texts = {name: writing.by_gpt(model, vocab, begun.prompts, way) for name, way in writing.WAYS.items()} | {
        "n-grams of 4": writing.by_counting(counts, begun.prompts),
        "the author": list(begun.author),
    }
    known = writing.Known(row)
    shown = [
        {"begins": vocab.decode(begun.prompts[i])}
        | {name: vocab.decode(some[i]) for name, some in texts.items()}
        for i in range(writing.SHOWN)
    ]
    return {
        "ways": writing.WAYS,
        "prompts": len(begun.prompts),
        "written": writing.WRITE,
        "texts": {name: writing.faults(begun.prompts, some, known, judges) for name, some in texts.items()},
        "shown": shown,
    }


def grammar(model: GPT, vocab: WordPiece, row: Ids) -> Row:
    """Ask for the better of two sentences."""
    counts, some = KneserNey(row, len(vocab)), minimal_pairs.pairs()
    bert, their = load_bert("bert-mini", BertForPreTraining)
    assert their.vocab == vocab.vocab, "bert-mini has other pieces"
    models = {
        name: minimal_pairs.by_chances(next_piece.by_counting(counts, most)) for name, most in GRAMS.items()
    } | {
        "gpt-mini": minimal_pairs.by_chances(next_piece.by_gpt(model, vocab)),
        "bert-mini": minimal_pairs.by_bert(bert.eval(), vocab),
    }
    found = {
        name: {kind: minimal_pairs.judged(pairs, vocab, scores) for kind, pairs in some.items()}
        for name, scores in models.items()
    }
    return minimal_pairs.summary(found, COMPARED)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, ship and ask, then write record and card."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=2, help="processes that ask side by side (default: 2)")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    start = time.process_time()
    made = pretraining()
    seconds = max(time.process_time() - start, 60 * made["minutes"])  # an earlier call may have trained it
    arms: list[Row] = [{"asked": what} for what in ("surprise", "writing", "grammar")]
    rows = run_arms(NAME, arms, examined, chosen.workers)
    results = {"pretraining": made, **{row["asked"]: row["found"] for row in rows}}
    save_result(NAME, QUESTION, results, seconds=seconds + sum(row["seconds"] for row in rows))
    (CHECKPOINTS / CHECKPOINT / "README.md").write_text(card(results), encoding="utf-8")


if __name__ == "__main__":
    main()
