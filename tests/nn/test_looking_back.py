"""Heads of a GPT that look back before anything was learnt."""

from __future__ import annotations

import pytest
import torch

from bertlab.nn import GPT, GPTConfig
from bertlab.nn.looking_back import look_back

Orders = pytest.mark.parametrize("norm_first", [False, True], ids=["GPT-1", "GPT-2"])


@Orders
def test_every_head_of_the_first_layer_looks_back_and_no_other_does(norm_first: bool) -> None:
    torch.manual_seed(0)
    model = GPT(GPTConfig.mini(vocab_size=500, norm_first=norm_first)).eval()
    offsets = look_back(model)
    assert offsets == [-1, -2, -3, -4]
    weights = model(torch.randint(5, 500, (8, 64)), need_weights=True).weights
    assert weights is not None
    at = torch.arange(10, 64)
    for head, offset in enumerate(offsets):
        seen = torch.stack([weights[0][:, head, at, at - place].mean() for place in range(10)])  # by place
        assert seen.argmax() == -offset
        assert seen.max() > 0.4
        assert weights[1][:, head, at, at + offset].mean() < 0.1


@Orders
def test_no_parameter_is_added_and_only_tables_queries_and_keys_of_the_first_layer_change(
    norm_first: bool,
) -> None:
    torch.manual_seed(0)
    model = GPT(GPTConfig.tiny(vocab_size=50, norm_first=norm_first))
    before = {name: p.clone() for name, p in model.state_dict().items()}
    look_back(model)
    changed = {name for name, p in model.state_dict().items() if not torch.equal(p, before[name])}
    first = "encoder.layers.0.attention"
    tables = {"embeddings.position.weight", "embeddings.token.weight"}
    assert changed == tables | {f"{first}.query.weight", f"{first}.key.weight"}
