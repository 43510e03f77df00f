"""How surprised is a model at the next word of text it has not read? The neural one of 2003, and counts.

All see the three words before, and are asked at the same places, drawn once: those of held-out text with
three known words before them in the sentence. Words without a number are not there for anybody.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from _comparison import Each, difference, each_of, interval, told
from _ngrams import KneserNey
from bertlab.nn.nnlm import NNLM
from bertlab.text import WordCorpus
from bertlab.text.windows import word_runs

Floats = NDArray[np.float64]
KNOWN = 3  # words before
PLACES, STRETCHES, DRAWS, AT_ONCE = 10_000, 200, 2000, 256


def asked(corpus: WordCorpus, n: int = PLACES) -> NDArray[np.int64]:
    """Draw n runs of four words in the order of the text: (n, 4)."""
    firsts = word_runs(corpus, KNOWN + 1)
    some = np.sort(np.random.default_rng(0).choice(firsts, min(n, len(firsts)), replace=False))
    runs: NDArray[np.int64] = corpus.ids[some[:, None] + np.arange(KNOWN + 1)].astype(np.int64)
    return runs


def counted(corpus: WordCorpus) -> KneserNey:
    """Count runs of up to four words; a border parts sentences."""
    row = np.insert(corpus.ids.astype(np.int64) + 1, corpus.borders, 0)
    return KneserNey(row, len(corpus.words) + 1, KNOWN + 1)


def by_counts(model: KneserNey, runs: NDArray[np.int64], known: int) -> Floats:
    """Give the probability of the last word of each run by so many words before it (n,)."""
    found = np.empty(len(runs))
    for first in range(0, len(runs), AT_ONCE):
        some = runs[first : first + AT_ONCE] + 1
        near = some[:, KNOWN - 1 :: -1] if KNOWN > 1 else some[:, :1]  # the nearest first
        p, _ = model.predict(near, np.full(len(some), known))
        found[first : first + AT_ONCE] = p[np.arange(len(some)), some[:, -1]]
    return found


@torch.no_grad()
def by_network(model: NNLM, runs: NDArray[np.int64]) -> Floats:
    """Give the probability of the last word of each run by the words before it (n,)."""
    found = np.empty(len(runs))
    for first in range(0, len(runs), AT_ONCE):
        some = torch.from_numpy(runs[first : first + AT_ONCE])
        p = model(some[:, :KNOWN]).softmax(-1)
        found[first : first + AT_ONCE] = p[torch.arange(len(some)), some[:, KNOWN]].double().numpy()
    return found


def surprises(
    model: NNLM, part: WordCorpus, whole: WordCorpus, held_out: dict[str, WordCorpus]
) -> dict[str, Any]:
    """Compare the network with counts of the text that it has read, and of all text.

    Parameters
    ----------
    model : trained on `part`.
    part, whole : what it has read, and all there is.
    held_out : by name, in the same words.

    Returns
    -------
    for each set, for each model its surprise in nats with an interval, drawn by stretches of text; and the
    network less the counts of three words before. "both" is the mean of both probabilities.
    """
    of_part, found = counted(part), dict[str, Any]()
    runs = {name: asked(corpus) for name, corpus in held_out.items()}
    p = {
        name: {f"{k} before": by_counts(of_part, rows, k) for k in range(KNOWN + 1)}
        for name, rows in runs.items()
    }
    del of_part
    of_whole = counted(whole)
    for name, rows in runs.items():
        mine = p[name]
        mine["3 before, of all text"] = by_counts(of_whole, rows, KNOWN)
        mine["network"] = by_network(model, rows)
        mine["both"] = (mine["network"] + mine["3 before"]) / 2
        each = {label: surprise_each(values) for label, values in mine.items()}
        found[name] = {
            "places": len(rows),
            "surprise": {label: with_interval(one) for label, one in each.items()},
            "network less counts": told(difference(each["network"], each["3 before"], draws=DRAWS)),
            "both less counts": told(difference(each["both"], each["3 before"], draws=DRAWS)),
        }
    return found


def surprise_each(p: Floats) -> Each:
    """Put places together to stretches of text, each with its sum of surprises and its number of places."""
    stretch = (np.arange(len(p)) * STRETCHES // len(p)).tolist()
    return each_of([np.stack([-np.log(p), np.ones(len(p))], 1)], stretch)


def with_interval(each: Each) -> list[float]:
    """Give a mean surprise with the ends of its interval."""
    sums = each.sum((0, 1))
    return [round(float(value), 4) for value in (sums[0] / sums[1], *interval(each, draws=DRAWS))]
