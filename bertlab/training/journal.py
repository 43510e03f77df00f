"""What a training reports while it runs: one JSON object a line."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bertlab.training.checkpoint import replacing


class Journal:
    """A file of reports that a resumed run continues as if it had never stopped.

    Parameters
    ----------
    path : file to write, or None to keep no journal.
    done : steps done before this start. Reports of later steps, which the resumed run will make again, go.
    write : False in all processes of a training but one: they know where the file is, and leave it alone.
    """

    def __init__(self, path: Path | None, done: int = 0, write: bool = True) -> None:
        self.path = path if write else None
        kept = [row for row in read_journal(path) if row["step"] <= done] if path else []
        self.last: int = kept[-1]["step"] if kept else 0 if path else done
        self.before: float = kept[-1]["seconds"] if kept else 0.0
        self.start = time.perf_counter()
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self.path) as temporary:  # a kill must not lose the reports
                temporary.write_text("".join(_line(row) for row in kept))

    def report(self, step: int, numbers: Mapping[str, float]) -> None:
        """Add a line: the step, the seconds that all runs so far took, and `numbers`."""
        self.last = step
        seconds = round(self.before + time.perf_counter() - self.start, 2)
        if self.path:
            with self.path.open("a") as file:
                file.write(_line({"step": step, "seconds": seconds, **numbers}))


def read_journal(path: Path) -> list[dict[str, Any]]:
    """Read the reports of a training; none without a file; a last line that was cut off does not count.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> Journal(path).report(10, {"loss": 2.5})
    >>> [(row["step"], row["loss"]) for row in read_journal(path)]
    [(10, 2.5)]
    """
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row) + "\n"
