"""Small notebooks for the tests of the notebook machinery: made by hand, a cell of each kind."""

from __future__ import annotations

import base64
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zlib
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from gate import NOTEBOOK_METADATA

ROOT = Path(__file__).resolve().parents[2]


def _tiny_png() -> str:
    """One grey pixel, in base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    image = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + image).decode("ascii")


SHOW = f"""from IPython.display import display

def show(alt):
    data = {{"image/png": {_tiny_png()!r}, "text/plain": alt}}
    display(data, metadata={{"image/png": {{"alt": alt}}}}, raw=True)"""


def code(
    name: str, source: str, count: int | None, *outputs: NotebookNode, **metadata: object
) -> NotebookNode:
    return new_code_cell(source, id=name, execution_count=count, outputs=list(outputs), metadata=metadata)


def picture(alt: str) -> NotebookNode:
    data = {"image/png": _tiny_png(), "text/plain": alt}
    return new_output("display_data", data, metadata={"image/png": {"alt": alt}})


def _good_notebook() -> NotebookNode:
    """A notebook as refresh.py saves it, and as it runs: text, a picture, a meant failure, a free cell."""
    failure = new_output("error", ename="ValueError", evalue="too long", traceback=["ValueError: too long"])
    cells = [
        new_markdown_cell("# A toy\n\n## Its only section", id="toy-title"),
        code("toy-define", SHOW, 1),
        code("toy-sum", "print(1 + 1)", 2, new_output("stream", name="stdout", text="2\n")),
        code("toy-picture", "show('one grey pixel')", 3, picture("one grey pixel")),
        code("toy-failure", "raise ValueError('too long')", 4, failure, tags=["raises-exception"]),
        code(
            "toy-time",
            "import time\nprint(time.time())",
            5,
            new_output("stream", name="stdout", text="1.5\n"),
            tags=["nbval-ignore-output"],
            bertlab={"free": "the clock goes on"},
        ),
    ]
    return new_notebook(cells=cells, metadata=nbformat.from_dict(NOTEBOOK_METADATA))


def _saved(notebook: NotebookNode) -> str:
    return nbformat.v4.writes(notebook) + "\n"


@pytest.fixture
def tiny_png() -> str:
    """One grey pixel, in base64."""
    return _tiny_png()


@pytest.fixture
def good_notebook() -> Callable[[], NotebookNode]:
    """Make a notebook that is saved and runs as it should."""
    return _good_notebook


@pytest.fixture
def saved() -> Callable[[NotebookNode], str]:
    """Text of a notebook's file."""
    return _saved


@pytest.fixture(scope="session")
def nbval() -> Callable[[Path], dict[str, list[str]]]:
    """Run nbval, strict and as `make test` does, on a folder; returns ids of failed cells by notebook."""

    def run(folder: Path) -> dict[str, list[str]]:
        report = folder / "report.xml"
        options = ["--nbval", "--nbval-current-env", f"--nbval-sanitize-with={ROOT}/notebooks/sanitize.cfg"]
        command = [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", *options, folder]
        done = subprocess.run(
            [*command, "-p", "no:cacheprovider", f"--junitxml={report}", "--nbval-cell-timeout=60"],
            capture_output=True,
            text=True,
            cwd=folder,
        )
        assert done.returncode in (0, 1), done.stdout + done.stderr
        failed: dict[str, list[str]] = {path.stem: [] for path in folder.glob("*.ipynb")}
        for case in ElementTree.parse(report).iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                name = case.attrib["classname"]
                cells = nbformat.v4.reads((folder / name).read_text()).cells
                number = int(case.attrib["name"].removeprefix("Cell "))
                ids = [cell.get("id") for cell in cells if cell.cell_type == "code"]
                failed[name.removesuffix(".ipynb")].append(ids[number])
        return failed

    return run
