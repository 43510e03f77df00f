"""A small task is learnt when its classes can be told apart, by whoever gives the states."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from _entailment import Task, fine_tune
from bertlab.text.inputs import Inputs


def made(rng, n: int) -> list[tuple[Inputs, int]]:
    """Texts whose class is whether the piece 5 or 6 stands somewhere in them."""
    rows = []
    for i in range(n):
        ids = rng.integers(7, 20, size=int(rng.integers(3, 9)))
        ids[rng.integers(len(ids))] = 5 + i % 2
        rows.append((Inputs(ids, np.zeros_like(ids), 0), i % 2))
    return rows


def test_what_can_be_told_apart_is_learnt(rng):
    torch.manual_seed(0)
    table = nn.Embedding(20, 64)
    right = fine_tune(
        table, lambda ids, segments: table(ids), Task(made(rng, 1600), made(rng, 200), 2), 64, 0
    )
    assert right > 0.95


def test_padding_and_a_model_that_sees_nothing_do_not_help(rng):
    blind = nn.Linear(1, 16)
    states = lambda ids, segments: blind(torch.ones_like(ids)[..., None].float())  # noqa: E731
    right = fine_tune(blind, states, Task(made(rng, 320), made(rng, 200), 2), 16, 0)
    assert right == 0.5
