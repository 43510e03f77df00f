"""Each thing that can be missing is told in a sentence with its fix, on machines that are made up."""

from __future__ import annotations

import dataclasses
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
        ({"versions": {"torch": None}}, "missing", "torch is not installed", '-m pip install "torch>=2.5"'),
        ({"versions": {"torch": None}}, "missing", "nothing is computed", "this kernel is another Python"),
        ({"versions": {"torch": "2.4.1"}}, "missing", "torch 2.4.1 is not >=2.5", "restart the kernel"),
        ({"versions": {"ipywidgets": None}}, "missing", "still pictures without it", "ipywidgets>=8.1"),
        ({"models": {"bert-6l": False}}, "missing", "cells that look into it stop", "clone it again"),
        (
            {"models": {"all-MiniLM-L6-v2": False}},
            "missing",
            "all-MiniLM-L6-v2, a published BERT, is not on this disk",
            "python -m bertlab get all-MiniLM-L6-v2",
        ),
        ({"mirror": ""}, "optional", "every notebook runs without", "BERTLAB_DATA_MIRROR"),
        (
            {"mirror": "/gone", "mirror_is_there": False},
            "missing",
            "/gone, and that is not a folder",
            "unset",
        ),
        ({"free_memory": 0.7}, "optional", "only 0.7 GB of memory are free", "shut down kernels"),
        ({"free_memory": None}, "optional", "2 GB are enough", ""),
    ],
)
def test_each_thing_that_is_missing_has_its_sentence_and_its_fix(change, state, what, fix):
    (finding,) = worst(dataclasses.replace(GOOD, **change))
    assert finding.state == state
    assert what in finding.what
    assert fix in finding.fix


def test_a_version_before_its_release_counts_as_of_its_range():
    assert worst(dataclasses.replace(GOOD, versions={"torch": "2.10.0a0+git123"})) == []


def test_each_step_of_a_fix_has_its_own_line():
    (torch,) = worst(dataclasses.replace(GOOD, versions={"torch": None}))
    assert [line[:6] for line in str(torch).splitlines()] == ["✗ torc", "    → ", "    → "]


def test_what_is_missing_stands_first_and_is_counted():
    bad = dataclasses.replace(GOOD, python=(3, 9), mirror="", models={"bert-6l": False})
    lines = [line for line in report(examine(bad)).splitlines() if not line.startswith("    →")]
    assert [line[0] for line in lines[:-1]] == ["✗", "✗", "○", "✓", "✓", "✓"]
    assert lines[-1].startswith("2 things are missing: mend them")


def test_this_machine_is_fit_for_the_course_and_its_ranges_are_those_of_the_package():
    machine = this_machine()
    assert all(machine.versions.values())
    assert set(machine.versions) <= set(machine.ranges)
    assert machine.models["bert-6l"] is True
    assert not [finding for finding in examine(machine) if "Python" in finding.what and finding.fix]


def test_a_mirror_that_is_no_folder_is_told_once_and_hides_no_other_line(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTLAB_DATA_MIRROR", str(tmp_path / "gone"))
    monkeypatch.setenv("BERTLAB_CACHE", str(tmp_path / "cache"))
    machine = this_machine()
    assert not machine.mirror_is_there
    assert machine.models == {"bert-6l": True, "bert-mini": True, "all-MiniLM-L6-v2": False}
    assert sum("BERTLAB_DATA_MIRROR" in finding.what for finding in examine(machine)) == 1


def test_memory_is_what_the_system_calls_available(monkeypatch, tmp_path):
    table = tmp_path / "meminfo"
    table.write_text("MemTotal: 8000000 kB\nMemFree: 100000 kB\nMemAvailable: 3500000 kB\n")
    monkeypatch.setattr(environment, "Path", lambda name: table if name == "/proc/meminfo" else Path(name))
    assert free_memory() == 3.5
    table.write_text("MemTotal: 8000000 kB\n")
    assert free_memory() is None
    table.unlink()
    assert free_memory() is None
