"""Does attention help on real sentences, and most on the long ones? German to English on Multi30k.

Trains a GRU encoder-decoder with and without attention, several seeds, same data, same steps. Scores the
1,000 captions of test_2016_flickr with sacreBLEU, whole and by length of the source, beside a baseline
without any learning: the translation of the most similar training sentence. Multi30k is non-commercial: the
scores and a few alignments are kept, no checkpoint is.
"""

from __future__ import annotations

import argparse
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import sacrebleu
import torch
from tokenizers import Tokenizer

from _multi30k import sentences
from _translation import END_ID, PAD_ID, most_similar, signature, significance, train_bpe, until_end
from bertlab.nn import Seq2Seq, Seq2SeqConfig, greedy_decode
from bertlab.nn.functional import cross_entropy
from bertlab.text import pad
from bertlab.training import fit, linear_decay, run_arms, save_result

NAME = "seq2seq_multi30k"
QUESTION = "How much does attention add to a recurrent translator on real sentences, and on which?"
SEEDS = (0, 1, 2)
ATTENTION = ("none", "dot")
PIECES, WIDTH, DROPOUT = 5000, 256, 0.3
BATCH, EPOCHS, PEAK, WARMUP = 64, 6, 1.5e-3, 300
BUCKETS = ((1, 8), (9, 11), (12, 14), (15, 19), (20, 99))  # words of the source


@lru_cache
def tokenizer(language: str) -> Tokenizer:
    """Learn the pieces of one language from its training sentences."""
    return train_bpe(sentences("train", language), PIECES)


@lru_cache
def encoded(split: str, language: str) -> list[list[int]]:
    """Cut a side of a split into ids of pieces, the end token last."""
    return [[*e.ids, END_ID] for e in tokenizer(language).encode_batch(sentences(split, language))]


def epoch_batches(epoch: int, seed: int) -> list[list[int]]:
    """Shuffle the training set into batches of alike lengths: sorted within pools of 50 batches."""
    rng = np.random.default_rng([seed, epoch])
    lengths = np.array([len(row) for row in encoded("train", "de")])
    batches = []
    for pool in np.array_split(rng.permutation(len(lengths)), len(lengths) // (50 * BATCH)):
        by_length = pool[np.argsort(lengths[pool], kind="stable")]
        batches += np.array_split(by_length, len(pool) // BATCH)
    return [batches[i].tolist() for i in rng.permutation(len(batches))]


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model and translate the test set."""
    torch.manual_seed(arm["seed"])
    config = Seq2SeqConfig(
        source_vocab=PIECES, target_vocab=PIECES, d_embedding=WIDTH, d_model=WIDTH,
        bidirectional=True, attention=arm["attention"], dropout=DROPOUT, pad_id=PAD_ID, end_id=END_ID,
    )  # fmt: skip
    model = Seq2Seq(config)
    per_epoch = len(epoch_batches(0, arm["seed"]))
    batches = lru_cache(maxsize=1)(lambda epoch: epoch_batches(epoch, arm["seed"]))
    source, target = encoded("train", "de"), encoded("train", "en")

    def loss(step: int) -> torch.Tensor:
        rows = batches(step // per_epoch)[step % per_epoch]
        targets = pad([target[i] for i in rows], PAD_ID)
        logits = model(pad([source[i] for i in rows], PAD_ID), targets).logits
        return cross_entropy(logits, targets, ignore_index=PAD_ID)

    steps = EPOCHS * per_epoch
    losses = fit(
        model, loss, steps=steps, learning_rate=linear_decay(PEAK, WARMUP, steps),
        checkpoint=path.with_suffix(".pt"),
    )  # fmt: skip
    translations, weights = translate(model)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "steps": steps,
        "last_loss": float(np.mean(losses[-per_epoch:])),
        "translations": translations,
        "alignments": alignments(translations, weights) if weights else [],
    }


def translate(model: Seq2Seq) -> tuple[list[str], list[np.ndarray]]:
    """Translate the test set greedily: the sentences, and for each the weights (Tt, Ts)."""
    texts: list[str] = []
    maps: list[np.ndarray] = []
    source = encoded("test_2016_flickr", "de")
    for start in range(0, len(source), 100):
        batch = pad(source[start : start + 100], PAD_ID)
        ids, weights = greedy_decode(model, batch, max_length=80)
        rows = [until_end(row) for row in ids.tolist()]
        texts += tokenizer("en").decode_batch(rows)
        if weights is not None:
            maps += [w[: len(row)].numpy() for w, row in zip(weights, rows, strict=True)]
    return [text.strip() for text in texts], maps


def words_of(pieces: list[str]) -> list[list[int]]:
    """Group piece positions into words: a piece that begins with the mark of a space begins a word."""
    groups: list[list[int]] = []
    for i, piece in enumerate(pieces):
        if piece.startswith("Ġ") or not groups:
            groups.append([])
        groups[-1].append(i)
    return groups


def alignments(translations: list[str], maps: list[np.ndarray]) -> list[dict[str, Any]]:
    """Keep three alignments by rule, not by taste: well translated, 8 to 12 words, and the least in step."""
    rows, german = [], tokenizer("de")
    test, reference = encoded("test_2016_flickr", "de"), sentences("test_2016_flickr", "en")
    for text, weights, ids, wanted in zip(translations, maps, test, reference, strict=True):
        source = [str(german.id_to_token(i)) for i in ids[:-1]]
        target = tokenizer("en").encode(text).tokens
        lines = words_of(target)
        if not 8 <= len(text.split()) == len(lines) <= 12 or len(target) != len(weights):
            continue
        if sacrebleu.sentence_bleu(text, [wanted]).score < 60:
            continue
        columns = words_of(source)
        by_word = np.stack(
            [weights[:, c].sum(axis=1) for c in columns], axis=1
        )  # a word gets all of its pieces
        by_word = np.stack([by_word[r].mean(axis=0) for r in lines])  # (target words, source words)
        looks_at = by_word.argmax(axis=1)
        backwards = int((np.diff(looks_at) < 0).sum())
        rows.append({
            "backward_jumps": backwards,
            "source": [german.decode([ids[i] for i in c]).strip() for c in columns],
            "target": text.split(),
            "weights": by_word.round(3).tolist(),
        })  # fmt: skip
    rows.sort(key=lambda row: -row["backward_jumps"])
    return rows[:3]


def from_memory() -> list[str]:
    """Translate without learning: give the translation of the nearest training sentence."""
    nearest = most_similar(encoded("train", "de"), encoded("test_2016_flickr", "de"), PIECES)
    return [sentences("train", "en")[i] for i in nearest]


def bleu(hypotheses: list[str]) -> dict[str, Any]:
    """Score a translation of the test set: whole, and by words in the source."""
    references = sentences("test_2016_flickr", "en")
    lengths = [len(line.split()) for line in sentences("test_2016_flickr", "de")]
    by_bucket = []
    for low, high in BUCKETS:
        rows = [i for i, n in enumerate(lengths) if low <= n <= high]
        score = sacrebleu.corpus_bleu([hypotheses[i] for i in rows], [[references[i] for i in rows]]).score
        by_bucket.append(round(score, 2))
    return {
        "bleu": round(sacrebleu.corpus_bleu(hypotheses, [references]).score, 2),
        "bleu_by_length": by_bucket,
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
    arms = [{"attention": a, "seed": s} for s in SEEDS for a in ATTENTION]
    rows = run_arms(NAME, arms, train_and_test, workers)
    translations = {(row["attention"], row["seed"]): row.pop("translations") for row in rows}
    shown = {row["seed"]: row.pop("alignments") for row in rows if row["attention"] == "dot"}
    lengths = np.array([len(line.split()) for line in sentences("test_2016_flickr", "de")])
    references = [sentences("test_2016_flickr", "en")]
    for row in rows:
        row.pop("alignments", None)
        row |= bleu(translations[row["attention"], row["seed"]])
    results = {
        "arms": rows,
        "buckets": BUCKETS,
        "sentences_in_bucket": [int(((lengths >= low) & (lengths <= high)).sum()) for low, high in BUCKETS],
        "most_similar_training_sentence": bleu(from_memory()),
        "paired_bootstrap": [
            {"seed": s} | significance(translations["none", s], translations["dot", s], references)
            for s in SEEDS
        ],
        "alignments": shown[SEEDS[0]],
        "metric": signature(sacrebleu.BLEU()),
        "settings": {"pieces": PIECES, "width": WIDTH, "dropout": DROPOUT, "batch": BATCH}
        | {"epochs": EPOCHS, "peak": PEAK, "warmup": WARMUP},
    }  # fmt: skip
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
