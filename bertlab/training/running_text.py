"""Pre-training on running text, exact when interrupted: what is the same for ELMo and for GPT.

What chance decides is a function of the seed and the step, as in BERT's. It runs in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from bertlab.text import WordPiece
from bertlab.text.counter_random import key
from bertlab.text.stretches import Stretches, TextBatch
from bertlab.training.loop import fit
from bertlab.training.memory import keep_freed_memory
from bertlab.training.pretrain_config import ConfigError, check_run
from bertlab.training.pretrain_data import open_all, shards_sha256
from bertlab.training.run_folder import CHECKPOINT, JOURNAL, MODEL, claim, locked, new_folder
from bertlab.training.schedule import linear_decay

_DROPOUT = 8  # a stream of random numbers apart from those of cuts and order
Losses = Callable[[Tensor, Tensor], tuple[Tensor, dict[str, float]]]
"""From (B, T) ids and where they are real to the loss, a mean over targets, and its parts by their names."""
Config = TypeVar("Config")


@dataclass(frozen=True, kw_only=True)
class TextPretrainConfig:
    """What every pre-training on running text is told; keys that BERT's has mean the same here.

    Raises
    ------
    ConfigError
        If a value makes no training; the sentence names its key and the fix.

    Examples
    --------
    >>> config = TextPretrainConfig(shards=("shards",), vocab="vocab.txt", out="run", steps=50)
    >>> config.warmup_steps, config.n_parts
    (5, 1)
    """

    shards: tuple[str, ...]
    vocab: str
    out: str
    steps: int
    lowercase: bool = True
    model: str | dict[str, Any] = "mini"  # a published size, or fields of the model's config with "size"

    batch_size: int = 32  # stretches of text in a step
    micro_batch: int = 0  # so many are computed at a time; 0: all
    max_length: int = 128
    rate: float = 1e-3
    warmup: float = 0.1
    weight_decay: float = 0.0
    clip: float = 1.0
    dropout: float = 0.1
    seed: int = 0
    bf16: bool = False

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

    @property
    def warmup_steps(self) -> int:
        """Number of steps of the warm-up."""
        return round(self.warmup * self.steps) if self.warmup < 1 else int(self.warmup)

    @property
    def n_parts(self) -> int:
        """Number of parts in which a batch is computed."""
        return self.batch_size // (self.micro_batch or self.batch_size)

    def as_json(self) -> dict[str, Any]:
        """Give all keys with their values, tuples as lists."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}


def checked_sizes(
    kind: type[Config], sizes: Sequence[str], model: str | dict[str, Any], told: dict[str, Any]
) -> Config:
    """Make the config of a new model out of what a file says.

    Parameters
    ----------
    kind : dataclass with a named constructor for each of `sizes`.
    sizes : names that may be chosen.
    model : one of them, "mini" if none is named; or a table of fields.
    told : fields that are told elsewhere, and may not stand in the table.

    Raises
    ------
    ConfigError
        If a name is unknown, or a value makes no model.
    """
    wanted = {"size": model} if isinstance(model, str) else dict(model)
    size = wanted.pop("size", "mini")
    if size not in sizes:
        raise ConfigError(f"model = {size!r} is no size: choose one of {', '.join(sizes)}")
    known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    if strange := wanted.keys() & told.keys() or wanted.keys() - known:
        raise ConfigError(f"model.{min(strange)} is no size of a model of pieces: leave it out")
    try:
        made: Config = getattr(kind, size)(**told, **wanted)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"model: {error}") from error
    return made


def tokenizer_of(config: TextPretrainConfig) -> WordPiece:
    """Read the vocabulary of a training.

    Raises
    ------
    ConfigError
        If it cannot be read.
    """
    try:
        return WordPiece.from_file(config.vocab, config.lowercase)
    except (OSError, ValueError) as error:
        raise ConfigError(f"vocab = {config.vocab!r}: {error}") from error


def train_on_text(
    config: TextPretrainConfig,
    model: nn.Module,
    tokenizer: WordPiece,
    losses: Losses,
    device: torch.device,
    save: Callable[[Path], Any] | None = None,
    say: Callable[[str], None] = print,
) -> list[float]:
    """Train a model, or go on where an earlier call was interrupted.

    Parameters
    ----------
    config, tokenizer : all choices, and the vocabulary of the shards.
    model : with its first weights; moved to the device.
    losses : what it is trained for.
    device : where to compute.
    save : writes the finished model into a folder.
    say : is told what happens.

    Returns
    -------
    list of the losses of all steps.

    Raises
    ------
    ValueError
        If the shards or the folder of the run do not fit; the sentence says what to do.
    FloatingPointError
        If a loss or gradient is not finite; the step is named.
    """
    keep_freed_memory()
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
        reading = Reading(config, losses, stretches, device)
        found = _fit(config, model, reading, _exam(config, tokenizer), folder)
        if save and not (folder / MODEL).exists():
            with new_folder(folder / MODEL) as place:
                save(place)
            say(f"the model is in {folder / MODEL}")
    return found


def _exam(config: TextPretrainConfig, tokenizer: WordPiece) -> list[TextBatch]:
    """Take the stretches that the model is measured on: always the same ones."""
    if not config.held_out:
        return []
    corpus = open_all(config.held_out, tokenizer)
    asked = Stretches(corpus, tokenizer, config.max_length, config.micro_batch or config.batch_size)
    return list(islice(asked.batches(epoch=0), config.held_out_batches))


def _fit(
    config: TextPretrainConfig, model: nn.Module, reading: Reading, exam: list[TextBatch], folder: Path
) -> list[float]:
    """Run the steps that are still to do."""
    return fit(
        model,
        reading.loss,
        steps=config.steps,
        learning_rate=linear_decay(config.rate, config.warmup_steps, config.steps + 1),
        weight_decay=config.weight_decay,
        clip=config.clip,
        accumulate=config.n_parts,
        evaluate=(lambda: held_out_parts(reading.losses, exam, reading.device)) if exam else None,
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
    config, losses, stretches, device : of a training.
    """

    def __init__(
        self, config: TextPretrainConfig, losses: Losses, stretches: Stretches, device: torch.device
    ) -> None:
        self.config, self.losses, self.stretches, self.device = config, losses, stretches, device
        self._first = [0]  # number of the first step of each epoch
        self._told: list[tuple[dict[str, float], int, int]] = []  # of the parts of a step

    def loss(self, number: int) -> tuple[Tensor, int]:
        """Compute the loss of part `number`, and how many tokens a direction was asked for."""
        step, part = divmod(number, self.config.n_parts)
        epoch, batch = self.place(step)
        ids, mask = map(torch.from_numpy, self.stretches.part(epoch, batch, part, self.config.n_parts))
        if part == 0:
            self._told = []
        torch.manual_seed(int(key(self.config.seed, _DROPOUT, step, part).item()) >> 1)
        loss, parts = self.losses(ids.to(self.device), mask.to(self.device))
        n_targets = int(mask.sum()) - len(mask)
        self._told.append((parts, n_targets, int(mask.sum())))
        return loss, n_targets

    def place(self, step: int) -> tuple[int, int]:
        """Say which epoch, and which of its batches, a step is: epochs have different numbers of batches."""
        while step >= self._first[-1]:
            self._first.append(self._first[-1] + self.stretches.n_batches(len(self._first) - 1))
        epoch = next(e for e, first in enumerate(self._first) if first > step) - 1
        return epoch, step - self._first[epoch]

    def notes(self) -> dict[str, float]:
        """Tell of the step that was just done: each part of the loss, and the tokens it has read."""
        n = sum(targets for _, targets, _ in self._told)
        means = {
            name: sum(parts[name] * targets for parts, targets, _ in self._told) / n
            for name in self._told[0][0]
        }
        return {**means, "n_tokens": sum(tokens for *_, tokens in self._told)}


def held_out_parts(losses: Losses, batches: Iterable[TextBatch], device: torch.device) -> dict[str, float]:
    """Measure a model on text that it was not trained on.

    Returns
    -------
    of each part of the loss, "held_out_" before its name, the mean over all tokens that are asked for.
    """
    sums, n_targets = dict[str, float](), 0
    for batch in batches:
        ids, mask = (torch.from_numpy(array).to(device) for array in batch)
        n = int(mask.sum()) - len(mask)
        for name, mean in losses(ids, mask)[1].items():
            sums[name] = sums.get(name, 0.0) + mean * n
        n_targets += n
    return {f"held_out_{name}": total / n_targets for name, total in sums.items()}
