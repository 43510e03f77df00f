"""How many parameters a GPT has, part by part, beside `transformers` and the papers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
import transformers
from hypothesis import given, settings

from bertlab.nn import GPT, BertConfig, GPTConfig
from tests.nn.their_gpt import configs, their_config


def count(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(
    ("size", "n_parameters"), [("gpt1", 116_534_784), ("gpt2", 124_439_808)], ids=["GPT-1", "GPT-2"]
)
def test_D32_published_sizes_have_the_parameters_of_transformers(size: str, n_parameters: int) -> None:
    config: GPTConfig = getattr(GPTConfig, size)()
    kinds = {"gpt1": transformers.OpenAIGPTLMHeadModel, "gpt2": transformers.GPT2LMHeadModel}
    with torch.device("meta"):
        theirs = kinds[size](their_config(config))
        theirs.tie_weights()
        assert count(GPT(config)) == config.n_parameters == n_parameters == count(theirs)


@pytest.mark.parametrize("size", ["gpt1", "gpt2"])
def test_published_choices_are_the_defaults_of_transformers(size: str) -> None:
    config = getattr(GPTConfig, size)()
    kinds = {"gpt1": transformers.OpenAIGPTConfig, "gpt2": transformers.GPT2Config}
    theirs, ours = kinds[size](), their_config(config)
    names = ("vocab_size", "n_embd", "n_layer", "n_head", "n_positions", "layer_norm_epsilon")
    names += ("resid_pdrop", "attn_pdrop", "afn" if size == "gpt1" else "activation_function")
    assert [getattr(ours, name) for name in names] == [getattr(theirs, name) for name in names]
    assert theirs.eos_token_id == config.end_id


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("size", ["tiny", "mini", "small", "medium"])
def test_small_sizes_are_those_of_bert(size: str, norm_first: bool) -> None:
    ours, theirs = (getattr(kind, size)(vocab_size=500) for kind in (GPTConfig, BertConfig))
    same = ("d_model", "n_layers", "n_heads", "d_ff", "max_positions", "dropout")
    assert [getattr(ours, name) for name in same] == [getattr(theirs, name) for name in same]
    shared = ("token embeddings", "position embeddings", "attention", "feed-forward", "norms of the layers")
    ours = replace(ours, norm_first=norm_first)
    assert {part: ours.parts[part] for part in shared} == {part: theirs.parts[part] for part in shared}
    assert ours.n_parameters == sum(theirs.parts[part] for part in shared) + 2 * ours.d_model * norm_first


MODULES = {
    "token embeddings": ["embeddings.token"],
    "position embeddings": ["embeddings.position"],
    "attention": [".attention."],
    "feed-forward": [".feed_forward."],
    "norms of the layers": [".attention_residual.", ".feed_forward_residual."],
    "last norm": ["encoder.norm."],
}


@settings(max_examples=20)
@given(config=configs())
def test_every_part_has_the_parameters_of_its_modules_and_no_parameter_is_left(config: GPTConfig) -> None:
    left = {name: p.numel() for name, p in GPT(config).named_parameters()}
    assert config.parts.keys() == MODULES.keys()
    for part, modules in MODULES.items():
        names = [name for name in left if any(module in name for module in modules)]
        assert sum(left.pop(name) for name in names) == config.parts[part], part
    assert left == {}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"vocab_size": 0}, "vocab_size=0: choose at least 1"),
        ({"n_layers": 0}, "n_layers=0"),
        ({"max_positions": -1}, "max_positions=-1"),
        ({"n_heads": 7}, "d_model=768 does not split into 7 heads: choose a divisor"),
        ({"dropout": 1.0}, r"dropout=1.0 is not a probability in \[0, 1\)"),
        ({"attention_dropout": -0.1}, "attention_dropout=-0.1"),
        ({"eps": 0.0}, "eps=0.0: choose a small number above 0"),
        ({"pad_id": 40_478}, "pad_id=40478 is none of 40478 ids: choose one in the vocabulary"),
        ({"end_id": -1}, "end_id=-1 is none of 40478 ids"),
        ({"activation": "swish"}, "activation='swish' is unknown: choose one of relu, gelu, gelu_tanh"),
    ],
)
def test_a_config_that_makes_no_model_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        GPTConfig.gpt1(**change)


def test_D10_the_model_has_the_gelu_that_its_config_names() -> None:
    torch.manual_seed(0)
    for choice, value in (({}, 1.954598), ({"activation": "gelu"}, 1.954500)):
        model = GPT(GPTConfig.tiny(vocab_size=9, **choice)).double()
        network = model.encoder.layers[0].feed_forward
        network.inner.weight.data.zero_()
        network.inner.bias.data.fill_(2.0)
        network.outer.weight.data.fill_(1 / network.inner.out_features)
        network.outer.bias.data.zero_()
        found = network(torch.zeros(1, 1, 128).double())[0, 0, 0].item()
        assert found == pytest.approx(value, abs=1e-6)
