"""Small BERTs with a tokenizer, and checkpoints of them in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from bertlab.interop import save_bert
from bertlab.nn import BertForPreTraining, BertModel
from bertlab.text import SPECIAL, WordPiece
from tests.nn.their_bert import SMALL, with_some_weights

WORDS = ["the", "dog", "play", "##ing", "##s", "!", "?", "crème", "creme", "Dog", "我", "a", "##a"]
PIECES = [*SPECIAL, *WORDS, *(f"[unused{i}]" for i in range(100 - len(SPECIAL) - len(WORDS)))]
TEXTS = ["The dog playing!", "Crème dogs?", "我 aaa Dog", "unknown words", ""]


def tokenizer(lowercase: bool = True, **options: Any) -> WordPiece:
    return WordPiece(PIECES, lowercase, **options)


def some_bert(kind: str = "pretraining", **changes: Any) -> BertModel | BertForPreTraining:
    """One of the four kinds of model, every weight drawn."""
    torch.manual_seed(3)
    config = replace(SMALL, **changes)
    made = {
        "pretraining": lambda: BertForPreTraining(config),
        "masked_lm": lambda: BertForPreTraining(config, next_sentence=False),
        "pooler": lambda: BertModel(config),
        "bare": lambda: BertModel(config, pooler=False),
    }
    return with_some_weights(made[kind]())


KINDS = ("pretraining", "masked_lm", "pooler", "bare")


def saved(folder: Path, kind: str = "pretraining", **changes: Any) -> Path:
    save_bert(some_bert(kind, **changes), tokenizer(), folder)
    return folder


def change_weights(folder: Path, change: Callable[[dict[str, Tensor]], Mapping[str, Tensor]]) -> None:
    path = folder / "model.safetensors"
    tensors = {name: tensor.clone() for name, tensor in load_file(path).items()}
    path.unlink()
    save_file({n: t.clone() for n, t in change(tensors).items()}, path, {"format": "pt"})


def change_json(path: Path, **changes: Any) -> None:
    """Set options of a JSON file; None takes one away."""
    raw = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({name: value for name, value in raw.items() if value is not None}))


def some_ids() -> tuple[Tensor, Tensor]:
    ids = torch.tensor([[2, 7, 4, 9, 3, 0, 0], [2, 4, 8, 9, 3, 11, 3]])
    return ids, torch.tensor([[0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 1]])


def same_output(one: Any, other: Any) -> None:
    """Both are of one class and say the same to the bit."""
    assert type(one) is type(other)
    assert one.config == other.config
    own, theirs = dict(one.named_parameters()), dict(other.named_parameters())
    assert own.keys() == theirs.keys()
    assert all(torch.equal(own[name], theirs[name]) for name in own)
    torch.testing.assert_close(states(one), states(other), rtol=0, atol=0)


@torch.no_grad()
def states(model: Any) -> Tensor:
    ids, segments = some_ids()
    output = model(ids, segments)
    return (output.bert if isinstance(model, BertForPreTraining) else output).states
