"""One training loop for every model: interruptible, and exact when it is resumed."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
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
from bertlab.training.distributed import Team
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
    fused: bool = False,
    rate_factor: Callable[[str], float] | None = None,
    bias_correction: bool = True,
    notes: Callable[[], dict[str, float]] | None = None,
    team: Team | None = None,
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
    fused, rate_factor, bias_correction : as in `adamw`.
    notes : tells more of the step that was just done; the report gives the mean since the last one of each
        number, and of one whose name begins with "n_" the sum.
    team : the processes that train together. `loss` is this process's part, and the mean over all is what
        counts; the first one writes.

    Returns
    -------
    list of `steps` losses in nats.

    Raises
    ------
    ValueError
        If `accumulate` or `report_every` is below 1, `weight_decay` is negative, or the checkpoint belongs to
        another model.
    FloatingPointError
        If the loss or its gradient is not finite; the checkpoint then holds what it last saved.

    References
    ----------
    Loshchilov and Hutter 2019, algorithm 2; Kingma and Ba 2015, algorithm 1, without decay.
    """
    if min(accumulate, report_every) < 1:
        raise ValueError(f"accumulate={accumulate}, report_every={report_every}: neither can be below 1")
    team = team or Team()
    device = next(model.parameters()).device
    optimizer = adamw(model, weight_decay, betas, eps, fused, rate_factor, bias_correction)
    progress = Progress([], 0.0, random_state(device))
    if checkpoint and checkpoint.exists():
        progress = load_checkpoint(checkpoint, model, optimizer)
    losses = progress.losses
    team.check_agreed(len(losses), "steps in the checkpoint")
    reports = Journal(journal, len(losses), team.first) if journal or evaluate else None
    team.check_agreed(reports.last if reports else 0, "reports in the journal")

    def report_if_due() -> None:
        done = len(losses)
        if reports and done > reports.last and (done % report_every == 0 or done == steps):
            since = losses[reports.last :]
            numbers = {"loss": sum(since) / len(since), "rate": learning_rate(done), "norm": progress.norm}
            numbers |= _means(progress.since) | _evaluated(model, evaluate)
            with uninterrupted():
                reports.report(done, numbers)
                progress.since = {}
            set_random_state(progress.random, device)  # a look at the model leaves no trace in its training

    def save() -> None:
        if checkpoint and team.first:
            save_checkpoint(checkpoint, model, optimizer, progress)

    model.train()
    # A bar only where somebody watches: `disable=None` is silent in notebooks, logs and tests.
    name, silent = checkpoint.stem if checkpoint else None, None if team.first else True
    with trange(len(losses), steps, initial=len(losses), total=steps, disable=silent, desc=name) as bar:
        try:
            report_if_due()  # where an interruption came between step and report
            for step in bar:
                batches = range(step * accumulate, (step + 1) * accumulate)
                mean = _gradients(model, loss, batches, bf16, step, team)
                norm = float(nn.utils.clip_grad_norm_(model.parameters(), clip))
                _check_finite(norm, step, "gradient")
                noted = notes() if notes else {}
                with uninterrupted():
                    _move(optimizer, learning_rate(step + 1))
                    losses.append(mean)
                    progress.norm, progress.random = norm, random_state(device)
                    _add(progress.since, noted)
                bar.set_postfix({"loss": f"{mean:.3f}", **_speed(bar, noted)}, refresh=False)
                report_if_due()
                if (step + 1) % save_every == 0 or step + 1 == steps:
                    save()
        except KeyboardInterrupt:
            with uninterrupted():
                save()
            raise
    return losses


def _gradients(
    model: nn.Module, loss: Callable[[int], Loss], batches: range, bf16: bool, step: int, team: Team
) -> float:
    """Leave the gradient of the mean loss over all targets of some batches in the model; return that loss."""
    model.zero_grad()
    total, targets = 0.0, 0
    for batch in batches:
        with team.apart() if batch != batches[-1] else nullcontext():
            with torch.autocast(next(model.parameters()).device.type, torch.bfloat16, enabled=bf16):
                found = loss(batch)
            mean, count = found if isinstance(found, tuple) else (found, 1)
            if team.size == 1:  # else all must come to the end of the step, where all hear of it
                _check_finite(mean.item(), step, f"loss of batch {batch}")
            (mean if len(batches) == 1 else mean * count).backward()
        total, targets = total + mean.item() * int(count), targets + int(count)
    if len(batches) == 1:
        total = mean.item()
    else:
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad /= max(targets, 1)
        total /= max(targets, 1)
    if team.size == 1:
        return total
    together = float(team.sum(torch.tensor([total], dtype=torch.float64))) / team.size
    _check_finite(together, step, "loss")
    return together


def _check_finite(number: float, step: int, what: str) -> None:
    if not math.isfinite(number):
        raise FloatingPointError(
            f"step {step + 1}: the {what} is {number}: lower the learning rate or look at the batch"
        )


def _add(sums: dict[str, float], numbers: dict[str, float]) -> None:
    for name, number in {"steps": 1, **numbers}.items():
        sums[name] = sums.get(name, 0.0) + number


def _means(sums: dict[str, float]) -> dict[str, float]:
    """What was noted since the last report: means over the steps, and counts as they are."""
    n = max(sums.get("steps", 1), 1)
    told = {name: value for name, value in sums.items() if name != "steps"}
    return {name: value if name.startswith("n_") else value / n for name, value in told.items()}


def _speed(bar: trange, noted: dict[str, float]) -> dict[str, str]:
    """Tokens a second, from the steps a second that the bar measures."""
    rate = bar.format_dict["rate"]
    return {"tokens/s": f"{noted['n_tokens'] * rate:,.0f}"} if rate and "n_tokens" in noted else {}


def _move(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Move every weight once, against its gradient."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get("factor", 1.0)  # older checkpoints have none
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
