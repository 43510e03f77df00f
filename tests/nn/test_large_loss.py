"""Claims about the loss over a large vocabulary: exact in bfloat16, whatever the pieces."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from bertlab.nn import large_loss
from bertlab.nn.losses import cross_entropy


def given(dtype: torch.dtype = torch.bfloat16) -> tuple[torch.Tensor, torch.Tensor]:
    logits = (torch.randn(50, 31) * 4).to(dtype).requires_grad_()
    targets = torch.randint(0, 31, (50,))
    targets[::7] = -100
    return logits, targets


@pytest.mark.parametrize("at_once", [1, 100, 1000, 10**6])
def test_in_pieces_loss_and_gradient_are_those_of_float64(monkeypatch, at_once):
    monkeypatch.setattr(large_loss, "AT_ONCE", at_once)
    logits, targets = given()
    loss = cross_entropy(logits, targets)
    (3 * loss).backward()
    exact = logits.detach().double().requires_grad_()
    expected = F.cross_entropy(exact, targets)
    (3 * expected).backward()
    assert loss.dtype == torch.float32
    assert abs(loss.item() - expected.item()) < 1e-5
    torch.testing.assert_close(logits.grad.double(), exact.grad, rtol=2**-7, atol=1e-7)  # bfloat16: 8 digits


def test_its_gradient_is_that_of_its_values():
    logits = torch.randn(6, 5, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([0, 4, -100, 2, 2, 1])
    large_loss.SummedSurprise.apply(logits, targets, -100).backward()
    exact = logits.detach().requires_grad_()
    F.cross_entropy(exact, targets, reduction="sum").backward()
    torch.testing.assert_close(logits.grad, exact.grad, rtol=0, atol=1e-6)


def test_without_a_target_that_counts_it_is_zero():
    logits, targets = given()
    loss = cross_entropy(logits, torch.full_like(targets, -100))
    loss.backward()
    assert loss.item() == 0
    assert (logits.grad == 0).all()


def test_a_hopeless_answer_has_a_finite_surprise():
    logits = torch.tensor([[0.0, 300.0]], dtype=torch.bfloat16)
    assert cross_entropy(logits, torch.tensor([0])).item() == 300
