"""A model whose probabilities one can write down: a table from what was written so far to what comes next."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import torch

from bertlab.nn.beam import Hypothesis, length_penalty
from bertlab.nn.decoding import Step

Table = Callable[[int, tuple[int, ...]], Sequence[float]]  # sentence and prefix to probabilities


class TableModel:
    """Sentence b of a batch has the source id b; `calls` counts the rows of each step."""

    def __init__(self, table: Table, end_id: int, pad_id: int = 0) -> None:
        self.table, self.training, self.calls = table, True, []
        self.config = SimpleNamespace(pad_id=pad_id, end_id=end_id)

    def train(self, mode=True):
        self.training = mode

    def start(self, source):
        return [(int(row[0]), None) for row in source]  # sentence, prefix; None: not even begun

    def step(self, tokens, state, need_weights=False):
        assert not self.training
        assert len(tokens) == len(state)
        self.calls.append(len(tokens))
        state = [(b, () if p is None else (*p, int(t))) for t, (b, p) in zip(tokens, state, strict=True)]
        rows = torch.tensor([list(self.table(*row)) for row in state], dtype=torch.float64)
        return Step(rows.log(), state, None)

    def reorder(self, state, index):
        return [state[i] for i in index.tolist()]


def every_sentence(table: Table, b: int, end_id: int, max_length: int, alpha: float) -> list[Hypothesis]:
    """All that can be written, best first: the definition of what a search looks for."""
    found = []
    V = len(table(b, ()))
    words = [token for token in range(V) if token != end_id]
    for length in range(1, max_length + 1):
        for words_so_far in itertools.product(words, repeat=length - 1):
            for last in range(V) if length == max_length else [end_id]:
                ids = (*words_so_far, last)
                p = [table(b, ids[:t])[token] for t, token in enumerate(ids)]
                if min(p) > 0:
                    total = sum(map(math.log, p))
                    score = total / length_penalty(length, alpha)
                    found.append(Hypothesis(ids, total, score, last == end_id))
    return sorted(found, key=lambda h: (not h.ended, -h.score, h.ids))
