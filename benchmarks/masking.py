"""Our masking beside the collator of transformers, on the same ids: tokens a second.

The ids are real pairs of sentences, whole batches of 256 examples of 128 tokens, in the 30,522 pieces of
bert-base-uncased. The collator gets them as it usually does, an example at a time: as lists, as tensors, or
as tensors that come with their special tokens marked, which saves it the search. The fastest of the three is
what others are compared with. Its inner function alone gets one tensor. All run in one thread. Rounds are
interleaved; in each a contender masks a few batches in a row, as a worker does that feeds a training, and its
best counts, since whatever else the machine does can only add time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm
from transformers import BertTokenizer, DataCollatorForLanguageModeling

from bertlab import datasets
from bertlab.text import Masker, PretrainingExamples, WordPiece, mask_tokens, tokenise
from bertlab.training import save_result

NAME = "masking"
QUESTION = "How many tokens a second are masked, beside the data collator of transformers?"
ROUNDS, IN_A_ROW, BATCH, LENGTH, SEED = 40, 5, 256, 128, 0

Contender = Callable[[], Any]


def examples(tokenizer: WordPiece) -> PretrainingExamples:
    """Pairs of sentences out of Wikipedia's articles."""
    corpus = tokenise(datasets.documents("wikitext-2"), tokenizer)
    return PretrainingExamples(corpus, Masker(tokenizer, SEED), LENGTH, BATCH)


def ids_of(data: PretrainingExamples) -> np.ndarray:
    """One batch as it was before masking, LENGTH wide."""
    batch = data.batch(0, 0)
    ids = batch.ids.copy()
    ids.ravel()[batch.positions] = batch.labels
    assert ids.shape == (BATCH, LENGTH), f"the first batch is of shape {ids.shape}: choose another seed"
    return ids


def collator(vocab: list[str]) -> DataCollatorForLanguageModeling:
    """The collator as BERT is pre-trained with it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vocab.txt"
        path.write_text("\n".join(vocab) + "\n", encoding="utf-8")
        tokenizer = BertTokenizer(str(path))
    assert (tokenizer.mask_token_id, tokenizer.pad_token_id) == (vocab.index("[MASK]"), vocab.index("[PAD]"))
    return DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)


def contenders(data: PretrainingExamples, ids: np.ndarray, vocab: list[str]) -> dict[str, Contender]:
    """Name them all; each masks the same ids, every time anew."""
    theirs, tokenizer = collator(vocab), data.masker.vocab
    words = Masker(tokenizer, SEED, whole_words=True)
    rng, rounds = np.random.default_rng(SEED), count()
    lists = [{"input_ids": row.tolist()} for row in ids]
    tensors = [{"input_ids": torch.from_numpy(row)} for row in ids]
    whole = torch.from_numpy(ids)
    special = torch.from_numpy(np.isin(ids, list(tokenizer.special_ids)))
    marked = [{**row, "special_tokens_mask": mark} for row, mark in zip(tensors, special.long(), strict=True)]
    n = data.n_batches(0)

    def numbers() -> np.ndarray:  # of other examples in every round
        return np.arange(BATCH) + BATCH * next(rounds)

    return {
        "collator, lists": lambda: theirs(lists),
        "collator, tensors": lambda: theirs(tensors),
        "collator, marked tensors": lambda: theirs(marked),
        "its inner function, one tensor": lambda: theirs.torch_mask_tokens(whole.clone(), special),
        "ours, a label everywhere": lambda: data.masker.mask(ids, numbers(), 0),
        "ours, labels of the chosen": lambda: data.masker.mask_sparse(ids, numbers(), 0),
        "ours, whole words": lambda: words.mask_sparse(ids, numbers(), 0),
        "ours, with a generator": lambda: mask_tokens(ids, tokenizer, rng),
        "ours, pairs read and masked": lambda: data.batch(0, next(rounds) % n),
    }


def main() -> None:
    """Measure, and write the record."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    torch.set_num_threads(1)
    start = time.perf_counter()
    vocab = datasets.load("bert-base-uncased-vocab").lines("vocab.txt")
    data = examples(WordPiece(vocab, recognise_special=True, fast=True))
    ids = ids_of(data)
    runs = contenders(data, ids, vocab)
    seconds = dict.fromkeys(runs, float("inf"))
    for _ in tqdm(range(ROUNDS), desc=NAME):
        for name, run in runs.items():
            for _ in range(IN_A_ROW):
                begin = time.perf_counter()
                run()
                seconds[name] = min(seconds[name], time.perf_counter() - begin)
    theirs = min(s for name, s in seconds.items() if name.startswith("collator"))
    results = {
        "transformers": version("transformers"),
        "examples": BATCH,
        "tokens_an_example": LENGTH,
        "rounds": ROUNDS,
        "million_tokens_a_second": {name: round(ids.size / s / 1e6, 2) for name, s in seconds.items()},
        "times_the_fastest_collator": {name: round(theirs / s, 1) for name, s in seconds.items()},
        "microseconds_a_batch": {name: round(s * 1e6) for name, s in seconds.items()},
    }
    print(save_result(NAME, QUESTION, results, time.perf_counter() - start, command="make bench"))


if __name__ == "__main__":
    main()
