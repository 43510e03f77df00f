"""The settings of a GPT: `config.json` of Hugging Face's formats openai-gpt and gpt2, and `GPTConfig`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bertlab.interop.bert_settings import CONFIG as CONFIG
from bertlab.interop.gpt_names import Kind, kind_of
from bertlab.nn import GPTConfig
from bertlab.nn.feed_forward import Activation

SIZES = {
    "vocab_size": "vocab_size",
    "d_model": "n_embd",
    "n_layers": "n_layer",
    "n_heads": "n_head",
}
CHOICES = {  # where one is missing, both formats have the same default: that of GPTConfig
    "dropout": "resid_pdrop",
    "attention_dropout": "attn_pdrop",
    "eps": "layer_norm_epsilon",
}
POSITIONS: dict[Kind, int] = {"openai-gpt": 512, "gpt2": 1024}  # where n_positions is missing
ACTIVATION: dict[Kind, str] = {"openai-gpt": "afn", "gpt2": "activation_function"}
ACTIVATIONS: dict[Kind, dict[str, Activation]] = {
    "openai-gpt": {"gelu": "gelu_tanh", "relu": "relu"},  # their "gelu" is the one by tanh
    "gpt2": {
        "gelu_new": "gelu_tanh",
        "gelu_pytorch_tanh": "gelu_tanh",
        "gelu": "gelu",  # exact, by erf
        "relu": "relu",
    },
}
NOT_COMPUTED: dict[str, tuple[Any, ...]] = {  # option: the values of it that make a plain GPT
    "scale_attn_weights": (True, None),
    "scale_attn_by_inverse_layer_idx": (False, None),
    "add_cross_attention": (False, None),
    "tie_word_embeddings": (True, None),
    "pruned_heads": ({}, [], None),
    "quantization_config": (None,),
}


def read_settings(path: Path) -> GPTConfig:
    """Read `config.json`.

    Raises
    ------
    ValueError
        If it is no JSON, of another kind of model, lacks a size, or asks for what `GPT` does not compute; the
        sentence names the option and its value.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    if not isinstance(raw, dict):
        raise ValueError(f"{path} is no config of a model: it has to be a JSON object")
    if (kind := raw.get("model_type")) not in ("openai-gpt", "gpt2"):
        raise ValueError(f"{path} is of a {kind!r} model: load_gpt reads 'openai-gpt' and 'gpt2' alone")
    for option, plain in NOT_COMPUTED.items():
        if raw.get(option) not in plain:
            raise ValueError(
                f"{path} has {option}={raw[option]!r}, which bertlab.nn.GPT does not compute: "
                "its numbers would be wrong"
            )
    if raw.get("embd_pdrop", 0.1) != raw.get("resid_pdrop", 0.1):
        raise ValueError(
            f"{path} has embd_pdrop={raw.get('embd_pdrop', 0.1)} and resid_pdrop="
            f"{raw.get('resid_pdrop', 0.1)}: bertlab.nn.GPT has one dropout for both, make them equal"
        )
    if missing := [name for name in SIZES.values() if name not in raw]:
        raise ValueError(f"{path} lacks {', '.join(missing)}: it is no config of a GPT")
    try:
        return _config(raw, kind)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} makes no GPT: {error}") from error


def _config(raw: Mapping[str, Any], kind: Kind) -> GPTConfig:
    """Translate the settings."""
    usual = "gelu" if kind == "openai-gpt" else "gelu_new"
    activation = raw.get(ACTIVATION[kind], usual)
    if activation not in ACTIVATIONS[kind]:
        known = ", ".join(ACTIVATIONS[kind])
        raise ValueError(f"{ACTIVATION[kind]}={activation!r} is unknown: known are {known}")
    end, padding = raw.get("eos_token_id"), raw.get("pad_token_id")
    if isinstance(end, int) and end >= raw["vocab_size"]:  # the default of a small model: never written
        end = None
    d_ff = raw.get("n_inner") if kind == "gpt2" else None  # openai-gpt has always four times the width
    return GPTConfig(
        **{ours: raw[name] for ours, name in (SIZES | CHOICES).items() if name in raw},
        d_ff=4 * raw["n_embd"] if d_ff is None else d_ff,
        max_positions=raw.get("n_positions", POSITIONS[kind]),
        norm_first=kind == "gpt2",
        activation=ACTIVATIONS[kind][activation],
        pad_id=(end or 0) if padding is None else padding,  # any will do: no text looks at its padding
        end_id=end,
    )


def write_settings(path: Path, config: GPTConfig) -> None:
    """Write `config.json`, for the class of `transformers` with a language model's output.

    Raises
    ------
    ValueError
        If that class cannot compute what the config says.
    """
    kind = kind_of(config)
    names = {ours: theirs for theirs, ours in reversed(ACTIVATIONS[kind].items())}
    if config.activation not in names:
        raise ValueError(
            f"activation={config.activation!r} is none of openai-gpt ({', '.join(names)}): "
            "choose one of them, or norm_first=True, which is written as gpt2"
        )
    if kind == "openai-gpt" and config.d_ff != 4 * config.d_model:
        raise ValueError(
            f"d_ff={config.d_ff} is not 4 d_model={4 * config.d_model}, which openai-gpt always has: "
            "choose that, or norm_first=True, which is written as gpt2"
        )
    raw = {
        "architectures": ["GPT2LMHeadModel" if kind == "gpt2" else "OpenAIGPTLMHeadModel"],
        "model_type": kind,
        **{name: getattr(config, ours) for ours, name in (SIZES | CHOICES).items()},
        "embd_pdrop": config.dropout,
        "n_positions": config.max_positions,
        ACTIVATION[kind]: names[config.activation],
        "bos_token_id": config.end_id,
        "eos_token_id": config.end_id,
        "pad_token_id": config.pad_id,
        "initializer_range": 0.02,
        "dtype": "float32",  # in which to compute, whatever the weights are written in
    }
    if kind == "gpt2":
        raw["n_inner"] = config.d_ff
    path.write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")
