"""The notebooks as the site needs them: cells by their ids, and copies in which each cell has an address."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nbformat

import gate

ROOT = Path(__file__).resolve().parents[1]
COLAB_CELL = "colab-cell"
WRONG = re.compile(r"^## .*What articles often get wrong", re.MULTILINE)

Node = dict[str, Any]


@dataclass(frozen=True)
class Notebook:
    """A saved notebook of the course.

    Parameters
    ----------
    path : Path
        Its file below notebooks/.
    cells : list of dict
        As saved.
    """

    path: Path
    cells: list[Node]

    @property
    def number(self) -> str:
        """The two digits that its name begins with; empty for the gallery and for solutions."""
        found = re.match(r"\d\d(?=_)", self.path.name)
        return found[0] if found and not self.is_solution else ""

    @property
    def is_solution(self) -> bool:
        """Whether it holds the worked solutions of another one."""
        return self.path.parent.name == "solutions"

    @property
    def title(self) -> str:
        """The heading of its first cell."""
        return str(self.cells[0]["source"]).partition("\n")[0].removeprefix("# ")

    @property
    def question(self) -> str:
        """The first sentence of its opening that is set in bold, as Markdown."""
        opening = self.cells[0]["source"] + "\n\n" + (self.cells[1]["source"] if len(self.cells) > 1 else "")
        return " ".join(found[1].split()) if (found := re.search(r"\*\*(.+?\?)\*\*", opening, re.S)) else ""

    def cell(self, name: str) -> Node:
        """The cell of this id; KeyError if there is none."""
        for cell in self.cells:
            if cell["id"] == name:
                return cell
        raise KeyError(f"notebook {self.path.name} has no cell {name!r}")

    def page(self, to: str = "") -> str:
        """Address of its page from the root of the site, or that of one of its cells."""
        folder = "solutions/" if self.is_solution else ""
        return f"notebooks/{folder}{self.path.stem}.html" + (f"#{to}" if to else "")

    def sections(self) -> dict[str, tuple[str, str]]:
        """Number of each section, with its title and the id of its cell: {"4": ("A soft memory", …)}."""
        found = {}
        for cell in self.cells:
            if cell["cell_type"] == "markdown":
                for number, title in re.findall(r"^## (\d+) · (.+)$", cell["source"], re.MULTILINE):
                    found[number] = (title, cell["id"])
        return found

    def section_of(self, name: str) -> str:
        """What to look for in the outline to find a cell: "§ 4", or the title where none is numbered."""
        heading = ""
        for cell in self.cells:
            if cell["cell_type"] == "markdown":
                for found in re.findall(r"^## (.+)$", cell["source"], re.MULTILINE):
                    heading = found
            if cell["id"] == name:
                break
        number = heading.partition(" · ")[0]
        return f"§ {number}" if number.isdigit() else heading


def read(path: Path) -> Notebook:
    """A notebook from its file."""
    return Notebook(path, nbformat.read(path, as_version=4).cells)


@functools.cache
def course(folder: Path = ROOT / "notebooks") -> list[Notebook]:
    """The notebooks of the course that are there, in their order, then the gallery, then the solutions."""
    paths = sorted(folder.glob("*.ipynb"), key=lambda path: (not path.name[0].isdigit(), path.name))
    return [read(path) for path in [*paths, *sorted((folder / "solutions").glob("*.ipynb"))]]


def printed(cell: Node) -> str:
    """What a saved code cell shows, as text: its output, then the words of its pictures."""
    parts = []
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream":
            parts.append(output["text"].rstrip())
        elif output["output_type"] == "error":
            parts.append(f"{output['ename']}: {output['evalue']}")
        elif alt := output.get("metadata", {}).get("image/png", {}).get("alt"):
            parts.append(f"[picture] {alt}")
        elif text := output.get("data", {}).get("text/plain"):
            parts.append(text)
    return "\n".join(parts)


def wrong_sentences(notebook: Notebook) -> Iterator[tuple[str, str, str, str]]:
    """Each sentence that articles often get wrong: it, the answer, the cell that proves it, what that prints.

    Sentences stand in bold and quotes. Its proof is the code cell that follows at once; without one, the cell
    where it stands, and the sections that its answer names.
    """
    cells, inside = notebook.cells, False
    for cell, after in zip(cells, [*cells[1:], None], strict=True):
        if cell["cell_type"] != "markdown":
            continue
        if re.search(r"^## ", cell["source"], re.MULTILINE):
            inside = bool(WRONG.search(cell["source"]))
        if not inside:
            continue
        parts = re.split(r'\*\*["“](.+?)["”]\*\*', cell["source"], flags=re.DOTALL)[1:]
        for at in range(0, len(parts), 2):
            is_last = at + 2 == len(parts)
            proof = after if is_last and after is not None and after["cell_type"] == "code" else None
            answer = parts[at + 1].strip().removeprefix(";").strip()
            yield (
                parts[at].strip(),
                answer,
                (proof or cell)["id"],
                printed(proof) if proof is not None else "",
            )


def staged(notebook: Notebook, live: dict[str, str], gallery: dict[str, str]) -> str:
    """Text of the copy that Sphinx reads: an anchor before every cell, live widgets, folded lecturer's notes.

    Parameters
    ----------
    notebook : Notebook
        As saved: its outputs are shown as they are, nothing is run.
    live : dict
        Address, seen from the notebook's page, of the live page of each of its widgets, by cell id.
    gallery : dict
        Address of a live example by the name of the function that makes it, for widgets without a page.
    """
    cells = []
    for cell in notebook.cells:
        if cell["id"] == COLAB_CELL:
            continue  # the launch button leads there
        if cell["cell_type"] == "markdown":
            cells.append({**cell, "source": _with_own_links(_with_anchor(cell), notebook)})
            continue
        cells += [_markdown(f"{cell['id']}-anchor", _anchor(cell["id"])), _with_words(cell)]
        if cell["id"] in live:
            cells.append(_markdown(f"{cell['id']}-live", _frame(live[cell["id"]], printed(cell))))
            cells[-2]["metadata"]["tags"] = [*gate.tags(cell), "remove-output"]
        elif example := next((to for name, to in gallery.items() if _shows(cell, name)), None):
            note = f'<p class="live-note">Without a kernel this is a picture; <a href="{example}">one of its'
            cells.append(_markdown(f"{cell['id']}-live", f"{note} kind is alive in the gallery</a>.</p>"))
    metadata = {**gate.NOTEBOOK_METADATA}
    whole = nbformat.v4.new_notebook(cells=[nbformat.from_dict(cell) for cell in cells], metadata=metadata)
    text: str = nbformat.v4.writes(whole)
    return text


def _shows(cell: Node, function: str) -> bool:
    """Whether a cell ends in a widget that this function makes, with its picture saved."""
    result = any(output["output_type"] == "execute_result" for output in cell["outputs"])
    return result and re.search(rf"\b{function}\(", cell["source"]) is not None


def _markdown(name: str, source: str) -> Node:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def _anchor(name: str) -> str:
    return f'<div class="cell-anchor" id="{name}"></div>'


def _with_anchor(cell: Node) -> str:
    """The source of a Markdown cell behind its anchor; only a title must stay first."""
    source: str = cell["source"]
    if source.startswith("# "):
        title, _, rest = source.partition("\n")
        return f"{title}\n\n{_anchor(cell['id'])}\n\n{rest}"
    if source.startswith(gate.LECTURER):
        rest = source.removeprefix(gate.LECTURER).strip()
        source = f'<details class="lecturer"><summary>For the lecturer</summary>\n\n{rest}\n\n</details>'
    return f"{_anchor(cell['id'])}\n\n{source}"


def _with_own_links(source: str, notebook: Notebook) -> str:
    """Links into the same notebook, which Jupyter makes of the words of a heading, as links to its cell."""
    cells = {
        heading.strip().replace(" ", "-"): cell["id"]
        for cell in notebook.cells
        if cell["cell_type"] == "markdown"
        for heading in re.findall(r"^#+ (.+)$", cell["source"], re.MULTILINE)
    }

    def link(match: re.Match[str]) -> str:
        to = cells.get(unquote(match[2]))
        return f'<a href="#{to}">{match[1]}</a>' if to else match[0]

    return re.sub(r"\[([^\]]+)\]\(#([^)\s]+)\)", link, source)


def _with_words(cell: Node) -> Node:
    """A code cell whose pictures have their alternative text where myst-nb looks for it."""
    words = [output.get("metadata", {}).get("image/png", {}).get("alt", "") for output in cell["outputs"]]
    alt = " ".join(word for word in words if word)
    return {**cell, "metadata": {**cell["metadata"], **({"mystnb": {"image": {"alt": alt}}} if alt else {})}}


def _frame(address: str, alt: str) -> str:
    title = html.escape(alt.removeprefix("[picture] "), quote=True).replace("\n", " ")
    return (
        f'<iframe class="live" src="{address}" title="{title}" loading="lazy"></iframe>\n'
        f'<p class="live-note">Alive, without a kernel. <a href="{address}">On a page of its own</a></p>'
    )
