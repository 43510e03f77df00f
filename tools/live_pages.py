"""Save the widgets of notebooks as pages that live without a kernel, for the site.

    python tools/live_pages.py [NOTEBOOK ...]        # without arguments: every notebook of notebooks/

Widgets are not saved in a notebook (their state would change at every run), so it is run once, here, in this
process. What comes out stands in build/live/NOTEBOOK/CELL.html, and is made again if the notebook changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

import gate
from bertlab.viz.widget import Widget
from site_book import COLAB_CELL, ROOT, Notebook, read

LIVE = ROOT / "build" / "live"
MAX_PAGE = 1_500_000  # bytes: a longer text than this holds is a picture on the site


def mark(notebook: Notebook) -> str:
    """What changes when the code of a notebook does."""
    code = "\0".join(cell["source"] for cell in notebook.cells if cell["cell_type"] == "code")
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def save_widgets(notebook: Notebook, folder: Path) -> list[str]:
    """Run a notebook here and save every widget that a cell ends in; the ids of these cells.

    Raises
    ------
    RuntimeError
        If a cell raises that is not meant to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(notebook.path.parent)
    shell = InteractiveShell.instance()
    saved = []
    for cell in notebook.cells:
        if cell["cell_type"] != "code" or cell["id"] == COLAB_CELL:
            continue
        with contextlib.redirect_stdout(io.StringIO()) as said:
            done = shell.run_cell(cell["source"])
        if not done.success and gate.RAISES not in gate.tags(cell):
            raise RuntimeError(f"{notebook.path.name}, {cell['id']}: {said.getvalue()[-300:]}")
        if isinstance(done.result, Widget):
            path = done.result.save(folder / f"{cell['id']}.html", overwrite=True)
            if path.stat().st_size > MAX_PAGE:
                path.unlink()
            else:
                saved.append(cell["id"])
    return saved


def is_made(notebook: Notebook, live: Path = LIVE) -> bool:
    """Whether the pages of a notebook are there, and are those of its present code."""
    made = live / notebook.path.stem / ".mark"
    return made.exists() and made.read_text() == mark(notebook)


def main(arguments: Sequence[str]) -> int:
    """Make the pages that are missing or old, a process for each notebook; 0 if all could be made."""
    if arguments[:1] == ["--here"]:
        notebook = read(Path(arguments[1]).resolve())
        folder = LIVE / notebook.path.stem
        shutil.rmtree(folder, ignore_errors=True)
        saved = save_widgets(notebook, folder)
        (folder / ".mark").write_text(mark(notebook))
        print(f"{notebook.path.name}: {len(saved)} live", flush=True)
        return 0
    failed = 0
    for path in gate.notebooks(arguments):
        if path.parent.name != "solutions" and not is_made(read(path)):
            command = [sys.executable, __file__, "--here", str(path)]
            failed += subprocess.run(command, env={**os.environ, "MPLBACKEND": "agg"}).returncode != 0
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
