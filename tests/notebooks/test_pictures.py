"""README's pictures: all there, and those that are stills as the notebooks have them."""

from __future__ import annotations

import re

import pytest

from pictures import PICTURES, ROOT, STILLS, still


@pytest.mark.parametrize("name", STILLS)
def test_a_still_in_readme_is_the_one_that_the_notebook_shows(name):
    assert (PICTURES / f"{name}.png").read_bytes() == still(*STILLS[name]), "run tools/pictures.py"


def test_every_picture_that_readme_names_is_there_and_no_other():
    named = set(re.findall(r"docs/pictures/([\w-]+\.png)", (ROOT / "README.md").read_text("utf-8")))
    assert named == {path.name for path in PICTURES.iterdir()}
