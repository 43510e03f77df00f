"""Small data sets and encoders in the place of the real ones, for tests of experiments on fine-tuning."""

from __future__ import annotations

import zlib
from types import ModuleType
from typing import Any

import torch

from bertlab.nn import BertConfig, BertModel
from tests.tasks.learnable import LABELS, TOKENIZER, parts_of

KINDS = {
    "sst2": "text",
    "nli-wikipedia": "pair",
    "wikigold": "entities",
    "wnut17": "entities",
    "xquad": "answers",
}
SIZES = {"train": 40, "val": 16, "test": 24}


def small_parts(
    name: str, sizes: dict[str, int] | None = None
) -> tuple[dict[Any, list[Any]], tuple[str, ...]]:
    """A data set with a rule that can be learnt, by the name of the real one, and its labels."""
    kind = KINDS[name]
    labels = {"entities": LABELS, "answers": ()}.get(kind, ("no", "yes"))
    return parts_of(kind, sizes or SIZES), labels


def small_encoder(name: str, seed: int, n_layers: int = 2) -> tuple[BertModel, Any]:
    """An encoder that has learnt nothing; each name and seed has weights of its own."""
    torch.manual_seed(zlib.crc32(name.encode()) + seed)
    sizes = {"d_model": 32, "n_layers": n_layers, "n_heads": 2, "d_ff": 64, "max_positions": 128}
    config = BertConfig(vocab_size=len(TOKENIZER.vocab), dropout=0.0, attention_dropout=0.0, **sizes)
    return BertModel(config), TOKENIZER


def stand_in(
    monkeypatch, *modules: ModuleType, sizes: dict[str, int] | None = None, n_layers: int = 2
) -> None:
    """Let modules of experiments read small data sets and small encoders."""
    for module in modules:
        if hasattr(module, "parts_of"):
            monkeypatch.setattr(module, "parts_of", lambda name: small_parts(name, sizes))
        if hasattr(module, "encoder"):
            monkeypatch.setattr(module, "encoder", lambda name, seed: small_encoder(name, seed, n_layers))
