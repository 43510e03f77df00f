"""The map of notebook 00 and the table of README: where they lead, and that no notebook is left out."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
LINK = re.compile(r"\]\(([\w/]+\.ipynb)\)")


def links_of_the_map() -> set[str]:
    cells = nbformat.read(FOLDER / "00_start_here.ipynb", as_version=4).cells
    return {
        link for cell in cells if cell.id.startswith("start-08-map") for link in LINK.findall(cell.source)
    }


def test_every_link_of_the_map_leads_to_a_notebook():
    links = links_of_the_map()
    assert len(links) > 8
    assert [link for link in links if not (FOLDER / link).is_file()] == []


@pytest.mark.parametrize("number", range(1, 17))
def test_the_map_links_a_notebook_that_is_there_and_says_of_the_others_that_they_are_in_preparation(number):
    cells = nbformat.read(FOLDER / "00_start_here.ipynb", as_version=4).cells
    rows = "\n".join(cell.source for cell in cells if cell.id.startswith("start-08-map"))
    row = re.search(rf"^\| \[?{number:02}\b.*", rows, re.MULTILINE)
    assert row
    there = [path.name for path in FOLDER.glob(f"{number:02}_*.ipynb")]
    assert LINK.findall(row[0]) == there, (
        f"notebook {number:02} and its row of the map: link it, or unlink it"
    )
    assert ("in preparation" in row[0]) == (not there), row[0]


def test_every_notebook_of_the_readme_is_there():
    named = set(re.findall(r"notebooks/([\w/]+\.ipynb)", (ROOT / "README.md").read_text("utf-8")))
    assert {"00_start_here.ipynb", "gallery.ipynb"} <= named
    assert [name for name in named if not (FOLDER / name).is_file()] == []
