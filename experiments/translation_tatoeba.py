"""Can a model small enough to ship translate short English sentences into Chinese? Tatoeba, 29,155 pairs.

Trains a Transformer and a Seq2Seq with attention: same text, same pieces (Chinese sign by sign), about as
many parameters, several seeds. Scores 1,000 sentences with sacreBLEU, whose tokens are Chinese signs, and
with chrF, beside a baseline without any learning: the translation of the most similar training sentence.

Tatoeba has many translations of one sentence, and sentences that share a translation. All pairs that hang
together by an English or a Chinese sentence, letters and digits alone compared, are kept on one side of the
split. A sentence of the test set counts once, with all of its translations as references.

Both models see every sentence twelve times. The steps of the Seq2Seq are cheaper, so it has then cost less
than half of the core minutes, and was still learning: this compares at equal data, not at equal cost. Neither
recipe was tuned, and no choice looked at the test set.

The Transformer of seed 0 is kept, in float16, in data/checkpoints/tatoeba_en_zh.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sacrebleu
import torch

from _translation import (
    ALPHAS,
    BEAM,
    END_ID,
    PAD_ID,
    SMOOTHING,
    WEIGHT_DECAY,
    Corpus,
    References,
    Run,
    beam,
    core_seconds,
    greedy,
    most_similar,
    signature,
    significance,
    train_bpe,
)
from _translator_card import card
from bertlab.datasets import load
from bertlab.interop import load_transformer, save_transformer
from bertlab.interop.transformer import CHECKPOINTS
from bertlab.nn import Seq2SeqConfig, Transformer, TransformerConfig
from bertlab.training import run_arms, save_result
from bertlab.training.memory import keep_freed_memory
from bertlab.training.results import RUNS

NAME = "translation_tatoeba"
QUESTION = (
    "How well does a Transformer of four million parameters translate short English sentences to Chinese?"
)
CHECKPOINT = CHECKPOINTS / "tatoeba_en_zh"
SEEDS = (0, 1, 2)
PIECES, WIDTH = 6000, 192
N_TEST, N_VAL, N_SHOWN = 1000, 500, 12
RECIPE: dict[str, Any] = {"epochs": 12, "peak": 1.5e-3, "warmup": 600, "tokens": 1000, "betas": (0.9, 0.98)}
CONFIGS: dict[str, Seq2SeqConfig | TransformerConfig] = {
    "transformer": TransformerConfig(
        source_vocab=PIECES, target_vocab=PIECES, d_model=WIDTH, n_heads=4, d_ff=768, n_layers=3,
        norm_first=True, dropout=0.3, attention_dropout=0.1, max_length=128, pad_id=PAD_ID, end_id=END_ID,
    ),
    "seq2seq": Seq2SeqConfig(
        source_vocab=PIECES, target_vocab=PIECES, d_embedding=WIDTH, d_model=WIDTH, bidirectional=True,
        attention="dot", dropout=0.3, pad_id=PAD_ID, end_id=END_ID,
    ),
}  # fmt: skip


class Pair(NamedTuple):
    """A sentence, one translation, and who wrote them."""

    english: str
    chinese: str
    attribution: str


@lru_cache
def pairs() -> list[Pair]:
    """Read all pairs, each once."""
    tatoeba = load("tatoeba-eng-cmn")
    rows = [Pair(**row) for file in ("cmn-short.txt", "cmn-long.txt") for row in tatoeba.records(file)]
    return list({row[:2]: row for row in rows}.values())


def letters(text: str) -> str:
    """Strip what does not make another sentence: case, spaces, punctuation."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def groups(rows: Sequence[tuple[str, str]]) -> list[list[int]]:
    """Gather the numbers of all pairs that hang together by sentences in common."""
    leader: dict[tuple[int, str], tuple[int, str]] = {}

    def find(sentence: tuple[int, str]) -> tuple[int, str]:
        while leader.setdefault(sentence, sentence) != sentence:
            leader[sentence] = sentence = leader[leader[sentence]]
        return sentence

    for row in rows:
        one, other = (find((side, letters(row[side]))) for side in (0, 1))
        leader[one] = other
    found = defaultdict(list)
    for i, row in enumerate(rows):
        found[find((0, letters(row[0])))].append(i)
    return list(found.values())


def split(
    rows: Sequence[tuple[str, str]], n_test: int, n_val: int, rng: np.random.Generator
) -> dict[str, list[int]]:
    """Deal whole groups out: to the test set until it has enough sentences, to validation, to training."""
    sets: dict[str, list[int]] = {"test": [], "val": [], "train": []}
    wanted = {"test": n_test, "val": n_val}
    together = groups(rows)
    for at in rng.permutation(len(together)):
        for name, chosen in sets.items():
            if name == "train" or len({rows[i][0] for i in chosen}) < wanted[name]:
                chosen += together[at]
                break
    return sets


def with_references(rows: Sequence[tuple[str, str]]) -> tuple[list[str], References]:
    """Take each sentence once, with all of its translations."""
    by_sentence: dict[str, list[str]] = {}
    for english, chinese in rows:
        by_sentence.setdefault(english, []).append(chinese)
    return list(by_sentence), [list(nth) for nth in zip_longest(*by_sentence.values())]


@lru_cache
def dealt() -> dict[str, list[Pair]]:
    """Split all pairs, always alike."""
    found = split([row[:2] for row in pairs()], N_TEST, N_VAL, np.random.default_rng(0))
    return {name: [pairs()[i] for i in chosen] for name, chosen in found.items()}


@lru_cache
def corpus() -> Corpus:
    """Cut all sentences into the pieces of one vocabulary, learnt from both sides of the training set."""
    rows = {name: [row[:2] for row in chosen] for name, chosen in dealt().items()}
    train: tuple[list[str], list[list[str]]] = (
        [e for e, _ in rows["train"]],
        [[c for _, c in rows["train"]]],
    )
    tokenizer = train_bpe([*train[0], *train[1][0]], PIECES, han_apart=True)
    texts = {"train": train} | {name: with_references(rows[name]) for name in ("val", "test")}
    return Corpus(tokenizer, texts, tokenize="zh")


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model and translate the test set."""
    keep_freed_memory()
    run = Run(corpus(), CONFIGS[arm["model"]], RECIPE, arm["seed"])
    curve = run.fit(path)
    greedily, speed = run.corpus.timed("test", greedy(run.model))
    by_alpha = run.corpus.bleu_by_alpha(run.model)
    best = max(ALPHAS, key=lambda alpha: by_alpha[alpha])
    return {
        **run.summary(curve),
        "sentences_per_core_second": round(speed, 1),
        "val_bleu_by_alpha": by_alpha,
        "translations": {"greedy": greedily, "beam": run.corpus.translate("test", beam(run.model, best))},
    }


def scores(texts: list[str]) -> dict[str, float]:
    """Score translations of the test set."""
    chrf = sacrebleu.corpus_chrf(texts, corpus().references["test"]).score
    return {"bleu": round(corpus().bleu("test", texts), 2), "chrf": round(float(chrf), 2)}


def compare(found: dict[str, dict[int, dict[str, list[str]]]]) -> list[dict[str, Any]]:
    """Ask of every comparison, seed by seed, whether its gain is luck of the test set."""
    recurrent, transformer = found["seq2seq"], found["transformer"]
    rows: list[dict[str, Any]] = []
    for seed in SEEDS:
        contests = {
            f"{way}: transformer over seq2seq": (recurrent[seed][way], transformer[seed][way])
            for way in ("greedy", "beam")
        } | {"transformer: beam over greedy": (transformer[seed]["greedy"], transformer[seed]["beam"])}
        rows += [
            {"seed": seed, "gain_of": name}
            | significance(*both, corpus().references["test"], **corpus().settings)
            for name, both in contests.items()
        ]
    return rows


def keep(seed: int) -> list[str]:
    """Write the checkpoint of one seed, read it again, and translate the test set with what was read."""
    config = CONFIGS["transformer"]
    assert isinstance(config, TransformerConfig)
    model = Transformer(config)
    trained = RUNS / NAME / f"model=transformer-seed={seed}.pt"
    model.load_state_dict(torch.load(trained, weights_only=True)["model"])
    save_transformer(model, corpus().tokenizer, CHECKPOINT)
    return corpus().translate("test", greedy(load_transformer(CHECKPOINT)[0]))


def examples(**translations: list[str]) -> list[dict[str, Any]]:
    """Show the first groups of the test set, which stand in no order: one sentence of each."""
    rows = dealt()["test"]
    order = list(dict.fromkeys(row.english for row in rows))
    shown = [rows[group[0]].english for group in groups([row[:2] for row in rows])][:N_SHOWN]
    return [
        {"source": source}
        | {name: texts[order.index(source)] for name, texts in translations.items()}
        | {"references": [row.chinese for row in rows if row.english == source]}
        | {"attribution": [row.attribution for row in rows if row.english == source]}
        for source in shown
    ]


def data_facts() -> dict[str, int]:
    """Count what was split, and what stands on two sides of the split."""
    sides = {name: [{letters(row[k]) for row in rows} for k in (0, 1)] for name, rows in dealt().items()}
    return {
        "groups": len(groups([row[:2] for row in pairs()])),
        **{f"{name}_pairs": len(rows) for name, rows in dealt().items()},
        **{f"{name}_sentences": len({row.english for row in rows}) for name, rows in dealt().items()},
        "test_sentences_in_training": sum(len(sides["test"][k] & sides["train"][k]) for k in (0, 1)),
    }


def main() -> None:
    """Measure all arms, then write the record and the checkpoint."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[dict[str, Any]] = [{"model": kind, "seed": seed} for seed in SEEDS for kind in CONFIGS]
    rows = run_arms(NAME, arms, train_and_test, parser.parse_args().workers)
    found: dict[str, dict[int, dict[str, list[str]]]] = {kind: {} for kind in CONFIGS}
    for row in rows:
        found[row["model"]][row["seed"]] = texts = row.pop("translations")
        row |= {way: scores(texts[way]) for way in texts}
    text, first = corpus(), {kind: found[kind][SEEDS[0]]["beam"] for kind in CONFIGS}
    nearest = most_similar(text.source["train"], text.source["test"], PIECES)
    shipped = keep(SEEDS[0])
    results = {
        "arms": rows,
        "paired_bootstrap": compare(found),
        "most_similar_training_sentence": scores([dealt()["train"][i].chinese for i in nearest]),
        "checkpoint": scores(shipped),
        "examples": examples(**first, checkpoint=shipped),
        "data": data_facts(),
        "licence": "sentences: contributors of tatoeba.org, CC BY 2.0 FR; who wrote them stands with each",
        "metrics": [
            signature(sacrebleu.BLEU(**text.settings), text.references["test"]),
            signature(sacrebleu.CHRF(), text.references["test"]),
        ],
        "settings": {"pieces": PIECES, "smoothing": SMOOTHING, "weight_decay": WEIGHT_DECAY}
        | {"beam": BEAM, "recipe": RECIPE}
        | {"configs": {kind: asdict(config) for kind, config in CONFIGS.items()}},
    }
    save_result(NAME, QUESTION, results, seconds=core_seconds(rows))
    (CHECKPOINT / "README.md").write_text(card(results, SEEDS[0]), encoding="utf-8")


if __name__ == "__main__":
    main()
