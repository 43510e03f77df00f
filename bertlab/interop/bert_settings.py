"""The settings of a BERT: `config.json` of Hugging Face's format, and `BertConfig`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bertlab.nn import BertConfig
from bertlab.nn.feed_forward import Activation

CONFIG = "config.json"
SIZES = {
    "vocab_size": "vocab_size",
    "d_model": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "d_ff": "intermediate_size",
}
CHOICES = {  # where one is missing, both formats have the same default: that of base
    "max_positions": "max_position_embeddings",
    "n_segments": "type_vocab_size",
    "dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob",
    "eps": "layer_norm_eps",
    "pad_id": "pad_token_id",
}
ACTIVATIONS: dict[str, Activation] = {
    "gelu": "gelu",  # exact, by erf
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}
NOT_COMPUTED: dict[str, tuple[Any, ...]] = {  # option: the values of it that make a plain BERT
    "position_embedding_type": ("absolute", None),
    "is_decoder": (False, None),
    "add_cross_attention": (False, None),
    "pruned_heads": ({}, [], None),
    "quantization_config": (None,),
    "embedding_size": (None,),
}


def read_settings(path: Path) -> BertConfig:
    """Read `config.json`.

    Raises
    ------
    ValueError
        If it is no JSON, of another kind of model, lacks a size, or asks for what `BertModel` does not
        compute; the sentence names the option and its value.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    if not isinstance(raw, dict):
        raise ValueError(f"{path} is no config of a model: it has to be a JSON object")
    if raw.get("model_type", "bert") != "bert":
        raise ValueError(f"{path} is of a {raw['model_type']!r} model: load_bert reads BERT alone, 'bert'")
    for option, plain in NOT_COMPUTED.items():
        if raw.get(option) not in plain:
            raise ValueError(
                f"{path} has {option}={raw[option]!r}, which bertlab.nn.BertModel does not compute: "
                "its numbers would be wrong"
            )
    if missing := [name for name in SIZES.values() if name not in raw]:
        raise ValueError(f"{path} lacks {', '.join(missing)}: it is no config of a BERT")
    activation = raw.get("hidden_act", "gelu")
    if activation not in ACTIVATIONS:
        raise ValueError(f"{path} has hidden_act={activation!r}: known are {', '.join(ACTIVATIONS)}")
    ours = {ours: raw[name] for ours, name in (SIZES | CHOICES).items() if name in raw}
    try:
        return BertConfig(**ours, activation=ACTIVATIONS[activation])
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} makes no BERT: {error}") from error


def write_settings(path: Path, config: BertConfig, more: Mapping[str, Any]) -> None:
    """Write `config.json`; `more` names the class of `transformers` that has these parts, and its options."""
    activation = {"gelu_tanh": "gelu_new"}.get(config.activation, config.activation)
    raw = {
        **more,
        "model_type": "bert",
        **{name: getattr(config, ours) for ours, name in (SIZES | CHOICES).items()},
        "hidden_act": activation,
        "initializer_range": 0.02,
        "position_embedding_type": "absolute",
        "dtype": "float32",  # in which to compute, whatever the weights are written in
    }
    path.write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")
