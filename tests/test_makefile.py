"""The two commands: what they install and in which order, what they say when something is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Stands for the machine's Python and for the one in .venv: writes down what it is asked to do, no more.
FAKE_PYTHON = """#!/bin/bash
echo "$*" >> "$LOG"
case "$*" in
    "-c "*) exit $TOO_OLD ;;
    "--version") echo "Python 3.9.2" ;;
    "-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
    "-m bertlab get "*) echo "bertlab: no network"; exit 2 ;;
    *"-r requirements.txt"*) exit $PIP_FAILS ;;
esac
"""


class House:
    """A copy of what make reads, with a Python that only writes a log."""

    def __init__(self, root: Path) -> None:
        self.root, self.log = root, root / "log"
        for name in ("Makefile", "pyproject.toml", "requirements.txt"):
            shutil.copy(ROOT / name, root / name)
        (root / "tools").mkdir()
        shutil.copy(ROOT / "tools" / "in_turn.sh", root / "tools")
        (root / "docs").mkdir()
        shutil.copy(ROOT / "docs" / "requirements.txt", root / "docs")
        (root / "python").write_text(FAKE_PYTHON)
        (root / "python").chmod(0o755)

    def make(self, *arguments: str, too_old: int = 0, pip_fails: int = 0) -> subprocess.CompletedProcess[str]:
        self.log.write_text("")
        outer = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")}
        environment = {
            **outer,
            "LOG": str(self.log),
            "TOO_OLD": str(too_old),
            "PIP_FAILS": str(pip_fails),
        }
        command = ["make", "--no-print-directory", *arguments, f"PYTHON={self.root}/python"]
        return subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True)

    def pip_calls(self) -> list[str]:
        calls = re.findall(r"-m pip install (.*)", self.log.read_text())
        return [re.sub(r"(-qq|--disable-pip-version-check) ", "", call).strip() for call in calls]


@pytest.fixture
def house(tmp_path):
    return House(tmp_path)


def test_torch_is_installed_first_and_everything_in_its_pinned_version(house):
    assert house.make("install").returncode == 0
    assert house.pip_calls() == ["-c requirements.txt torch", "-r requirements.txt", "--no-deps -e ."]


def test_only_the_site_asks_for_sphinx_and_asks_once(house):
    house.make("install")
    house.make("site")
    assert house.pip_calls() == ["--no-deps -r docs/requirements.txt"]
    assert "tools/build_site.py" in house.log.read_text()
    house.make("site")
    assert house.pip_calls() == []


def test_one_variable_chooses_the_cpu_build(house):
    house.make("install", "TORCH=cpu")
    assert house.pip_calls()[0] == (
        "-c requirements.txt torch --extra-index-url https://download.pytorch.org/whl/cpu"
    )


def test_a_second_run_installs_nothing_and_a_changed_pin_everything_again(house):
    house.make("install")
    house.make("install")
    assert house.pip_calls() == []

    os.utime(house.root / "requirements.txt", (2**32, 2**32))
    house.make("install")
    assert len(house.pip_calls()) == 3


def test_an_install_that_broke_off_is_taken_up_again(house):
    assert house.make("install", pip_fails=1).returncode != 0
    assert house.make("install").returncode == 0
    assert len(house.pip_calls()) == 3


def test_an_old_python_is_told_in_one_sentence_what_to_do(house):
    done = house.make("install", too_old=1)
    assert done.returncode != 0
    assert "bertlab needs Python 3.11 or newer" in done.stdout
    assert "is Python 3.9.2: make lab PYTHON=" in done.stdout
    assert house.pip_calls() == []


def test_a_model_that_cannot_be_fetched_stops_nothing(house):
    done = house.make("models")
    assert done.returncode == 0
    assert "bertlab: no network\nWithout all-MiniLM-L6-v2, the cells that look into it say so" in done.stdout


def test_help_is_the_default_and_lists_every_public_target(house):
    said = house.make().stdout
    for target in ("lab", "test", "test-portable", "results", "results-NAME", "refresh", "lint", "format"):
        assert re.search(rf"^  make {target} +\w", said, re.MULTILINE), target


def test_results_runs_the_experiments_in_order_and_leaves_out_shared_files(house):
    (house.root / "experiments").mkdir()
    for name in ("b.py", "a.py", "_shared.py"):
        (house.root / "experiments" / name).touch()
    house.make("install")
    house.make("results")
    assert re.findall(r"experiments/\w+\.py", house.log.read_text()) == [
        "experiments/a.py",
        "experiments/b.py",
    ]
    house.make("results-b")
    assert re.findall(r"experiments/\w+\.py", house.log.read_text()) == ["experiments/b.py"]


@pytest.mark.parametrize(
    ("targets", "closing", "status"),
    [
        (["good", "bad", "good"], "2 passed, 1 failed", 1),
        (["good", "good"], "2 passed, 0 failed", 0),
    ],
)
def test_sections_all_run_and_one_that_fails_fails_the_whole(tmp_path, targets, closing, status):
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "in_turn.sh", tmp_path / "tools")
    (tmp_path / "Makefile").write_text("good:\n\t@echo well\nbad:\n\t@false\n")
    command = [tmp_path / "tools" / "in_turn.sh", *targets]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "MAKE": "make", "MAKEFLAGS": ""}
    )
    assert done.returncode == status
    assert done.stdout.splitlines()[-1] == closing
    assert done.stdout.count("well") == targets.count("good")


def test_nbval_runs_as_soon_as_there_is_a_notebook_and_on_other_kernels_too(house):
    (house.root / "notebooks" / "solutions").mkdir(parents=True)
    house.make("install")
    assert "holds no notebook yet" in house.make("notebooks").stdout

    (house.root / "notebooks" / "solutions" / "01.ipynb").touch()
    (house.root / ".venv" / "bin" / "pytest").write_text('#!/bin/bash\necho "$ATEN_CPU_CAPABILITY $*"')
    (house.root / ".venv" / "bin" / "pytest").chmod(0o755)
    assert house.make("notebooks").stdout.startswith(" --nbval --nbval-current-env")
    assert house.make("notebooks-on-another-cpu").stdout.startswith("default --nbval --nbval-current-env")


@pytest.mark.parametrize(
    ("failing", "closing"), [("none", "ci: 2 passed, 0 failed"), ("test", "ci: 1 passed, 1 failed")]
)
def test_ci_runs_both_commands_with_the_mirror_beside_it_and_fails_if_one_fails(tmp_path, failing, closing):
    (tmp_path / "course" / ".ci").mkdir(parents=True)
    (tmp_path / "shared" / "datasets").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / "course" / ".ci")
    fakes = {"make": f'echo "$2 with $BERTLAB_DATA_MIRROR"; [ "$2" != {failing} ]', "chromium": "true"}
    for name, does in fakes.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{does}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    environment = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}

    done = subprocess.run(
        [tmp_path / "course" / ".ci" / "run"], capture_output=True, text=True, env=environment
    )

    mirror = tmp_path / "shared" / "datasets"
    assert done.stdout.split("\n\n")[0].split("\n") == [f"test with {mirror}", f"test-portable with {mirror}"]
    assert done.stdout.splitlines()[-1] == closing
    assert done.returncode == (0 if failing == "none" else 1)
