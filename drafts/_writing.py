"""Texts that go on from the same beginnings in several ways, and what is wrong with them, counted.

The beginnings are sentences of held-out books, cut after 20 pieces. They are continued by a GPT, with one
way of drawing after the other; by n-grams; and by the author, who is what all the others are compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from _next_piece import Chances
from numpy.typing import NDArray

from _bert_corpus import held_out_documents
from _comparison import each_of, interval
from _ngrams import KneserNey
from bertlab.nn import GPT
from bertlab.nn.sampling import generate
from bertlab.text import WordPiece, tokenise
from bertlab.text.masked_lm import Ids

WAYS: dict[str, dict[str, float]] = {
    "greedy": {"temperature": 0.0},
    "temperature 0.7": {"temperature": 0.7},
    "top-k 40": {"top_k": 40},
    "top-p 0.9": {"top_p": 0.9},
    "as it is": {"temperature": 1.0},
}
PROMPTS, BEGIN, WRITE = 100, 20, 100  # texts; pieces of a beginning; pieces written
REPEATED = 4  # pieces in a row that stood in the text before
COPIED = (4, 8, 16)  # pieces in a row that stand in the training text
SHOWN = 2  # beginnings whose continuations a record keeps


class Beginnings(NamedTuple):
    """What is to be continued, and how the author did."""

    prompts: Ids  # (N, BEGIN)
    author: Ids  # (N, WRITE)


def beginnings(tokenizer: WordPiece, n: int = PROMPTS, seed: int = 0) -> Beginnings:
    """Choose sentences of the held-out books by chance, with all that is needed behind them."""
    corpus = tokenise(held_out_documents()["books"], tokenizer)
    last = np.repeat(corpus.documents[1:], np.diff(corpus.documents))  # of each sentence, where its text ends
    starts, ends = corpus.borders[:-1], corpus.borders[last]
    fitting = np.flatnonzero(ends - starts >= BEGIN + WRITE)
    chosen = np.sort(np.random.default_rng(seed).choice(fitting, n, replace=False))
    rows = np.stack([corpus.ids(i, last[i])[: BEGIN + WRITE] for i in chosen.tolist()]).astype(np.int64)
    return Beginnings(rows[:, :BEGIN], rows[:, BEGIN:])


def by_gpt(model: GPT, tokenizer: WordPiece, prompts: Ids, way: dict[str, Any], seed: int = 0) -> list[Ids]:
    """Let a GPT go on; where it ends a text, the text is shorter."""
    first = np.full((len(prompts), 1), tokenizer.cls_id)
    read = torch.from_numpy(np.concatenate([first, prompts], 1))
    chance = None if way.get("temperature") == 0 else torch.Generator().manual_seed(seed)
    written = generate(model, read, WRITE, generator=chance, **way).numpy()
    return [until(row, tokenizer.sep_id) for row in written]


def until(row: Ids, end: int) -> Ids:
    """Cut a text off at its end token.

    Examples
    --------
    >>> until(np.array([7, 8, 3, 0, 0]), end=3).tolist()
    [7, 8]
    """
    places = np.flatnonzero(row == end)
    return row[: places[0]] if len(places) else row


def by_counting(model: KneserNey, prompts: Ids, n: int = WRITE, seed: int = 0) -> list[Ids]:
    """Let n-grams go on, by their probabilities as they are."""
    rng, text = np.random.default_rng(seed), prompts
    known = np.full(len(prompts), model.order - 1)
    for _ in range(n):
        p, _ = model.predict(text[:, : -model.order : -1], known)
        reached = np.cumsum(p, axis=1, dtype=np.float64)
        drawn = (reached < rng.random((len(p), 1)) * reached[:, -1:]).sum(1)
        text = np.concatenate([text, drawn[:, None]], 1)
    return list(text[:, prompts.shape[1] :])


Codes = NDArray[np.uint64]


def runs_of(row: Ids, n: int) -> Codes:
    """Give each run of n pieces a number; two different runs share one with a chance of one in 2^64.

    Examples
    --------
    >>> a, b = runs_of(np.array([1, 2, 3, 9, 1, 2, 3]), 3), runs_of(np.array([1, 2, 3]), 3)
    >>> np.isin(a, b).tolist()
    [True, False, False, False, True]
    """
    count = max(len(row) - n + 1, 0)
    code = np.zeros(count, np.uint64)
    for place in range(n):
        code = code * np.uint64(0x9E3779B97F4A7C15) + row[place : place + count].astype(np.uint64)
    return code


class Known:
    """What was read in training, run by run.

    Parameters
    ----------
    row : the training text, from `one_row`.
    lengths : of the runs that are asked for.
    """

    def __init__(self, row: Ids, lengths: Sequence[int] = COPIED) -> None:
        self.runs = {n: np.unique(runs_of(row, n)) for n in lengths}

    def share(self, text: Ids, n: int) -> tuple[float, float]:
        """Count the runs of a text that were read, and all its runs."""
        own = runs_of(text, n)
        places = np.searchsorted(self.runs[n], own).clip(max=len(self.runs[n]) - 1)
        return float((self.runs[n][places] == own).sum()), float(len(own))


def repeated(text: Ids, n: int = REPEATED) -> tuple[float, float]:
    """Count the runs of n pieces that stood earlier in the text, and all but the first.

    Examples
    --------
    >>> repeated(np.array([1, 2, 1, 2, 1, 2]), n=2)
    (3.0, 5.0)
    """
    own = runs_of(text, n)
    return float(len(own) - len(np.unique(own))), float(len(own))


def faults(prompts: Ids, texts: Sequence[Ids], known: Known, judges: dict[str, Chances]) -> dict[str, Any]:
    """Measure texts that go on from prompts.

    Returns
    -------
    repeated : share of runs of four pieces that stood in the same text before, with its 95 % interval.
    copied : by length, share of the runs that the training text has, with theirs.
    surprise : of each judge, mean bits a piece of what was written, the prompt known.
    kinds : different pieces in all texts together; ended : texts that ended early.
    """
    found: dict[str, Any] = {"repeated": _share([repeated(text) for text in texts])}
    found["copied"] = {n: _share([known.share(text, n) for text in texts]) for n in known.runs}
    whole = [np.concatenate([prompt, text]) for prompt, text in zip(prompts, texts, strict=True)]
    found["surprise"] = {
        name: _share([(-float(np.log2(p[prompts.shape[1] :]).sum()), float(len(p) - prompts.shape[1]))
                      for p in chances(whole)])
        for name, chances in judges.items()
    }  # fmt: skip
    found["kinds"] = len(np.unique(np.concatenate(list(texts))))
    found["ended"] = sum(len(text) < WRITE for text in texts)
    return found


def _share(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    each = each_of([list(pairs)])
    sums = each[0].sum(0)
    return {
        "mean": round(float(sums[0] / max(sums[1], 1e-12)), 4),
        "interval": [round(end, 4) for end in interval(each)],
    }
