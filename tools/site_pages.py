"""Pages of the site that are made from records: results, glossary, errata, front page, reference.

Each function returns Markdown whose links are seen from the root of the site.
"""

from __future__ import annotations

import html
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from site_book import ROOT, Notebook, wrong_sentences

REPOSITORY = "https://github.com/bertlab/bertlab"  # as in pyproject.toml; a test compares
FILES = f"{REPOSITORY}/blob/main"
LECTURES = ROOT / "docs" / "lectures.md"
ROOMS = {
    "reference": "the formulas in NumPy, forward and backward",
    "nn": "the same concepts in PyTorch",
    "text": "from words to ids",
    "datasets": "data by name, checked",
    "training": "loop, schedules, checkpoints, pre-training, results",
    "tasks": "what stands on top of BERT",
    "interop": "published weights in, ours out",
    "viz": "figures and widgets",
    "classroom": "checks for exercises",
}


def results(notebooks: Sequence[Notebook], folder: Path = ROOT / "data" / "results") -> str:
    """Every measured result: its question, what makes it again, its cost and machine, who shows it."""
    records = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
    minutes = sum(record["cost_core_minutes"] for record in records.values())
    lines = [
        "# Results, and how to make them again",
        "",
        f"{len(records)} experiments and benchmarks, {minutes / 60:.0f} hours of one core together. Each is "
        "one script that answers one question and writes one file; the notebooks plot what stands in it. "
        "`make results` makes all of them again and goes on where it stopped; `make bench` those beside "
        "others' code.",
        "",
        "| question | minutes of one core |",
        "| --- | ---: |",
    ]
    for name, record in records.items():
        lines.append(f'| <a href="#result-{name}">{html.escape(record["question"])}</a> | '
                     f"{record['cost_core_minutes']:,.1f} |")  # fmt: skip
    for name, record in records.items():
        lines += ["", *_result(name, record, notebooks)]
    return "\n".join(lines) + "\n"


def _result(name: str, record: dict[str, Any], notebooks: Sequence[Notebook]) -> Iterator[str]:
    folder = "benchmarks" if record["command"] == "make bench" else "experiments"
    versions = ", ".join(f"{package} {version}" for package, version in record["versions"].items())
    users = [
        f'<a href="{notebook.page(cell["id"])}">{_name_of(notebook)} {notebook.section_of(cell["id"])}</a>'
        for notebook in notebooks
        if not notebook.is_solution
        for cell in notebook.cells
        if cell["cell_type"] == "code" and re.search(rf'load_result\(\s*"{name}"', cell["source"])
    ]
    yield f'<div class="cell-anchor" id="result-{name}"></div>'
    yield ""
    yield f"## {record['question']}"
    yield ""
    yield "| | |"
    yield "| --- | --- |"
    yield f"| command | `{record['command']}` |"
    yield f"| script | [{folder}/{name}.py]({FILES}/{folder}/{name}.py) |"
    yield f'| all numbers | <a href="_static/results/{name}.json">{name}.json</a> |'
    yield f"| cost | {record['cost_core_minutes']:,.1f} minutes of one core |"
    yield f"| machine | {record['machine']} |"
    yield f"| versions | {versions} |"
    yield from _settings(record)
    yield f"| shown in | {', '.join(users) if users else 'no notebook yet'} |"


def _settings(record: dict[str, Any]) -> Iterator[str]:
    """Seeds and settings, where a record has them; in one line each."""
    if isinstance(arms := record.get("arms"), list):
        seeds = sorted({arm["seed"] for arm in arms if isinstance(arm, dict) and "seed" in arm})
        yield f"| arms | {len(arms)}{f', seeds {_listed(seeds)}' if seeds else ''} |"
    elif "seed" in record:
        yield f"| seed | {record['seed']} |"
    if isinstance(settings := record.get("settings"), dict):
        text = "; ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in settings.items())
        short = text if len(text) < 600 else text[:600].rsplit(";", 1)[0] + "; …"
        yield f"| settings | <code>{html.escape(short).replace('|', '&#124;')}</code> |"


def _listed(numbers: Sequence[Any]) -> str:
    return ", ".join(map(str, numbers))


def _name_of(notebook: Notebook) -> str:
    return notebook.number or notebook.title


def glossary(notebooks: Sequence[Notebook], path: Path = ROOT / "docs" / "glossary.toml") -> str:
    """Terms in English and Chinese (simplified and traditional), with symbol, shape, meaning and notebook."""
    terms = tomllib.loads(path.read_text("utf-8"))["term"]
    there = {notebook.number: notebook for notebook in notebooks if notebook.number}
    lines = [
        "# Glossary",
        "",
        "Shapes have one alphabet: B batch, T positions (Tq of the queries, Tk of the keys, Ts of a source, "
        "Tt of a target), D width, H heads, K width of a head, F feed-forward width, V vocabulary, L layers.",
        "",
        "| English | 简体 · 繁體 | symbol, shape | what it is | in |",
        "| --- | --- | --- | --- | --- |",
    ]
    for term in sorted(terms, key=lambda term: term["en"].lower()):
        notebook = there.get(term["in"])
        where = f'<a href="{notebook.page()}">{term["in"]}</a>' if notebook else term["in"]
        signs = "<br>".join(_cell(term[key]) for key in ("symbol", "shape") if term[key])
        name = re.sub(r"\W+", "-", term["en"].lower())
        lines.append(
            f'| <span id="term-{name}">{term["en"]}</span> | <span lang="zh-Hans">{term["hans"]}</span><br>'
            f'<span lang="zh-Hant">{term["hant"]}</span> | {signs} | {_cell(term["means"])} | {where} |'
        )
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text that can stand in a cell of a table."""
    return html.escape(text, quote=False).replace("|", "&#124;").replace("[", "\\[").replace("_", "\\_")


def errata(notebooks: Sequence[Notebook]) -> str:
    """What articles often get wrong: every sentence of the notebooks' own sections, with its proof."""
    lines = [
        "# What articles often get wrong",
        "",
        "Sentences as one meets them, in our words, and what is right. Each links to the place in its "
        "notebook; where a cell decides, what it prints stands below.",
    ]
    for notebook in notebooks:
        found = list(wrong_sentences(notebook)) if notebook.number else []
        if found:
            lines += ["", f"## {notebook.title}"]
        for sentence, answer, cell, shown in found:
            lines += ["", f"**“{sentence}”** {_with_sections(answer, notebook)}", ""]
            label = "the cell that decides" if shown else "where it stands"
            lines.append(f'<p class="where"><a href="{notebook.page(cell)}">{label}</a></p>')
            if shown:
                lines.append(
                    f"\n<pre>{html.escape(shown).replace(chr(10) * 2, chr(10) + '&#8203;' + chr(10))}</pre>"
                )
    return "\n".join(lines) + "\n"


def _with_sections(text: str, notebook: Notebook) -> str:
    """An answer whose "section 5" leads there."""
    sections = notebook.sections()

    def link(match: re.Match[str]) -> str:
        here = match[2] in sections and not text[: match.start()].endswith((", ", "notebook 04, "))
        return f'<a href="{notebook.page(sections[match[2]][1])}">{match[0]}</a>' if here else match[0]

    return re.sub(r"\b([Ss]ection) (\d+)\b", link, text)


def front(notebooks: Sequence[Notebook], titles: dict[str, str]) -> str:
    """The front page: what the course is, every notebook with its question, those being written."""
    there = {notebook.number: notebook for notebook in notebooks if notebook.number}
    text = (ROOT / "docs" / "index.md").read_text("utf-8")
    lines = ["| | notebook | question |", "| --- | --- | --- |"]
    for number, title in titles.items():
        if notebook := there.get(number):
            question = notebook.question or notebook.title.partition(" · ")[2]
            lines.append(f'| {number} | <a href="{notebook.page()}">{html.escape(title)}</a> | {question} |')
        else:
            lines.append(f"| {number} | {title} | *being written* |")
    members = [
        f"{notebook.number} · {titles[notebook.number]} <{_document(notebook)}>"
        for notebook in there.values()
    ]
    members += [f"Every widget <{_document(n)}>" for n in notebooks if not n.number and not n.is_solution]
    lectures = "lectures\n" if LECTURES.exists() else ""
    filled = text.replace("{{ notebooks }}", "\n".join(lines)).replace("{{ tree }}", "\n".join(members))
    return filled.replace("{{ lectures }}\n", lectures)


def solutions(notebooks: Sequence[Notebook], titles: dict[str, str]) -> str:
    """The page that leads to the worked solutions."""
    members = [
        f"{n.path.name[:2]} · {titles[n.path.name[:2]]} <{_document(n)}>" for n in notebooks if n.is_solution
    ]
    tree = "\n".join(members)
    return (
        "# Solutions\n\nWorked, with a reason each. Try the exercises first: checks say what is wrong."
        "\n\n"
        f"```{{toctree}}\n{tree}\n```\n"
    )


def document(path: Path) -> str:
    """A Markdown file of docs/ as a page: notebooks are pages, too, other files stand in the repository."""

    def link(match: re.Match[str]) -> str:
        return f"]({match[1]}" if match[1].startswith("notebooks/") else f"]({FILES}/{match[1]}"

    return re.sub(r"\]\(\.\./([^)\s]+)", link, path.read_text("utf-8"))


def _document(notebook: Notebook) -> str:
    return notebook.page().removesuffix(".html")


def reference(package: Path = ROOT / "bertlab") -> dict[str, str]:
    """The package by its docstrings: one page a room, one a module, by address without its ending."""
    pages, rooms = {}, []
    for room, what in ROOMS.items():
        names = [path.stem for path in sorted((package / room).glob("*.py")) if not path.stem.startswith("_")]
        tree = "\n".join(f"{room}.{name}" for name in names)
        pages[f"reference/{room}"] = (
            f"# bertlab.{room}\n\n{what[0].upper()}{what[1:]}.\n\n"
            f"```{{toctree}}\n:maxdepth: 1\n\n{tree}\n```\n"
        )
        for name in names:
            module = f"bertlab.{room}.{name}"
            pages[f"reference/{room}.{name}"] = (
                f"# {module}\n\n```{{eval-rst}}\n.. automodule:: {module}\n   :members:\n```\n"
            )
        rooms.append(room)
    listed = "\n".join(f'| <a href="{room}.html">bertlab.{room}</a> | {ROOMS[room]} |' for room in rooms)
    tree = "\n".join(rooms)
    pages["reference/index"] = (
        "# The package\n\nMade from the docstrings. `reference` and `nn` have the same files and names.\n\n"
        f"| room | what is in it |\n| --- | --- |\n{listed}\n\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    )
    return pages
