"""Claims about the quickest way to mix values: it is chosen by speed, and cannot be told from the other."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from bertlab.nn import mixing
from bertlab.nn.mixing import fused_pays, mix


def written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixing, "fused_pays", lambda *given: False)


def mixed_and_gradients(*inputs: torch.Tensor, mask: torch.Tensor | None) -> list[torch.Tensor]:
    q, k, v = (x.clone().requires_grad_() for x in inputs)
    mixed = mix(q, k, v, mask)
    (mixed * torch.linspace(0, 1, mixed.numel(), dtype=mixed.dtype).view_as(mixed)).sum().backward()
    return [mixed, q.grad, k.grad, v.grad]


@pytest.mark.parametrize("kind", ["none", "padding", "any", "a row with nothing"])
def test_written_out_it_is_what_fused_attention_computes_forward_and_backward(monkeypatch, kind):
    inputs = [torch.randn(2, 3, T, 4, dtype=torch.float64) for T in (5, 7, 7)]
    mask = {"none": None, "padding": torch.arange(7) < torch.tensor([7, 3])[:, None, None, None]}.get(
        kind, torch.rand(2, 1, 5, 7) < 0.5
    )
    if kind == "any":
        mask[..., 0] = True
    elif kind == "a row with nothing":
        mask[0, 0, 2] = False
    expected = mixed_and_gradients(*inputs, mask=mask)
    written_out(monkeypatch)
    found = mixed_and_gradients(*inputs, mask=mask)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
    if kind == "a row with nothing":
        assert (found[0][0, :, 2] == 0).all()


def test_on_a_cpu_bfloat16_and_dropout_are_written_out_unless_it_is_long():
    short, long = (torch.zeros(1, 1, T, 4, dtype=torch.bfloat16) for T in (128, mixing.MAX_WRITTEN_OUT + 1))
    assert not fused_pays(short, short)
    assert fused_pays(short, long)
    assert fused_pays(short.float(), short.float())
    assert not fused_pays(short.float(), short.float(), dropout=0.1)
    assert fused_pays(short.to("meta"), short.to("meta"))  # any other device


def test_in_bfloat16_it_is_as_near_to_the_truth_as_fused_attention():
    q, k, v = (torch.randn(2, 4, 128, 64, dtype=torch.bfloat16) for _ in range(3))
    truth = mix(q.double(), k.double(), v.double())
    ours, fused = mix(q, k, v), F.scaled_dot_product_attention(q, k, v)
    assert (ours - truth).norm() < 2 * (fused - truth).norm() < 0.02 * truth.norm()


def test_dropout_drops_weights_and_keeps_the_mean(monkeypatch):
    written_out(monkeypatch)
    q, k, v = torch.zeros(1, 1, 200, 4), torch.zeros(1, 1, 100, 4), torch.ones(1, 1, 100, 4)
    mixed = mix(q, k, v, dropout=0.5)[0, 0, :, 0]  # of each query: kept weights, times 2, of 100
    assert abs(mixed.mean() - 1) < 0.05
    assert 0.07 < mixed.std() < 0.13  # sqrt(1 / 100)
