"""A small course for the tests of the site: two notebooks, one with a table of claims."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from site_book import Notebook


def _markdown(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def _code(name: str, source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {},
        "source": source,
        "execution_count": 1,
        "outputs": list(outputs),
    }


def _printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def _picture(alt: str) -> dict[str, Any]:
    data = {"image/png": "iVBORw0KGgo=", "text/plain": alt}
    return {
        "output_type": "execute_result",
        "execution_count": 1,
        "data": data,
        "metadata": {"image/png": {"alt": alt}},
    }


def _first() -> Notebook:
    cells = [
        _markdown("a-title", "# 01 · A start: nothing more\n\n**Why does it start?**"),
        _markdown("a-notes", "*For the lecturer.* Two minutes."),
        _code("colab-cell", "import sys"),
        _markdown("a-idea", "## 1 · The idea\n\nSee [the end](#2-·-What-articles-often-get-wrong)."),
        _code("a-sum", "print(1 + 1)", _printed("2\n")),
        _code("a-silent", "x = 1"),
        _code("a-view", "viz.head_view(x)", _picture("a <view>")),
        _markdown(
            "a-wrong",
            "## 2 · What articles often get wrong\n\n"
            '**"One is zero."** No.\n\n**"One is two."** It is not: section 1.',
        ),
        _code("a-proof", "print(1 < 2)", _printed("True")),
        _markdown("a-more", '**"Two is three."** No. **"Three is four."** Neither.'),
        _markdown("a-end", '## 3 · What was shown\n\n**"Not a mistake."**'),
    ]
    return Notebook(Path("notebooks/01_start.ipynb"), cells)


def _second() -> Notebook:
    head = "| what one reads | verdict | where |\n| --- | --- | --- |\n"
    table = f"{head}| The `[CLS]` token | *care*: look | 1, 9 |"
    cells = [
        _markdown("b-title", "# 02 · More"),
        _markdown("b-idea", "## 1 · The idea"),
        _markdown("b-claims", table),
    ]
    return Notebook(Path("notebooks/02_more.ipynb"), cells)


@pytest.fixture
def first() -> Notebook:
    return _first()


@pytest.fixture
def small_course() -> list[Notebook]:
    return [_first(), _second()]


@pytest.fixture
def claim() -> Callable[..., tuple[str, dict[str, Any]]]:
    """Make a claim as docs/claims.toml has it."""

    def make(**entry: Any) -> tuple[str, dict[str, Any]]:
        given = {"number": 1, "says": "One is two", "in": ["01"], "verdict": "wrong", "answer": "It is not."}
        return "A part", {key: value for key, value in {**given, **entry}.items() if value is not None}

    return make
