"""Measured claims: run the arms of an experiment side by side, keep what was measured, and how."""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "data" / "results"
RUNS = ROOT / "runs"  # ignored by git: checkpoints and finished arms of unfinished experiments

Arm = dict[str, Any]


def run_arms(
    name: str, arms: list[Arm], run: Callable[[Arm, Path], dict[str, Any]], workers: int, runs: Path = RUNS
) -> list[dict[str, Any]]:
    """Measure every arm of an experiment once, several at a time; a finished arm is never measured again.

    Parameters
    ----------
    name : of the experiment; its arms are kept in ``runs/<name>/``.
    arms : one dictionary of settings for each.
    run : measures one arm; a function of a module. It gets the arm and a path without suffix, and
        without points, for its own files.
    workers : processes side by side, each with one thread.
    runs : where unfinished work is kept.

    Returns
    -------
    one dictionary an arm, in the order of `arms`: its settings, ``seconds`` of one core (since its last
    interruption), and what `run` returned.
    """
    folder = runs / name
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{_label(arm)}.json" for arm in arms]
    todo = [(arm, file) for arm, file in zip(arms, files, strict=True) if not file.exists()]
    context = multiprocessing.get_context("spawn")  # a fork would copy the state of chance and of the threads
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        futures = [pool.submit(_measure, run, arm, file) for arm, file in todo]
        for future in tqdm(futures, desc=f"{name}: arms", initial=len(arms) - len(todo), total=len(arms)):
            future.result()
    return [json.loads(file.read_text()) for file in files]


def _label(arm: Arm) -> str:
    return "-".join(f"{key}={value}" for key, value in arm.items())


def _measure(run: Callable[[Arm, Path], dict[str, Any]], arm: Arm, file: Path) -> None:
    import torch

    torch.set_num_threads(1)
    start = time.process_time()
    # Without points, a suffix that is put on the path replaces nothing: two rates do not share a checkpoint.
    measured = run(arm, file.with_name(_label(arm).replace(".", ",")))
    temporary = file.with_suffix(".tmp")
    temporary.write_text(json.dumps({**arm, "seconds": round(time.process_time() - start, 1), **measured}))
    os.replace(temporary, file)


def save_result(
    name: str,
    question: str,
    results: dict[str, Any],
    seconds: float,
    folder: Path = RESULTS,
    command: str | None = None,
) -> Path:
    """Write ``data/results/<name>.json``: the question, what was measured, and how to measure it again.

    Parameters
    ----------
    name : of the experiment, that of its script.
    question : one sentence that the numbers answer.
    results : what was measured; anything JSON can hold.
    seconds : cost in seconds of one core.
    folder : where results are kept.
    command : what measures it again, if that is not ``make results-<name>``.

    Returns
    -------
    path of the file.
    """
    record = {
        "question": question,
        "command": command or f"make results-{name}",
        "cost_core_minutes": round(seconds / 60, 1),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "numpy")},
        },
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        **results,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    return path


def load_result(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """Read what an experiment has measured.

    Parameters
    ----------
    name : of the experiment.
    folder : where results are kept.

    Raises
    ------
    FileNotFoundError
        If it was never run here; the sentence names the command.
    """
    path = folder / f"{name}.json"
    if not path.exists():
        raise FileNotFoundError(f"there is no result {name!r}: run `make results-{name}` in the repository")
    record: dict[str, Any] = json.loads(path.read_text())
    return record
