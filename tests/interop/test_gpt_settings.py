"""`config.json` becomes a `GPTConfig`, or is refused with the name of what we do not compute."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from bertlab.interop.gpt_settings import read_settings, write_settings
from bertlab.nn import GPTConfig
from tests.interop.small_bert import change_json
from tests.nn.their_gpt import SMALL, configs, their_config

KINDS = {"openai-gpt": SMALL, "gpt2": replace(SMALL, norm_first=True, end_id=7, pad_id=7)}


@settings(max_examples=30)
@given(config=configs())
def test_settings_come_back(tmp_path_factory: Any, config: GPTConfig) -> None:
    path = tmp_path_factory.mktemp("settings") / "config.json"
    for end_id in (None, 5):
        config = replace(config, end_id=end_id, dropout=0.25, attention_dropout=0.5)
        write_settings(path, config)
        assert read_settings(path) == config
        their_config(config).save_pretrained(path.parent)
        assert read_settings(path) == config


@pytest.fixture(params=KINDS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    write_settings(tmp_path / "config.json", KINDS[request.param])
    return tmp_path / "config.json"


def only(path: Path, kind: str) -> None:
    if json.loads(path.read_text())["model_type"] != kind:
        pytest.skip(f"a setting of {kind}")


@pytest.mark.parametrize(
    ("kind", "name", "activation"),
    [
        ("openai-gpt", "gelu", "gelu_tanh"),  # in this format, "gelu" is the one by tanh
        ("openai-gpt", "relu", "relu"),
        ("gpt2", "gelu", "gelu"),
        ("gpt2", "gelu_new", "gelu_tanh"),
        ("gpt2", "gelu_pytorch_tanh", "gelu_tanh"),
        ("gpt2", "relu", "relu"),
    ],
)
def test_D10_the_gelu_is_the_one_that_the_format_means(
    tmp_path: Path, kind: str, name: str, activation: str
) -> None:
    path = tmp_path / "config.json"
    write_settings(path, KINDS[kind])
    change_json(path, **{"afn" if kind == "openai-gpt" else "activation_function": name})
    assert read_settings(path).activation == activation


@pytest.mark.parametrize("kind", KINDS)
def test_what_published_configs_leave_out_is_that_of_the_paper(tmp_path: Path, kind: str) -> None:
    path, paper = tmp_path / "config.json", GPTConfig.gpt2() if kind == "gpt2" else GPTConfig.gpt1()
    raw = {"model_type": kind, "vocab_size": paper.vocab_size, "n_embd": 768, "n_layer": 12, "n_head": 12}
    raw |= {"eos_token_id": 50256} if kind == "gpt2" else {}
    path.write_text(json.dumps(raw))
    assert read_settings(path) == paper


def test_an_end_that_the_vocabulary_does_not_have_is_never_written(path: Path) -> None:
    change_json(path, eos_token_id=50256, pad_token_id=None)
    found = read_settings(path)
    assert (found.end_id, found.pad_id) == (None, 0)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model_type": "bert"}, "is of a 'bert' model: load_gpt reads 'openai-gpt' and 'gpt2' alone"),
        ({"model_type": None}, "is of a None model"),
        ({"scale_attn_weights": False}, "scale_attn_weights=False, which bertlab.nn.GPT does not compute"),
        ({"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx=True"),
        ({"add_cross_attention": True}, "add_cross_attention=True"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings=False"),
        ({"pruned_heads": {"0": [1]}}, "pruned_heads="),
        ({"quantization_config": {"bits": 8}}, "quantization_config="),
        ({"embd_pdrop": 0.3}, "embd_pdrop=0.3 and resid_pdrop=0.0: .* one dropout for both"),
        ({"n_embd": None, "vocab_size": None}, "lacks vocab_size, n_embd: it is no config of a GPT"),
        ({"n_head": 5}, "makes no GPT: d_model=16 does not split into 5 heads"),
        ({"n_embd": "16"}, "makes no GPT"),
        ({"afn": "silu", "activation_function": "silu"}, "'silu' is unknown: known are gelu"),
        ({"pad_token_id": 40}, "makes no GPT: pad_id=40 is none of 40 ids"),
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


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"activation": "gelu"}, r"activation='gelu' is none of openai-gpt \(relu, gelu_tanh\)"),
        ({"d_ff": 65}, "d_ff=65 is not 4 d_model=64, which openai-gpt always has"),
    ],
)
def test_what_a_format_cannot_say_is_refused_and_the_other_can(
    tmp_path: Path, changes: Any, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        write_settings(tmp_path / "config.json", replace(SMALL, **changes))
    assert not list(tmp_path.iterdir())
    write_settings(tmp_path / "config.json", replace(SMALL, norm_first=True, **changes))
