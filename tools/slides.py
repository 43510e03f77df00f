"""Slides out of notebooks: a deck of reveal.js for each, from what is saved, with all parts local.

    python tools/slides.py [--pdf] [--vendor FOLDER] [--out FOLDER] [NOTEBOOK ...]

`make slides` fetches reveal.js and MathJax (npm) and calls this. A deck has the cells by their slide types:
slide, subslide, fragment, skip, notes (the speaker's, key S). Pictures stand where a notebook has widgets.
In the browser `lectern/deck.js` measures each part and breaks what does not fit over several slides, before
reveal.js starts; code of more lines than a slide has scrolls on the screen and is set smaller on paper.
"""

from __future__ import annotations

import argparse
import html
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import markdown2html_mistune

import gate

LECTERN = Path(__file__).with_name("lectern")
OUT = gate.ROOT / "build" / "slides"
VENDOR = gate.ROOT / "runs" / "lectern"
PARTS = ("reset.css", "reveal.css", "reveal.js", "notes.js", "tex-svg-full.js")
OWN = ("deck.css", "deck.js")
MOST_LINES = 26  # of code or output that a slide shows at once
STARTS = ("slide", "subslide")
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")  # colours of a terminal


class Part(NamedTuple):
    """A cell as a deck shows it: its kind, its HTML, and the group of things that appear together."""

    kind: str  # "text", "code" or "notes"
    body: str
    fragment: int  # 0: there from the beginning; others appear one after the other


Slide = list[Part]


def slide_type(cell: gate.Node) -> str:
    """Slide type of a cell; "-" (goes on) where it has none."""
    found: str = cell["metadata"].get("slideshow", {}).get("slide_type", "-")
    return found


def stacks(cells: Sequence[gate.Node]) -> list[list[Slide]]:
    """Sort cells into slides, and slides into stacks: a "slide" begins a stack, a "subslide" goes below it.

    Parameters
    ----------
    cells : of a notebook; "skip" is left out. Notes belong to the slide that is open.

    Returns
    -------
    list of stacks, each a list of slides, each a list of parts
    """
    found: list[list[Slide]] = []
    fragment = 0
    for cell in cells:
        kind = slide_type(cell)
        if kind == "skip" or not cell["source"].strip():
            continue
        if kind == "slide" or not found:
            found.append([[]])
        elif kind == "subslide":
            found[-1].append([])
        if kind in STARTS:
            fragment = 0
        fragment += kind == "fragment"
        found[-1][-1].append(part(cell, kind, fragment))
    return found


def part(cell: gate.Node, kind: str, fragment: int) -> Part:
    """Render one cell."""
    if kind == "notes":
        text = cell["source"].removeprefix(gate.LECTURER).strip()
        return Part("notes", markdown(text), 0)
    if cell["cell_type"] == "markdown":
        return Part("text", markdown(cell["source"]), fragment)
    return Part("code", "\n".join(code_and_outputs(cell)), fragment)


def markdown(text: str) -> str:
    """Turn Markdown into HTML, links to notebooks into links to their decks."""
    found = re.sub(r'<a class="anchor-link".*?</a>', "", markdown2html_mistune(text))
    return re.sub(r'href="(?:\.\./)?(?:notebooks/)?(\w+)\.ipynb(?:#[^"]*)?"', r'href="\1.html"', found)


def code_and_outputs(cell: gate.Node) -> Iterator[str]:
    """HTML of a code cell: its source, and each output."""
    source = cell["source"].rstrip()
    yield box("source", coloured(source), source)
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "image/png" in data:
            alt = output["metadata"].get("image/png", {}).get("alt", "")
            image = data["image/png"].replace("\n", "")
            yield f'<p class="picture"><img alt="{html.escape(alt)}" src="data:image/png;base64,{image}"></p>'
        elif "text/html" in data:
            yield f'<div class="html">{data["text/html"]}</div>'
        elif text := ESCAPES.sub("", "\n".join(texts(output))).rstrip():
            yield box("output", html.escape(text), text)


def coloured(source: str) -> str:
    """Source with a class for each kind of token; `deck.css` has the colours."""
    found: str = Highlight2HTML()(source)  # type: ignore[no-untyped-call]
    return (
        found[found.index("<pre>") + len("<pre>") : found.rindex("</pre>")]
        .replace("<span></span>", "")
        .rstrip()
    )


def texts(output: gate.Node) -> Iterator[str]:
    """Words of an output: printed, a value, or the error that was meant."""
    if output["output_type"] == "error":
        yield from output["traceback"]
    elif output["output_type"] == "stream":
        yield output["text"]
    else:
        yield output.get("data", {}).get("text/plain", "")


def box(kind: str, inner: str, text: str) -> str:
    """Put code or output into a box; one with too many lines scrolls, says so, and shrinks on paper."""
    lines = text.count("\n") + 1
    widest = max(map(len, text.split("\n")))
    if lines <= MOST_LINES:
        return f'<pre class="{kind}">{inner}</pre>'
    fit = MOST_LINES / lines
    said = f"{lines} lines, {MOST_LINES} are seen: scroll"
    return (
        f'<div class="long"><pre class="{kind}" tabindex="0" style="--fit: {fit:.2f}" '
        f'data-widest="{widest}">{inner}</pre><p class="said">{said}</p></div>'
    )


def deck(notebook: gate.Node, name: str) -> str:
    """Page of a whole deck, as the browser is to read it."""
    found = stacks(notebook["cells"])
    title = re.sub(r"^#\s*", "", notebook["cells"][0]["source"].split("\n")[0])
    sections = "\n".join(
        "<section>" + "\n".join(_section(slide) for slide in stack) + "</section>" for stack in found
    )
    page = (LECTERN / "deck.html").read_text("utf-8")
    for mark, text in (("TITLE", html.escape(title)), ("NAME", html.escape(name)), ("SECTIONS", sections)):
        page = page.replace(f"<!-- {mark} -->", text)
    return page


def _section(slide: Slide) -> str:
    parts = []
    for kind, body, fragment in slide:
        tag = "aside" if kind == "notes" else "div"
        appears = f' data-appears="{fragment}"' if fragment else ""
        parts.append(f'<{tag} class="{kind}"{appears}>{body}</{tag}>')
    return "<section>" + "\n".join(parts) + "</section>"


@cache
def lacking(vendor: Path) -> list[str]:
    """Parts that are not in the folder where `make slides` puts them."""
    return [part for part in PARTS if not (vendor / part).is_file()]


def write(paths: Sequence[Path], out: Path, vendor: Path) -> list[Path]:
    """Write the decks of notebooks, and beside them all that they need.

    Raises
    ------
    FileNotFoundError
        If reveal.js or MathJax are not in `vendor`.
    """
    if missing := lacking(vendor):
        raise FileNotFoundError(f"{vendor} lacks {', '.join(missing)}: run `make slides`, which fetches them")
    (out / "vendor").mkdir(parents=True, exist_ok=True)
    for folder, names, target in ((vendor, PARTS, out / "vendor"), (LECTERN, OWN, out)):
        for name in names:
            shutil.copy(folder / name, target / name)
    decks = []
    for path in paths:
        decks.append(out / f"{path.stem}.html")
        decks[-1].write_text(deck(nbformat.read(path, as_version=4), path.stem), "utf-8")
    links = "".join(
        f'<li><a href="{one.name}">{one.stem.replace("_", " ")}</a> '
        f'(<a href="{one.name}?print-pdf">to print</a>)</li>'
        for one in decks
    )
    index = (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Slides</title><ul>{links}</ul></html>'
    )
    (out / "index.html").write_text(index, "utf-8")
    return decks


def print_pdf(decks: Sequence[Path]) -> list[tuple[Path, int]]:
    """Print each deck to a PDF beside it, by a Chromium that is there; return how many slides each has."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        raise FileNotFoundError(
            "no Chromium here: install it, or print a deck from your browser (?print-pdf)"
        )
    done = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        for path in decks:
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(f"{path.resolve().as_uri()}?print-pdf")
            page.wait_for_selector("body.ready", timeout=120_000)
            slides = page.locator(".pdf-page").count()
            target = path.with_suffix(".pdf")
            page.pdf(path=target, prefer_css_page_size=True, print_background=True)
            done.append((target, slides))
            page.close()
        browser.close()
    return done


def main(arguments: Sequence[str]) -> int:
    """Write decks, and PDF where asked to; 0 if all went well."""
    parser = argparse.ArgumentParser(description="Slides out of notebooks.")
    parser.add_argument("notebooks", nargs="*", help="without any: all of notebooks/, solutions left out")
    parser.add_argument("--pdf", action="store_true", help="print each to a PDF, too (needs a Chromium)")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--vendor", type=Path, default=VENDOR)
    chosen = parser.parse_args(arguments)
    paths = [Path(name) for name in chosen.notebooks] or sorted((gate.ROOT / "notebooks").glob("*.ipynb"))
    try:
        decks = write(paths, chosen.out, chosen.vendor)
        print(
            f"{len(decks)} decks: open {chosen.out / 'index.html'}; S opens the speaker's notes, ESC the map"
        )
        if chosen.pdf:
            for path, slides in print_pdf(decks):
                print(f"{path.name}: {slides} slides", flush=True)
    except FileNotFoundError as error:
        print(f"slides: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
