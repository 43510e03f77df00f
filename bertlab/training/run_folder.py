"""The folder of a training run: whose it is, and that no two processes write into it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bertlab.training.checkpoint import replacing

CONFIG, CHECKPOINT, JOURNAL, MODEL, LOCK = "config.json", "run.pt", "journal.jsonl", "model", "lock"
FREE = ("report_every", "save_every")  # may change between two starts: no weight depends on them


class FolderError(ValueError):
    """A folder is not the one of this run; the sentence says what to do."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a folder for this process alone; when a process ends, however it ends, the system unlocks it.

    Raises
    ------
    FolderError
        If another process has it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        yield
        return
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise FolderError(
                f"another process trains in {folder}: wait for it, or name another folder in `out`"
            ) from error
        yield


def claim(folder: Path, config: dict[str, Any], defaults: dict[str, Any] | None = None) -> None:
    """Write down in a new folder whose it is; refuse one of another run.

    Parameters
    ----------
    folder : new, empty, or of an earlier start of the same run.
    config : all that the run's weights depend on.
    defaults : what keys were that did not exist yet when the folder was new.

    Raises
    ------
    FolderError
        If it belongs to a run with other choices (the first one is named), or holds other files.
    """
    file = folder / CONFIG
    if not file.exists():
        strange = [p.name for p in folder.iterdir() if p.name != LOCK and not p.name.endswith(".unfinished")]
        if strange:
            raise FolderError(
                f"{folder} holds {strange[0]!r} and no run: name a new or empty folder in `out`"
            )
    else:
        before = {**(defaults or {}), **json.loads(file.read_text())}
        for key in [*before, *(key for key in config if key not in before)]:
            then, now = (json.dumps(one.get(key)) for one in (before, config))
            if then != now and key not in FREE:
                raise FolderError(
                    f"{folder} holds a run with {key} = {then}, now it is {now}: put that back, or name "
                    "another folder in `out`"
                )
    with replacing(file) as temporary:
        temporary.write_text(json.dumps(config, indent=1) + "\n")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to fill, which gets its name when it is complete."""
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    yield unfinished
    os.replace(unfinished, folder)
