"""pyproject.toml, requirements.txt and both environment.yml say one thing, which is what the code imports."""

from __future__ import annotations

import ast
import importlib.metadata
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import pins
from bertlab.classroom.environment import PUBLISHED

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OURS = {"bertlab", "tests", "experiments", "benchmarks"} | {
    path.stem
    for folder in ("tools", "experiments", "benchmarks", "tests")
    for path in (ROOT / folder).rglob("*.py")
}


def declared(*extras: str) -> list[Requirement]:
    """Requirements of bertlab[extras] other than itself."""
    groups = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] for extra in extras)]
    return [req for group in groups for req in map(Requirement, group) if req.name != "bertlab"]


def pinned(text: str) -> dict[str, Version]:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert lines[0].startswith("torch=="), "torch must stand first: a range of it would bring another build"
    return {
        canonicalize_name(name): Version(version) for name, version in (line.split("==") for line in lines)
    }


PINS = pinned((ROOT / "requirements.txt").read_text())
SITE_PINS = dict(
    line.split("==") for line in (ROOT / "docs" / "requirements.txt").read_text().splitlines() if "==" in line
)


@pytest.mark.parametrize("requirement", declared("notebooks", "experiments", "dev"), ids=lambda req: req.name)
def test_everything_declared_is_pinned_within_its_range(requirement):
    assert requirement.specifier.contains(PINS[canonicalize_name(requirement.name)])


@pytest.mark.parametrize("line", PROJECT["optional-dependencies"]["site"])
def test_what_the_site_needs_is_pinned_beside_it_within_its_range(line):
    requirement = Requirement(line)
    assert requirement.specifier.contains(SITE_PINS[canonicalize_name(requirement.name)])
    assert not SITE_PINS.keys() & PINS.keys(), "what all need stands in requirements.txt alone"


FOR_LECTURERS = {"rise", "grading"}  # both add to JupyterLab's menus: nobody gets them unasked


def test_the_extra_dev_brings_all_other_extras_but_the_site():
    own = next(
        req for req in map(Requirement, PROJECT["optional-dependencies"]["dev"]) if req.name == "bertlab"
    )
    assert own.extras | {"dev", "site"} | FOR_LECTURERS == set(PROJECT["optional-dependencies"])


@pytest.mark.skipif(
    sys.platform != "linux", reason="requirements.txt is written on Linux; others need a few more"
)
def test_the_pins_are_the_closure_of_what_is_declared_and_nothing_else():
    assert set(pins.closure("bertlab", "dev")) == set(PINS)


def test_what_is_installed_is_what_is_pinned():
    installed = {name: Version(importlib.metadata.version(name)) for name in PINS}
    assert {name: v.public for name, v in installed.items()} == {name: str(v) for name, v in PINS.items()}


@pytest.mark.parametrize(
    ("path", "pip"),
    [
        ("environment.yml", ["-r requirements.txt", "-e ."]),
        (
            "binder/environment.yml",
            ["--extra-index-url https://download.pytorch.org/whl/cpu", "-r ../requirements.txt", "-e .."],
        ),
    ],
)
def test_conda_gives_python_and_pip_and_pip_the_rest(path, pip):
    environment = yaml.safe_load((ROOT / path).read_text())
    python, *others = environment["dependencies"]
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    assert others == ["pip", {"pip": pip}]
    name, version = python.split("=")
    assert name == "python"
    assert Version(version) in Requirement(f"python{PROJECT['requires-python']}").specifier
    for line in pip:
        if line.startswith("-r"):  # relative to the file that names it
            assert (ROOT / path).parent.joinpath(line[3:]).resolve() == ROOT / "requirements.txt"


def test_binder_fetches_every_published_model_that_notebooks_open():
    script = ROOT / "binder" / "postBuild"
    assert script.read_text().startswith("#!/bin/bash\n")
    assert script.stat().st_mode & 0o111, "Binder runs it as a program"
    assert [line for line in script.read_text().splitlines() if "bertlab get" in line] == [
        f"python -m bertlab get {name}" for name in PUBLISHED
    ]


def modules(folder: str) -> set[str]:
    """Top-level names that the Python files below a folder import, without ours and the standard library."""
    names: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.add((node.module or "").partition(".")[0])
    return names - OURS - sys.stdlib_module_names


@pytest.mark.parametrize(
    ("folder", "extras"),
    [
        ("bertlab", ()),
        ("experiments", ("experiments",)),
        ("tools", ("dev", "experiments")),
        ("tests", ("dev", "experiments")),
    ],
)
def test_what_is_imported_is_declared(folder, extras):
    packages = importlib.metadata.packages_distributions()
    known = {canonicalize_name(req.name) for req in declared(*extras)}
    missing = {
        name for name in modules(folder) if not known & set(map(canonicalize_name, packages.get(name, [])))
    }
    assert not missing, f"{folder}/ imports {missing}: declare them in pyproject.toml and run `make pins`"
