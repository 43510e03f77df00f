"""What a layer of ELMo knows of the reading of a homograph: by a probe, and by the nearest one."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from _comparison import Each, difference, each_of, interval, resampled, score, told
from _homographs import Sentence, right_by_word, sentences, states_of, told_by_syntax
from bertlab import datasets
from bertlab.nn import ELMo
from bertlab.tasks.spelled_words import SpelledELMo, whole_words
from bertlab.text import WordPiece
from sense_layers import NOUNS, coarse, nearest_is_right

KINDS = ("part of speech", "others", "nouns")
MOST = {"train": 90, "test": 100}  # sentences of a noun; a homograph has about 90 and 10
LONGEST = 128  # words of a sentence
Floats = NDArray[np.float64]
Row = dict[str, Any]


@cache
def reader() -> WordPiece:
    """List all words of both sets."""
    rows = [
        row["sentence"]
        for split in ("train", "eval")
        for row in csv.DictReader(
            datasets.load("wikipedia-homographs").text(f"{split}.tsv").splitlines(), delimiter="\t"
        )
    ]
    files = datasets.load("coarsewsd-20")
    lines = [
        line.split("\t")[1]
        for word in NOUNS
        for split in ("train", "test")
        for line in files.lines(f"{word}/{split}.data.txt")
    ]
    return whole_words([*rows, *lines], fast=True)


def occurrences(kind: str, split: str) -> list[Sentence]:
    """List the sentences of one of `KINDS`, of "train" or "test"; of a noun at most `MOST`, drawn once."""
    if kind != "nouns":
        every = sentences(reader(), "eval" if split == "test" else split, LONGEST)
        return [one for one in every if (one.word in told_by_syntax()) == (kind == "part of speech")]
    found = list[Sentence]()
    for word in NOUNS:
        mine = coarse(reader(), word, split)
        found += random.Random(0).sample(mine, min(MOST[split], len(mine)))
    return found


def homographs(elmo: ELMo) -> Row:
    """Ask each layer for the readings of the words of each kind, by probe and by nearest occurrence.

    Returns
    -------
    for each kind what `readings` gives; of each way "second less first", see `compared`.
    """
    read, found, each = SpelledELMo(elmo, reader()), Row(), dict[str, dict[str, list[Each]]]()
    for kind in KINDS:
        found[kind], each[kind] = readings(read, occurrences(kind, "train"), occurrences(kind, "test"))
    return found | {
        "second less first": {
            way: compared({kind: each[kind][way] for kind in KINDS}) for way in ("probe", "nearest")
        }
    }


def readings(
    read: SpelledELMo, train: Sequence[Sentence], test: Sequence[Sentence]
) -> tuple[Row, dict[str, list[Each]]]:
    """Ask about one kind of words.

    Returns
    -------
    row : of "probe" and of "nearest", accuracy of each layer with its interval (words are resampled), and
        accuracy by the words around, without any layer; most_frequent, accuracy of the usual reading; n
        sentences asked about; words, of each how many these are, how often the usual reading is right, then
        each layer, by probe and by nearest.
    each : for each way and layer (1, words, 2), how often it is right, and how often asked.
    """
    x, asked = layers_of(read, train), layers_of(read, test)  # (L + 1, n, 2D)
    around = rows_around(read, train), rows_around(read, test)  # (n, D)
    vectors = [*zip(x, asked, strict=True), around]
    probed = [right_by_word(*both, train, test) for both in vectors]
    words = [word for word, one in probed[0].items() if one.n]
    counts = np.array([probed[0][word].n for word in words], np.float64)
    usual = [probed[0][word].usual for word in words]
    by_way = {
        "probe": np.array([[one[word].right for word in words] for one in probed], np.float64),
        "nearest": np.array([nearest_by_word(*both, train, test, words) for both in vectors]),
    }
    each = {way: [each_of([np.stack([own, counts], 1)]) for own in rows] for way, rows in by_way.items()}
    row: Row = {
        way: {
            "accuracy": [round(score(one), 4) for one in rows[:-1]],
            "intervals": [[round(end, 4) for end in interval(one)] for one in rows[:-1]],
            "around": round(score(rows[-1]), 4),
        }
        for way, rows in each.items()
    }
    told_of = zip(words, counts, usual, by_way["probe"].T, by_way["nearest"].T, strict=True)
    return row | {
        "most_frequent": round(float(sum(usual) / counts.sum()), 4),
        "n": int(counts.sum()),
        "words": {
            word: " ".join(f"{value:.0f}" for value in (n, most, *one[:-1], *other[:-1]))
            for word, n, most, one, other in told_of
        },
    }, {way: rows[:-1] for way, rows in each.items()}


def nearest_by_word(
    x: Floats, asked: Floats, train: Sequence[Sentence], test: Sequence[Sentence], words: Sequence[str]
) -> Floats:
    """Count for each word how often its nearest occurrence in training has the same reading: (words,)."""
    right = nearest_is_right(train, test, torch.from_numpy(x), torch.from_numpy(asked)).numpy()
    return np.array([right[[one.word == word for one in test]].sum() for word in words], np.float64)


def layers_of(read: SpelledELMo, found: Sequence[Sentence]) -> Floats:
    """Take what every layer says of each homograph: (L + 1, n, 2D)."""
    joined = states_of(found, lambda ids: torch.cat(read(ids).layers, -1))
    return joined.reshape(len(found), read.elmo.config.n_layers + 1, -1).swapaxes(0, 1)


@torch.no_grad()
def rows_around(read: SpelledELMo, found: Sequence[Sentence], at_once: int = 1000) -> Floats:
    """Take the mean of the vectors that the characters give to the other words of each sentence: (n, D)."""
    used = torch.tensor(sorted({i for one in found for i in one.ids}))
    table = torch.zeros(len(read.spellings), read.elmo.config.d_model, dtype=torch.double)
    for some in used.split(at_once):
        table[some] = read.elmo.embeddings(read.spellings[some]).double()
    kept = [np.delete(np.array(one.ids), np.r_[one.pieces]) for one in found]
    return np.stack([table[ids].mean(0).numpy() for ids in kept])


def compared(each: dict[str, list[Each]]) -> Row:
    """Compare the second layer with the first, of each kind and of nouns beside parts of speech.

    Returns
    -------
    of each kind the difference, see `difference`; "nouns less part of speech" is the difference of two of
    them, with its 95 % interval: the two kinds are of other words, so each is resampled by itself.
    """
    found: Row = {kind: told(difference(rows[2], rows[1])) for kind, rows in each.items()}
    moved = {}
    for i, kind in enumerate(("nouns", "part of speech")):
        drawn = resampled(each[kind][1].shape[1], seed=i)
        moved[kind] = (score(each[kind][2], drawn) - score(each[kind][1], drawn))[0]
    apart = np.quantile(moved["nouns"] - moved["part of speech"], [0.025, 0.975])
    points = found["nouns"]["difference"] - found["part of speech"]["difference"]
    return found | {
        "nouns less part of speech": {
            "difference": round(points, 4),
            "interval": [round(float(end), 4) for end in apart],
        }
    }
