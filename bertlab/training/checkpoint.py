"""Everything a training needs to go on as if it had never stopped."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from torch import nn


def save_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, losses: list[float]
) -> None:
    """Save weights, optimiser, losses so far (their number is the step) and the state of chance, in one move.

    Parameters
    ----------
    path : file to write; an older one stays whole until the new one is complete.
    model, optimizer : whose state is saved.
    losses : one a step.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "losses": losses,
        "random": torch.get_rng_state(),
    }
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    torch.save(state, temporary)
    os.replace(temporary, path)


def load_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer
) -> tuple[int, list[float]]:
    """Restore what `save_checkpoint` saved.

    Parameters
    ----------
    path : file to read; when there is none, nothing changes.
    model, optimizer : whose state is restored.

    Returns
    -------
    steps done, and the list of their losses; (0, []) without a file.

    Raises
    ------
    ValueError
        If the checkpoint belongs to another model.
    """
    if not path.exists():
        return 0, []
    state = torch.load(path, weights_only=True)
    try:
        model.load_state_dict(state["model"])
    except RuntimeError as error:
        raise ValueError(
            f"{path} belongs to another model: delete it to start anew, or name another file"
        ) from error
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    return len(state["losses"]), list(state["losses"])
