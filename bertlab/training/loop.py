"""One training loop for every model: interruptible, and exact when it is resumed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from tqdm import trange

from bertlab.training.checkpoint import load_checkpoint, save_checkpoint


def fit(
    model: nn.Module,
    loss: Callable[[int], Tensor],
    *,
    steps: int,
    learning_rate: Callable[[int], float],
    clip: float = 1.0,
    checkpoint: Path | None = None,
    save_every: int = 500,
) -> list[float]:
    """Train with Adam for a number of steps.

    Parameters
    ----------
    model : what is trained; left in training mode.
    loss : computes the loss of step 0, 1, … as a scalar tensor. It must pick its batch by the step number
        alone, or a resumed run would see other data than an unbroken one.
    steps : number of steps in all, those before a resumption counted.
    learning_rate : from a step number, counted from 1 so that the first step of a warm-up is not lost on a
        rate of 0, to its rate.
    clip : largest norm of the gradient; longer ones are shortened to it (Pascanu et al. 2013, sec. 3.2).
    checkpoint : file to resume from when it exists, and to save to at every `save_every` steps, at the end,
        and at an interruption.

    Returns
    -------
    list of `steps` losses in nats.

    Raises
    ------
    FloatingPointError
        If the loss is not finite; the checkpoint then holds the last good state.

    References
    ----------
    Kingma and Ba 2015, algorithm 1.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0)
    done, losses = load_checkpoint(checkpoint, model, optimizer) if checkpoint else (0, [])
    model.train()
    # A bar only where somebody watches: `disable=None` is silent in notebooks, logs and tests.
    name = checkpoint.stem if checkpoint else None
    with trange(done, steps, initial=done, total=steps, disable=None, desc=name) as bar:
        try:
            for step in bar:
                losses.append(_step(model, optimizer, loss(step), learning_rate(step + 1), clip))
                if checkpoint and (step + 1) % save_every == 0:
                    save_checkpoint(checkpoint, model, optimizer, losses)
        except KeyboardInterrupt:
            if checkpoint:
                save_checkpoint(checkpoint, model, optimizer, losses)
            raise
    if checkpoint and done < steps:
        save_checkpoint(checkpoint, model, optimizer, losses)
    return losses


def _step(
    model: nn.Module, optimizer: torch.optim.Optimizer, loss: Tensor, rate: float, clip: float
) -> float:
    """Move every weight once, and return the loss before the move."""
    if not torch.isfinite(loss):
        raise FloatingPointError(
            f"the loss is {loss.item()}: lower the learning rate ({rate:.1e}) or look at the batch"
        )
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return loss.item()
