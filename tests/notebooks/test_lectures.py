"""The plan of lectures: twelve, ninety minutes each, with reading, questions, and sections that exist."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAN = (ROOT / "docs" / "lectures.md").read_text("utf-8")
LECTURES = re.split(r"^## Lecture ", PLAN, flags=re.MULTILINE)[1:]
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)


def rows(lecture: str) -> list[tuple[int, str, str]]:
    return [(int(minutes), section, ask) for minutes, section, ask in ROW.findall(lecture)]


def numbered_sections(number: str) -> set[int]:
    """Numbers of the sections of a notebook; empty where it is not there yet, or counts none."""
    found = list((ROOT / "notebooks").glob(f"{number}_*.ipynb"))
    cells = nbformat.read(found[0], as_version=4).cells if found else []
    return {int(n) for cell in cells for n in re.findall(r"^## (\d+) ·", cell.source, re.MULTILINE)}


def test_there_are_twelve_in_order_each_with_its_reading():
    assert [int(lecture.split(" ·")[0]) for lecture in LECTURES] == list(range(1, 13))
    table = PLAN[: PLAN.index("## Lecture 1")]
    assert len(re.findall(r"^\| \d+ \| [^|]+ \| [^|]+ \| [^|]+ \|$", table, re.MULTILINE)) == 12


@pytest.mark.parametrize("lecture", LECTURES, ids=lambda text: text.split("\n")[0])
def test_each_is_of_ninety_minutes_and_asks_something(lecture):
    assert sum(minutes for minutes, _, _ in rows(lecture)) == 90
    assert "*To take home:*" in lecture
    asked = sum(bool(re.search(r"\?|[Pp]redict|[Vv]ote|[Hh]ands", ask)) for _, _, ask in rows(lecture))
    assert asked >= 4


@pytest.mark.parametrize("lecture", LECTURES, ids=lambda text: text.split("\n")[0])
def test_each_section_that_is_named_is_in_its_notebook(lecture):
    for _, section, _ in rows(lecture):
        if match := re.match(r"(\d\d) · (\d+(?:(?:, | and | to )\d+)*)", section):
            known = numbered_sections(match[1])
            named = {int(n) for n in re.findall(r"\d+", match[2])}
            assert not known or named <= known, section


def test_every_notebook_is_taught():
    taught = {section[:2] for lecture in LECTURES for _, section, _ in rows(lecture) if section[:2].isdigit()}
    assert taught == {f"{number:02}" for number in range(17)}


def test_every_link_leads_somewhere():
    for link in re.findall(r"\]\(([^)#]+)\)", PLAN):
        assert (ROOT / "docs" / link).resolve().exists(), link
