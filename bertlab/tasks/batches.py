"""Inputs in batches: as a head reads them, and what it says of each, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor

from bertlab.nn.gpt import GPT
from bertlab.nn.packing import Packing
from bertlab.tasks.gpt_heads import AnyHead, GPTForClassification
from bertlab.tasks.heads import BertForClassification, BertForTokens, Head
from bertlab.text.inputs import Inputs, pad_batch


@overload
def tensors(inputs: Sequence[Inputs], model: Head) -> tuple[Tensor, Tensor, Packing | None]: ...
@overload
def tensors(inputs: Sequence[Inputs], model: GPTForClassification) -> tuple[Tensor, Packing | None]: ...
def tensors(inputs: Sequence[Inputs], model: AnyHead) -> tuple[Any, ...]:
    """Make a batch on the device of a model: ids, segments, and a `Packing` where much of it is padding.

    For a GPT, which has no segments: ids and `Packing`.
    """
    trunk = model.gpt if isinstance(model, GPTForClassification) else model.bert
    batch, device = pad_batch(inputs, trunk.config.pad_id), next(model.parameters()).device
    ids, segments, real = (
        torch.from_numpy(array).to(device) for array in (batch.ids, batch.segments, batch.mask)
    )
    if isinstance(trunk, GPT):
        return ids, Packing.where_it_pays(real, causal=True)
    return ids, segments, Packing.where_it_pays(real)


@torch.no_grad()
def answers(model: AnyHead, inputs: Sequence[Inputs], batch_size: int = 64) -> list[np.ndarray]:
    """Ask a model about N inputs, without dropout, those of like length together.

    Returns
    -------
    N arrays, in the order of the inputs: (C,), or (T, C), or (2, T), without padding.
    """
    found: list[np.ndarray] = [np.empty(0)] * len(inputs)
    order = sorted(range(len(inputs)), key=lambda i: len(inputs[i].ids))
    was_training = model.training
    model.eval()
    for first in range(0, len(order), batch_size):
        some = order[first : first + batch_size]
        scores = model(*tensors([inputs[i] for i in some], model)).float().cpu()
        for place, i in enumerate(some):
            found[i] = _own(model, scores, place, len(inputs[i].ids))
    model.train(was_training)
    return found


def _own(model: AnyHead, scores: Tensor, place: int, length: int) -> np.ndarray:
    """Take what a model said of one input out of what it said of a batch."""
    if isinstance(model, BertForClassification | GPTForClassification):
        found = scores[place]  # (B, C) -> (C,)
    elif isinstance(model, BertForTokens):
        found = scores[place, :length]  # (B, T, C) -> (t, C)
    else:
        found = scores[:, place, :length]  # (2, B, T) -> (2, t)
    return np.asarray(found)
