"""One training on one process or on many: who this one is, and how they agree.

`torchrun` starts the processes and says to each in its environment who it is. All hold the same weights, each
computes its part of a batch, and their gradients are averaged, so that all take the same step.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel


@dataclass
class Team:
    """The processes of a training. Alone, everything here does nothing.

    Examples
    --------
    >>> Team().first, Team().sum(torch.tensor([2.0]))
    (True, tensor([2.]))
    """

    rank: int = 0
    size: int = 1
    device: torch.device = torch.device("cpu")  # noqa: RUF009 - it cannot be changed
    shared: DistributedDataParallel | None = None

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes files and speaks."""
        return self.rank == 0

    def share(self, module: nn.Module) -> nn.Module:
        """Have the gradients of a module averaged over all processes, while they are computed."""
        if self.size == 1:
            return module
        ids = [self.device.index] if self.device.type == "cuda" else None
        self.shared = DistributedDataParallel(module, device_ids=ids)
        return self.shared

    def apart(self) -> AbstractContextManager[None]:
        """Within it nothing is averaged: for all parts of a batch but the last."""
        return self.shared.no_sync() if self.shared else nullcontext()

    def sum(self, numbers: Tensor) -> Tensor:
        """Add up the numbers of all processes."""
        if self.size > 1:
            numbers = numbers.to(self.device, copy=True)
            dist.all_reduce(numbers)
        return numbers

    def check_agreed(self, number: int, what: str) -> None:
        """Raise RuntimeError in all processes if one has another number than the others."""
        found = self.sum(torch.nn.functional.one_hot(torch.tensor(self.rank), self.size) * number).tolist()
        if len(set(found)) > 1:
            raise RuntimeError(
                f"{what} differ between the processes ({found}): all must see the same folder, on a disk "
                "that the machines share"
            )


@contextmanager
def team(device: torch.device) -> Iterator[Team]:
    """Join the processes that `torchrun` started, or stay alone where it did not.

    Parameters
    ----------
    device : kind of device; of several GPUs, each process gets its own.

    Raises
    ------
    ValueError
        If a machine has fewer GPUs than processes.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield Team(device=device)
        return
    if device.type == "cuda":
        local, there = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
        if local >= there:
            raise ValueError(f"process {local} of this machine has no GPU of its own: there are {there}")
        device = torch.device("cuda", local)
        torch.cuda.set_device(device)
    elif device.type != "cpu":
        device = torch.device("cpu")  # processes cannot share what is not CUDA
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Team(dist.get_rank(), size, device)
    finally:
        dist.destroy_process_group()
