"""Claims about training in bfloat16 with weights in float32."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from bertlab.nn import BertConfig, BertForPreTraining
from bertlab.nn.functional import embedding
from bertlab.training.bfloat16 import InBfloat16, bfloat16_is_fast
from bertlab.training.pretrain import Objective

CONFIG = BertConfig(
    vocab_size=300, d_model=64, n_layers=2, n_heads=2, d_ff=256, dropout=0, attention_dropout=0
)


def batch() -> tuple[torch.Tensor, ...]:
    ids = torch.randint(5, 300, (8, 32))
    positions = torch.randperm(256)[:40]
    return ids, torch.zeros_like(ids), positions, torch.randint(5, 300, (40,)), torch.arange(8) % 2


def gradients(objective: nn.Module, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    objective.zero_grad()
    loss = sum(objective(*given))
    loss.backward()
    return loss.detach(), torch.cat([parameter.grad.flatten() for parameter in objective.parameters()])


def test_loss_and_gradients_are_those_of_float32_within_what_bfloat16_can_tell():
    objective, given = Objective(BertForPreTraining(CONFIG)), batch()
    loss, exact = gradients(objective, given)
    near, found = gradients(InBfloat16(objective), given)
    assert abs(near - loss) < 2e-3
    assert 0 < (found - exact).norm() < 2e-2 * exact.norm()
    assert found.dtype == torch.float32


def test_it_computes_in_bfloat16_and_has_no_weights_of_its_own():
    layer = nn.Linear(3, 2)
    wrapped = InBfloat16(layer)
    assert list(map(id, wrapped.parameters())) == list(map(id, layer.parameters()))
    assert wrapped(torch.ones(1, 3, dtype=torch.bfloat16)).dtype == torch.bfloat16
    assert layer.weight.dtype == torch.float32


def test_a_step_too_small_for_bfloat16_is_not_lost():
    layer = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        layer.weight.fill_(1.0)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1e-4)
    for _ in range(100):  # each step is 1e-4: bfloat16 cannot tell 1 - 1e-4 from 1
        optimizer.zero_grad()
        InBfloat16(layer)(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
        optimizer.step()
    assert layer.weight.item() == pytest.approx(0.99, abs=1e-5)


def test_the_gradient_of_a_segment_is_summed_over_all_positions_without_losing_digits():
    table = torch.zeros(2, 4, dtype=torch.bfloat16, requires_grad=True)
    slopes = torch.rand(4096, 4).bfloat16()
    (embedding(torch.zeros(4096, dtype=torch.int64), table) * slopes).sum().backward()
    torch.testing.assert_close(table.grad[0].float(), slopes.float().sum(0), rtol=2**-8, atol=0)
    assert (table.grad[1] == 0).all()


@pytest.mark.parametrize(
    ("found", "fast"),
    [
        ({"avx512_bf16": True}, True),
        ({"amx_bf16": True}, True),
        ({"avx512_bf16": False, "avx2": True}, False),
    ],
)
def test_a_processor_is_fast_in_bfloat16_if_it_has_instructions_for_it(monkeypatch, found, fast):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: found)
    assert bfloat16_is_fast(torch.device("cpu")) is fast
