"""Claims about cheap dropout: right on average, independent from place to place, resumable."""

from __future__ import annotations

import pytest
import torch

from bertlab.nn.dropout import Dropout, dropout

N = 2**20


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_share_that_is_dropped_is_p_to_a_256th_and_the_mean_stays(p, dtype):
    dropped = (dropout(torch.ones(N, dtype=dtype), p) == 0).double().mean().item()
    assert abs(dropped - round(256 * p) / 256) < 0.003  # six standard deviations
    kept = dropout(torch.ones(N, dtype=dtype), p).double()
    assert abs(kept.mean().item() - 1) < 0.01 / (1 - p)
    grown = torch.tensor(1 / (1 - round(256 * p) / 256), dtype=dtype).item()
    assert kept.unique().tolist() == [0, grown]


def test_every_byte_of_the_drawn_numbers_is_used_evenly():
    shares = (dropout(torch.ones(N), 0.1).view(-1, 8) == 0).double().mean(0)
    assert (shares - 26 / 256).abs().max() < 0.005


def test_neighbours_are_dropped_independently():
    gone = (dropout(torch.ones(N), 0.5) == 0).double() - 0.5
    for lag in (1, 2, 7, 8, 9, 64, 1000):
        assert abs((gone[lag:] * gone[:-lag]).mean().item()) < 0.0015  # six standard deviations


def test_the_gradient_passes_where_the_number_passed():
    x = torch.ones(1000, requires_grad=True)
    y = dropout(x, 0.3)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


def test_the_state_of_chance_decides_so_a_resumed_run_drops_the_same():
    x = torch.ones(1001)
    state = torch.get_rng_state()
    first, second = dropout(x, 0.1), dropout(x, 0.1)
    assert not torch.equal(first, second)
    torch.set_rng_state(state)
    assert torch.equal(dropout(x, 0.1), first)
    assert torch.equal(dropout(x, 0.1), second)


@pytest.mark.parametrize("p", [0.001, 0.003, 0.999])
def test_a_probability_that_a_byte_cannot_hold_is_kept_exactly(p):
    gone = (dropout(torch.ones(2 * N), p) == 0).double().mean().item()
    assert abs(gone - p) < 6 * (p * (1 - p) / (2 * N)) ** 0.5


def test_nothing_is_dropped_at_0_and_in_evaluation():
    x = torch.randn(100)
    assert torch.equal(dropout(x, 0.0), x)
    assert torch.equal(Dropout(0.5).eval()(x), x)
    assert not torch.equal(Dropout(0.5).train()(x), x)
