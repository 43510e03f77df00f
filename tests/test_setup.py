"""Claims about the first line of every notebook; in a process of their own, since it sets what all share."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import bertlab

DRAW = """
import random, numpy as np, torch, matplotlib, bertlab
bertlab.setup(seed={seed})
print(random.random(), np.random.rand(), torch.rand(1).item())
print(torch.get_num_threads(), torch.are_deterministic_algorithms_enabled(), np.array([1 / 3]))
print(matplotlib.rcParams["figure.titleweight"])
"""


def said(seed: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", DRAW.format(seed=seed)], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_one_seed_gives_one_chance_in_one_thread_and_the_house_style():
    first, second, other = said(3), said(3), said(4)
    assert first == second
    assert all(a != b for a, b in zip(first[0].split(), other[0].split(), strict=True))
    assert first[1] == "1 True [0.3333]"
    assert first[2] == "bold"


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_numpy_would_refuse_is_named(seed):
    with pytest.raises(ValueError, match=f"seed={seed}: choose"):
        bertlab.setup(seed)


def test_the_best_device_is_cuda_then_mps_then_cpu(monkeypatch):
    for cuda, mps, wanted in ((True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda cuda=cuda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda mps=mps: mps)
        assert bertlab.best_device().type == wanted
