"""A pre-training of a second: a small world of letters in shards, and its configuration."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from bertlab.datasets.documents import Document
from bertlab.text import SPECIAL, WordPiece, write_shards
from bertlab.training.pretrain_config import PretrainConfig

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"n_layers": 1, "d_model": 16, "n_heads": 2, "d_ff": 32, "max_positions": 24}
LETTERS = "abcdefghijkl"


def world(folder: Path) -> PretrainConfig:
    """Write shards and a vocabulary; give a configuration of 12 steps that can be changed by `replace`."""
    rng = np.random.default_rng(0)
    documents = [
        Document([" ".join(rng.choice([*LETTERS], rng.integers(1, 9))) for _ in range(6)], "letters")
        for _ in range(24)
    ]
    tokenizer = WordPiece([*SPECIAL, *LETTERS])
    tokenizer.save(folder / "vocab.txt")
    write_shards(folder / "shards", documents, tokenizer)
    return PretrainConfig(
        shards=(str(folder / "shards"),),
        vocab=str(folder / "vocab.txt"),
        out=str(folder / "run"),
        model=SIZES,
        steps=12,
        batch_size=8,
        max_length=24,
        rate=1e-3,
        report_every=3,
        save_every=4,
    )


def toml(config: PretrainConfig, path: Path, **changes) -> Path:
    """Write a configuration as a person would."""
    values = replace(config, **changes).as_json()
    model = values.pop("model")
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items() if value != ""]
    lines += ["[model]", *(f"{key} = {value}" for key, value in model.items())]
    path.write_text("\n".join(lines))
    return path


def command(config: Path, processes: int = 1) -> list[str]:
    """Give the shell's words for a pre-training, on one process or under torchrun."""
    several = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={processes}"]
    return [sys.executable, *(several if processes > 1 else []), "-m", "bertlab", "pretrain", str(config)]


def start(config: Path, processes: int = 1) -> subprocess.Popen[str]:
    """Start a pre-training beside this process."""
    return subprocess.Popen(
        command(config, processes),
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a pre-training at once, with the workers of torchrun, which are in groups of their own."""
    found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False)
    for pid in [process.pid, *map(int, found.stdout.split())]:
        os.kill(pid, signal.SIGKILL)
    process.communicate()


def weights(out: str | Path) -> dict[str, torch.Tensor]:
    """Read the weights of a checkpoint."""
    return torch.load(Path(out) / "run.pt", weights_only=True)["model"]


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    """Tell whether all weights are equal to the last bit."""
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def rows(out: str | Path) -> list[dict[str, float]]:
    """Read a journal without the seconds."""
    lines = (Path(out) / "journal.jsonl").read_text().splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "seconds"} for line in lines]
