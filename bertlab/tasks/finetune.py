"""Fine-tuning: all weights, or the new ones alone, by the loop that trains everything else."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from bertlab.tasks.gpt_heads import AnyHead
from bertlab.tasks.reading import trunk_fingerprint, trunk_read_once
from bertlab.tasks.task import Task
from bertlab.training.bfloat16 import InBfloat16
from bertlab.training.checkpoint import replacing
from bertlab.training.journal import read_journal
from bertlab.training.loop import fit
from bertlab.training.run_folder import CHECKPOINT, JOURNAL, claim, locked
from bertlab.training.schedule import linear_decay

H = TypeVar("H", bound=AnyHead)
BEST, EPS = "best.pt", 1e-6  # ε of google-research/bert, optimization.py
PER_LAYER = re.compile(r"(?:bert|gpt)\.encoder\.layers\.(\d+)\.")
EMBEDDINGS = ("bert.embeddings.", "gpt.embeddings.")


@dataclass(frozen=True, kw_only=True)
class FineTuning:
    """All choices of a fine-tuning.

    Raises
    ------
    ValueError
        If a value makes no training; the sentence names it and the fix.

    References
    ----------
    The defaults: Devlin et al. 2019, appendix A.3, but for the rate, of which the paper tries 2e-5 to 5e-5.
    """

    epochs: int = 3
    batch_size: int = 32
    rate: float = 5e-5  # highest learning rate; small models want more
    warmup: float = 0.1  # share of the steps in which the rate rises
    weight_decay: float = 0.01
    clip: float = 1.0  # largest norm of the gradient
    layer_decay: float = 1.0  # each layer below the last learns at so much of the rate of the one above it
    frozen: bool = False  # embeddings and encoder stay as they are, and read each input once, without dropout
    bias_correction: bool = True  # False: as the original release of BERT, whose Adam has none
    bf16: bool = False  # compute in bfloat16, keep the weights in float32
    seed: int = 0  # of order and dropout; new weights are there before

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("batch_size", 1), ("weight_decay", 0), ("seed", 0)):
            if not getattr(self, name) >= least:
                raise ValueError(f"{name}={getattr(self, name)}: choose {least} or more")
        for name in ("rate", "clip"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}={getattr(self, name)}: choose a number above 0")
        if not 0 <= self.warmup < 1:
            raise ValueError(f"warmup={self.warmup}: choose a share of the steps, from 0 to below 1")
        if not 0 < self.layer_decay <= 1:
            raise ValueError(f"layer_decay={self.layer_decay}: choose a factor above 0, at most 1")


@dataclass(frozen=True)
class FineTuned:
    """What came out of a fine-tuning; the model itself has the best weights."""

    scores: dict[str, float]  # of the best epoch, on val
    epoch: int  # which one that was, from 1
    history: list[dict[str, float]]  # of each epoch: mean loss, scores on val
    losses: list[float]  # of each step


def fine_tune(
    model: H, task: Task[H], settings: FineTuning, folder: Path | None = None, start: str = ""
) -> FineTuned:
    """Train a head, and what it stands on, for a task; keep the epoch that is best on val.

    Parameters
    ----------
    model : a head of `bertlab.tasks`; it gets the best weights, and is left in evaluation mode.
    task : what it is trained for.
    settings : all choices.
    folder : to go on from when interrupted, with the same settings and data; the weights come from there
        then. Without one, nothing is written.
    start : name of the weights that it begins with: a folder goes on with none of another name.

    Returns
    -------
    `FineTuned`.

    Raises
    ------
    ValueError
        If there are fewer inputs than a batch has, or the folder is of another run.
    FloatingPointError
        If a loss is not finite; the step is named.
    """
    if len(task) < settings.batch_size:
        raise ValueError(
            f"batch_size={settings.batch_size} is more than the {len(task)} inputs to train on: choose less"
        )
    told = {"start": start, "task": type(task).__name__, "data": task.fingerprint() if folder else ""}
    if settings.frozen and folder:  # its files hold what is trained, and no trunk
        told["trunk"] = trunk_fingerprint(model)
    with trunk_read_once(model, settings.bf16) if settings.frozen else nullcontext():
        if folder is None:
            return _fine_tune(model, task, settings, None)
        with locked(folder):
            claim(folder, {**asdict(settings), **told})
            return _fine_tune(model, task, settings, folder)


def _fine_tune(model: H, task: Task[H], settings: FineTuning, folder: Path | None) -> FineTuned:
    torch.manual_seed(settings.seed)
    per_epoch = len(task) // settings.batch_size
    steps, kept, history = settings.epochs * per_epoch, _Best(model, task.best_by, folder), []

    narrow = (
        settings.bf16 and not settings.frozen
    )  # above a frozen trunk, which reads in bfloat16, are 32 bits
    objective: nn.Module = InBfloat16(Loss(model)) if narrow else Loss(model)

    def loss(number: int) -> tuple[Tensor, int]:
        rows = batch_rows(len(task), settings.batch_size, number, settings.seed)
        batch, n_targets = task.batch(model, rows)
        return objective(*batch), n_targets

    def evaluate() -> dict[str, float]:
        history.append(task.scores(model, "val"))
        kept.offer(history[-1])
        return history[-1]

    losses = fit(
        model,
        loss,
        steps=steps,
        learning_rate=linear_decay(settings.rate, round(settings.warmup * steps), steps + 1),
        rate_factor=layer_factors(model, settings.layer_decay),
        bias_correction=settings.bias_correction,
        weight_decay=settings.weight_decay,
        eps=EPS,
        clip=settings.clip,
        fused=True,
        evaluate=evaluate,
        report_every=per_epoch,
        journal=folder / JOURNAL if folder else None,
        checkpoint=folder / CHECKPOINT if folder else None,
        save_every=per_epoch,
    )
    if folder:  # with the epochs before an interruption
        history = [{name: row[name] for name in kept.scores} for row in read_journal(folder / JOURNAL)]
    means = np.reshape(losses, (settings.epochs, per_epoch)).mean(1).tolist()
    rows = [{"loss": mean, **scores} for mean, scores in zip(means, history, strict=True)]
    model.load_state_dict(kept.state)
    model.eval()
    best = max(range(settings.epochs), key=lambda epoch: (history[epoch][task.best_by], epoch))
    return FineTuned(kept.scores, best + 1, rows, losses)


class Loss(nn.Module):
    """The loss of a head as a module of its own: what is computed in bfloat16.

    Parameters
    ----------
    head : what is trained.
    """

    def __init__(self, head: nn.Module) -> None:
        super().__init__()
        self.head = head

    def forward(self, *batch: Any) -> Tensor:
        """Compute the mean loss of what `Task.batch` makes, in nats."""
        loss: Tensor = self.head.loss(*batch)  # type: ignore[operator]
        return loss


class _Best:
    """The weights with the highest score so far, in memory and in a file; of equals, the last.

    With few examples to choose by, equals are frequent, and the first lucky epoch has learnt least.
    """

    def __init__(self, model: nn.Module, by: str, folder: Path | None) -> None:
        self.model, self.by, self.file = model, by, folder / BEST if folder else None
        self.scores: dict[str, float] = {}
        self.state: dict[str, Tensor] = {}
        if folder and (folder / CHECKPOINT).exists() and (folder / BEST).exists():  # else a run begins anew
            found = torch.load(folder / BEST, weights_only=True)
            self.scores, self.state = found["scores"], found["state"]

    def offer(self, scores: dict[str, float]) -> None:
        if self.scores and scores[self.by] < self.scores[self.by]:
            return
        self.scores = scores
        self.state = {name: value.detach().cpu().clone() for name, value in self.model.state_dict().items()}
        if self.file:
            with replacing(self.file) as temporary:  # scores and weights in one file: they belong together
                torch.save({"scores": self.scores, "state": self.state}, temporary)


def batch_rows(n: int, batch_size: int, number: int, seed: int) -> list[int]:
    """Say which examples are in a batch: a fresh order in every epoch, a function of seed and number.

    Those at the end of an order that fill no batch are left out of its epoch.

    Examples
    --------
    >>> first, second = batch_rows(4, 2, 0, seed=0), batch_rows(4, 2, 1, seed=0)
    >>> sorted(first + second)
    [0, 1, 2, 3]
    """
    epoch, place = divmod(number, n // batch_size)
    order = np.random.default_rng([seed, epoch]).permutation(n)
    rows: list[int] = order[place * batch_size : (place + 1) * batch_size].tolist()
    return rows


def layer_factors(model: nn.Module, decay: float) -> Callable[[str], float]:
    """Make the function that says at which share of the rate a parameter learns, by its name.

    Parameters
    ----------
    model : with a trunk called "bert" or "gpt".
    decay : what a layer has of the rate of the one above it, and the embeddings have of the first layer's.
        The last layer has all of it, as pooler and head.

    References
    ----------
    Howard and Ruder 2018, sec. 3.2, "discriminative fine-tuning", with a decay of 1 / 2.6.

    Examples
    --------
    >>> from bertlab.nn import BertConfig, BertModel
    >>> from bertlab.tasks.heads import BertForTokens
    >>> factor = layer_factors(BertForTokens(BertModel(BertConfig.tiny(vocab_size=50)), 2), decay=0.5)
    >>> [factor(f"bert.{name}.weight") for name in ("embeddings.token", "encoder.layers.0.x", "pooler")]
    [0.25, 0.5, 1.0]
    """
    layers = [int(found[1]) for name, _ in model.named_parameters() if (found := PER_LAYER.match(name))]
    n_layers = 1 + max(layers, default=-1)

    def factor(name: str) -> float:
        if found := PER_LAYER.match(name):
            return float(decay ** (n_layers - 1 - int(found[1])))
        return float(decay**n_layers) if name.startswith(EMBEDDINGS) else 1.0

    return factor


def described(tuned: FineTuned) -> dict[str, Any]:
    """Give what a record keeps of a fine-tuning: scores of all epochs, and which was best."""
    rounded = [{name: round(value, 4) for name, value in row.items()} for row in tuned.history]
    return {"best_epoch": tuned.epoch, "epochs": rounded}
