"""BERT's pre-training: on one core or many machines, exact when interrupted, the same however it is shared.

The loss of a step is the sum over all hidden pieces of the batch by their number, plus the sum over all pairs
by theirs, whoever computes which part. Whatever chance decides is a function of the seed, the step and the
part, so that nothing but weights, optimiser and the number of steps must be kept to go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertlab.nn.bert_heads import BertForPreTraining
from bertlab.nn.packing import Packing
from bertlab.text import PretrainingBatch, WordPiece
from bertlab.text.counter_random import key
from bertlab.training.bfloat16 import IMITATED, InBfloat16, bfloat16_is_fast
from bertlab.training.distributed import Team, team
from bertlab.training.loop import fit
from bertlab.training.memory import keep_freed_memory
from bertlab.training.pretrain_config import PretrainConfig
from bertlab.training.pretrain_data import Feed, held_out_batches, open_all, shards_sha256
from bertlab.training.pretrain_start import Load, Say, begin_with
from bertlab.training.run_folder import CHECKPOINT, JOURNAL, MODEL, claim, locked, new_folder
from bertlab.training.schedule import linear_decay

_DROPOUT = 5  # a stream of random numbers apart from those of masks, pairs and order
Save = Callable[[BertForPreTraining, WordPiece, Path], Any]


def pretrain(
    config: PretrainConfig,
    device: torch.device,
    load: Load | None = None,
    save: Save | None = None,
    say: Say = print,
) -> list[float]:
    """Pre-train a BERT, or go on where an earlier call was interrupted.

    Parameters
    ----------
    config : all choices.
    device : where to compute; under `torchrun`, the kind of it.
    load : reads a trained model and its tokenizer from a folder or name, for `start`.
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
    Devlin et al. 2019, sec. 3.1 and appendix A.2.
    """
    keep_freed_memory()
    if device.type == "cuda":  # exact resumption comes before speed: no sums in an order left to chance
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True, warn_only=True)
    with team(device) as members:
        tell = say if members.first else lambda sentence: None
        model, tokenizer = begin_with(config, load, tell)
        corpus = open_all(config.shards, tokenizer)
        feed = Feed(config, corpus, tokenizer, members.rank, members.size)
        model.to(members.device)
        folder = Path(config.out)
        tell(
            f"{sum(p.numel() for p in model.parameters()):,} parameters, {corpus.borders[-1]:,} tokens, "
            f"{feed.examples.n_batches(0):,} batches an epoch, {members.size} process(es) on "
            f"{members.device.type}; everything goes to {folder}"
        )
        if config.bf16 and not bfloat16_is_fast(members.device):
            tell(IMITATED)
        with locked(folder) if members.first else nullcontext():
            if members.first:
                record = {**config.as_json(), "shards_sha256": shards_sha256(config.shards)}
                claim(folder, record, defaults=PretrainConfig.defaults())
            try:
                losses = _train(config, model, tokenizer, feed, members)
            finally:
                feed.close()
            if members.first and save and not (folder / MODEL).exists():
                with new_folder(folder / MODEL) as place:
                    save(model, tokenizer, place)
                tell(f"the model is in {folder / MODEL}")
        return losses


def _train(
    config: PretrainConfig, model: BertForPreTraining, tokenizer: WordPiece, feed: Feed, members: Team
) -> list[float]:
    """Run the steps that are still to do."""
    objective: nn.Module = Objective(model)
    if config.bf16:
        objective = InBfloat16(objective)
    if config.compile:
        objective.compile(dynamic=True)
    shared = ShardedLoss(members.share(objective), feed, members, config)
    if members.size > 1:
        # DDP lays gradients together in another order after its first backward pass, and so adds them up in
        # another one. Done before the first step, an unbroken run and a resumed one have the same order.
        shared.loss(0).backward()
        model.zero_grad()

    exam = held_out_batches(config, tokenizer, members.rank, members.size) if config.held_out else []
    folder = Path(config.out)
    return fit(
        model,
        shared.loss,
        steps=config.steps,
        learning_rate=linear_decay(config.rate, config.warmup_steps, config.steps + 1),  # the last one moves
        weight_decay=config.weight_decay,
        eps=1e-6,
        clip=config.clip,
        accumulate=feed.parts_each,
        evaluate=partial(held_out_numbers, model, exam, members) if config.held_out else None,
        report_every=config.report_every,
        journal=folder / JOURNAL,
        checkpoint=folder / CHECKPOINT,
        save_every=config.save_every,
        fused=True,
        notes=shared.notes,
        team=members,
    )


class Objective(nn.Module):
    """The two losses of a model as a module of its own: what is shared out, and compiled.

    Parameters
    ----------
    model : what is trained.
    """

    def __init__(self, model: BertForPreTraining) -> None:
        super().__init__()
        self.model = model

    def forward(self, *batch: Any) -> tuple[Tensor, Tensor]:
        """Compute the masked-LM and the next-sentence loss in nats, each a mean over its own targets.

        `batch` is what `BertForPreTraining.loss` takes.
        """
        _, masked_lm, next_sentence = self.model.loss(*batch)
        return masked_lm, next_sentence


def batch_loss(
    objective: nn.Module, batch: PretrainingBatch, device: torch.device, pack: bool = True
) -> tuple[Tensor, Tensor]:
    """Compute both losses of a batch, each a mean over its own targets: the one call of the model.

    Padding is left out where there is enough of it, unless `pack` is false: a compiled model would be
    compiled again for each packing.
    """
    arrays = (batch.ids, batch.segments, batch.positions, batch.labels, batch.next_labels)
    tensors = (torch.from_numpy(array).to(device, non_blocking=True) for array in arrays)
    packing = Packing.where_it_pays(torch.from_numpy(batch.mask).to(device)) if pack else None
    masked_lm, next_sentence = objective(*tensors, packing) if packing else objective(*tensors)
    return masked_lm, next_sentence


class ShardedLoss:
    """The loss of a global batch, part by part.

    Parameters
    ----------
    objective : computes the losses of a part.
    feed : gives this process's parts of a step.
    members : all processes.
    config : sizes and seed.
    """

    def __init__(self, objective: nn.Module, feed: Feed, members: Team, config: PretrainConfig) -> None:
        self.objective, self.feed, self.members, self.config = objective, feed, members, config
        self.parts: list[PretrainingBatch] = []
        self.n_targets = self.n_tokens = 0.0  # in the batches of all processes
        self.shares: list[Tensor] = []  # this process's, of both losses

    def loss(self, number: int) -> Tensor:
        """Compute what part `number` adds to the loss of its step, times the number of all parts.

        So the mean over the parts of a process, and over all processes, is the loss of the whole batch.
        """
        step, own = divmod(number, self.feed.parts_each)
        if own == 0:
            self._begin(step)
        part = self.parts[own]
        stream = key(self.config.seed, _DROPOUT, step, self.feed.own[own])
        torch.manual_seed(int(stream.item()) >> 1)
        masked_lm, next_sentence = batch_loss(
            self.objective, part, self.members.device, not self.config.compile
        )
        of_targets = len(part.labels) / max(self.n_targets, 1)
        of_pairs = len(part.next_labels) / self.config.batch_size
        shares = torch.stack([masked_lm.float() * of_targets, next_sentence.float() * of_pairs])
        self.shares.append(shares.detach())
        return shares.sum() * self.feed.n_parts

    def _begin(self, step: int) -> None:
        """Fetch this process's parts, and count the targets of all processes."""
        self.parts, self.shares = self.feed(step), []
        counts = [[len(part.labels), int(part.mask.sum())] for part in self.parts]
        together = self.members.sum(torch.tensor(counts, dtype=torch.float64).sum(0))
        self.n_targets, self.n_tokens = together.tolist()

    def notes(self) -> dict[str, float]:
        """Tell of the step that was just done: both losses, and the tokens it has read."""
        masked_lm, next_sentence = self.members.sum(torch.stack(self.shares).sum(0)).tolist()
        told = {"masked_lm": masked_lm, "n_tokens": self.n_tokens}
        return {**told, "next_sentence": next_sentence} if self.config.next_sentence else told


def held_out_numbers(
    model: BertForPreTraining, batches: Iterable[PretrainingBatch], members: Team
) -> dict[str, float]:
    """Measure a model on text that it was not trained on.

    Returns
    -------
    masked-LM loss in nats, share of hidden pieces guessed right at once and within five guesses, and share of
    pairs judged right.
    """
    sums = torch.zeros(6, dtype=torch.float64)
    for batch in batches:
        arrays = (batch.ids, batch.segments, batch.positions, batch.labels, batch.next_labels)
        ids, segments, positions, labels, next_labels = (
            torch.from_numpy(array).to(members.device) for array in arrays
        )
        output = model(ids, segments, positions=positions)
        hits = output.logits.topk(5).indices == labels[:, None]
        found = [F.cross_entropy(output.logits, labels, reduction="sum"), hits[:, 0].sum(), hits.sum()]
        judged = output.next_logits
        right = 0 if judged is None else int((judged.argmax(-1) == next_labels).sum())
        sums += torch.tensor([*(float(n) for n in found), len(labels), right, len(next_labels)])
    loss, first, five, n, right, pairs = members.sum(sums).tolist()
    numbers = {"held_out_masked_lm": loss / n, "held_out_accuracy": first / n, "held_out_top5": five / n}
    return {**numbers, "held_out_next_sentence": right / pairs} if model.next_sentence else numbers
