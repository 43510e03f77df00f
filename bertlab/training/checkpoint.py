"""Everything a training needs to go on as if it had never stopped."""

from __future__ import annotations

import glob
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

RandomState = dict[str, Tensor]


def random_state(device: torch.device) -> RandomState:
    """State of chance, on the CPU and on the device where dropout draws its numbers."""
    state = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        state["mps"] = torch.mps.get_rng_state()
    return state


def set_random_state(state: RandomState, device: torch.device) -> None:
    """Put chance back to where `random_state` found it; what another kind of device left is passed over."""
    torch.set_rng_state(state["cpu"])
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], device)
    elif device.type == "mps" and "mps" in state:
        torch.mps.set_rng_state(state["mps"])


@dataclass
class Progress:
    """How far a training has come, apart from weights and optimiser."""

    losses: list[float]  # one a step
    norm: float  # of the last step's gradient, before it was shortened
    random: RandomState  # after the last step
    since: dict[str, float] = field(default_factory=dict)  # sums of what was noted since the last report


def save_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, progress: Progress
) -> None:
    """Save weights, optimiser and progress, in one move.

    Parameters
    ----------
    path : file to write; an older one stays whole until the new one is complete.
    model, optimizer : whose state is saved.
    progress : saved with them.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), **vars(progress)}
    with replacing(path) as temporary:
        torch.save(state, temporary)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a file to write to, which takes the place of `path` when it is complete and safe on the disk.

    What an earlier process, killed while it wrote, has left of such a file is removed.
    """
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.unfinished"):
        left.unlink(missing_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())  # else a power cut could leave the new name with no content
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def load_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
    """Restore what `save_checkpoint` saved, chance included.

    Parameters
    ----------
    path : file to read.
    model, optimizer : whose state is restored.

    Returns
    -------
    the progress saved with them.

    Raises
    ------
    ValueError
        If the checkpoint belongs to another model, or to another version of this file.
    """
    device = next(model.parameters()).device
    state: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
    try:
        names = [field.name for field in fields(Progress) if field.name in state or field.name != "since"]
        progress = Progress(**{name: state[name] for name in names})
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        set_random_state(progress.random, device)
    except (RuntimeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path} belongs to another model or version: delete it to start anew, or name another file"
        ) from error
    return progress


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold an interruption (Ctrl-C) back until the block is done, so that no weights are left half moved."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is ever interrupted
        return
    held: list[int] = []
    usual = signal.signal(signal.SIGINT, lambda number, frame: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if held:
            signal.raise_signal(signal.SIGINT)
