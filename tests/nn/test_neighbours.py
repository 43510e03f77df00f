"""Heads that look beside them before anything was learnt."""

from __future__ import annotations

import pytest
import torch

from bertlab.nn import BertConfig, BertModel
from bertlab.nn.neighbours import look_beside, rotation
from bertlab.nn.positions import sinusoidal_positions


@pytest.mark.parametrize("offset", [-3, -1, 0, 1, 2, 7])
def test_a_sinusoid_some_places_on_is_the_same_one_rotated(offset: int) -> None:
    waves = sinusoidal_positions(40, 16, torch.float64)
    at = torch.arange(10, 30)
    torch.testing.assert_close(
        waves[at, :6] @ rotation(offset, 6, 16).T, waves[at + offset, :6], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("size", ["tiny", "mini", "small"])
def test_every_head_of_the_first_layer_looks_beside_and_no_other_does(size: str) -> None:
    torch.manual_seed(0)
    model = BertModel(getattr(BertConfig, size)(vocab_size=500)).eval()
    offsets = look_beside(model)
    weights = model(torch.randint(5, 500, (8, 64)), need_weights=True).weights
    assert weights is not None
    at, places = torch.arange(10, 54), torch.arange(-9, 10)

    def seen(layer: int, head: int) -> torch.Tensor:  # mean weight by place
        return torch.stack([weights[layer][:, head, at, at + place].mean() for place in places])

    for head, offset in enumerate(offsets):
        assert places[seen(0, head).argmax()] == offset
        assert seen(0, head).max() > 0.4
        assert seen(1, head).max() < 0.1
    assert sorted(offsets, key=abs)[:2] in ([-1, 1], [1, -1])
    assert len(set(offsets)) == len(offsets)


def test_no_parameter_is_added_and_only_tables_queries_and_keys_of_the_first_layer_change() -> None:
    torch.manual_seed(0)
    model = BertModel(BertConfig.tiny(vocab_size=50))
    before = {name: p.clone() for name, p in model.state_dict().items()}
    look_beside(model)
    changed = {name for name, p in model.state_dict().items() if not torch.equal(p, before[name])}
    first = "encoder.layers.0.attention"
    tables = {"embeddings.position.weight", "embeddings.token.weight"}
    assert changed == tables | {f"{first}.query.weight", f"{first}.key.weight"}
    token = model.embeddings.token.weight
    assert torch.equal(token[:, 64:], before["embeddings.token.weight"][:, 64:])
    assert not token[:, :64].any()


def test_heads_look_where_they_are_told_and_further_ones_nowhere() -> None:
    torch.manual_seed(0)
    model = BertModel(BertConfig.mini(vocab_size=500)).eval()
    assert look_beside(model, (3, -2)) == [3, -2]
    weights = model(torch.randint(5, 500, (8, 64)), need_weights=True).weights
    assert weights is not None
    at = torch.arange(10, 54)
    assert weights[0][:, 0, at, at + 3].mean() > 0.4
    assert weights[0][:, 1, at, at - 2].mean() > 0.4
    assert weights[0][:, 2:].max() < 0.3


def test_more_places_than_heads_are_refused() -> None:
    model = BertModel(BertConfig.tiny(vocab_size=50))
    before = model.embeddings.position.weight.clone()
    with pytest.raises(ValueError, match=r"3 offsets for 2 heads: give one a head at most"):
        look_beside(model, (1, 2, 3))
    assert torch.equal(model.embeddings.position.weight, before)
