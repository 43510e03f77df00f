"""How much does a state know of the sense of its word? Homographs of Wikipedia, read by a linear probe.

The same letters, two words: "they *abstract* data", "an *abstract* idea". Which one it is, is said by the
words around it alone. No weight of the model is trained: on the states of a homograph in 90 sentences or so,
a ridge regression learns to tell its senses apart, one for each homograph, and is asked about 10 others.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from bertlab import datasets
from bertlab.tasks.probes import ridge
from bertlab.text import WordPiece

BATCH = 256
OF_SPEECH = {"noun", "verb", "adjective"}
States = Callable[[Tensor], Tensor]  # (B, T) ids -> (B, T, D)
Floats = NDArray[np.float64]


class Sentence(NamedTuple):
    """A sentence with a homograph."""

    word: str
    sense: str
    ids: list[int]
    pieces: slice  # where the homograph stands in `ids`


@cache
def sentences(vocab: WordPiece, split: str, most: int) -> tuple[Sentence, ...]:
    """Read the sentences of a split whose homograph ends before position `most`; they are cut there.

    Parameters
    ----------
    vocab : cuts words into pieces; it must give offsets.
    split : "train" or "eval".
    most : positions that a model has.
    """
    found = list[Sentence]()
    text = datasets.load("wikipedia-homographs").text(f"{split}.tsv")
    for row in csv.DictReader(text.splitlines(), delimiter="\t"):
        raw = row["sentence"].encode()
        start, end = (len(raw[: int(row[side])].decode()) for side in ("start", "end"))  # bytes to characters
        encoding = vocab.encode(row["sentence"])
        mine = [i for i, (a, b) in enumerate(encoding.offsets, 1) if a < end and b > start]
        ids = [vocab.cls_id, *encoding.ids[: most - 2], vocab.sep_id]
        if mine[-1] < most - 1:
            found.append(Sentence(row["homograph"], row["wordid"], ids, slice(mine[0], mine[-1] + 1)))
    return tuple(found)


@cache
def told_by_syntax() -> set[str]:
    """Tell the homographs whose readings are labelled with parts of speech, and have none in common."""
    text = datasets.load("wikipedia-homographs").text("wordids.tsv")
    tags: dict[str, list[set[str]]] = {}
    for row in csv.DictReader(text.splitlines(), delimiter="\t"):
        tags.setdefault(row["homograph"], []).append(set(row["label"].split("-")))
    return {
        word
        for word, readings in tags.items()
        if set().union(*readings) <= OF_SPEECH and sum(map(len, readings)) == len(set().union(*readings))
    }


@torch.no_grad()
def states_of(found: Sequence[Sentence], states: States) -> Floats:
    """Take the state of each homograph, the mean over its pieces: (n, D)."""
    rows: list[Tensor] = [torch.empty(0)] * len(found)
    order = sorted(range(len(found)), key=lambda i: len(found[i].ids))
    for first in range(0, len(order), BATCH):
        some = order[first : first + BATCH]
        read = states(pad_sequence([torch.tensor(found[i].ids) for i in some], batch_first=True))
        for i, row in zip(some, read, strict=True):
            rows[i] = row[found[i].pieces].mean(0)
    return torch.stack(rows).double().numpy()


class Asked(NamedTuple):
    """What is known of the sentences in which one homograph is asked about."""

    n: int
    usual: int  # how often the sense is the one that is most frequent in training
    right: int  # how often the word's probe says it


def right_by_word(
    x: Floats, asked: Floats, train: Sequence[Sentence], test: Sequence[Sentence]
) -> dict[str, Asked]:
    """Train a probe for each homograph; one penalty for all, chosen by the training part.

    Parameters
    ----------
    x, asked : (n, D), (m, D) states of the homographs of train and of test.
    """
    middle, spread = x.mean(0), x.std(0) + 1e-9
    x, asked = (x - middle) / spread, (asked - middle) / spread
    words = sorted({one.word for one in train})
    mine = {word: [i for i, one in enumerate(train) if one.word == word] for word in words}
    theirs = {word: np.array([i for i, one in enumerate(test) if one.word == word], int) for word in words}
    senses = {word: [train[i].sense for i in mine[word]] for word in words}
    fits = {word: ridge(x[mine[word]], senses[word], asked[theirs[word]]) for word in words}
    best = int(np.argmin(np.sum([errors for _, errors in fits.values()], axis=0)))
    found = {}
    for word, (guesses, _) in fits.items():
        wanted = [test[i].sense for i in theirs[word]]
        usual = max(sorted(set(senses[word])), key=senses[word].count)
        right = sum(map(str.__eq__, guesses[best], wanted))
        found[word] = Asked(len(wanted), wanted.count(usual), right)
    return found


def probe(vocab: WordPiece, states: States, most: int) -> dict[str, float]:
    """Train a probe for each homograph, and count the senses that it gets right.

    Parameters
    ----------
    vocab, states : tokenizer, and the model that gives states of its ids.
    most : positions that it has.

    Returns
    -------
    accuracy : share of the sentences of the evaluation part.
    majority : the same for the sense that is more frequent in training.
    """
    train, test = (sentences(vocab, split, most) for split in ("train", "eval"))
    found = right_by_word(states_of(train, states), states_of(test, states), train, test).values()
    return {
        "accuracy": round(sum(one.right for one in found) / len(test), 4),
        "majority": round(sum(one.usual for one in found) / len(test), 4),
        "sentences": len(test),
    }
