"""How many parameters a BERT has, part by part, beside `transformers` and the paper."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from hypothesis import given, settings

from bertlab.nn import BertConfig, BertForPreTraining, BertModel
from tests.nn.their_bert import SMALL, configs, their_config

SIZES = {
    "tiny": (2, 128, 4_385_920),
    "mini": (4, 256, 11_170_560),
    "small": (4, 512, 28_763_648),
    "medium": (8, 512, 41_373_184),
    "base": (12, 768, 109_482_240),
    "large": (24, 1024, 335_141_888),
}


def count(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def test_D32_parameters_are_counted_once() -> None:
    assert SMALL.n_parameters == count(BertModel(SMALL)) == 6_768
    assert count(BertForPreTraining(SMALL, next_sentence=False)) == 6_900
    assert count(BertForPreTraining(SMALL)) == sum(SMALL.parts.values()) == 7_206


def test_D32_of_base() -> None:
    base = BertConfig.base()
    with torch.device("meta"):
        assert count(BertModel(base)) == 109_482_240
        assert count(BertModel(base, pooler=False)) == 108_891_648
        assert count(BertForPreTraining(base, next_sentence=False)) == 109_514_298
        assert count(BertForPreTraining(base)) == 110_106_428


@pytest.mark.parametrize("size", SIZES)
def test_published_sizes_have_the_parameters_of_transformers(size: str) -> None:
    config: BertConfig = getattr(BertConfig, size)()
    assert (config.n_layers, config.d_model, config.n_parameters) == SIZES[size]
    assert (config.n_heads, config.d_ff) == (config.d_model // 64, 4 * config.d_model)
    their = their_config(config, "eager")
    with torch.device("meta"):
        assert count(transformers.BertModel(their)) == config.n_parameters == count(BertModel(config))
        whole = count(transformers.BertForPreTraining(their))
        assert whole == sum(config.parts.values()) == count(BertForPreTraining(config))


MODULES = {
    "token embeddings": ["bert.embeddings.token"],
    "position embeddings": ["bert.embeddings.position"],
    "segment embeddings": ["bert.embeddings.segment"],
    "norm of the embeddings": ["bert.embeddings.norm"],
    "attention": ["attention."],
    "feed-forward": ["feed_forward."],
    "norms of the layers": ["attention_residual.", "feed_forward_residual."],
    "pooler": ["bert.pooler"],
    "masked-LM head": ["masked_lm."],
    "next-sentence head": ["next_sentence."],
}


@settings(max_examples=20)
@given(config=configs())
def test_every_part_has_the_parameters_of_its_modules_and_no_parameter_is_left(config: BertConfig) -> None:
    left = {name: p.numel() for name, p in BertForPreTraining(config).named_parameters()}
    assert config.parts.keys() == MODULES.keys()
    for part, modules in MODULES.items():
        names = [name for name in left if any(module in f".{name}" for module in (f".{m}" for m in modules))]
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
        ({"pad_id": 30_522}, "pad_id=30522 is none of 30522 ids"),
        ({"activation": "swish"}, "activation='swish' is unknown: choose one of relu, gelu, gelu_tanh"),
    ],
)
def test_a_config_that_makes_no_model_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        BertConfig.base(**change)


def test_D10_the_model_has_the_gelu_that_its_config_names() -> None:
    torch.manual_seed(0)
    for activation, value in (("gelu", 1.954500), ("gelu_tanh", 1.954598)):
        model = BertModel(BertConfig.tiny(vocab_size=9, activation=activation)).double()
        inner = model.encoder.layers[0].feed_forward
        inner.inner.weight.data.zero_()
        inner.inner.bias.data.fill_(2.0)
        inner.outer.weight.data.fill_(1 / inner.inner.out_features)
        inner.outer.bias.data.zero_()
        found = inner(torch.zeros(1, 1, 128).double())[0, 0, 0].item()
        assert found == pytest.approx(value, abs=1e-6)
