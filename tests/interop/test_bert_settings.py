"""`config.json` becomes a `BertConfig`, or is refused with the name of what we do not compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from bertlab.interop.bert_settings import read_settings, write_settings
from bertlab.nn import BertConfig
from tests.interop.small_bert import change_json
from tests.nn.their_bert import SMALL, configs, their_config


@given(config=configs())
def test_settings_come_back(tmp_path_factory: Any, config: BertConfig) -> None:
    path = tmp_path_factory.mktemp("settings") / "config.json"
    write_settings(path, config, {"architectures": ["BertModel"]})
    assert read_settings(path) == config
    their_config(config, "eager").save_pretrained(path.parent)
    assert read_settings(path) == config


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_settings(tmp_path / "config.json", SMALL, {"architectures": ["BertModel"]})
    return tmp_path / "config.json"


@pytest.mark.parametrize(
    ("name", "activation"),
    [("gelu", "gelu"), ("gelu_new", "gelu_tanh"), ("gelu_pytorch_tanh", "gelu_tanh"), ("relu", "relu")],
)
def test_D10_the_gelu_is_the_one_that_is_named(path: Path, name: str, activation: str) -> None:
    change_json(path, hidden_act=name)
    assert read_settings(path).activation == activation


def test_what_old_configs_leave_out_is_that_of_base(path: Path) -> None:
    raw = json.loads(path.read_text())
    sizes = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    path.write_text(json.dumps({name: raw[name] for name in sizes}))
    found, base = read_settings(path), BertConfig.base()
    assert (found.eps, found.activation, found.pad_id) == (base.eps, base.activation, base.pad_id)
    assert (found.max_positions, found.n_segments) == (512, 2)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model_type": "roberta"}, "is of a 'roberta' model: load_bert reads BERT alone"),
        ({"model_type": "distilbert"}, "'distilbert'"),
        (
            {"position_embedding_type": "relative_key"},
            "position_embedding_type='relative_key', which .* does not",
        ),
        ({"is_decoder": True}, "is_decoder=True, which .* does not compute"),
        ({"add_cross_attention": True}, "add_cross_attention=True"),
        ({"pruned_heads": {"0": [1]}}, "pruned_heads="),
        ({"quantization_config": {"bits": 8}}, "quantization_config="),
        ({"embedding_size": 8}, "embedding_size=8"),
        ({"hidden_act": "swish"}, "hidden_act='swish': known are gelu, gelu_new"),
        (
            {"hidden_size": None, "vocab_size": None},
            "lacks vocab_size, hidden_size: it is no config of a BERT",
        ),
        ({"num_attention_heads": 5}, "makes no BERT: d_model=16 does not split into 5 heads"),
        ({"hidden_size": "16"}, "makes no BERT"),
    ],
)
def test_what_we_do_not_compute_is_refused_by_name(path: Path, changes: Any, sentence: str) -> None:
    change_json(path, **changes)
    with pytest.raises(ValueError, match=sentence):
        read_settings(path)


@pytest.mark.parametrize("text", ["{", "[]", "3"])
def test_what_is_no_config_is_refused(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(ValueError, match="is no"):
        read_settings(path)
