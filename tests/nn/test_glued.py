"""Two GPTs glued together: neither knows of the other, and each is the GPT that it would be alone."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn.glued import GluedGPTs
from bertlab.nn.packing import Packing
from bertlab.training.bfloat16 import InBfloat16
from tests.nn.their_gpt import SMALL, inputs, with_some_weights

CLOSE = {"rtol": 0, "atol": 1e-10}


class Joint(torch.nn.Module):
    """The loss as a module's forward."""

    def __init__(self, model: GluedGPTs) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model.loss(ids)[0]


def some_pair(**changes: Any) -> GluedGPTs:
    torch.manual_seed(0)
    model: GluedGPTs = with_some_weights(GluedGPTs(replace(SMALL, **changes))).double()
    return model


@settings(max_examples=8, deadline=None)
@given(data=st.data(), norm_first=st.booleans())
def test_each_half_is_the_gpt_alone_on_the_text_in_its_own_order(
    data: st.DataObject, norm_first: bool
) -> None:
    model = some_pair(norm_first=norm_first)
    ids, real = data.draw(inputs(model.config))
    found = model(ids, real)
    for row, mask, *halves in zip(ids, real, *(layer for layer in found.layers), strict=True):
        text = row[mask][None]
        ahead, back = model.forwards.read(text)[0], model.backwards.read(text.flip(1))[0]
        for half, one, other in zip(halves, ahead, back, strict=True):
            both = torch.cat([one[0], other[0].flip(0)], dim=-1)
            torch.testing.assert_close(half[mask], both, **CLOSE)
            assert (half[~mask] == 0).all()


@pytest.mark.parametrize("norm_first", [False, True], ids=["GPT-1", "GPT-2"])
def test_D11_no_half_has_heard_of_the_other_side(norm_first: bool) -> None:
    model, ids = some_pair(norm_first=norm_first), torch.tensor([[2, 7, 8, 9, 3]])
    before = model(ids)
    for t in range(5):
        other = ids.clone()
        other[0, t] = 30
        for old, new in zip(before.layers, model(other).layers, strict=True):
            moved = (old - new).abs()[0] > 1e-9  # (T, 2D)
            ahead, back = moved.chunk(2, dim=-1)
            assert not ahead[:t].any()
            assert not back[t + 1 :].any()
            assert ahead[t].any()
            assert back[t].any()
        last = (before.layers[-1] - model(other).layers[-1]).abs()[0] > 1e-9
        assert last[t:, :16].any(1).all()
        assert last[: t + 1, 16:].any(1).all()


def test_scores_at_a_position_are_of_its_neighbours() -> None:
    model, ids = some_pair(), torch.tensor([[2, 7, 8, 9, 3], [2, 7, 3, 0, 0]])
    real, answer = ids != 0, model(ids)
    following = answer.of_next.log_softmax(-1)[:, :-1].gather(2, ids[:, 1:, None])[real[:, 1:]]
    before = answer.of_previous.log_softmax(-1)[:, 1:].gather(2, ids[:, :-1, None])[real[:, 1:]]
    joint, forward, backward = model.loss(ids)
    torch.testing.assert_close(forward, -following.mean(), **CLOSE)
    torch.testing.assert_close(backward, -before.mean(), **CLOSE)
    torch.testing.assert_close(joint, forward + backward, **CLOSE)


def test_packed_it_learns_the_same() -> None:
    model, ids = some_pair(), torch.tensor([[2, 7, 8, 9, 3], [2, 7, 3, 0, 0], [2, 5, 6, 3, 0]])
    grads = []
    for packing in (None, Packing(ids != 0, price=0, causal=True)):
        model.zero_grad()
        loss = model.loss(ids, packing=packing)[0]
        loss.backward()
        grads.append([loss, *(p.grad for p in model.parameters())])
    torch.testing.assert_close(grads[0], grads[1], **CLOSE)


def test_in_bfloat16_all_weights_get_their_gradient_and_stay_what_they_are() -> None:
    model, ids = GluedGPTs(SMALL), torch.tensor([[2, 7, 8, 9, 3]])
    before = [p.clone() for p in model.parameters()]
    loss = InBfloat16(Joint(model))(ids)
    loss.backward()
    assert loss.item() == pytest.approx(model.loss(ids)[0].item(), rel=0.01)
    for parameter, old in zip(model.parameters(), before, strict=True):
        assert parameter.is_leaf
        assert parameter.grad is not None
        assert torch.equal(parameter, old)


def test_both_have_one_table_and_layers_of_their_own() -> None:
    model = GluedGPTs(SMALL)
    assert sum("embeddings" in name for name in model.state_dict()) == 2
    twin = copy.deepcopy(model)
    assert twin.backwards.embeddings is twin.forwards.embeddings is not model.forwards.embeddings
    assert model.backwards.embeddings.token.weight is model.forwards.embeddings.token.weight
    ours = [name for name, _ in model.named_parameters() if "embeddings" in name]
    assert ours == ["forwards.embeddings.token.weight", "forwards.embeddings.position.weight"]
    stacks = [sum(p.numel() for p in one.encoder.parameters()) for one in (model.forwards, model.backwards)]
    assert stacks[0] == stacks[1]
    total = sum(p.numel() for p in model.parameters())
    assert total == sum(stacks) + sum(p.numel() for p in model.forwards.embeddings.parameters())
