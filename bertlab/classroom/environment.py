"""Is everything here that the course needs? One sentence for each thing, and how to mend what is missing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple

from packaging.requirements import Requirement
from packaging.version import Version

from bertlab.datasets import fetch, names, registry
from bertlab.datasets.errors import DataUnavailable
from bertlab.interop.checkpoint_folders import CHECKPOINTS

PACKAGES = ("torch", "matplotlib", "ipywidgets", "anywidget")
PUBLISHED = ("all-MiniLM-L6-v2",)
OURS = ("bert-6l", "bert-mini")
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


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What is known about a machine, as plain values: a test or a lesson can make up a broken one.

    Parameters
    ----------
    python : the version, such as (3, 12).
    versions : of the packages; None for one that is not installed.
    models : whether each model is on this disk.
    mirror : folder of data named by BERTLAB_DATA_MIRROR, "" if none is named.
    mirror_is_there : whether that is a folder.
    free_memory : gigabytes; None where the system does not tell.
    """

    python: tuple[int, int]
    versions: Mapping[str, str | None]
    models: Mapping[str, bool]
    mirror: str = ""
    mirror_is_there: bool = True
    free_memory: float | None = None
    ranges: Mapping[str, str] = field(default_factory=lambda: declared())


def declared() -> dict[str, str]:
    """Range of versions that bertlab declares for each package that it needs."""
    needed = map(Requirement, metadata.requires("bertlab") or [])
    return {one.name: str(one.specifier) for one in needed if one.marker is None}


def this_machine() -> Machine:
    """Look at the machine and the Python that this runs on; nothing is fetched."""
    return Machine(
        python=sys.version_info[:2],
        versions={name: _version(name) for name in PACKAGES},
        models={name: _is_here(name) for name in (*OURS, *PUBLISHED)},
        mirror=os.environ.get("BERTLAB_DATA_MIRROR", ""),
        mirror_is_there=Path(os.environ.get("BERTLAB_DATA_MIRROR") or ".").expanduser().is_dir(),
        free_memory=free_memory(),
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _is_here(name: str) -> bool:
    if name not in names("pretrained"):
        return (CHECKPOINTS / name / "config.json").is_file()
    try:
        return fetch.whereabouts(registry.card(name)) != "not here"
    except DataUnavailable:  # a mirror that is no folder, which is told on its own
        return False


def free_memory() -> float | None:
    """Gigabytes that programs can still have; None where the system does not tell (macOS, Windows)."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    kilobytes = [int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    return kilobytes[0] / 1e6 if kilobytes else None


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
        → install a newer Python, then run `make lab PYTHON=python3.12` (or the one you have)
    """
    yield _python(machine.python)
    for name, version in machine.versions.items():
        yield _package(name, version, machine.ranges.get(name, ""))
    for name, here in machine.models.items():
        yield _model(name, here)
    yield _mirror(machine.mirror, machine.mirror_is_there)
    yield _memory(machine.free_memory)


def _python(version: tuple[int, int]) -> Finding:
    name = ".".join(map(str, version))
    if version >= OLDEST_PYTHON:
        return Finding("ok", f"Python {name} is new enough")
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return Finding(
        "missing",
        f"Python {name} is too old: the course needs {oldest} or newer",
        "install a newer Python, then run `make lab PYTHON=python3.12` (or the one you have)",
    )


def _package(name: str, version: str | None, versions: str) -> Finding:
    install = f'run `python -m pip install "{name}{versions}"`, then restart the kernel'
    why = {
        "torch": "nothing is computed without it",
        "matplotlib": "there are no pictures without it",
        "ipywidgets": "sliders and buttons stay still pictures without it",
        "anywidget": "the explorers stay still pictures without it",
    }.get(name, "the course uses it")
    if version is None:
        kernel = "if you did install it, this kernel is another Python: choose that of .venv (Kernel menu)"
        return Finding("missing", f"{name} is not installed: {why}", f"{install}; {kernel}")
    if versions and not Requirement(f"{name}{versions}").specifier.contains(
        Version(version), prereleases=True
    ):
        return Finding("missing", f"{name} {version} is not {versions}: notebooks may fail", install)
    return Finding("ok", f"{name} {version}")


def _model(name: str, here: bool) -> Finding:
    if name in OURS:
        what = f"{name}, a BERT that the repository carries"
        fix = "the copy of the repository is not whole: clone it again"
    else:
        what = f"{name}, a published BERT"
        fix = f"run `python -m bertlab get {name}` (needs the network once)"
    if here:
        return Finding("ok", f"{what}, is on this disk")
    return Finding(
        "missing", f"{what}, is not on this disk: cells that look into it stop, the rest works", fix
    )


def _mirror(mirror: str, is_there: bool) -> Finding:
    if not mirror:
        return Finding(
            "optional",
            "no data mirror is named: fine, every notebook runs without; public data come from the network",
            "only for work offline: put data sets into a folder and name it in BERTLAB_DATA_MIRROR",
        )
    if not is_there:
        return Finding(
            "missing",
            f"BERTLAB_DATA_MIRROR names {mirror}, and that is not a folder: no data set can be loaded",
            "correct the name, or unset the variable and restart JupyterLab",
        )
    return Finding("ok", "the data mirror is a folder")


def _memory(free: float | None) -> Finding:
    if free is None:
        return Finding("optional", f"free memory is not told by this system: {ENOUGH:g} GB are enough")
    if free >= ENOUGH:
        return Finding("ok", f"{free:.1f} GB of memory are free; {ENOUGH:g} GB are enough")
    return Finding(
        "optional",
        f"only {free:.1f} GB of memory are free: a kernel that ends without a word had too little",
        "shut down kernels that you do not use (Kernel menu), close other programs, then run again",
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
