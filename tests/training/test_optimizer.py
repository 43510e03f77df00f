"""Claims about which weights decay, which learn at a rate of their own, and what correction does."""

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


@pytest.mark.parametrize("decays", [False, True])
def test_a_parameter_learns_at_its_share_of_the_rate_and_decays_by_it(decays):
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 2, bias=False))
    before, shares = [layer.weight.detach().clone() for layer in model], {"0.weight": 0.25, "1.weight": 1.0}
    slope, options = (0.0, {"weight_decay": 0.1}) if decays else (1.0, {})
    loss = lambda step: slope * sum(p.sum() for p in model.parameters())  # noqa: E731
    rate = lambda step: 1e-2  # noqa: E731
    fit(model, loss, steps=1, learning_rate=rate, rate_factor=shares.__getitem__, **options)
    for layer, old, share in zip(model, before, shares.values(), strict=True):
        step = 0.1 * old if decays else 1.0  # Adam's first step is as long as the rate
        torch.testing.assert_close(layer.weight, old - 1e-2 * share * step)


def test_where_all_have_the_whole_rate_there_are_the_usual_two_groups():
    for factor in (None, lambda name: 1.0):
        groups = adamw(Tied(), weight_decay=0.1, rate_factor=factor).param_groups
        assert [(group["weight_decay"], group["factor"]) for group in groups] == [(0.1, 1.0), (0.0, 1.0)]


def test_no_parameter_is_lost_or_moved_twice_when_each_has_a_rate_of_its_own():
    model = Tied()
    factors = {name: 1 / (i + 1) for i, (name, _) in enumerate(model.named_parameters())}
    groups = adamw(model, weight_decay=0.1, rate_factor=factors.__getitem__).param_groups
    found = {id(p): (group["factor"], group["weight_decay"]) for group in groups for p in group["params"]}
    wanted = {id(p): (factors[n], 0.1 if p.dim() > 1 else 0.0) for n, p in model.named_parameters()}
    assert found == wanted
    assert sum(len(group["params"]) for group in groups) == len(wanted)


def by_hand(weights, gradients, rates, betas, eps, decay):
    """Adam as google-research/bert, optimization.py, has it: nothing is corrected."""
    m, v = torch.zeros_like(weights), torch.zeros_like(weights)
    for gradient, rate in zip(gradients, rates, strict=True):
        m = betas[0] * m + (1 - betas[0]) * gradient
        v = betas[1] * v + (1 - betas[1]) * gradient**2
        weights = weights - rate * (m / (v.sqrt() + eps) + decay * weights)
    return weights


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-6])  # of the gradient: beside the last, ε is large
@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.5, 0.98)])
def test_without_correction_adam_moves_as_written_by_hand(betas, scale, fused):
    generator = torch.Generator().manual_seed(0)
    model = nn.Linear(4, 3, bias=False).double()
    before = model.weight.detach().clone()
    gradients = scale * torch.randn(40, 3, 4, generator=generator, dtype=torch.float64)
    rate = lambda step: 1e-2 / step  # noqa: E731
    options = {"betas": betas, "eps": 1e-6, "weight_decay": 0.1, "clip": 1e9, "fused": fused}
    loss = lambda step: (model.weight * gradients[step]).sum()  # noqa: E731
    fit(model, loss, steps=40, learning_rate=rate, bias_correction=False, **options)
    wanted = by_hand(before, gradients, [rate(step) for step in range(1, 41)], betas, 1e-6, 0.1)
    torch.testing.assert_close(model.weight.detach(), wanted, rtol=0, atol=1e-12)


def test_the_first_steps_without_correction_are_several_times_as_long():
    def length(n, bias_correction):
        model = nn.Linear(1, 1, bias=False)
        before = model.weight.item()
        loss, rate = lambda step: model.weight.sum(), lambda step: 1e-2 * (step == n)
        fit(model, loss, steps=n, learning_rate=rate, bias_correction=bias_correction)
        return before - model.weight.item()

    assert length(1, False) / length(1, True) == pytest.approx(3.16, abs=0.01)
    assert length(10, False) / length(10, True) == pytest.approx(6.53, abs=0.01)


def test_a_resumed_run_without_correction_knows_how_many_steps_were_done(tmp_path):
    found = []
    for stops in ([9], [4, 9]):
        torch.manual_seed(0)
        model = nn.Linear(2, 1)

        def loss(step, model=model):
            return (model(torch.tensor([[1.0, step]])) - step).square().sum()

        options = {"learning_rate": lambda step: 1e-2, "bias_correction": False}
        for stop in stops:
            fit(model, loss, steps=stop, **options, checkpoint=tmp_path / f"{len(stops)}.pt")
        found.append(model.weight.detach())
    assert torch.equal(*found)
