"""ELMo's pre-training on the shards that BERT's reads, exact when interrupted.

What chance decides is a function of the seed and the step, as in BERT's. It runs in one process: stretches of
text are few and long, and the LSTM's steps follow each other on any number of machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, asdict, dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bertlab.nn.elmo import ELMoForPreTraining, surprise
from bertlab.nn.elmo_config import ELMoConfig
from bertlab.text import WordPiece
from bertlab.text.counter_random import key
from bertlab.text.stretches import Stretches, TextBatch
from bertlab.training.loop import fit
from bertlab.training.memory import keep_freed_memory
from bertlab.training.pretrain_config import ConfigError, check_run
from bertlab.training.pretrain_data import open_all, shards_sha256
from bertlab.training.run_folder import CHECKPOINT, JOURNAL, MODEL, claim, locked, new_folder
from bertlab.training.schedule import linear_decay

SIZES = ("tiny", "mini")
_DROPOUT = 8  # a stream of random numbers apart from those of cuts and order
Save = Callable[[ELMoForPreTraining, WordPiece, Path], Any]


@dataclass(frozen=True, kw_only=True)
class ELMoPretrainConfig:
    """All choices of a pre-training of an ELMo on pieces; keys that BERT's has mean the same here.

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

    shards: tuple[str, ...]
    vocab: str
    out: str
    steps: int
    lowercase: bool = True
    model: str | dict[str, Any] = "mini"  # one of SIZES, or fields of an ELMoConfig, among them "size"

    batch_size: int = 32  # stretches of text in a step
    micro_batch: int = 0  # so many are computed at a time; 0: all
    max_length: int = 128
    rate: float = 1e-3
    warmup: float = 0.1
    weight_decay: float = 0.0
    clip: float = 1.0
    dropout: float = 0.1
    seed: int = 0
    bf16: bool = False  # the softmax in bfloat16; memories of LSTMs add up numbers that it could not hold

    report_every: int = 100
    save_every: int = 500
    held_out: tuple[str, ...] = ()
    held_out_batches: int = 20

    def __post_init__(self) -> None:
        check_run(self, shortest=4)
        if self.micro_batch and self.batch_size % self.micro_batch:
            raise ConfigError(
                f"batch_size = {self.batch_size} does not cut into parts of micro_batch = "
                f"{self.micro_batch}: choose a divisor"
            )
        self.sizes(vocab_size=30_522)

    @property
    def warmup_steps(self) -> int:
        """Number of steps of the warm-up."""
        return round(self.warmup * self.steps) if self.warmup < 1 else int(self.warmup)

    @property
    def n_parts(self) -> int:
        """Number of parts in which a batch is computed."""
        return self.batch_size // (self.micro_batch or self.batch_size)

    def sizes(self, vocab_size: int, pad_id: int = 0) -> ELMoConfig:
        """Give the sizes of a new model for a vocabulary."""
        wanted = {"size": self.model} if isinstance(self.model, str) else dict(self.model)
        size = wanted.pop("size", "mini")
        if size not in SIZES:
            raise ConfigError(f"model = {size!r} is no size: choose one of {', '.join(SIZES)}")
        told = {"vocab_size": vocab_size, "pad_id": pad_id, "dropout": self.dropout, "n_characters": 0}
        if strange := wanted.keys() & told.keys() or wanted.keys() - {f.name for f in fields(ELMoConfig)}:
            raise ConfigError(f"model.{min(strange)} is no size of a model of pieces: leave it out")
        try:
            made: ELMoConfig = getattr(ELMoConfig, size)(**told, **wanted)
        except (ValueError, TypeError) as error:
            raise ConfigError(f"model: {error}") from error
        return made

    def as_json(self) -> dict[str, Any]:
        """Give all keys with their values, tuples as lists."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}


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
    keep_freed_memory()
    model, tokenizer = begin_elmo(config)
    corpus = open_all(config.shards, tokenizer)
    stretches = Stretches(corpus, tokenizer, config.max_length, config.batch_size, config.seed)
    model.to(device)
    folder = Path(config.out)
    say(
        f"{sum(p.numel() for p in model.parameters()):,} parameters, {corpus.borders[-1]:,} tokens, "
        f"{stretches.n_batches(0):,} batches an epoch, on {device.type}; everything goes to {folder}"
    )
    with locked(folder):
        defaults = {f.name: f.default for f in fields(config) if f.default is not MISSING}
        claim(folder, {**config.as_json(), "shards_sha256": shards_sha256(config.shards)}, defaults)
        losses = _train(config, model, tokenizer, stretches, device)
        if save and not (folder / MODEL).exists():
            with new_folder(folder / MODEL) as place:
                save(model, tokenizer, place)
            say(f"the model is in {folder / MODEL}")
    return losses


def begin_elmo(config: ELMoPretrainConfig) -> tuple[ELMoForPreTraining, WordPiece]:
    """Make the model with its first weights, and its tokenizer.

    Raises
    ------
    ConfigError
        If the vocabulary cannot be read.
    """
    torch.manual_seed(config.seed)
    try:
        tokenizer = WordPiece.from_file(config.vocab, config.lowercase)
    except (OSError, ValueError) as error:
        raise ConfigError(f"vocab = {config.vocab!r}: {error}") from error
    return ELMoForPreTraining(config.sizes(len(tokenizer), tokenizer.pad_id)), tokenizer


def _train(
    config: ELMoPretrainConfig,
    model: ELMoForPreTraining,
    tokenizer: WordPiece,
    stretches: Stretches,
    device: torch.device,
) -> list[float]:
    """Run the steps that are still to do."""
    reading = Reading(config, model, stretches, device)
    exam: list[TextBatch] = []
    if config.held_out:
        corpus = open_all(config.held_out, tokenizer)
        asked = Stretches(corpus, tokenizer, config.max_length, config.micro_batch or config.batch_size)
        exam = list(islice(asked.batches(epoch=0), config.held_out_batches))
    folder = Path(config.out)
    return fit(
        model,
        reading.loss,
        steps=config.steps,
        learning_rate=linear_decay(config.rate, config.warmup_steps, config.steps + 1),
        weight_decay=config.weight_decay,
        clip=config.clip,
        accumulate=config.n_parts,
        evaluate=(lambda: held_out_numbers(model, exam, device)) if exam else None,
        report_every=config.report_every,
        journal=folder / JOURNAL,
        checkpoint=folder / CHECKPOINT,
        save_every=config.save_every,
        fused=True,
        notes=reading.notes,
    )


class Reading:
    """The loss of each part of each step, by its number alone.

    Parameters
    ----------
    config, model, stretches, device : of a training.
    """

    def __init__(
        self,
        config: ELMoPretrainConfig,
        model: ELMoForPreTraining,
        stretches: Stretches,
        device: torch.device,
    ) -> None:
        self.config, self.model, self.stretches, self.device = config, model, stretches, device
        self._first = [0]  # number of the first step of each epoch
        self._told: list[
            tuple[float, float, int, int]
        ] = []  # of the parts of a step: losses, targets, tokens

    def loss(self, number: int) -> tuple[Tensor, int]:
        """Compute the joint loss of part `number`, and how many tokens each direction was asked for."""
        step, part = divmod(number, self.config.n_parts)
        epoch, batch = self.place(step)
        ids, mask = map(torch.from_numpy, self.stretches.part(epoch, batch, part, self.config.n_parts))
        if part == 0:
            self._told = []
        torch.manual_seed(int(key(self.config.seed, _DROPOUT, step, part).item()) >> 1)
        joint, forward, backward = batch_loss(
            self.model, ids.to(self.device), mask.to(self.device), self.config.bf16
        )
        n_targets = int(mask.sum()) - len(mask)
        self._told.append((forward.item(), backward.item(), n_targets, int(mask.sum())))
        return joint, n_targets

    def place(self, step: int) -> tuple[int, int]:
        """Say which epoch, and which of its batches, a step is: epochs have different numbers of batches."""
        while step >= self._first[-1]:
            self._first.append(self._first[-1] + self.stretches.n_batches(len(self._first) - 1))
        epoch = next(e for e, first in enumerate(self._first) if first > step) - 1
        return epoch, step - self._first[epoch]

    def notes(self) -> dict[str, float]:
        """Tell of the step that was just done: the loss of each direction, and the tokens it has read."""
        n = sum(targets for *_, targets, _ in self._told)
        forward, backward = (sum(told[i] * told[2] for told in self._told) / n for i in (0, 1))
        return {"forward": forward, "backward": backward, "n_tokens": sum(told[3] for told in self._told)}


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
    sums = torch.zeros(3, dtype=torch.float64)
    for batch in batches:
        ids, mask = (torch.from_numpy(array).to(device) for array in batch)
        _, forward, backward = model.loss(ids, mask=mask)
        n = int(mask.sum()) - len(mask)
        sums += torch.tensor([forward.item() * n, backward.item() * n, n])
    forward_sum, backward_sum, n_targets = sums.tolist()
    return {"held_out_forward": forward_sum / n_targets, "held_out_backward": backward_sum / n_targets}
