"""A task to fine-tune small BERTs on: does one sentence follow from another, contradict it, or neither?

All weights are trained, and a linear layer on the mean of the last states: models without [CLS] vector, and
those that read from the left, are judged alike. `bertlab.tasks` holds the heads that one really uses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from bertlab.nn.losses import cross_entropy
from bertlab.tasks.classification import Example, class_ids, example_inputs
from bertlab.tasks.labelled_texts import load_labelled
from bertlab.text.inputs import Inputs, pad_batch
from bertlab.text.wordpiece import WordPiece
from bertlab.training import fit, linear_decay

EPOCHS, BATCH, RATE = 3, 32, 5e-4
States = Callable[[Tensor, Tensor], Tensor]  # (B, T) ids and segments -> (B, T, D)


class Task(NamedTuple):
    """Inputs with their classes."""

    train: list[tuple[Inputs, int]]
    test: list[tuple[Inputs, int]]
    n_classes: int


@cache
def entailment(vocab: WordPiece, most: int) -> Task:
    """A sentence, and one that follows from it, contradicts it or neither; no premise is in both parts."""
    texts = load_labelled("nli-wikipedia")

    def read(examples: list[Example]) -> list[tuple[Inputs, int]]:
        rows = example_inputs(examples, vocab, most, "longest_first")
        return list(zip(rows, class_ids(examples, texts.labels).tolist(), strict=True))

    return Task(read(texts.train), read(texts.val + texts.test), len(texts.labels))


def fine_tune(model: nn.Module, states: States, found: Task, width: int, seed: int) -> float:
    """Train a model further on a task, and say which share of the test it gets right.

    Parameters
    ----------
    model : its weights are changed.
    states : what it says of (B, T) ids with their segments: (B, T, D).
    found : the task.
    width : D.
    seed : of the new layer and the order.
    """
    torch.manual_seed(seed)
    head = nn.Linear(width, found.n_classes)
    rng, n = np.random.default_rng(seed), len(found.train) // BATCH
    order = np.concatenate([rng.permutation(len(found.train))[: n * BATCH] for _ in range(EPOCHS)])

    def scores(rows: Sequence[tuple[Inputs, int]]) -> Tensor:
        batch = pad_batch([row for row, _ in rows])
        ids, segments, mask = (torch.from_numpy(a) for a in (batch.ids, batch.segments, batch.mask))
        read = states(ids, segments) * mask[..., None]
        logits: Tensor = head(read.sum(1) / mask.sum(1, keepdim=True))
        return logits

    def loss(number: int) -> Tensor:
        rows = [found.train[i] for i in order[number * BATCH : (number + 1) * BATCH]]
        return cross_entropy(scores(rows), torch.tensor([label for _, label in rows]))

    steps = EPOCHS * n
    together = nn.ModuleList([model, head])
    fit(together, loss, steps=steps, learning_rate=linear_decay(RATE, steps // 10, steps), weight_decay=0.01)
    together.eval()
    with torch.no_grad():
        right = sum(
            int((scores(rows).argmax(1) == torch.tensor([label for _, label in rows])).sum())
            for rows in (found.test[i : i + 256] for i in range(0, len(found.test), 256))
        )
    return round(right / len(found.test), 4)
