"""Small GPTs with a tokenizer, and checkpoints of them in a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from bertlab.interop import save_gpt
from bertlab.nn import GPT
from bertlab.text import BytePair
from tests.nn.their_gpt import SMALL, some_gpt
from tests.text.byte_pairs import GPT1, GPT2, byte_pairs

KINDS = ("openai-gpt", "gpt2")
N_PIECES = {"openai-gpt": len(GPT1[0]), "gpt2": len(GPT2[0])}
IDS = torch.tensor([[5, 7, 4, 9, 3], [2, 4, 8, 9, 11]])


def tokenizer(kind: str) -> BytePair:
    return byte_pairs(kind)


def small_gpt(kind: str, **changes: Any) -> GPT:
    """With every weight drawn; GPT-2 ends texts by its last piece."""
    n = N_PIECES[kind]
    own = {"norm_first": True, "d_ff": 24, "end_id": n - 1, "pad_id": n - 1} if kind == "gpt2" else {}
    return some_gpt(replace(SMALL, **{"vocab_size": n, **own, **changes})).float()


def saved(folder: Path, kind: str, **changes: Any) -> Path:
    save_gpt(small_gpt(kind, **changes), tokenizer(kind), folder)
    return folder


def same_model(one: GPT, other: GPT) -> None:
    """Both have one config, and say the same to the bit."""
    assert one.config == other.config
    own, theirs = dict(one.named_parameters()), dict(other.named_parameters())
    assert own.keys() == theirs.keys()
    assert all(torch.equal(own[name], theirs[name]) for name in own)
    with torch.no_grad():
        assert torch.equal(one(IDS).logits, other(IDS).logits)
