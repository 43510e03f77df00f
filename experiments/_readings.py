"""What does each layer know of the reading of a homograph, by form and by meaning? One probe for each word.

"Form": readings that differ in part of speech, out of wikipedia-homographs. "Meaning": nouns all of them, out
of CoarseWSD-20. Words are resampled, as another list of words might tell another story.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from _comparison import each_of, interval, resampled
from _fine_tuned import LENGTH
from _homographs import BATCH, Floats, Sentence, sentences, told_by_syntax
from bertlab.nn import BertModel
from bertlab.tasks.probes import ridge
from bertlab.text import WordPiece
from sense_layers import NOUNS, coarse

MOST = {"train": 90, "test": 100}  # sentences of a noun; a homograph has about 90 and 10
DEPTHS = {"half": 0.5, "nine tenths": 0.9}  # shares of what the best layer knows more than the first input
LEAST = 0.02  # so much more, or it cannot be said where it comes from
Row = dict[str, Any]


def nouns(tokenizer: WordPiece, split: str) -> list[Sentence]:
    """Read the sentences of CoarseWSD-20; of each noun at most `MOST`, drawn once."""
    found = list[Sentence]()
    for word in NOUNS:
        mine = coarse(tokenizer, word, split)
        found += random.Random(0).sample(mine, min(MOST[split], len(mine)))
    return found


def homographs(bert: BertModel, tokenizer: WordPiece) -> Row:
    """Probe each homograph for its readings, in every layer.

    Returns
    -------
    syntax, meaning : see `readings`. depth : see `depths`. left_out : homographs that are of neither kind.
    """
    every = {split: sentences(tokenizer, split, LENGTH) for split in ("train", "eval")}
    mine = {split: [s for s in some if s.word in told_by_syntax()] for split, some in every.items()}
    hits, counts, found = {}, {}, dict[str, Any]()
    for kind, (train, test) in {
        "syntax": (mine["train"], mine["eval"]),
        "meaning": (nouns(tokenizer, "train"), nouns(tokenizer, "test")),
    }.items():
        found[kind], hits[kind], counts[kind] = readings(bert, train, test)
    return found | {
        "depth": depths(hits, counts),
        "left_out": len({one.word for one in every["train"]} - told_by_syntax()),
    }


def readings(
    bert: BertModel, train: Sequence[Sentence], test: Sequence[Sentence]
) -> tuple[Row, Floats, Floats]:
    """Probe the homographs of one kind.

    Returns
    -------
    row : accuracy of each layer, and its interval (words are resampled); accuracy of the reading that is most
        frequent in training; around, accuracy without any layer, from the table's rows of the pieces around;
        n sentences asked about; of each word how many these are, how often the most frequent reading is
        right, and the probe of each layer.
    hits : (L + 1, words), how often each layer is right.
    counts : (words,), how many sentences are asked about.
    """
    x, asked = layers_of(bert, train), layers_of(bert, test)  # (L + 1, n, D)
    words = sorted({one.word for one in train} & {one.word for one in test})
    mine = {word: [i for i, one in enumerate(train) if one.word == word] for word in words}
    theirs = {word: [i for i, one in enumerate(test) if one.word == word] for word in words}
    often = {}
    for word in words:
        senses = [train[i].sense for i in mine[word]]
        best = max(sorted(set(senses)), key=senses.count)
        often[word] = sum(test[i].sense == best for i in theirs[word])
    right = [right_by_word(*both, train, test, mine, theirs) for both in zip(x, asked, strict=True)]
    counts = np.array([len(theirs[word]) for word in words], dtype=np.float64)
    hits = np.array([[of_layer[word] for word in words] for of_layer in right], dtype=np.float64)
    each = [each_of([np.stack([of_layer, counts], 1)]) for of_layer in hits]
    rows, asked_rows = rows_around(bert, train), rows_around(bert, test)
    around = right_by_word(rows, asked_rows, train, test, mine, theirs)
    row = {
        "around": round(sum(around.values()) / counts.sum(), 4),
        "accuracy": [round(of_layer.sum() / counts.sum(), 4) for of_layer in hits],
        "intervals": [[round(end, 4) for end in interval(one)] for one in each],
        "most_frequent": round(sum(often.values()) / counts.sum(), 4),
        "n": int(counts.sum()),
        "words": {  # in one line for each
            word: " ".join(map(str, (len(theirs[word]), often[word], *(one[word] for one in right))))
            for word in words
        },
    }
    return row, hits, counts


def rows_around(bert: BertModel, found: Sequence[Sentence]) -> Floats:
    """Take the mean of the rows that the table has for the other pieces of each sentence: (n, D)."""
    table = bert.embeddings.token.weight.detach().double().numpy()
    kept = [np.delete(np.array(one.ids), np.r_[one.pieces]) for one in found]
    return np.stack([table[ids].mean(0) for ids in kept])


def depths(hits: dict[str, Floats], counts: dict[str, Floats]) -> Row:
    """Tell in which layer most of what can be known is known, and whether form comes before meaning.

    Returns
    -------
    for each of `DEPTHS` the layer of either kind, that of meaning less that of syntax, and the 95 % interval
    of this difference when words are resampled; None where no layer knows more than what enters the first.
    """
    found = {}
    weights = {kind: resampled(len(own), seed=i) for i, (kind, own) in enumerate(counts.items())}
    once = {kind: np.ones((1, len(own))) for kind, own in counts.items()}
    for name, part in DEPTHS.items():
        layer, drawn = (
            {k: depth((some[k] @ hits[k].T) / (some[k] @ counts[k])[:, None], part) for k in hits}
            for some in (once, weights)
        )
        points = {kind: float(one[0]) for kind, one in layer.items()}
        moved = drawn["meaning"] - drawn["syntax"]
        known = np.isfinite(moved)
        ends = np.quantile(moved[known], [0.025, 0.975]) if known.mean() > 0.95 else (np.nan, np.nan)
        found[name] = {
            **{kind: rounded(point) for kind, point in points.items()},
            "difference": rounded(points["meaning"] - points["syntax"]),
            "interval": [rounded(end) for end in ends],
        }
    return found


def depth(accuracy: Floats, part: float) -> Floats:
    """Tell where a part of the gain is reached, which the best layer has over what enters the first one.

    Parameters
    ----------
    accuracy : (R, L + 1)
    part : of the gain.

    Returns
    -------
    (R,) layers; between two, as if accuracy rose evenly. NaN if there is no gain of `LEAST`.

    Examples
    --------
    >>> depth(np.array([[0.5, 0.7, 0.9, 0.8]]), 0.75).round(2).tolist()
    [1.5]
    """
    gain = accuracy - accuracy[:, :1]
    wanted, rows = part * gain.max(1), np.arange(len(gain))
    first = np.maximum((gain >= wanted[:, None]).argmax(1), 1)
    before, after = gain[rows, first - 1], gain[rows, first]
    with np.errstate(divide="ignore", invalid="ignore"):
        layer = first - (after - wanted) / (after - before)
    return np.where(gain.max(1) >= LEAST, layer, np.nan)


def rounded(value: float) -> float | None:
    """Round for a record; None if it is not known."""
    return round(float(value), 2) if np.isfinite(value) else None


def right_by_word(
    x: Floats,
    asked: Floats,
    train: Sequence[Sentence],
    test: Sequence[Sentence],
    mine: dict[str, list[int]],
    theirs: dict[str, list[int]],
) -> dict[str, int]:
    """Count how often each homograph's probe is right; one penalty for all, chosen by the training part."""
    middle, spread = x.mean(0), x.std(0) + 1e-9
    x, asked = (x - middle) / spread, (asked - middle) / spread
    fits = {
        word: ridge(x[own], [train[i].sense for i in own], asked[theirs[word]]) for word, own in mine.items()
    }
    best = int(np.argmin(np.sum([errors for _, errors in fits.values()], axis=0)))
    return {
        word: sum(guess == test[i].sense for guess, i in zip(guesses[best], theirs[word], strict=True))
        for word, (guesses, _) in fits.items()
    }


@torch.no_grad()
def layers_of(bert: BertModel, found: Sequence[Sentence]) -> Floats:
    """Take what every layer says of each homograph, the mean over its pieces: (L + 1, n, D)."""
    bert.eval()
    rows: list[torch.Tensor] = [torch.empty(0)] * len(found)
    order = sorted(range(len(found)), key=lambda i: len(found[i].ids))
    for first in range(0, len(order), BATCH):
        some = order[first : first + BATCH]
        ids = pad_sequence([torch.tensor(found[i].ids) for i in some], batch_first=True)
        layers = torch.stack(bert(ids).layers)  # (L + 1, B, T, D)
        for place, i in enumerate(some):
            rows[i] = layers[:, place, found[i].pieces].mean(1)  # (L + 1, D)
    states: Floats = torch.stack(rows, dim=1).double().numpy()
    return states
