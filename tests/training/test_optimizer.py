"""Claims about which weights decay."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from bertlab.nn import Encoder
from bertlab.training import adamw, fit


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5, 4)
        self.encoder = Encoder(1, 4, 2, 8, norm_first=True)
        self.output = nn.Linear(4, 5)
        self.output.weight = self.embedding.weight


def test_matrices_decay_biases_and_norms_do_not_and_a_tied_weight_is_moved_once():
    model = Tied()
    decayed, spared = (group["params"] for group in adamw(model, weight_decay=0.1).param_groups)
    assert {p.dim() for p in decayed} == {2}
    assert {p.dim() for p in spared} == {1}
    assert len(decayed) + len(spared) == len(list(model.parameters()))
    assert sum(p is model.embedding.weight for p in decayed) == 1


def test_a_step_takes_rate_times_decay_of_a_weight_and_nothing_of_a_bias():
    model = nn.Linear(2, 2)
    before = [p.detach().clone() for p in model.parameters()]
    zero = lambda step: 0.0 * model(torch.ones(1, 2)).sum()  # noqa: E731
    fit(model, zero, steps=1, learning_rate=lambda step: 0.5, weight_decay=0.1)
    torch.testing.assert_close(model.weight, before[0] * (1 - 0.5 * 0.1))
    assert torch.equal(model.bias, before[1])


def test_a_vector_that_is_no_bias_decays():
    model = nn.Module()
    model.v = nn.Parameter(torch.ones(3))
    assert adamw(model, weight_decay=0.1).param_groups[0]["params"] == [model.v]


def test_frozen_parameters_are_left_out():
    model = nn.Linear(2, 2).requires_grad_(False)
    model.bias.requires_grad_(True)
    assert [len(group["params"]) for group in adamw(model, 0.1).param_groups] == [0, 1]


def test_the_means_of_the_gradient_remember_as_long_as_is_asked():
    (first, _) = adamw(nn.Linear(2, 2), betas=(0.9, 0.98), eps=1e-9).param_groups
    assert (first["betas"], first["eps"]) == ((0.9, 0.98), 1e-9)


def test_a_decay_below_zero_is_refused():
    with pytest.raises(ValueError, match=r"weight_decay=-1"):
        adamw(nn.Linear(2, 2), weight_decay=-1)
