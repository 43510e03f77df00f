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

from _comparison import each_of, interval, resampled
from _fine_tuned import LENGTH
from _homographs import Floats, Sentence, right_by_word, sentences, states_of, told_by_syntax
from bertlab.nn import BertModel
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
    by_layer = [right_by_word(*both, train, test) for both in zip(x, asked, strict=True)]
    around = right_by_word(rows_around(bert, train), rows_around(bert, test), train, test)
    words = [word for word, one in around.items() if one.n]
    counts = np.array([around[word].n for word in words], dtype=np.float64)
    hits = np.array([[layer[word].right for word in words] for layer in by_layer], dtype=np.float64)
    each = [each_of([np.stack([of_layer, counts], 1)]) for of_layer in hits]
    row = {
        "around": round(sum(one.right for one in around.values()) / counts.sum(), 4),
        "accuracy": [round(of_layer.sum() / counts.sum(), 4) for of_layer in hits],
        "intervals": [[round(end, 4) for end in interval(one)] for one in each],
        "most_frequent": round(sum(one.usual for one in around.values()) / counts.sum(), 4),
        "n": int(counts.sum()),
        "words": {  # in one line for each
            word: " ".join(map(str, (*around[word][:2], *(layer[word].right for layer in by_layer))))
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


def layers_of(bert: BertModel, found: Sequence[Sentence]) -> Floats:
    """Take what every layer says of each homograph, the mean over its pieces: (L + 1, n, D)."""
    joined = states_of(found, lambda ids: torch.cat(bert.eval()(ids).layers, -1))  # (n, (L + 1) D)
    return joined.reshape(len(found), -1, bert.config.d_model).swapaxes(0, 1)
