"""A small deck: sorted by slide types, safe, local, and nothing on it is lost or runs over a slide."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import Page, sync_playwright

import slides

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = "<img src=x onerror=\"document.title='stolen'\">"
ITEMS = [f"item {i} " + "says a little more than fits into one line of a slide, so that it takes two. " * 2
         for i in range(30)]  # fmt: skip


def text(name: str, source: str, kind: str = "-") -> nbformat.NotebookNode:
    return new_markdown_cell(source, id=name, metadata={"slideshow": {"slide_type": kind}})


def code(name: str, source: str, kind: str = "-", *outputs: nbformat.NotebookNode) -> nbformat.NotebookNode:
    return new_code_cell(source, id=name, outputs=list(outputs), metadata={"slideshow": {"slide_type": kind}})


@pytest.fixture
def notebook(tiny_png):
    picture = new_output("display_data", {"image/png": tiny_png, "text/plain": "a widget"})
    picture.metadata = {"image/png": {"alt": 'one "grey" pixel'}}
    hostile = new_output("stream", name="stdout", text=f"{HOSTILE}\n\x1b[31mred\x1b[0m\n")
    failure = new_output("error", ename="ValueError", evalue="no", traceback=["ValueError: no"])
    rows = "\n".join(f"| row {i} | {'words ' * 30} |" for i in range(20))
    return new_notebook(
        cells=[
            text("a-title", "# A talk\n\nof $x^2$; see [the next](02_next.ipynb#part)", "slide"),
            text("a-notes", "*For the lecturer.* Ask **why**.", "notes"),
            code("a-skipped", "secret = 1", "skip"),
            text("b-second", "## Second\n\nbelow the first", "subslide"),
            code("b-print", "print(1)", "fragment", hostile),
            text("b-means", "means this"),
            text("b-also", "and that", "fragment"),
            text("c-list", "## Many\n\n" + "\n".join(f"- {item}" for item in ITEMS), "slide"),
            text("c-table", f"## Rows\n\n| a | b |\n| --- | --- |\n{rows}", "subslide"),
            code("c-long", "\n".join(f"line_{i} = {i}" for i in range(60)), "subslide", failure),
            code("c-picture", "show()", "fragment", picture),
            text("c-end", "the end"),
        ]
    )


def test_slides_and_stacks_are_made_by_the_slide_types(notebook):
    found = slides.stacks(notebook.cells)
    assert [[len(slide) for slide in stack] for stack in found] == [[2, 4], [1, 1, 3]]
    assert [part.kind for part in found[0][0]] == ["text", "notes"]
    assert [part.fragment for part in found[0][1]] == [0, 1, 1, 2], "what goes on appears with what is before"
    assert "secret" not in slides.deck(notebook, "talk")


def test_tokens_and_outputs_are_text_and_never_markup(notebook):
    page = slides.deck(notebook, "talk")
    assert HOSTILE not in page
    assert "&lt;img src=x onerror=" in page
    assert "\x1b" not in page
    assert "<h1>A talk" in re.sub(r' id="[^"]*"', "", page)
    assert "<title>A talk</title>" in page


def test_pictures_bring_their_words_and_stand_for_widgets(notebook):
    page = slides.deck(notebook, "talk")
    assert 'alt="one &quot;grey&quot; pixel"' in page
    assert "a widget" not in page
    assert "ValueError: no" in page, "an error that is meant is shown"


def test_nothing_is_asked_of_the_network_and_links_lead_to_decks(notebook):
    page = slides.deck(notebook, "talk")
    assert re.findall(r'(?:src|<link[^>]*href)="(?!data:)([^"]*)"', page) == [
        *("vendor/reset.css", "vendor/reveal.css", "deck.css"),
        *("vendor/tex-svg-full.js", "vendor/reveal.js", "vendor/notes.js", "deck.js"),
    ]
    assert 'href="02_next.html"' in page
    for own in slides.OWN:
        assert not re.search(r"https?:|@import|url\(", (slides.LECTERN / own).read_text())


def test_long_code_says_how_much_is_seen(notebook):
    assert "60 lines, 26 are seen: scroll" in slides.deck(notebook, "talk")
    assert "scroll" not in slides.box("source", "a", "a\n" * 25)


def test_without_the_fetched_parts_the_command_is_named(tmp_path, capsys):
    assert slides.main(["--vendor", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert "lacks reset.css" in (said := capsys.readouterr().err)
    assert "run `make slides`" in said


@pytest.fixture
def page() -> Iterator[Page]:
    if CHROMIUM is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no Chromium here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        yield page
        browser.close()
    assert errors == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def written(notebook, folder: Path, vendor: Path | None = None) -> Path:
    """Write the deck; without `vendor` the parts of others are empty files."""
    if vendor is None:
        vendor = folder / "empty"
        vendor.mkdir()
        for part in slides.PARTS:
            (vendor / part).touch()
    nbformat.write(notebook, folder / "talk.ipynb")
    (deck,) = slides.write([folder / "talk.ipynb"], folder / "out", vendor)
    return deck


OVERFLOW = """() => [...document.querySelectorAll('.sheet')].filter((sheet) =>
    sheet.scrollHeight > sheet.clientHeight + 1 || sheet.scrollWidth > sheet.clientWidth + 1).length"""


@pytest.mark.browser
def test_what_does_not_fit_is_broken_over_slides_and_nothing_is_lost(notebook, tmp_path, page):
    page.goto(written(notebook, tmp_path).as_uri())
    page.wait_for_selector("body.ready")
    assert page.evaluate(OVERFLOW) == 0
    assert page.locator(".sheet").count() > 8
    assert page.locator("li").all_text_contents() == [item.strip() for item in ITEMS]
    assert page.locator("tbody td:first-child").all_text_contents() == [f"row {i}" for i in range(20)]
    tables = page.locator("table").count()
    assert tables == page.locator("thead").count() > 1, "each part of a table has its head"
    assert page.locator("aside.notes").text_content().strip() == "Ask why."
    assert page.locator("p.running").all_text_contents()[:2] == ["Many …", "Many …"]
    assert page.title() == "A talk", "nothing of an output ran"


@pytest.mark.browser
def test_what_appears_with_something_else_is_one_step(notebook, tmp_path, page):
    page.goto(written(notebook, tmp_path).as_uri())
    page.wait_for_selector("body.ready")
    steps = page.locator(".fragment").evaluate_all("all => all.map((one) => one.dataset.fragmentIndex)")
    assert steps[:3] == ["1", "1", "2"], "the code, what it means with it, and one more"


@pytest.mark.browser
@pytest.mark.skipif(bool(slides.lacking(slides.VENDOR)), reason="`make slides` fetches reveal.js and MathJax")
def test_with_reveal_the_deck_runs_and_the_speaker_has_notes(notebook, tmp_path, page):
    deck = written(notebook, tmp_path, slides.VENDOR)
    page.goto(deck.as_uri())
    page.wait_for_selector("body.ready")
    n_slides = page.evaluate("Reveal.getTotalSlides()")
    assert n_slides == page.locator(".sheet").count()
    assert page.locator("mjx-container svg").count() == 1
    assert page.evaluate(OVERFLOW) == 0

    with page.expect_popup() as opened:
        page.keyboard.press("s")
    opened.value.wait_for_function("document.body.innerText.includes('Ask why.')")


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
@pytest.mark.skipif(bool(slides.lacking(slides.VENDOR)), reason="`make slides` fetches reveal.js and MathJax")
def test_a_deck_prints_a_page_for_each_slide(notebook, tmp_path):
    ((path, printed),) = slides.print_pdf([written(notebook, tmp_path, slides.VENDOR)])
    assert printed > 8
    assert printed == len(re.findall(rb"/Type\s*/Page\b", path.read_bytes()))
