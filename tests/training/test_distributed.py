"""Processes that train together: what one of them meets, all hear of."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from bertlab.training.distributed import Team, team

# Process 1 meets a loss that is no number in step 3; both must stop there, and neither wait for the other.
ONE_IS_NAN = """
from pathlib import Path

import torch
from bertlab.training.distributed import team
from bertlab.training.loop import fit

with team(torch.device("cpu")) as ours:
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    shared = ours.share(model)

    def loss(batch):
        bad = ours.rank == 1 and batch == 2 * ACCUMULATE + ACCUMULATE - 1
        return shared(torch.ones(2, 3)).pow(2).mean() * (float("nan") if bad else 1.0), 2

    try:
        fit(model, loss, steps=5, learning_rate=lambda step: 1e-2, accumulate=ACCUMULATE, team=ours)
    except FloatingPointError as stop:
        Path(__file__).with_name(f"{ours.rank}.txt").write_text(str(stop))
"""


@pytest.mark.slow
@pytest.mark.parametrize("accumulate", [1, 2])
def test_a_loss_that_is_no_number_in_one_process_stops_all_of_them_in_the_same_step(tmp_path, accumulate):
    script = tmp_path / "one_is_nan.py"
    script.write_text(ONE_IS_NAN.replace("ACCUMULATE", str(accumulate)), encoding="utf8")
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node=2",
        str(script),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    told = [(tmp_path / f"{rank}.txt").read_text() for rank in (0, 1)]
    assert told == 2 * ["step 3: the loss is nan: lower the learning rate or look at the batch"]


def test_alone_nothing_is_shared_and_nothing_sent():
    with team(torch.device("cpu")) as alone:
        assert alone == Team()
        module = torch.nn.Linear(1, 1)
        assert alone.share(module) is module
        alone.check_agreed(3, "steps")
        assert torch.equal(alone.sum(torch.tensor([2.0])), torch.tensor([2.0]))
