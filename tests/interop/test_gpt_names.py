"""Names and layout of the two formats: nothing is lost on the way there and back, and matrices are turned."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings

from bertlab.interop.gpt_names import kind_of, their_shapes, to_ours, to_theirs
from bertlab.nn import GPT, GPTConfig
from tests.nn.their_gpt import SMALL, configs, their_twin


@settings(max_examples=20)
@given(config=configs())
def test_there_and_back_is_the_same(config: GPTConfig) -> None:
    own = GPT(config).state_dict()
    theirs = to_theirs(own, config)
    assert {name: tensor.shape for name, tensor in theirs.items()} == their_shapes(config)
    back = to_ours(theirs, config)
    assert back.keys() == own.keys()
    assert all(torch.equal(back[name], own[name]) for name in own)


@pytest.mark.parametrize("norm_first", [False, True])
def test_shapes_are_those_of_transformers(norm_first: bool) -> None:
    config = replace(SMALL, norm_first=norm_first)
    twin = their_twin(GPT(config))
    shapes = {name.removeprefix("transformer."): p.shape for name, p in twin.named_parameters()}
    assert their_shapes(config) == shapes
    assert kind_of(config) == twin.config.model_type


def test_query_key_and_value_lie_side_by_side_as_columns() -> None:
    own = GPT(SMALL).state_dict()
    joined = to_theirs(own, SMALL)["h.1.attn.c_attn.weight"]
    assert joined.shape == (16, 48)
    for place, name in enumerate(("query", "key", "value")):
        columns = joined[:, 16 * place : 16 * (place + 1)]
        assert torch.equal(columns.T, own[f"encoder.layers.1.attention.{name}.weight"])
