"""The page of claims: what introductions say, our verdict, and the cell of a notebook that proves it.

docs/claims.toml has the claims and, by cell id, their proofs; notebooks that end in a table of claims (a cell
whose id ends in ``-claims``: what one reads, verdict, where) prove theirs by its rows. A notebook that is
there and does not prove a claim it owes fails the build:

    python tools/site_claims.py       # says what is missing, and what is not yet there
"""

from __future__ import annotations

import html
import re
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from site_book import ROOT, Notebook, course, printed

CLAIMS = ROOT / "docs" / "claims.toml"
VERDICTS = {
    "holds": "holds",
    "care": "in a sense that must be stated",
    "wrong": "wrong",
    "open": "see the row",
}

Entry = dict[str, Any]


@dataclass
class Proof:
    """Where a notebook decides a claim.

    Parameters
    ----------
    notebook : Notebook
        Which one.
    cell : str
        Id of the cell.
    says : str
        The verdict of the notebook's own table; empty where the list of claims has it.
    shown : str
        What the cell has printed.
    """

    notebook: Notebook
    cell: str
    says: str = ""
    shown: str = ""


@dataclass
class Judged:
    """A claim with its proofs, and the notebooks that are still to prove it."""

    entry: Entry
    part: str
    proofs: list[Proof] = field(default_factory=list)
    waits_for: list[str] = field(default_factory=list)


def read_claims(path: Path = CLAIMS) -> tuple[dict[str, str], list[tuple[str, Entry]]]:
    """Titles of all notebooks by number, and every claim with the title of its part."""
    text = tomllib.loads(path.read_text("utf-8"))
    return text["notebooks"], [(part["title"], claim) for part in text["part"] for claim in part["claim"]]


def rows(notebook: Notebook) -> list[tuple[str, str, str, str]]:
    """The rows of a notebook's table of claims: what one reads, verdict, sections, id of the cell."""
    found = []
    for cell in notebook.cells:
        if cell["cell_type"] == "markdown" and cell["id"].endswith("-claims"):
            lines = [line for line in cell["source"].splitlines() if line.startswith("|")]
            for line in lines[2:]:
                says, verdict, where = (part.strip() for part in re.split(r"(?<!\\)\|", line)[1:4])
                found.append((says, verdict, where, cell["id"]))
    return found


def _plain(text: str) -> str:
    """A sentence without what a writer may change without meaning another."""
    return " ".join(re.sub(r"[^\w<>\[\]% ]", " ", text.lower()).split())


def judge(
    claims: Sequence[tuple[str, Entry]], notebooks: Sequence[Notebook]
) -> tuple[list[Judged], list[str]]:
    """Every claim with its proofs; and in a sentence each, what is missing.

    Parameters
    ----------
    claims : sequence of (part, claim)
        As `read_claims` gives them.
    notebooks : sequence of Notebook
        Those that are there.
    """
    there = {notebook.number: notebook for notebook in notebooks if notebook.number}
    judged, missing = [], []
    for part, entry in claims:
        one = Judged(entry, part, waits_for=[number for number in entry["in"] if number not in there])
        for number, name in (proof.split() for proof in entry.get("proofs", [])):
            if number not in there:
                missing.append(f"claim {entry['number']}: notebook {number}, its proof, is not there")
                continue
            try:
                cell = there[number].cell(name)
            except KeyError as error:
                missing.append(f"claim {entry['number']}: {error.args[0]}")
                continue
            if shown := printed(cell):
                one.proofs.append(Proof(there[number], name, shown=shown))
            else:
                missing.append(f"claim {entry['number']}: cell {name} of notebook {number} shows nothing")
        for number in set(entry["in"]) & set(there):
            one.proofs += _proofs_by_row(entry, there[number])
        for number in entry["in"]:
            if number in there and all(proof.notebook.number != number for proof in one.proofs):
                missing.append(
                    f"claim {entry['number']} ({entry['says'][:60]}…) has no proof in notebook {number}: "
                    "name its cell in docs/claims.toml, or give it a row in the notebook's table of claims"
                )
        if one.proofs and not entry.get("answer") and not any(proof.says for proof in one.proofs):
            missing.append(
                f"claim {entry['number']} is proved and has no answer: write one in docs/claims.toml"
            )
        judged.append(one)
    return judged, missing


def _proofs_by_row(entry: Entry, notebook: Notebook) -> list[Proof]:
    wanted = _plain(entry["row"] if "row" in entry else entry["says"])
    found: list[Proof] = []
    for says, verdict, where, cell in rows(notebook):
        if wanted in _plain(says):
            sections = notebook.sections()
            numbers = [number for number in re.findall(r"\d+", where) if number in sections]
            found += [Proof(notebook, sections[number][1], verdict) for number in numbers] or [
                Proof(notebook, cell, verdict)
            ]
    return found


def page(judged: Sequence[Judged], titles: dict[str, str]) -> str:
    """The page as Markdown; links are seen from the root of the site."""
    proved = [one for one in judged if one.proofs]
    lines = [
        "# What introductions say, and what is so",
        "",
        "Popular introductions to the Transformer and to BERT make these claims; we say them in our own "
        "words. Each verdict leads to the cell of the notebook that decides it, with what that cell has "
        "printed. Many are right. Most of the others are right *in a sense that must be stated*.",
        "",
        f"{len(judged)} claims, {len(proved)} decided here, {len(judged) - len(proved)} not yet.",
        "",
    ]
    part = ""
    for one in judged:
        if one.part != part:
            part = one.part
            lines += [f"## {part}", ""]
        lines += _lines_of(one, titles)
    waiting = [one for one in judged if one.waits_for]
    if waiting:
        lines += ["## Not yet", "", "These wait for a notebook that is being written.", ""]
        for one in waiting:
            where = ", ".join(f"{number} ({titles[number]})" for number in one.waits_for)
            number = one.entry["number"]
            lines.append(f'- <a href="#claim-{number}">{number}</a>: notebook {where}')
    return "\n".join(lines) + "\n"


def _lines_of(one: Judged, titles: dict[str, str]) -> list[str]:
    entry, number = one.entry, one.entry["number"]
    verdict = entry.get("verdict", "open") if one.proofs else "not yet"
    shown = VERDICTS.get(verdict, verdict)
    said = html.escape(entry["says"])
    lines = [
        f'<div class="claim" id="claim-{number}">',
        f'<p><a class="number" href="#claim-{number}">{number}</a> “{said}” ',
        f'<span class="verdict {verdict.replace(" ", "-")}">{shown}</span></p>',
    ]
    if answer := entry.get("answer"):
        lines.append(f"<p>{html.escape(answer)}</p>")
    by_notebook: dict[tuple[str, str], list[Proof]] = {}
    for proof in one.proofs:
        by_notebook.setdefault((proof.notebook.number, proof.says), []).append(proof)
    for (notebook, says), proofs in by_notebook.items():
        links = ", ".join(_link(proof) for proof in proofs if not proof.shown)
        lines.append(
            f'<p class="where">{notebook} {html.escape(titles[notebook])}'
            f"{f': {_inline(says)}' if says else ''}{f' ({links})' if links else ''}</p>"
        )
        lines += [_details(proof) for proof in proofs if proof.shown]
    if one.waits_for:
        where = ", ".join(f"{at} {html.escape(titles[at])}" for at in one.waits_for)
        lines.append(f'<p class="where">Being written: {where}</p>')
    return [*lines, "</div>", ""]


def _link(proof: Proof) -> str:
    label = html.escape(proof.notebook.section_of(proof.cell))
    return f'<a href="{proof.notebook.page(proof.cell)}">{label}</a>'


def _details(proof: Proof) -> str:
    text = html.escape(proof.shown).replace("\n\n", "\n&#8203;\n")  # an empty line would end the HTML
    return (
        f"<details><summary>{_link(proof)}: what the cell <code>{proof.cell}</code> prints</summary>"
        f"<pre>{text}</pre></details>"
    )


def _inline(markdown: str) -> str:
    """The little Markdown of a table's cell as HTML."""
    text = html.escape(markdown, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)


def main() -> int:
    """Print what is missing and what is not yet there; 0 if nothing is missing."""
    _, claims = read_claims()
    judged, missing = judge(claims, course())
    for one in judged:
        if one.waits_for:
            print(f"claim {one.entry['number']} waits for {', '.join(one.waits_for)}")
    print(*missing, sep="\n", end="\n" if missing else "")
    print(f"{len(judged)} claims, {sum(bool(one.proofs) for one in judged)} decided, {len(missing)} missing")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
