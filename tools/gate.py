"""Refuse notebooks that nbval would pass although their reader sees something else, or nothing.

nbval runs a notebook and compares what its cells print with what is saved. It passes a notebook whose outputs
were stripped, a picture that is missing or garbage, a cell that was to raise and was saved without its error.
This gate reads the saved file alone, in milliseconds, and names each such fault by the id of its cell:

    python tools/gate.py [NOTEBOOK ...]        # without arguments: every notebook below notebooks/

What nbval catches is left to it: a wrong number, a cell that no longer raises what its saved output shows.
"""

from __future__ import annotations

import ast
import base64
import binascii
import itertools
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

ROOT = Path(__file__).resolve().parents[1]

# What a saved notebook may say about itself. Everything else is one program's memory of one session.
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
CELL_METADATA = {"tags", "slideshow", "nbgrader", "bertlab"}
PICTURE_METADATA = {"alt", "width", "height"}
MIME_TYPES = {"text/plain", "text/html", "text/markdown", "text/latex", "image/png"}
WIDGET = "application/vnd.jupyter.widget-view+json"

RAISES, FREE = "raises-exception", "nbval-ignore-output"
HIDING_TAGS = {"nbval-skip", "skip-execution", "nbval-raises-exception", "nbval-check-output"}
HIDING_COMMENT = re.compile(r"^\s*#+\s*(NBVAL_|PYTEST_VALIDATE_)\w+\s*$", re.MULTILINE)

MAX_FREE = 3  # free cells a notebook
MAX_LINES = 40  # lines a code cell
MAX_PICTURE = 300_000  # bytes a picture
MAX_NOTEBOOK = 3_000_000  # bytes a notebook

CELL_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
RANDOM_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
LECTURER = "*For the lecturer.*"  # how a notes cell begins: readers see it too
HEADING = re.compile(r"^(#{1,6})\s", re.MULTILINE)
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
MACHINE_PATH = re.compile(r"(?<![\w.])(/home/|/Users/|/root/|/tmp/|/var/folders/|[A-Z]:\\Users\\)")
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")

Node = dict[str, Any]


class Fault(NamedTuple):
    """One thing that is wrong, in a sentence with its fix."""

    where: str  # id of the cell, or "notebook" for the file itself
    what: str


def tags(cell: Node) -> list[str]:
    """Tags of a cell."""
    found: list[str] = cell["metadata"].get("tags", [])
    return found


def free_cells(notebook: Node) -> dict[str, str]:
    """Reason of each cell whose output is not compared, by cell id; "" where none is given."""
    return {
        cell.get("id", "?"): cell["metadata"].get("bertlab", {}).get("free", "").strip()
        for cell in notebook["cells"]
        if FREE in tags(cell)
    }


def faults(text: str) -> list[Fault]:
    """Everything that is wrong with a saved notebook, given as the text of its file."""
    try:
        raw = json.loads(text)
        notebook = nbformat.v4.reads(text)
        cells = [(cell.get("id", f"cell {n}"), cell) for n, cell in enumerate(notebook["cells"], 1)]
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        return [Fault("notebook", f"is not a notebook of format 4.5 ({error}): restore it from git")]
    found = [Fault("notebook", what) for what in _notebook_faults(text, raw, notebook)]
    found += [Fault("notebook", what) for what in _heading_faults(notebook)]
    found += [Fault(*fault) for fault in _id_faults(notebook["cells"])]
    found += [Fault(*fault) for fault in _count_faults(cells)]
    for name, cell in cells:
        found += [Fault(name, what) for what in _cell_faults(cell)]
        if cell["cell_type"] == "code":
            found += [Fault(name, what) for what in _code_faults(cell)]
            for output in cell["outputs"]:
                found += [Fault(name, what) for what in _output_faults(output, free=FREE in tags(cell))]
    return found


def _notebook_faults(text: str, raw: Node, notebook: Node) -> Iterator[str]:
    if (version := (raw.get("nbformat"), raw.get("nbformat_minor"))) != (4, 5):
        yield f"has format {version[0]}.{version[1]}: save it as 4.5, which has cell ids"
    if "widgets" in notebook["metadata"]:
        yield "carries widget state, which changes at every run: write it with tools/refresh.py"
    elif notebook["metadata"] != NOTEBOOK_METADATA:
        yield f"has metadata {json.dumps(notebook['metadata'])[:80]}…: write it with tools/refresh.py"
    if text != nbformat.v4.writes(notebook) + "\n":
        yield "is not written as nbformat writes it (indent 1, keys sorted): run tools/refresh.py"
    if len(text.encode()) > MAX_NOTEBOOK:
        yield f"has {len(text.encode()):,} bytes, at most {MAX_NOTEBOOK:,}: draw fewer or smaller pictures"
    if len(free_cells(notebook)) > MAX_FREE:
        yield f"has {len(free_cells(notebook))} free cells, at most {MAX_FREE}: print what holds everywhere"


def _heading_faults(notebook: Node) -> Iterator[str]:
    cells = notebook["cells"]
    levels = [
        len(hashes)
        for cell in cells
        if cell["cell_type"] == "markdown"
        for hashes in HEADING.findall(FENCED.sub("", cell["source"]))
    ]
    if not cells or cells[0]["cell_type"] != "markdown" or levels[:1] != [1]:
        yield "does not open with its title: make the first cell markdown that begins with '# '"
    if levels.count(1) > 1:
        yield f"has {levels.count(1)} headings of level 1: keep '# ' for the title"
    if jump := next((b for a, b in itertools.pairwise(levels) if b > a + 1), None):
        yield f"skips a heading level on its way to '{'#' * jump}': the outline needs each one"


def _id_faults(cells: Sequence[Node]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for n, cell in enumerate(cells, 1):
        name = cell.get("id")
        if name is None:
            yield f"cell {n}", "has no id: give it one that says what it does, such as 'attn-03-plot'"
        elif name in seen:
            yield name, "is the id of two cells: rename one"
        elif not CELL_ID.fullmatch(name) or RANDOM_ID.fullmatch(name):
            yield name, "has an id that no one gave it: write words with hyphens, such as 'attn-03-plot'"
        seen.add(name or "")


def _count_faults(cells: Sequence[tuple[str, Node]]) -> Iterator[tuple[str, str]]:
    code = [(name, cell) for name, cell in cells if cell["cell_type"] == "code"]
    for name, cell in code:
        if cell["execution_count"] is None:
            yield name, "was never run, or its output was stripped: run tools/refresh.py"
    ran = [(name, cell["execution_count"]) for name, cell in code if cell["execution_count"] is not None]
    wrong = [(name, got, n) for n, (name, got) in enumerate(ran, 1) if got != n]
    if len(ran) == len(code) and wrong:
        name, got, expected = wrong[0]
        yield name, f"ran as number {got} but stands as number {expected}: run tools/refresh.py"


def _cell_faults(cell: Node) -> Iterator[str]:
    if extra := sorted(set(cell["metadata"]) - CELL_METADATA):
        yield f"has metadata {', '.join(extra)}: write it with tools/refresh.py"
    if hiding := sorted(HIDING_TAGS.intersection(tags(cell))):
        yield f"is tagged {', '.join(hiding)}: every cell runs; use {RAISES} or {FREE}"
    is_note = cell["metadata"].get("slideshow", {}).get("slide_type") == "notes"
    if is_note and not cell["source"].startswith(LECTURER):
        yield f"is a notes cell that readers take for theirs: begin it with {LECTURER}"
    if FREE in tags(cell) and RAISES in tags(cell):
        yield f"is tagged {FREE} and {RAISES}: nothing would notice when it stops raising; drop the first"
    note = cell["metadata"].get("bertlab", {})
    reason = note.get("free", "")
    if set(note) - {"free"}:
        yield f"has bertlab metadata {', '.join(sorted(set(note) - {'free'}))}: only 'free' means something"
    if FREE in tags(cell) and len(reason.split()) < 3:
        yield 'is free without a reason: add the metadata {"bertlab": {"free": "why its output differs"}}'
    if reason and FREE not in tags(cell):
        yield f"gives a reason to be free but lacks the tag {FREE}: drop the reason, or add the tag"


def _code_faults(cell: Node) -> Iterator[str]:
    source, outputs = cell["source"], cell["outputs"]
    if not source.strip():
        yield "is an empty code cell: delete it"
    if comment := HIDING_COMMENT.search(source):
        yield f"hides from nbval by the comment '{comment[0].strip()}': use a tag, readers see comments"
    if (lines := source.count("\n") + 1) > MAX_LINES:
        yield f"has {lines} lines, at most {MAX_LINES}: one idea a cell, the rest belongs into bertlab"
    errors = sum(output["output_type"] == "error" for output in outputs)
    if RAISES in tags(cell) and not errors:
        yield f"is tagged {RAISES} but saved without an error: the failure it promises did not happen"
    if errors and RAISES not in tags(cell):
        yield f"was saved with an error: mend it, or tag it {RAISES} if it is meant to fail"
    pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    if (shows := _calls_of_show(source)) > pictures:
        yield f"calls show() {shows} times but {pictures} pictures are saved: run tools/refresh.py"


def _calls_of_show(source: str) -> int:
    """Calls of `show` or `….show` that run with the cell itself, not inside a function it defines."""
    try:
        tree = ast.parse(TransformerManager().transform_cell(source))
    except SyntaxError:  # a cell that is meant to fail so
        return 0
    count, nodes = 0, list[ast.AST]([tree])
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            count += name == "show"
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            nodes += ast.iter_child_nodes(node)
    return count


def _output_faults(output: Node, free: bool) -> Iterator[str]:
    kind, data = output["output_type"], output.get("data", {})
    if kind == "stream" and output["name"] == "stderr":
        yield f"has saved stderr ({output['text'].strip()[:60]!r}): mend what it warns of"
    if WIDGET in data:
        yield "has a saved widget view, which shows an error when opened again: run tools/refresh.py"
    if other := sorted(set(data) - MIME_TYPES - {WIDGET}):
        yield f"has a saved output of type {', '.join(other)}: text, HTML and PNG are shown everywhere"
    if "<script" in data.get("text/html", "").lower():
        yield "has a script in its saved HTML, which no untrusted notebook runs: save text or a picture"
    yield from _picture_faults(data, output.get("metadata", {}))
    text = "\n".join(_texts(output))
    if path := MACHINE_PATH.search(text):
        yield f"shows a path of one machine ({text[path.start() :][:40]!r}): print the name alone"
    if not free and (address := ADDRESS.search(text)):
        yield f"shows the memory address {address[0]}: print what the object holds"


def _picture_faults(data: Node, metadata: Node) -> Iterator[str]:
    about = metadata.get("image/png", {})
    if extra := sorted(set(metadata) - {"image/png"}) + sorted(set(about) - PICTURE_METADATA):
        yield f"has output metadata {', '.join(extra)}: write it with tools/refresh.py"
    if "image/png" not in data:
        if about or data.get("text/plain", "").startswith("<Figure size"):
            yield "has lost its picture (text of a figure, no image/png): run tools/refresh.py"
        return
    try:
        image = base64.b64decode(data["image/png"], validate=False)
    except binascii.Error:
        image = b""
    if not (image.startswith(b"\x89PNG\r\n\x1a\n") and image.endswith(b"IEND\xaeB`\x82")):
        yield "has an image/png that is no PNG: run tools/refresh.py"
    if len(image) > MAX_PICTURE:
        yield f"has a picture of {len(image):,} bytes, at most {MAX_PICTURE:,}: fewer pixels say the same"
    if not about.get("alt", "").strip():
        yield "has a picture without alternative text: show it by bertlab.viz.show(fig, alt=…)"


def _texts(output: Node) -> Iterator[str]:
    data = output.get("data", {})
    yield from (value for mime, value in data.items() if mime.startswith("text/"))
    yield from (output.get(key, "") for key in ("text", "evalue"))
    yield from output.get("traceback", [])


def notebooks(arguments: Sequence[str]) -> list[Path]:
    """Notebooks named on the command line, or all of the course."""
    paths = [Path(name) for name in arguments] or [ROOT / "notebooks"]
    found = [p for path in paths for p in (sorted(path.rglob("*.ipynb")) if path.is_dir() else [path])]
    return [path for path in found if ".ipynb_checkpoints" not in path.parts]


def main(arguments: Sequence[str]) -> int:
    """Print every fault of every notebook, and which cells are free; 0 if there is no fault."""
    paths, refused, cells, free = notebooks(arguments), 0, 0, list[str]()
    for path in paths:
        try:
            text = path.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            print(f"{path}: cannot be read ({error})")
            refused += 1
            continue
        if found := faults(text):
            print(*(f"{path.name}, {where}: {what}" for where, what in found), sep="\n")
            refused += 1
            continue
        notebook = nbformat.v4.reads(text)
        cells += sum(cell["cell_type"] == "code" for cell in notebook["cells"])
        free += [f"  {path.name}, {name}: {reason}" for name, reason in free_cells(notebook).items()]
    print(f"{len(paths)} notebooks, {refused} refused; {len(free)} of {cells} code cells print freely")
    print(*free, sep="\n", end="\n" if free else "")
    return int(refused > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
