"""GPT's pre-training on the shards that BERT's reads, exact when interrupted.

It reads running text, as ELMo does, and is asked at every position for the piece that follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bertlab.nn.gpt import GPT
from bertlab.nn.gpt_config import GPTConfig
from bertlab.nn.language_model import shift_left
from bertlab.nn.looking_back import look_back
from bertlab.nn.packing import Packing
from bertlab.text import WordPiece
from bertlab.training.bfloat16 import InBfloat16
from bertlab.training.pretrain_config import ConfigError
from bertlab.training.running_text import (
    Losses,
    TextPretrainConfig,
    checked_sizes,
    tokenizer_of,
    train_on_text,
)

SIZES = ("tiny", "mini", "small", "medium", "gpt1", "gpt2")
Save = Callable[[GPT, WordPiece, Path], Any]


@dataclass(frozen=True, kw_only=True)
class GPTPretrainConfig(TextPretrainConfig):
    """All choices of a pre-training of a GPT on pieces.

    Raises
    ------
    ConfigError
        If a value makes no training; the sentence names its key and the fix.

    References
    ----------
    Radford et al. 2018, sec. 4.1, for weight decay and dropout; rate and batch are of a small machine.

    Examples
    --------
    >>> config = GPTPretrainConfig(shards=("shards",), vocab="vocab.txt", out="run", steps=50)
    >>> config.sizes(vocab_size=8192).d_model, config.warmup_steps
    (256, 5)
    """

    weight_decay: float = 0.01
    look_back: bool = False  # heads of the first layer begin by looking at what stands before

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sizes(vocab_size=60_000)

    def sizes(self, vocab_size: int, pad_id: int = 0) -> GPTConfig:
        """Give the sizes of a new model for a vocabulary."""
        told: dict[str, Any] = {"vocab_size": vocab_size, "pad_id": pad_id, "end_id": None}
        told |= {"dropout": self.dropout, "attention_dropout": self.dropout}
        made = checked_sizes(GPTConfig, SIZES, self.model, told)
        if made.max_positions < self.max_length:
            raise ConfigError(
                f"max_length = {self.max_length} is beyond the model's {made.max_positions} positions: "
                "choose less, or more max_positions in [model]"
            )
        return made


def pretrain_gpt(
    config: GPTPretrainConfig,
    device: torch.device,
    save: Save | None = None,
    say: Callable[[str], None] = print,
) -> list[float]:
    """Pre-train a GPT on pieces, or go on where an earlier call was interrupted.

    Parameters
    ----------
    config : all choices.
    device : where to compute.
    save : writes the finished model into the folder `model` of the run.
    say : is told what happens.

    Returns
    -------
    list of the losses of all steps.

    Raises
    ------
    ValueError
        If the configuration, the shards or the folder of the run do not fit; the sentence says what to do.
    FloatingPointError
        If a loss or gradient is not finite; the step is named.

    References
    ----------
    Radford et al. 2018, sec. 3.1 and 4.1.
    """
    model, tokenizer = begin_gpt(config)
    keep = (lambda folder: save(model, tokenizer, folder)) if save else None
    return train_on_text(config, model, tokenizer, next_token(model, config.bf16), device, keep, say)


def begin_gpt(config: GPTPretrainConfig) -> tuple[GPT, WordPiece]:
    """Make the model with its first weights, and its tokenizer.

    Raises
    ------
    ConfigError
        If the vocabulary cannot be read.
    """
    torch.manual_seed(config.seed)
    tokenizer = tokenizer_of(config)
    model = GPT(config.sizes(len(tokenizer), tokenizer.pad_id))
    if config.look_back:
        look_back(model)
    return model, tokenizer


class NextToken(nn.Module):
    """The loss of a GPT as a module of its own: what is computed in bfloat16.

    Parameters
    ----------
    gpt : what is trained.
    """

    def __init__(self, gpt: GPT) -> None:
        super().__init__()
        self.gpt = gpt

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Read (B, T) ids, real where `mask` is True; the mean surprise at each next token, in nats."""
        packing = Packing.where_it_pays(mask, causal=True)
        return self.gpt.loss(ids, shift_left(ids, mask), packing)


def next_token(model: GPT, bf16: bool = False) -> Losses:
    """Give the loss of a model, which is its only part, "next_token"."""
    objective: nn.Module = NextToken(model)
    objective = InBfloat16(objective) if bf16 else objective

    def losses(ids: Tensor, mask: Tensor) -> tuple[Tensor, dict[str, float]]:
        loss: Tensor = objective(ids, mask)
        return loss, {"next_token": loss.item()}

    return losses
