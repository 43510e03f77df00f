"""An epoch of fine-tuning, ours and that of `transformers`: the same first weights, the same batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bertlab.interop.bert_names import theirs as their_name
from bertlab.nn import BertModel
from bertlab.tasks.entities import load_entities
from bertlab.tasks.finetune import EPS, FineTuning, batch_rows, fine_tune
from bertlab.tasks.heads import BertForClassification, BertForTokens
from bertlab.tasks.labelled_texts import load_labelled
from bertlab.tasks.saving import load_tuned, save_tuned
from bertlab.tasks.task import Classification, Entities, Part
from bertlab.text import IGNORE_INDEX, WordPiece, pad_batch
from bertlab.training.bfloat16 import bfloat16_is_fast
from bertlab.training.optimizer import adamw
from bertlab.training.schedule import linear_decay

LENGTH = 128  # most pieces of an input, as in our command
SETTINGS = FineTuning(epochs=1, batch_size=16)
MODES = ("float32", "bfloat16") if bfloat16_is_fast(torch.device("cpu")) else ("float32",)
APART = {"loss": 1e-4, "weights": 1e-2}  # the most in float32: nats at a step, share of how far weights moved

SomeTask = Classification | Entities
Look = Callable[[], None]  # called before each batch, and behind the last


def task_of(name: str, tokenizer: WordPiece, n_batches: int) -> tuple[SomeTask, int]:
    """Draw so many batches from the part for training, without replacement; and count all batches in it."""
    texts: Any = load_labelled(name) if name == "nli-wikipedia" else load_entities(name)
    drawn = np.random.default_rng(0).permutation(len(texts.train))[: n_batches * SETTINGS.batch_size]
    parts: dict[Part, list[Any]] = {"train": [texts.train[i] for i in drawn], "val": texts.val[:1]}
    kind = Classification if name == "nli-wikipedia" else Entities
    return kind(parts, texts.labels, tokenizer, LENGTH), len(texts.train) // SETTINGS.batch_size


def save_first(bert: BertModel, tokenizer: WordPiece, task: SomeTask, dropout: float, folder: Path) -> None:
    """Put a new head on an encoder, and write what both sides load."""
    torch.manual_seed(0)
    config = replace(bert.config, dropout=dropout, attention_dropout=dropout)
    trunk = BertModel(config, pooler=bert.pooler is not None)
    trunk.load_state_dict(bert.state_dict())
    kind = BertForTokens if isinstance(task, Entities) else BertForClassification
    save_tuned(kind(trunk, len(task.labels)), tokenizer, folder, task.labels)


class Watched:
    """A task that tells when a batch is asked for, and when the last one is done.

    Parameters
    ----------
    task : what is done.
    look : whom it tells.
    """

    def __init__(self, task: SomeTask, look: Look) -> None:
        self.task, self.look, self.best_by = task, look, task.best_by

    def __len__(self) -> int:
        return len(self.task)

    def batch(self, model: Any, rows: Sequence[int]) -> tuple[tuple[Any, ...], int]:
        """Look, then do what the task does."""
        self.look()
        return self.task.batch(model, rows)

    def scores(self, model: Any, part: Part) -> dict[str, float]:
        """Look, and measure nothing: theirs does not, either."""
        self.look()
        return {self.best_by: 0.0}

    def fingerprint(self) -> str:
        """Tell the data apart."""
        return self.task.fingerprint()


def train_ours(task: SomeTask, folder: Path, mode: str, look: Look) -> tuple[nn.Module, list[float]]:
    """Fine-tune for an epoch by `fine_tune`: the model, and the loss of each step."""
    model: Any = load_tuned(folder)[0]
    model.dropout.p = model.bert.config.dropout
    tuned = fine_tune(model, Watched(task, look), replace(SETTINGS, bf16=mode == "bfloat16"))
    return model, tuned.losses


def train_theirs(task: SomeTask, folder: Path, mode: str, look: Look) -> tuple[nn.Module, list[float]]:
    """Do the same with a model of `transformers`, in a bare loop with all choices of `fine_tune`."""
    import transformers

    kind = "BertForTokenClassification" if isinstance(task, Entities) else "BertForSequenceClassification"
    model = getattr(transformers, kind).from_pretrained(folder, attn_implementation="sdpa").train()
    torch.manual_seed(SETTINGS.seed)
    optimizer, losses = adamw(model, SETTINGS.weight_decay, eps=EPS, fused=True), []
    steps = len(task) // SETTINGS.batch_size
    rate = linear_decay(SETTINGS.rate, round(SETTINGS.warmup * steps), steps + 1)
    for number in range(steps):
        optimizer.zero_grad()
        look()
        batch = their_batch(task, number)
        with torch.autocast("cpu", torch.bfloat16, enabled=mode == "bfloat16"):
            loss = model(**batch).loss
        losses.append(loss.item())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), SETTINGS.clip)
        for group in optimizer.param_groups:
            group["lr"] = rate(number + 1)
        optimizer.step()
    look()
    return model, losses


TRAIN = {"ours": train_ours, "theirs": train_theirs}


def their_batch(task: SomeTask, number: int) -> dict[str, Tensor]:
    """Pad the inputs of a batch to the longest, (B, T), by their names; labels are (B,) or (B, T)."""
    rows = batch_rows(len(task), SETTINGS.batch_size, number, SETTINGS.seed)
    if isinstance(task, Entities):
        batch = pad_batch([task.words["train"][row].inputs for row in rows])
        labels = np.full(batch.ids.shape, IGNORE_INDEX)
        for place, row in zip(labels, rows, strict=True):
            place[: len(task.asked[row])] = task.asked[row]
    else:
        batch = pad_batch([task.inputs["train"][row] for row in rows])
        labels = task.right["train"][rows]
    return {
        "input_ids": torch.from_numpy(batch.ids),
        "token_type_ids": torch.from_numpy(batch.segments),
        "attention_mask": torch.from_numpy(batch.mask.astype(np.int64)),
        "labels": torch.from_numpy(labels),
    }


def sizes_of(task: SomeTask, skip: int) -> dict[str, Any]:
    """Count what is in the batches of an epoch, but for some first ones."""
    numbers = range(skip, len(task) // SETTINGS.batch_size)
    masks = [their_batch(task, number)["attention_mask"] for number in numbers]
    lengths = torch.cat([mask.sum(1) for mask in masks])
    pieces, places = int(lengths.sum()), sum(mask.numel() for mask in masks)
    return {
        "batches": len(masks),
        "pieces": pieces,
        "share_of_padding": round(1 - pieces / places, 3),
        "shortest_mean_longest": [int(lengths.min()), round(pieces / len(lengths), 1), int(lengths.max())],
    }


def differences(task: SomeTask, folder: Path) -> dict[str, dict[str, float]]:
    """Train all of them, and hold them against theirs in float32; the folder must have no dropout.

    Returns
    -------
    by side and mode: "loss", the largest difference at a step, in nats; "weights", the norm of the difference
    of all weights at the end, by that of what the epoch has changed in theirs.

    Raises
    ------
    AssertionError
        If ours in float32 differs by more than `APART` allows.
    """
    first = weights_of(load_tuned(folder)[0])
    model, expected = train_theirs(task, folder, "float32", lambda: None)
    end = weights_of(model)
    moved, found = distance(first, end), {}
    for side, mode in [("ours", mode) for mode in MODES] + [("theirs", mode) for mode in MODES[1:]]:
        model, losses = TRAIN[side](task, folder, mode, lambda: None)
        apart = max(abs(a - b) for a, b in zip(losses, expected, strict=True))
        found[f"{side} {mode}"] = {"loss": apart, "weights": distance(weights_of(model), end) / moved}
    for what, most in APART.items():
        assert found["ours float32"][what] <= most, f"ours is apart from theirs: {found}"
    return found


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Copy the weights of either side, by their names."""
    copies = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    if not isinstance(model, BertForClassification | BertForTokens):
        return copies
    return {f"bert.{their_name(name)}" if name.startswith("bert.") else name: w for name, w in copies.items()}


def distance(one: dict[str, Tensor], other: dict[str, Tensor]) -> float:
    """Tell how far weights are from each other: the norm of all differences.

    Raises
    ------
    KeyError
        If the second has a weight that the first has not.
    """
    return float(torch.cat([(one[name] - weight).flatten() for name, weight in other.items()]).norm())
