"""Each thing that can be missing is told in a sentence with its fix, on machines that are made up."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bertlab.classroom import environment
from bertlab.classroom.environment import Finding, Machine, examine, free_memory, report, this_machine

GOOD = Machine(
    python=(3, 12),
    versions={"torch": "2.9.0+cpu", "ipywidgets": "8.1.7"},
    models={"bert-6l": True, "all-MiniLM-L6-v2": True},
    mirror="/data",
    free_memory=6.0,
    ranges={"torch": ">=2.5", "ipywidgets": ">=8.1"},
)


def worst(machine: Machine) -> list[Finding]:
    return [finding for finding in examine(machine) if finding.state != "ok"]


def test_a_good_machine_has_nothing_to_mend():
    assert worst(GOOD) == []
    assert report(examine(GOOD)).splitlines()[-1] == "All that the course needs is here."


@pytest.mark.parametrize(
    ("change", "state", "what", "fix"),
    [
        ({"python": (3, 10)}, "missing", "Python 3.10 is too old", "make lab PYTHON="),
        ({"versions": {"torch": None}}, "missing", "torch is not installed", '`%pip install "torch>=2.5"`'),
        ({"versions": {"torch": None}}, "missing", "nothing is computed", "for another Python"),
        ({"versions": {"bertlab": None}}, "missing", "bertlab is not installed", "`%pip install -e ..`"),
        (
            {"versions": {"torch": "2.2.2"}, "system": "Darwin x86_64"},
            "missing",
            "torch 2.2.2 is not >=2.5",
            "use Colab or Binder",
        ),
        ({"versions": {"torch": "2.4.1"}}, "missing", "torch 2.4.1 is not >=2.5", "restart the kernel"),
        ({"versions": {"ipywidgets": None}}, "missing", "still pictures without it", "ipywidgets>=8.1"),
        ({"models": {"bert-6l": False}}, "missing", "cells that look into it stop", "clone it again"),
        (
            {"models": {"all-MiniLM-L6-v2": False}},
            "missing",
            "all-MiniLM-L6-v2, a published BERT, is not on this disk",
            "`%run -m bertlab get all-MiniLM-L6-v2`",
        ),
        (
            {"mirror": "/gone", "mirror_is_there": False},
            "missing",
            "/gone, and that is not a folder",
            "unset",
        ),
        ({"free_memory": 0.7}, "optional", "only 0.7 GB of memory are free", "shut down kernels"),
    ],
)
def test_each_thing_that_is_missing_has_its_sentence_and_its_fix(change, state, what, fix):
    (finding,) = worst(dataclasses.replace(GOOD, **change))
    assert finding.state == state
    assert what in finding.what
    assert fix in finding.fix


@pytest.mark.parametrize(
    "change", [{"mirror": ""}, {"free_memory": None}, {"models": {"all-MiniLM-L6-v2": None}}]
)
def test_what_is_not_needed_or_not_told_has_no_line(change):
    findings = list(examine(dataclasses.replace(GOOD, **change)))
    assert all(finding.state == "ok" for finding in findings)
    assert len(findings) < len(list(examine(GOOD)))


def test_a_version_before_its_release_counts_as_of_its_range():
    assert worst(dataclasses.replace(GOOD, versions={"torch": "2.10.0a0+git123"})) == []


def test_each_step_of_a_fix_has_its_own_line():
    (torch,) = worst(dataclasses.replace(GOOD, versions={"torch": None}))
    assert [line[:6] for line in str(torch).splitlines()] == ["✗ torc", "    → ", "    → "]


def test_what_is_missing_stands_first_and_is_counted():
    bad = dataclasses.replace(GOOD, python=(3, 9), mirror="", models={"bert-6l": False})
    lines = [line for line in report(examine(bad)).splitlines() if not line.startswith("    →")]
    assert [line[0] for line in lines[:-1]] == ["✗", "✗", "✓", "✓", "✓"]
    assert lines[-1].startswith("2 things are missing: mend them")


def test_this_machine_is_fit_for_the_course_and_its_ranges_are_those_of_the_package():
    machine = this_machine()
    assert all(machine.versions.values())
    assert set(machine.versions) <= {"bertlab", *machine.ranges}
    assert all(
        re.fullmatch(r">=\d+(\.\d+)*", machine.ranges[name]) for name in machine.versions if name != "bertlab"
    )
    assert machine.models["bert-6l"] is True
    assert not [finding for finding in examine(machine) if "Python" in finding.what and finding.fix]


def test_a_mirror_that_is_no_folder_is_told_once_and_hides_no_other_line(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTLAB_DATA_MIRROR", str(tmp_path / "gone"))
    monkeypatch.setenv("BERTLAB_CACHE", str(tmp_path / "cache"))
    machine = this_machine()
    assert not machine.mirror_is_there
    assert machine.models == {"bert-6l": True, "bert-mini": True, "all-MiniLM-L6-v2": False}
    assert sum("BERTLAB_DATA_MIRROR" in finding.what for finding in examine(machine)) == 1


ALONE = """
import sys
class NothingInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "bertlab"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NothingInstalled())
from bertlab.classroom.environment import *
print(report(examine(this_machine())))
"""


def test_it_speaks_where_nothing_is_installed():
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", ALONE], cwd=root, capture_output=True, text=True, check=True)
    assert "bert-6l" in done.stdout
    assert "a published BERT" not in done.stdout, "whether it is here cannot be told yet"


def test_a_bertlab_that_is_not_installed_declares_nothing(monkeypatch):
    def requires(name):
        raise environment.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(environment.metadata, "requires", requires)
    assert environment.declared() == {}


def test_the_folder_of_checkpoints_is_that_of_interop():
    from bertlab.interop import checkpoint_folders

    assert environment.CHECKPOINTS == checkpoint_folders.CHECKPOINTS


def machine_with(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


MEMINFO = {"proc__meminfo": "MemTotal: 8000000 kB\nMemFree: 100000 kB\nMemAvailable: 3500000 kB\n"}


def test_memory_is_what_the_system_calls_available(tmp_path):
    assert free_memory(tmp_path) is None
    assert free_memory(machine_with(tmp_path, **MEMINFO)) == 3.5
    assert free_memory(machine_with(tmp_path, proc__meminfo="MemTotal: 8000000 kB\n")) is None


@pytest.mark.parametrize(
    ("limit", "gigabytes"), [("max\n", 3.5), ("2000000000\n", 1.3), ("900000000\n", 0.2), ("9000\n", 0)]
)
def test_a_container_has_what_its_limit_leaves_and_idle_files_give_way(limit, gigabytes, tmp_path):
    group = {
        "sys__fs__cgroup__memory_DOT_max": limit,
        "sys__fs__cgroup__memory_DOT_current": "800000000\n",
        "sys__fs__cgroup__memory_DOT_stat": "anon 700000000\ninactive_file 100000000\n",
    }
    assert free_memory(machine_with(tmp_path, **MEMINFO, **group)) == pytest.approx(gigabytes)


def test_the_older_kind_of_container_is_read_too(tmp_path):
    group = {
        "sys__fs__cgroup__memory__memory_DOT_limit_in_bytes": "2000000000\n",
        "sys__fs__cgroup__memory__memory_DOT_usage_in_bytes": "800000000\n",
    }
    assert free_memory(machine_with(tmp_path, **MEMINFO, **group)) == pytest.approx(1.2)
