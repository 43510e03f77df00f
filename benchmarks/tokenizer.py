"""Our readable tokenizer beside the Rust library: seconds to encode and to train, on the same lines.

The library runs as it does by itself, on all cores, and once more on one. Rounds are interleaved, and the
best of each contender counts, since whatever else the machine does can only add time.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from tqdm import tqdm

from bertlab import datasets
from bertlab.text import SPECIAL, WordPiece, train_wordpiece
from bertlab.training import save_result

NAME = "tokenizer"
QUESTION = "How fast is a tokenizer in Python that keeps its words, beside the Rust library?"
ROUNDS, LINES = 5, 40_000
VOCAB_SIZE, TRAINING_ROUNDS = 8192, 3
PARALLEL = "TOKENIZERS_PARALLELISM"  # the library reads it at every call

Contender = Callable[[], Any]


def on_one_core(contender: Contender) -> Contender:
    """Let the library use one thread."""

    def run() -> Any:
        os.environ[PARALLEL] = "false"
        try:
            return contender()
        finally:
            os.environ[PARALLEL] = "true"

    return run


def best_seconds(contenders: dict[str, Contender], rounds: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Run all contenders in turn, several times; best seconds and last result of each."""
    seconds, results = dict.fromkeys(contenders, float("inf")), {}
    for _ in tqdm(range(rounds), desc=NAME):
        for name, run in contenders.items():
            start = time.perf_counter()
            results[name] = run()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds, results


def texts() -> dict[str, list[str]]:
    """Lines of three kinds, and the words of the first kind, each once: nothing there comes again."""
    books = datasets.load("books")
    lines = [line for file in books.files for line in books.lines(file)][:LINES]
    wikipedia = [row["complex"] for file in ("test.tsv", "tune.tsv") for row in wiki(file)]
    chinese = datasets.load("tatoeba-eng-cmn")
    sentences = [row["chinese"] for file in chinese.files for row in chinese.records(file)]
    words = list(dict.fromkeys(re.findall(r"\w+", " ".join(lines))))
    distinct = [" ".join(words[i : i + 20]) for i in range(0, len(words), 20)]
    return {
        "books": lines,
        "Wikipedia": wikipedia,
        "Chinese sentences": sentences,
        "words of books, each once": distinct,
    }


def wiki(file: str) -> list[dict[str, Any]]:
    """Rows of one file of wikisplit."""
    return datasets.load("wikisplit").records(file)


def encoding(vocab: list[str], lines: list[str]) -> dict[str, Any]:
    """Time the ids of many lines: the library on all cores and one, ours with an empty and a full cache."""
    rust, warm = WordPiece(vocab, fast=True)._rust, WordPiece(vocab)
    assert rust is not None
    warm.encode_batch(lines)

    def library() -> list[list[int]]:
        return [encoded.ids for encoded in rust.encode_batch(lines, add_special_tokens=False)]

    def library_without_offsets() -> list[list[int]]:
        return [encoded.ids for encoded in rust.encode_batch_fast(lines, add_special_tokens=False)]

    contenders: dict[str, Contender] = {
        "library": library,
        "library, one core": on_one_core(library),
        "library, no offsets": library_without_offsets,
        "ours, cold": lambda: WordPiece(vocab).encode_batch(lines),
        "ours, warm": lambda: warm.encode_batch(lines),
        "ours, no cache": lambda: [
            [i for chunk in warm._chunks.findall(text) for i in warm.chunk_ids(chunk)] for text in lines
        ],
        "ours, with offsets": lambda: [warm.encode(text).ids for text in lines],
    }
    seconds, results = best_seconds(contenders, ROUNDS)
    assert all(result == results["library"] for result in results.values())
    pieces = sum(map(len, results["library"]))
    return {
        "lines": len(lines),
        "pieces": pieces,
        "kept_words": len(warm._cache),
        "million_pieces_a_second": {name: round(pieces / s / 1e6, 3) for name, s in seconds.items()},
        "times_the_library": {name: round(seconds["library"] / s, 2) for name, s in seconds.items()},
        "times_the_library_on_one_core": {
            name: round(seconds["library, one core"] / s, 2) for name, s in seconds.items()
        },
    }


def library_vocabulary(lines: list[str], first: list[str]) -> list[str]:
    """Train by the library; `first` are the pieces that it is to number before all others."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = (
        normalizers.BertNormalizer(),
        pre_tokenizers.BertPreTokenizer(),
    )
    trainer = trainers.WordPieceTrainer(
        vocab_size=VOCAB_SIZE, min_frequency=2, limit_alphabet=1000, special_tokens=first, show_progress=False
    )
    tokenizer.train_from_iterator(lines, trainer)
    ids = tokenizer.get_vocab()
    return sorted(ids, key=ids.__getitem__)


def training(lines: list[str]) -> dict[str, Any]:
    """Time the training of a vocabulary, and count the pieces that differ."""
    contenders: dict[str, Contender] = {
        "library": lambda: library_vocabulary(lines, [*SPECIAL]),
        "library, one core": on_one_core(lambda: library_vocabulary(lines, [*SPECIAL])),
        "ours": lambda: train_wordpiece(lines, VOCAB_SIZE).vocab,
    }
    seconds, results = best_seconds(contenders, TRAINING_ROUNDS)
    ours, theirs, again = results["ours"], results["library"], results["library, one core"]
    letters = [p for p in ours if p in SPECIAL or len(p) == 1 or (p.startswith("##") and len(p) == 3)]
    return {
        "lines": len(lines),
        "characters": sum(map(len, lines)),
        "vocab_size": VOCAB_SIZE,
        "seconds": {name: round(s, 2) for name, s in seconds.items()},
        "library_s_time": {name: round(s / seconds["library"], 2) for name, s in seconds.items()},
        "pieces_not_in_the_library_s": len(set(ours) - set(theirs)),
        "pieces_that_differ_between_two_runs_of_the_library": len(set(again) - set(theirs)),
        "same_list_once_the_library_numbers_letters_as_we_do": library_vocabulary(lines, letters) == ours,
    }


def main() -> None:
    """Measure, and write the record."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    os.environ[PARALLEL] = "true"
    start = time.perf_counter()
    vocab = datasets.load("bert-base-uncased-vocab").lines("vocab.txt")
    kinds = texts()
    results = {
        "tokenizers": version("tokenizers"),
        "rounds": ROUNDS,
        "encoding": {kind: encoding(vocab, lines) for kind, lines in kinds.items()},
        "training": training(kinds["books"]),
    }
    print(save_result(NAME, QUESTION, results, time.perf_counter() - start, command="make bench"))


if __name__ == "__main__":
    main()
