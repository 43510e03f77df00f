"""How the arms of a comparison are trained: on the same text, for the same tokens or for the same seconds.

A step reads as many texts for each. All learn by AdamW with the same warm-up, decay and clipping, without
dropout (no text comes back often enough to be learnt by heart), in float32: LSTMs cannot add up their
memories in bfloat16. Only the highest learning rate is an arm's own.

Seconds are those of one core, and of training alone: what examines a model on the way does not count.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from _arms import Arm
from _arms_made import World, has_pairs, make
from torch import Tensor

from bertlab.text import Masker, PretrainingExamples
from bertlab.text.stretches import Stretches
from bertlab.training import fit, linear_decay
from bertlab.training.journal import read_journal
from bertlab.training.optimizer import adamw

WARM_UP, WEIGHT_DECAY, REPORTS = 0.1, 0.01, 10
RATE = {"BERT, 40 % hidden": 0.4}  # of pieces that are asked for; of other BERTs 0.15
ROUNDS, STEPS_OF_A_ROUND = 8, 3  # of the clock
Row = dict[str, Any]


class Read(NamedTuple):
    """A batch, and what is in it."""

    tensors: tuple[Tensor, ...]  # what `Arm.loss` takes
    tokens: int  # [CLS] and [SEP] counted
    targets: int  # pieces that are asked for, those of either direction counted


class Feed:
    """The batches of an arm, by their numbers: running text, for most; pairs of texts for BERT with pairs.

    Parameters
    ----------
    arm, world : who reads, and what.
    seed : of cuts, order and masks. All arms that read running text read the same texts in the same order.
    """

    def __init__(self, arm: str, world: World, seed: int) -> None:
        self.arm, self.batch = arm, world.batch
        self.masker = Masker(world.vocab, seed, RATE.get(arm, 0.15))
        length = world.size.length
        self.texts: Stretches | PretrainingExamples
        if has_pairs(arm, world):
            self.texts = PretrainingExamples(world.corpus, self.masker, length, self.batch)
        else:
            self.texts = Stretches(world.corpus, world.vocab, length, self.batch, seed)
        self._first = [0]  # number of the first batch of each epoch

    def __call__(self, number: int) -> Read:
        """Make a batch."""
        while number >= self._first[-1]:
            self._first.append(self._first[-1] + self.texts.n_batches(len(self._first) - 1))
        epoch = int(np.searchsorted(self._first, number, "right")) - 1
        own = number - self._first[epoch]
        if isinstance(self.texts, PretrainingExamples):
            pair = self.texts.batch(epoch, own)
            arrays = (pair.ids, pair.segments, pair.positions, pair.labels, pair.next_labels, pair.mask)
            return Read(tuple(map(torch.from_numpy, arrays)), int(pair.mask.sum()), len(pair.labels))
        ids, mask = self.texts.batch(epoch, own)
        tokens, rows = int(mask.sum()), len(mask)
        if not self.arm.startswith("BERT"):
            asked = {"CBOW": tokens - 2 * rows, "GPT": tokens - rows}.get(self.arm, 2 * (tokens - rows))
            return Read((torch.from_numpy(ids), torch.from_numpy(mask)), tokens, asked)
        hidden, positions, labels = self.masker.mask_sparse(ids, own * self.batch + np.arange(rows), epoch)
        nothing, no_pair = np.zeros_like(ids), np.zeros(rows, np.int64)
        arrays = (hidden, nothing, positions, labels, no_pair, mask)
        return Read(tuple(map(torch.from_numpy, arrays)), tokens, len(labels))

    def tokens_a_step(self, n: int = 60) -> float:
        """Mean number of tokens in a batch, by the first ones."""
        return statistics.mean(self(number).tokens for number in range(n))


def train(
    arm: Arm, feed: Feed, steps: int, peak: float, path: Path, watch: Callable[[Arm], dict[str, float]]
) -> list[Row]:
    """Train an arm from its first weights on.

    Parameters
    ----------
    arm, feed : what is trained, and what it reads.
    steps, peak : how long, and the highest learning rate, from which it falls to 0 in a line.
    path : without suffix, of the journal.
    watch : examines the arm now and then.

    Returns
    -------
    curve : at each report the step; tokens read, pieces asked for and core seconds, all so far; the mean loss
        since the last report, and what `watch` says.
    """
    told, clock = dict[str, float](), {"begun": time.process_time(), "watching": 0.0}

    def loss(number: int) -> Tensor:
        read = feed(number)
        told.update(n_tokens=read.tokens, n_targets=read.targets)
        return arm.loss(*read.tensors)

    def evaluate() -> dict[str, float]:
        begun = time.process_time()
        seconds = begun - clock["begun"] - clock["watching"]
        found = watch(arm)
        clock["watching"] += time.process_time() - begun
        return {**found, "core_seconds": seconds}

    journal = path.with_suffix(".jsonl")
    journal.unlink(missing_ok=True)  # an arm is short: it is begun anew, so that its seconds are its own
    fit(
        arm,
        loss,
        steps=steps,
        learning_rate=linear_decay(peak, max(round(WARM_UP * steps), 1), steps + 1),
        weight_decay=WEIGHT_DECAY,
        eps=1e-6,
        evaluate=evaluate,
        report_every=max(steps // REPORTS, 1),
        journal=journal,
        notes=lambda: told,
        fused=True,
    )
    arm.eval()
    return curve_of(read_journal(journal))


def curve_of(reports: Sequence[Row]) -> list[Row]:
    """Add up what was read and asked, and leave out what no one wants to know."""
    tokens = np.cumsum([row["n_tokens"] for row in reports]).astype(int).tolist()
    targets = np.cumsum([row["n_targets"] for row in reports]).astype(int).tolist()
    left_out = ("seconds", "rate", "norm", "n_tokens", "n_targets")
    return [
        {**{k: round(v, 4) for k, v in row.items() if k not in left_out}, "tokens": n, "targets": asked}
        for row, n, asked in zip(reports, tokens, targets, strict=True)
    ]


def speeds(arms: Sequence[str], world: World, rounds: int = ROUNDS) -> dict[str, Row]:
    """Measure what all arms cost, by turns, so that a busy machine is busy for all of them.

    Returns
    -------
    for each arm, the medians of core seconds: of a training step, and of a token in it; without training, of
    a token that is read (`read`), of one missing piece in a text of full length (`blank`), and of all pieces
    of such a text, one by one (`text`). And tokens of a step.
    """
    ids, _ = next(Stretches(world.corpus, world.vocab, world.size.length, world.batch).batches(0))
    text, feeds = torch.from_numpy(ids), {name: Feed(name, world, 0) for name in arms}
    asked = {name: _asks(make(name, world, 0), feeds[name], text) for name in arms}
    taken: dict[tuple[str, str], list[float]] = {}
    for turn in range(rounds + 1):  # the first one warms up
        for name, asks in asked.items():
            for what, ask in asks.items():
                begun = time.process_time()
                with torch.set_grad_enabled(what == "step"):
                    ask()
                if turn:
                    taken.setdefault((name, what), []).append(time.process_time() - begun)
    units = {"step": STEPS_OF_A_ROUND, "read": text.numel(), "blank": len(text), "text": 1}
    found = {}
    for name in arms:
        row = {what: statistics.median(taken[name, what]) / n for what, n in units.items()}
        tokens = feeds[name].tokens_a_step()
        found[name] = {**row, "token": row["step"] / tokens, "tokens_a_step": tokens}
    return found


def _asks(arm: Arm, feed: Feed, text: Tensor) -> dict[str, Callable[[], object]]:
    """What an arm is asked to do while its time is taken, on texts (B, T)."""
    mover, T = adamw(arm, WEIGHT_DECAY, fused=True), text.shape[1]
    middle, inner = torch.arange(len(text)) * T + T // 2, torch.arange(1, T - 1)
    return {
        "step": partial(_steps, arm, feed, mover),
        "read": partial(arm.layers, text),
        "blank": partial(arm.log_p, text, middle),
        "text": partial(arm.log_p, text[:1], inner),
    }


def _steps(arm: Arm, feed: Feed, mover: torch.optim.Optimizer) -> None:
    """Train a few steps at a rate of almost nothing."""
    for group in mover.param_groups:
        group["lr"] = 1e-9
    for number in range(STEPS_OF_A_ROUND):
        arm.zero_grad()
        loss = arm.loss(*feed(number).tensors)
        loss.backward()
        mover.step()


def plan(speed: dict[str, Row], tokens: int) -> dict[str, dict[str, int]]:
    """Say how many steps each arm trains under either budget.

    Returns
    -------
    "same tokens": as many steps as read so many tokens. "same seconds": as many as last as long as the
    slowest arm takes for them, whose two trainings are therefore one.
    """
    steps = {name: max(round(tokens / row["tokens_a_step"]), 1) for name, row in speed.items()}
    longest = max(n * speed[name]["step"] for name, n in steps.items())
    return {
        "same tokens": steps,
        "same seconds": {
            name: max(n, round(longest / speed[name]["step"])) if longest > n * speed[name]["step"] else n
            for name, n in steps.items()
        },
    }
