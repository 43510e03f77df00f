"""Is everything here that the course needs? One sentence for each thing, and how to mend what is missing.

This module needs the standard library alone, so that it can still speak where nothing else is installed.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple

PACKAGES = ("bertlab", "torch", "numpy", "matplotlib", "ipywidgets", "anywidget")
PUBLISHED = ("all-MiniLM-L6-v2",)
OURS = ("bert-6l", "bert-mini")
CHECKPOINTS = Path(__file__).resolve().parents[2] / "data" / "checkpoints"
OLDEST_PYTHON = (3, 11)
ENOUGH = 2.0  # gigabytes of memory that a notebook may take, with some to spare

State = Literal["ok", "optional", "missing"]
SIGNS: Mapping[State, str] = {"ok": "✓", "optional": "○", "missing": "✗"}


class Finding(NamedTuple):
    """One thing that was looked at: how it stands, in a sentence, and what to do about it."""

    state: State
    what: str
    fix: str = ""

    def __str__(self) -> str:
        """A line, and one for each step of the fix, as a notebook prints them."""
        steps = [f"    → {step}" for step in self.fix.split("; ") if step]
        return "\n".join([f"{SIGNS[self.state]} {self.what}", *steps])


@dataclass(frozen=True)
class Machine:
    """What is known about a machine, as plain values: a test or a lesson can make up a broken one.

    Parameters
    ----------
    python : the version, such as (3, 12).
    versions : of the packages; None for one that is not installed.
    models : whether each model is on this disk; None where that cannot be told yet.
    mirror : folder of data named by BERTLAB_DATA_MIRROR, "" if none is named.
    mirror_is_there : whether that is a folder.
    free_memory : gigabytes; None where the system does not tell.
    ranges : of versions that bertlab declares, such as {"torch": ">=2.5"}.
    system : name and processor, such as "Linux x86_64".
    """

    python: tuple[int, int]
    versions: Mapping[str, str | None]
    models: Mapping[str, bool | None]
    mirror: str = ""
    mirror_is_there: bool = True
    free_memory: float | None = None
    ranges: Mapping[str, str] = field(default_factory=lambda: declared())
    system: str = ""


def declared() -> dict[str, str]:
    """Range of versions that bertlab declares for each package that it needs; none if it is not installed."""
    try:
        needed = metadata.requires("bertlab") or []
    except metadata.PackageNotFoundError:
        return {}
    parted = (re.fullmatch(r"([\w.-]+)\s*([^;]*)", one) for one in needed)  # one with a marker is an extra's
    return {one[1]: one[2] for one in parted if one}


def this_machine() -> Machine:
    """Look at the machine and the Python that this runs on; nothing is fetched."""
    mirror = os.environ.get("BERTLAB_DATA_MIRROR", "")
    return Machine(
        python=sys.version_info[:2],
        versions={name: _version(name) for name in PACKAGES},
        models={
            **{name: _is_carried(name) for name in OURS},
            **{name: _is_fetched(name) for name in PUBLISHED},
        },
        mirror=mirror,
        mirror_is_there=Path(mirror or ".").expanduser().is_dir(),
        free_memory=free_memory(),
        system=f"{platform.system()} {platform.machine()}",
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _is_carried(name: str) -> bool:
    return (CHECKPOINTS / name / "config.json").is_file()


def _is_fetched(name: str) -> bool | None:
    try:
        from bertlab.datasets import fetch, registry  # not above: it needs packages that may be missing
    except ImportError:
        return None
    try:
        return fetch.whereabouts(registry.card(name)) != "not here"
    except OSError:  # a mirror that is no folder, which is told on its own
        return False


def free_memory(root: Path = Path("/")) -> float | None:
    """Gigabytes that programs can still have; None where the system does not tell (macOS, Windows).

    A container (Binder, Docker) may be given less than the machine has: its limit counts, too.

    Parameters
    ----------
    root : folder in which proc and sys are.
    """
    free = []
    table = _numbers(root / "proc/meminfo")
    if "MemAvailable:" in table:
        free.append(table["MemAvailable:"] * 1000)
    for folder, limit, used, idle in (
        ("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
        ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        most, now = (_numbers(root / folder / name).get("", -1) for name in (limit, used))
        if most >= 0 and now >= 0:  # the limit may be the word max; idle files give way to programs
            free.append(max(0, most - now + _numbers(root / folder / "memory.stat").get(idle, 0)))
    return min(free) / 1e9 if free else None


def _numbers(path: Path) -> dict[str, int]:
    """Lines "name number" of a file by their names, a lone number by ""; nothing if there is no such file."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    found = (re.match(r"(\S+\s+)?(\d+)", line) for line in lines)
    return {(one[1] or "").strip(): int(one[2]) for one in found if one}


def examine(machine: Machine) -> Iterator[Finding]:
    """Say of each thing how it stands, and how to mend it.

    Parameters
    ----------
    machine : as `this_machine` finds it, or made up.

    Returns
    -------
    iterator of Finding : "missing" is what the course cannot do without, "optional" what it can.

    Examples
    --------
    >>> old = Machine(python=(3, 9), versions={}, models={}, free_memory=8.0)
    >>> print(next(examine(old)))
    ✗ Python 3.9 is too old: the course needs 3.11 or newer
        → install a newer Python, then `make lab PYTHON=python3.12` (Windows: the lines in CONTRIBUTING.md)
    """
    yield _python(machine.python)
    for name, version in machine.versions.items():
        yield _package(name, version, machine)
    for name, here in machine.models.items():
        if here is not None:
            yield _model(name, here)
    if machine.mirror:
        yield _mirror(machine.mirror, machine.mirror_is_there)
    if machine.free_memory is not None:
        yield _memory(machine.free_memory)


def _python(version: tuple[int, int]) -> Finding:
    name = ".".join(map(str, version))
    if version >= OLDEST_PYTHON:
        return Finding("ok", f"Python {name} is new enough")
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return Finding(
        "missing",
        f"Python {name} is too old: the course needs {oldest} or newer",
        "install a newer Python, then `make lab PYTHON=python3.12` (Windows: the lines in CONTRIBUTING.md)",
    )


def _package(name: str, version: str | None, machine: Machine) -> Finding:
    versions = machine.ranges.get(name, "")
    wanted = "-e .." if name == "bertlab" else f'"{name}{versions}"'
    install = f"run `%pip install {wanted}` in a new cell, then restart the kernel"
    if name == "torch" and machine.system == "Darwin x86_64":
        install = "PyTorch has no builds for Macs with Intel processors after 2.2: use Colab or Binder"
    why = {
        "bertlab": "it brings all that the notebooks import",
        "torch": "nothing is computed without it",
        "matplotlib": "there are no pictures without it",
        "ipywidgets": "sliders and buttons stay still pictures without it",
        "anywidget": "the explorers stay still pictures without it",
    }.get(name, "the course uses it")
    if version is None:
        kernel = "if you did install it, then for another Python: start JupyterLab by `make lab`, in .venv"
        return Finding("missing", f"{name} is not installed: {why}", f"{install}; {kernel}")
    if _release(version) < _release(versions):
        return Finding("missing", f"{name} {version} is not {versions}: notebooks may fail", install)
    return Finding("ok", f"{name} {version}")


def _release(version: str) -> tuple[int, ...]:
    """First two numbers of a version, or of the oldest one in a range; () if there are none."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("+")[0])[:2])


def _model(name: str, here: bool) -> Finding:
    if name in OURS:
        what = f"{name}, a BERT that the repository carries"
        fix = "the copy of the repository is not whole: clone it again"
    else:
        what = f"{name}, a published BERT"
        fix = f"run `%run -m bertlab get {name}` in a new cell (needs the network once)"
    if here:
        return Finding("ok", f"{what}, is on this disk")
    return Finding(
        "missing", f"{what}, is not on this disk: cells that look into it stop, the rest works", fix
    )


def _mirror(mirror: str, is_there: bool) -> Finding:
    if not is_there:
        return Finding(
            "missing",
            f"BERTLAB_DATA_MIRROR names {mirror}, and that is not a folder: no data set can be loaded",
            "correct the name, or unset the variable and restart JupyterLab",
        )
    return Finding("ok", "the data mirror is a folder")


def _memory(free: float) -> Finding:
    if free >= ENOUGH:
        return Finding("ok", f"{free:.1f} GB of memory are free; {ENOUGH:g} GB are enough")
    return Finding(
        "optional",
        f"only {free:.1f} GB of memory are free: a kernel that ends without a word had too little",
        "shut down kernels that you do not use, close other programs, then run this cell again",
    )


def report(findings: Sequence[Finding] | Iterator[Finding]) -> str:
    """Put findings into text, what is missing first, and count it in the last line.

    Examples
    --------
    >>> print(report([Finding("ok", "torch 2.9"), Finding("missing", "no kernel", "start one")]))
    ✗ no kernel
        → start one
    ✓ torch 2.9
    1 thing is missing: mend it by the line with the arrow, restart the kernel, run this cell again.
    """
    ranked = sorted(findings, key=lambda one: ("missing", "optional", "ok").index(one.state))
    missing = sum(one.state == "missing" for one in ranked)
    last = "All that the course needs is here."
    if missing:
        things, them = ("thing is", "it") if missing == 1 else ("things are", "them")
        last = f"{missing} {things} missing: mend {them} by the line with the arrow, restart the kernel, run "
        last += "this cell again."
    return "\n".join([*map(str, ranked), last])
