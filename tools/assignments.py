"""The assignments: what students get, and a proof that grading is just, from the command line by nbgrader.

    python tools/assignments.py [--nbgrader PROGRAM] [--out FOLDER] [NAME ...]

Three students hand in each assignment: "right" all solutions, "half" those of every second answer, "empty"
what they were given. nbgrader grades them; each must get the points that are due, or this fails.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat

import gate

SOURCES = gate.ROOT / "assignments"
OUT = gate.ROOT / "build" / "assignments"
PROGRAM = gate.ROOT / "runs" / "grading" / "bin" / "nbgrader"
STUDENTS = ("right", "half", "empty")
HIDDEN = re.compile(r"^ *### BEGIN HIDDEN TESTS\n.*?^ *### END HIDDEN TESTS\n?", re.MULTILINE | re.DOTALL)
MARKS = re.compile(r"^ *### (BEGIN|END) SOLUTION\n?", re.MULTILINE)
STUB = "raise NotImplementedError"


def names() -> list[str]:
    """Names of the assignments."""
    return sorted(path.name for path in (SOURCES / "source").iterdir() if path.is_dir())


def source(name: str) -> nbformat.NotebookNode:
    """Read the notebook with solutions and hidden tests of an assignment."""
    found: nbformat.NotebookNode = nbformat.read(SOURCES / "source" / name / f"{name}.ipynb", as_version=4)
    return found


def kind(cell: gate.Node) -> str:
    """What nbgrader does with a cell: "answer", "test", "manual", "fixed", or "" for a text."""
    about = cell["metadata"].get("nbgrader")
    if about is None:
        return ""
    if about["grade"]:
        return "manual" if about["solution"] else "test"
    return "answer" if about["solution"] else "fixed"


def answers(notebook: gate.Node) -> list[str]:
    """Ids of the cells that a student fills with code, in order."""
    return [cell["id"] for cell in notebook["cells"] if kind(cell) == "answer"]


def right_for(student: str, notebook: gate.Node) -> set[str]:
    """Which answers a student has right: all, every second one from the first on, or none."""
    return set({"right": answers(notebook), "half": answers(notebook)[::2], "empty": []}[student])


def due(student: str, notebook: gate.Node) -> int:
    """Points that the program must give a student: those of tests that call right answers alone.

    A test stands below the answer that it asks about. `needs` in the metadata of the test names what else it
    calls; without it the answer above is enough.
    """
    right, above, points = right_for(student, notebook), "", 0
    for cell in notebook["cells"]:
        if kind(cell) == "answer":
            above = cell["id"]
        if kind(cell) == "test":
            needs = {above, *cell["metadata"].get("bertlab", {}).get("needs", [])}
            points += cell["metadata"]["nbgrader"]["points"] * (needs <= right)
    return points


def hand_in(student: str, release: gate.Node, solved: gate.Node) -> nbformat.NotebookNode:
    """The release with the answers that a student has right."""
    right = right_for(student, solved)
    by_id = {cell["id"]: cell for cell in solved["cells"]}
    handed: nbformat.NotebookNode = nbformat.from_dict(release)
    for cell in handed.cells:
        if cell.id in right:
            cell.source = MARKS.sub("", by_id[cell.id]["source"])
    return handed


def grade(name: str, course: Path, program: Path) -> dict[str, float]:
    """Make the release, let the three hand in, grade them; return what each got."""
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"  # nbgrader calls alembic by its bare name

    def nbgrader(*arguments: str) -> None:
        done = subprocess.run(
            [program, *arguments],
            cwd=course,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(
                f"nbgrader {' '.join(arguments)} failed:\n{(done.stdout + done.stderr)[-3000:]}"
            )

    nbgrader("generate_assignment", name, "--create", "--force")
    release = nbformat.read(course / "release" / name / f"{name}.ipynb", as_version=4)
    left = [word for word in ("HIDDEN TESTS", "SOLUTION") if word in nbformat.writes(release)]
    if left:
        raise RuntimeError(f"the release of {name} still shows {' and '.join(left)}")
    for student in STUDENTS:
        folder = course / "submitted" / student / name
        folder.mkdir(parents=True)
        nbformat.write(hand_in(student, release, source(name)), folder / f"{name}.ipynb")
    nbgrader("autograde", name, "--create", "--force")
    nbgrader("export")
    with (course / "grades.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["assignment"] == name]
    return {row["student_id"]: float(row["score"]) for row in rows}


def main(arguments: Sequence[str]) -> int:
    """Make releases and grade the three students; 0 if each got what is due."""
    parser = argparse.ArgumentParser(description="What students get, and a proof that grading is just.")
    parser.add_argument("names", nargs="*", help="without any: all")
    parser.add_argument("--nbgrader", type=Path, default=PROGRAM)
    parser.add_argument("--out", type=Path, default=OUT)
    chosen = parser.parse_args(arguments)
    if not chosen.nbgrader.is_file():
        print(f"{chosen.nbgrader} is not there: run `make assignment`, which installs it", file=sys.stderr)
        return 1
    shutil.rmtree(chosen.out, ignore_errors=True)
    shutil.copytree(SOURCES, chosen.out, ignore=shutil.ignore_patterns("README.md", ".*"))
    wrong = 0
    for name in chosen.names or names():
        got = grade(name, chosen.out, chosen.nbgrader.resolve())
        for student in STUDENTS:
            points = due(student, source(name))
            wrong += got.get(student) != points
            print(f"{name}, {student}: {got.get(student)} points, {points} are due", flush=True)
    shutil.rmtree(chosen.out / "submitted")  # only the proof handed in so far
    print(f"what students get: {chosen.out / 'release'}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
