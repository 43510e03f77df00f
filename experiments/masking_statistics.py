"""Are 15 % of ten million tokens chosen, 80/10/10 changed, and half of the sentence pairs true? Counted.

On all real documents of the course, in the pieces of bert-base-uncased: how many tokens are chosen, and what
happens to them; whether every place of the input has the same chance; whether masks of neighbouring places,
examples, epochs and seeds are independent; how many sentence pairs are true, and whether lengths alone tell
which; and whether the batches are the same, bit for bit, out of any number of processes, and after a resume.
Shares stand with their 95 % interval; "sigmas" are standard deviations from what chance would give.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bertlab import datasets
from bertlab.text import (
    Corpus,
    Masker,
    PretrainingExamples,
    WordPiece,
    open_shards,
    sentence_pairs,
    write_shards,
)
from bertlab.training import save_result
from bertlab.training.results import RUNS

NAME = "masking_statistics"
QUESTION = "Does the code that makes BERT's pre-training examples do what the paper says, by count?"
SETS = ("books", "masc", "wikisplit", "wikitext-2")
TOKENS, SEED, LENGTH, BATCH = 10_000_000, 0, 128, 256
PAIR_EPOCHS, PROCESSES, RESUMED_AT = 6, (1, 2, 4), 37


def share(count: int, n: int, expected: float) -> dict[str, Any]:
    """A share with its 95 % interval, beside the one that is wanted."""
    p = count / n
    half = 1.96 * math.sqrt(p * (1 - p) / n)
    sigmas = (count - n * expected) / math.sqrt(n * expected * (1 - expected)) if 0 < expected < 1 else 0.0
    return {
        "n": n,
        "share": round(p, 6),
        "interval": [round(p - half, 6), round(p + half, 6)],
        "expected": expected,
        "sigmas": round(sigmas, 2),
    }


def even(counts: np.ndarray, n: np.ndarray, p: float) -> dict[str, Any]:
    """Pearson's statistic of counts out of n trials each, with the chance p everywhere."""
    statistic = float(((counts - n * p) ** 2 / (n * p * (1 - p))).sum())
    freedom = counts.size
    return {
        "cells": freedom,
        "statistic": round(statistic, 1),
        "sigmas": round((statistic - freedom) / math.sqrt(2 * freedom), 2),
    }


def masking(data: PretrainingExamples) -> dict[str, Any]:
    """Count what happens to tokens, epoch after epoch, until there are enough."""
    vocab = data.masker.vocab
    ordinary = np.ones(len(vocab), dtype=bool)
    ordinary[list(vocab.special_ids)] = False
    may, chosen = np.zeros(LENGTH, np.int64), np.zeros(LENGTH, np.int64)
    actions, instead, spread, n_examples = np.zeros(3, np.int64), np.zeros(len(vocab), np.int64), 0.0, 0
    specials = epoch = 0
    bar = tqdm(total=TOKENS, desc=f"{NAME}: tokens", unit_scale=True)
    while may.sum() < TOKENS:
        for batch in data.batches(epoch):
            read, width = batch.ids.ravel()[batch.positions], batch.ids.shape[1]
            real = batch.ids.copy()
            real.ravel()[batch.positions] = batch.labels
            free = ordinary[real]
            rows, columns = np.divmod(batch.positions, width)
            n, k = free.sum(axis=1), np.bincount(rows, minlength=len(real))
            spread += float(((k - 0.15 * n) ** 2 / (0.15 * 0.85 * n)).sum())
            n_examples += len(real)
            may[:width] += free.sum(axis=0)
            chosen += np.bincount(columns, minlength=LENGTH)
            masked, same = read == vocab.mask_id, read == batch.labels
            actions += masked.sum(), (~masked & ~same).sum(), same.sum()
            instead += np.bincount(read[~masked & ~same], minlength=len(vocab))
            specials += int((~ordinary[batch.labels]).sum())
            bar.update(int(free.sum()))
            if may.sum() >= TOKENS:
                break
        epoch += 1
    bar.close()
    n_may, n_chosen = int(may.sum()), int(chosen.sum())
    random = np.array([token not in vocab.special_ids for token in range(len(vocab))])
    random &= [not piece.startswith("[unused") for piece in vocab.vocab]
    itself = 1 / int(random.sum())  # a random piece may be the real one
    seen = may > 1000
    return {
        "epochs": epoch,
        "examples": n_examples,
        "chosen": share(n_chosen, n_may, 0.15),
        "masked": share(int(actions[0]), n_chosen, 0.8),
        "another_piece": share(int(actions[1]), n_chosen, round(0.1 * (1 - itself), 8)),
        "unchanged": share(int(actions[2]), n_chosen, round(0.1 * (1 + itself), 8)),
        "special_tokens_chosen": specials,
        "special_or_unused_pieces_put_in": int(instead[~random].sum()),
        "pieces_put_in": even(instead[random], np.full(int(random.sum()), instead.sum()), itself),
        "places_of_the_input": even(chosen[seen], may[seen], 0.15),
        "most_sigmas_of_a_place": round(
            float((np.abs(chosen - 0.15 * may)[seen] / np.sqrt(0.15 * 0.85 * may[seen])).max()), 2
        ),
        "variance_of_the_number_chosen_over_the_binomial_one": round(spread / n_examples, 4),
    }


def independence(vocab: WordPiece) -> dict[str, Any]:
    """How the choices of tokens correlate that are neighbours in some respect; 0 if they are independent."""
    ids = np.full((4000, LENGTH), vocab.ids["the"])
    numbers = np.arange(len(ids))

    def mask(seed: int, epoch: int, examples: np.ndarray) -> np.ndarray:
        return Masker(vocab, seed).mask(ids, examples, epoch)[1] >= 0

    here = mask(SEED, 0, numbers)
    both = {
        "places": (here[:, 1:], here[:, :-1]),
        "examples": (here[1:], here[:-1]),
        "epochs": (here, mask(SEED, 1, numbers)),
        "seeds": (here, mask(SEED + 1, 0, numbers)),
    }
    return {name: correlation(one, other) for name, (one, other) in both.items()}


def correlation(one: np.ndarray, other: np.ndarray) -> dict[str, Any]:
    """Correlate two rows of choices, with the 95 % interval."""
    r, half = float(np.corrcoef(one.ravel(), other.ravel())[0, 1]), 1.96 / math.sqrt(one.size)
    return {
        "n": one.size,
        "correlation": round(r, 5),
        "interval": [round(r - half, 5), round(r + half, 5)],
        "sigmas": round(r * math.sqrt(one.size), 2),
    }


def pairs_told(corpus: Corpus) -> dict[str, Any]:
    """Count true pairs, and look for what would give false ones away."""
    epochs = [sentence_pairs(corpus, SEED, epoch, LENGTH) for epoch in range(PAIR_EPOCHS)]
    a, b, labels = (
        np.concatenate([getattr(pairs, name) for pairs in epochs]) for name in ("a", "b", "labels")
    )
    of_a, of_b = (np.searchsorted(corpus.documents, text[:, 0], side="right") - 1 for text in (a, b))
    false, prints = labels == 1, corpus.fingerprints
    tokens = [
        np.minimum(corpus.borders[text[:, 1]] - corpus.borders[text[:, 0]], LENGTH - 3) for text in (a, b)
    ]
    table = np.zeros((LENGTH, LENGTH, 2), np.int64)
    half = np.arange(len(labels)) < len(labels) // 2
    np.add.at(table, (tokens[0][half] // 4, tokens[1][half] // 4, labels[half]), 1)
    guess = table.argmax(axis=-1)[tokens[0][~half] // 4, tokens[1][~half] // 4]
    sizes = np.diff(corpus.documents)
    return {
        "all": share(int(false.sum()), len(labels), 0.5),
        "by_source": {
            source: share(int(false[mine].sum()), int(mine.sum()), 0.5)
            for place, source in enumerate(corpus.sources)
            for mine in [corpus.source[of_a] == place]
        },
        "false_from_the_same_document": int((of_a == of_b)[false].sum()),
        "false_from_another_source": int((corpus.source[of_a] != corpus.source[of_b]).sum()),
        "false_that_begin_as_the_true_one": int((prints[b[:, 0]] == prints[a[:, 1]])[false].sum()),
        "b_begins_a_document": {
            "true": int((b[:, 0] == corpus.documents[of_b])[~false].sum()),
            "false": int((b[:, 0] == corpus.documents[of_b])[false].sum()),
            "share_of_false_in_the_original_release": {
                source: round(float((1 / sizes[corpus.source == place]).mean()), 4)
                for place, source in enumerate(corpus.sources)
            },
        },
        "sentences_of_b": {
            name: [round(float(n.mean()), 3), round(1.96 * float(n.std()) / math.sqrt(len(n)), 3)]
            for name, n in (("true", np.diff(b[~false])), ("false", np.diff(b[false])))
        },
        "told_by_the_lengths_alone": share(int((guess == labels[~half]).sum()), int((~half).sum()), 0.5),
    }


def digests(folder: Path, epoch: int, first: int, step: int, stop: int) -> list[str]:
    """Fingerprints of every `step`-th batch, made in a process that has seen nothing before."""
    data = examples(open_shards(folder, tokenizer()))
    made = (data.batch(epoch, number) for number in range(first, stop, step))
    return [hashlib.sha256(b"".join(x.tobytes() for x in astuple(batch))).hexdigest() for batch in made]


def processes(folder: Path) -> dict[str, Any]:
    """Make the same batches in several ways."""
    stop = 2 * RESUMED_AT
    unbroken = {epoch: digests(folder, epoch, 0, 1, stop) for epoch in (0, 1)}
    same = {}
    context = multiprocessing.get_context("spawn")
    for n in PROCESSES:
        with ProcessPoolExecutor(n, mp_context=context) as pool:
            parts = [pool.submit(digests, folder, 1, rank, n, stop) for rank in range(n)]
            found = [part.result() for part in parts]
        same[str(n)] = all(part == unbroken[1][rank::n] for rank, part in enumerate(found))
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        resumed = pool.submit(digests, folder, 1, RESUMED_AT, 1, stop).result()
    return {
        "batches": stop,
        "same_out_of_so_many_processes": same,
        "same_after_a_resume_in_the_middle_of_an_epoch": resumed == unbroken[1][RESUMED_AT:],
        "batches_of_two_epochs_that_are_equal": len(set(unbroken[0]) & set(unbroken[1])),
    }


def tokenizer() -> WordPiece:
    """BERT's, with [UNK] where wikitext-2 has lost a word."""
    path = datasets.load("bert-base-uncased-vocab").path("vocab.txt")
    return WordPiece.from_file(path, recognise_special=True, fast=True)


def examples(corpus: Corpus) -> PretrainingExamples:
    """The batches that are counted."""
    return PretrainingExamples(corpus, Masker(tokenizer(), SEED), LENGTH, BATCH)


def main() -> None:
    """Count, and write the record."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    folder = RUNS / NAME / "shards"
    if not (folder / "index.json").exists():
        documents = [document for name in SETS for document in datasets.documents(name)]
        write_shards(folder, documents, tokenizer())
    corpus = open_shards(folder, tokenizer())
    results = {
        "corpus": {
            "sets": list(SETS),
            "tokens": int(corpus.borders[-1]),
            "sentences": len(corpus.borders) - 1,
            "documents": len(corpus.source),
        },
        "max_length": LENGTH,
        "batch_size": BATCH,
        "seed": SEED,
        "masking": masking(examples(corpus)),
        "choices_of_neighbours": independence(tokenizer()),
        "false_pairs": pairs_told(corpus),
        "processes": processes(folder),
    }
    print(save_result(NAME, QUESTION, results, sum(os.times()[:4])))


if __name__ == "__main__":
    main()
