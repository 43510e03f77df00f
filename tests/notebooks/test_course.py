"""What all notebooks of the course have in common."""

from __future__ import annotations

import tomllib
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(path for path in FOLDER.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.relative_to(FOLDER)))
def test_the_first_code_cell_fetches_the_course_on_colab_and_is_the_same_everywhere(path):
    first, expected = (
        next(cell.source for cell in nbformat.read(file, as_version=4).cells if cell.cell_type == "code")
        for file in (path, NOTEBOOKS[0])
    )
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text())["project"]
    assert 'if "google.colab" in sys.modules:' in first
    assert f" {project['urls']['Repository']} " in first
    assert first == expected
