"""Run notebooks from a fresh kernel and save their outputs: the only writer of outputs in this repository.

    python tools/refresh.py [NOTEBOOK ...]        # without arguments: every notebook below notebooks/

Two runs write the same bytes: what differs from run to run is not saved (times, versions, widget state), nor
is what another program left in the metadata. A file is replaced in one step, and only if all its cells ran.
"""

from __future__ import annotations

import base64
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

import gate

CELL_TIMEOUT = 300  # seconds; nbval is given the same


class NotebookFailed(Exception):
    """A notebook did not run as it promises; the message names the cell."""


def execute(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Run all cells in order in a new kernel whose working directory is `folder`.

    Raises
    ------
    NotebookFailed
        If a cell raises, takes more than 300 s, ends the kernel, or is to raise and does not.
    """
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=CELL_TIMEOUT,
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        extra_arguments=["--IPKernelApp.log_level=40"],  # errors only: it warns of how it talks to us
        resources={"metadata": {"path": str(folder)}},
    )
    with client.setup_kernel():
        for number, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                _execute_cell(client, cell, number)


def _execute_cell(client: NotebookClient, cell: nbformat.NotebookNode, number: int) -> None:
    try:
        client.execute_cell(cell, number)
    except CellExecutionError as error:
        raise NotebookFailed(f"cell {cell.id} raised {error.ename}: {error.evalue}") from error
    except CellTimeoutError as error:
        raise NotebookFailed(f"cell {cell.id} took more than {CELL_TIMEOUT} s") from error
    except DeadKernelError as error:
        raise NotebookFailed(f"cell {cell.id} ended the kernel (out of memory, or an exit)") from error
    if gate.RAISES in gate.tags(cell) and not any(output.output_type == "error" for output in cell.outputs):
        raise NotebookFailed(f"cell {cell.id} is tagged {gate.RAISES} and did not raise")


def canonical(notebook: nbformat.NotebookNode) -> str:
    """Reduce an executed notebook, in place, to what may be saved; return the text of its file."""
    notebook.metadata = nbformat.from_dict(gate.NOTEBOOK_METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        _keep_only(cell.metadata, gate.CELL_METADATA)
        for output in cell.get("outputs", []):
            _clean_output(output)
    text: str = nbformat.v4.writes(notebook)
    return text + "\n"


def _clean_output(output: nbformat.NotebookNode) -> None:
    if output.output_type == "error":
        output.traceback = [f"{output.ename}: {output.evalue}"]  # the frames name files of this machine
    data, metadata = output.get("data", {}), output.get("metadata", {})
    # A widget's model is gone when the file is opened again: keep the picture beside it alone.
    data.pop(gate.WIDGET, None)
    _keep_only(metadata, {"image/png"})
    _keep_only(metadata.get("image/png", {}), gate.PICTURE_METADATA)
    if "image/png" in data:
        image = base64.b64decode(data["image/png"])
        data["image/png"] = base64.b64encode(without_text(image)).decode("ascii")


def _keep_only(mapping: dict[str, Any], keys: set[str]) -> None:
    for key in set(mapping) - keys:
        del mapping[key]


def without_text(png: bytes) -> bytes:
    """Leave out the text and time chunks of a PNG, where matplotlib writes its version."""
    kept, at = png[:8], 8
    while at < len(png):
        end = at + 12 + int.from_bytes(png[at : at + 4], "big")  # length, type, data, checksum
        if png[at + 4 : at + 8] not in (b"tEXt", b"iTXt", b"zTXt", b"tIME"):
            kept += png[at:end]
        at = end
    return kept


def stillless_widgets(notebook: nbformat.NotebookNode) -> list[str]:
    """Ids of the cells that show a widget with no picture beside it, so nothing to a reader without a kernel.

    A progress bar, whose text is a count such as 0/90, may vanish.
    """
    return [
        cell.id
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if gate.WIDGET in output.get("data", {})
        and not {"image/png", "text/html"} & set(output.data)
        and gate.FREE not in gate.tags(cell)
        and "0/" not in output.data.get("text/plain", "")
    ]


def write(path: Path, text: str) -> bool:
    """Replace a file in one step; False if it held these bytes already."""
    new = text.encode()
    if path.read_bytes() == new:
        return False
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(new)
        os.chmod(name, path.stat().st_mode & 0o777)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    return True


def refresh(path: Path) -> tuple[bool, list[str]]:
    """Run one notebook and save it.

    Returns
    -------
    changed : bool
        False if the file held these bytes already.
    remarks : list of str
        What the gate will refuse, in a sentence each.

    Raises
    ------
    NotebookFailed
        If it did not run through; the file is as it was.
    """
    notebook = nbformat.read(path, as_version=4)
    execute(notebook, path.parent)
    remarks = [f"{name}: shows a widget that has no still picture" for name in stillless_widgets(notebook)]
    text = canonical(notebook)
    return write(path, text), remarks + [f"{where}: {what}" for where, what in gate.faults(text)]


def main(arguments: Sequence[str]) -> int:
    """Refresh notebooks one after the other; 0 if all ran and the gate has nothing to say."""
    failed = 0
    for path in gate.notebooks(arguments):
        start = time.perf_counter()
        print(f"{path.name} … ", end="", flush=True)
        try:
            changed, remarks = refresh(path)
        except (NotebookFailed, OSError, ValueError) as error:
            print(f"not saved: {error}")
            failed += 1
            continue
        print(f"{time.perf_counter() - start:.1f} s, {'rewritten' if changed else 'same bytes'}", flush=True)
        for remark in remarks:
            print(f"  {remark}")
        failed += bool(remarks)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
