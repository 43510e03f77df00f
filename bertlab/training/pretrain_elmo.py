"""ELMo's pre-training on the shards that BERT's reads, exact when interrupted.

The stretches of text are few and long, and the LSTM's steps follow each other on any number of machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bertlab.nn.elmo import ELMoForPreTraining, surprise
from bertlab.nn.elmo_config import ELMoConfig
from bertlab.text import WordPiece
from bertlab.text.stretches import TextBatch
from bertlab.training.running_text import (
    Losses,
    TextPretrainConfig,
    checked_sizes,
    held_out_parts,
    tokenizer_of,
    train_on_text,
)

SIZES = ("tiny", "mini")
Save = Callable[[ELMoForPreTraining, WordPiece, Path], Any]


@dataclass(frozen=True, kw_only=True)
class ELMoPretrainConfig(TextPretrainConfig):
    """All choices of a pre-training of an ELMo on pieces.

    With `bf16` the softmax computes in bfloat16; memories of LSTMs add up numbers that it could not hold.

    Raises
    ------
    ConfigError
        If a value makes no training; the sentence names its key and the fix.

    Examples
    --------
    >>> config = ELMoPretrainConfig(shards=("shards",), vocab="vocab.txt", out="run", steps=50)
    >>> config.sizes(vocab_size=8192).d_memory, config.warmup_steps
    (368, 5)
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sizes(vocab_size=30_522)

    def sizes(self, vocab_size: int, pad_id: int = 0) -> ELMoConfig:
        """Give the sizes of a new model for a vocabulary."""
        told = {"vocab_size": vocab_size, "pad_id": pad_id, "dropout": self.dropout, "n_characters": 0}
        return checked_sizes(ELMoConfig, SIZES, self.model, told)


def pretrain_elmo(
    config: ELMoPretrainConfig,
    device: torch.device,
    save: Save | None = None,
    say: Callable[[str], None] = print,
) -> list[float]:
    """Pre-train an ELMo on pieces, or go on where an earlier call was interrupted.

    Parameters
    ----------
    config : all choices.
    device : where to compute.
    save : writes the finished model into the folder `model` of the run.
    say : is told what happens.

    Returns
    -------
    list of the joint losses of all steps, of both directions together.

    Raises
    ------
    ValueError
        If the configuration, the shards or the folder of the run do not fit; the sentence says what to do.
    FloatingPointError
        If a loss or gradient is not finite; the step is named.

    References
    ----------
    Peters et al. 2018, sec. 3.1 and 3.4.
    """
    model, tokenizer = begin_elmo(config)
    keep = (lambda folder: save(model, tokenizer, folder)) if save else None
    return train_on_text(config, model, tokenizer, both_ways(model, config.bf16), device, keep, say)


def begin_elmo(config: ELMoPretrainConfig) -> tuple[ELMoForPreTraining, WordPiece]:
    """Make the model with its first weights, and its tokenizer.

    Raises
    ------
    ConfigError
        If the vocabulary cannot be read.
    """
    torch.manual_seed(config.seed)
    tokenizer = tokenizer_of(config)
    return ELMoForPreTraining(config.sizes(len(tokenizer), tokenizer.pad_id)), tokenizer


def both_ways(model: ELMoForPreTraining, bf16: bool = False) -> Losses:
    """Give the joint loss of a model, with the parts "forward" and "backward"."""

    def losses(ids: Tensor, mask: Tensor) -> tuple[Tensor, dict[str, float]]:
        joint, forward, backward = batch_loss(model, ids, mask, bf16)
        return joint, {"forward": forward.item(), "backward": backward.item()}

    return losses


def batch_loss(
    model: ELMoForPreTraining, ids: Tensor, mask: Tensor, bf16: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the joint loss of (B, T) ids and its two parts, as `ELMoForPreTraining.loss` does.

    With `bf16` the softmax computes in bfloat16: two rows of V logits for each token are half of the work.
    """
    if not bf16:
        return model.loss(ids, mask=mask)
    states = model.dropout(model.elmo(ids, mask).states)
    states, table, bias = (x.to(torch.bfloat16) for x in (states, model.table, model.output.bias))
    return surprise(states, ids, table, bias, mask)


def held_out_numbers(
    model: ELMoForPreTraining, batches: Iterable[TextBatch], device: torch.device
) -> dict[str, float]:
    """Measure a model on text that it was not trained on.

    Returns
    -------
    of each direction the loss in nats, a mean over all tokens it is asked for.
    """
    return held_out_parts(both_ways(model), batches, device)
