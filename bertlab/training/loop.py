"""One training loop for every model: interruptible, and exact when it is resumed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from tqdm import trange

from bertlab.training.checkpoint import (
    Progress,
    load_checkpoint,
    random_state,
    save_checkpoint,
    set_random_state,
    uninterrupted,
)
from bertlab.training.journal import Journal
from bertlab.training.optimizer import adamw

Loss = Tensor | tuple[Tensor, Tensor | int]  # a mean, or a mean and the number of targets it is taken over


def fit(
    model: nn.Module,
    loss: Callable[[int], Loss],
    *,
    steps: int,
    learning_rate: Callable[[int], float],
    weight_decay: float = 0.0,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    clip: float = 1.0,
    accumulate: int = 1,
    bf16: bool = False,
    evaluate: Callable[[], dict[str, float]] | None = None,
    report_every: int = 500,
    journal: Path | None = None,
    checkpoint: Path | None = None,
    save_every: int = 500,
) -> list[float]:
    """Train with AdamW for a number of steps.

    Parameters
    ----------
    model : what is trained; left in training mode.
    loss : computes the mean loss of batch 0, 1, …, a scalar tensor, or that and the number of targets it is
        the mean of. It must pick its batch by that number alone, or a resumed run would see other data than
        an unbroken one.
    steps : number of steps in all, those before a resumption counted.
    learning_rate : from a step number, counted from 1 so that the first step of a warm-up is not lost on a
        rate of 0, to its rate.
    weight_decay, betas, eps : as in `adamw`. Without decay this is Adam.
    clip : largest norm of the gradient; longer ones are shortened to it (Pascanu et al. 2013, sec. 3.2).
    accumulate : batches in a step: step s moves the weights by the gradients of batches s·accumulate to
        (s + 1)·accumulate - 1, joined by their numbers of targets, as if they were one.
    bf16 : compute the loss under `torch.autocast` in bfloat16; weights and their means stay what they are.
    evaluate : measures the model, in evaluation mode and without gradients, at every report.
    report_every : steps between two reports; the last step makes one too.
    journal : file that gets the reports as JSON lines: step, seconds, mean loss since the last report, rate,
        norm of the last gradient before it was shortened, and what `evaluate` returned.
    checkpoint : file to resume from when it exists, and to save to at every `save_every` steps, at the end,
        and at an interruption. It holds whole steps: of one that was cut off, all batches come again.

    Returns
    -------
    list of `steps` losses in nats.

    Raises
    ------
    ValueError
        If `accumulate` or `report_every` is below 1, `weight_decay` is negative, or the checkpoint belongs to
        another model.
    FloatingPointError
        If the loss is not finite; the checkpoint then holds what it last saved.

    References
    ----------
    Loshchilov and Hutter 2019, algorithm 2; Kingma and Ba 2015, algorithm 1, without decay.
    """
    if min(accumulate, report_every) < 1:
        raise ValueError(f"accumulate={accumulate}, report_every={report_every}: neither can be below 1")
    device = next(model.parameters()).device
    optimizer = adamw(model, weight_decay, betas, eps)
    progress = Progress([], 0.0, random_state(device))
    if checkpoint and checkpoint.exists():
        progress = load_checkpoint(checkpoint, model, optimizer)
    losses = progress.losses
    reports = Journal(journal, len(losses)) if journal or evaluate else None

    def report_if_due() -> None:
        done = len(losses)
        if reports and done > reports.last and (done % report_every == 0 or done == steps):
            since = losses[reports.last :]
            numbers = {"loss": sum(since) / len(since), "rate": learning_rate(done), "norm": progress.norm}
            reports.report(done, numbers | _evaluated(model, evaluate))
            set_random_state(progress.random, device)  # a look at the model leaves no trace in its training

    model.train()
    # A bar only where somebody watches: `disable=None` is silent in notebooks, logs and tests.
    name = checkpoint.stem if checkpoint else None
    with trange(len(losses), steps, initial=len(losses), total=steps, disable=None, desc=name) as bar:
        try:
            report_if_due()  # where an interruption came between step and report
            for step in bar:
                mean = _gradients(model, loss, range(step * accumulate, (step + 1) * accumulate), bf16)
                norm = float(nn.utils.clip_grad_norm_(model.parameters(), clip))
                with uninterrupted():
                    _move(optimizer, learning_rate(step + 1))
                    losses.append(mean)
                    progress.norm, progress.random = norm, random_state(device)
                report_if_due()
                if checkpoint and ((step + 1) % save_every == 0 or step + 1 == steps):
                    save_checkpoint(checkpoint, model, optimizer, progress)
        except KeyboardInterrupt:
            if checkpoint:
                save_checkpoint(checkpoint, model, optimizer, progress)
            raise
    return losses


def _gradients(model: nn.Module, loss: Callable[[int], Loss], batches: range, bf16: bool) -> float:
    """Leave the gradient of the mean loss over all targets of some batches in the model; return that loss."""
    model.zero_grad()
    total, targets = 0.0, 0
    for batch in batches:
        with torch.autocast(next(model.parameters()).device.type, torch.bfloat16, enabled=bf16):
            found = loss(batch)
        mean, count = found if isinstance(found, tuple) else (found, 1)
        if not torch.isfinite(mean):
            raise FloatingPointError(
                f"the loss of batch {batch} is {mean.item()}: lower the learning rate or look at the batch"
            )
        (mean if len(batches) == 1 else mean * count).backward()
        total, targets = total + mean.item() * int(count), targets + int(count)
    if len(batches) == 1:
        return mean.item()
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad /= max(targets, 1)
    return total / max(targets, 1)


def _move(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Move every weight once, against its gradient."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()


def _evaluated(model: nn.Module, evaluate: Callable[[], dict[str, float]] | None) -> dict[str, float]:
    """Measure the model as it is used, and go back to training."""
    if evaluate is None:
        return {}
    model.eval()
    with torch.no_grad():
        numbers = evaluate()
    model.train()
    return numbers
