"""What holds for every widget: still twin, hostile tokens, copies, cleaning up, keys, accessibility, saving.

In a real JupyterLab: test_in_jupyterlab.py. What one widget does of its own is in the file of its name.
"""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import axe_playwright_python
import pytest
from ipywidgets import VBox
from PIL import Image
from playwright.sync_api import expect

from bertlab.viz.output import png
from bertlab.viz.style import shown
from bertlab.viz.widget import STATIC, script
from tests.viz.conftest import Watched
from tests.viz.widgets import ALL, CHANGE, HOSTILE, MAKE, PLAIN, WITHOUT_TOKENS

LIVE, STILL = "application/vnd.jupyter.widget-view+json", "image/png"
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
every = pytest.mark.parametrize("name", ALL)


class Elements(HTMLParser):
    """Names of all elements, ids, and attributes that would run something."""

    def __init__(self, source):
        super().__init__()
        self.names, self.ids, self.handlers, self.text = [], [], [], []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.text.append(data)


def settled(page, selector="#widget"):
    """What the reader sees, once nothing changes any more: the elements, and the pixels of every canvas."""
    look = """(selector) => [...document.querySelectorAll(selector)].map((e) => e.innerHTML
      + [...e.querySelectorAll("canvas")].map((c) => c.width && c.height ? c.toDataURL() : "")).join()"""
    before = None
    for _ in range(40):
        page.wait_for_timeout(60)
        now = page.evaluate(look, selector)
        if now == before and "loading" not in now:
            return now
        before = now
    pytest.fail("the picture never settles")


# ------------------------------------------------------------------------------------- without a browser


@every
def test_D40_a_saved_widget_has_a_still_picture_and_its_words(name):
    widget = MAKE[name](PLAIN)
    data, metadata = widget._repr_mimebundle_()
    assert data[LIVE]["model_id"] == widget.model_id
    assert base64.b64decode(data[STILL]) == png(widget.still())
    assert metadata[STILL]["alt"] == data["text/plain"] == widget.alt
    assert Image.open(io.BytesIO(base64.b64decode(data[STILL]))).width == 860


@every
def test_D41_the_still_and_its_words_are_the_same_in_every_run_and_hold_no_long_numbers(name):
    (data, _), (again, _) = (MAKE[name](PLAIN)._repr_mimebundle_() for _ in range(2))
    assert (data[STILL], data["text/plain"]) == (again[STILL], again["text/plain"])
    assert not re.search(r"0x|\d\.\d\d\d", data["text/plain"])
    assert data["text/plain"].endswith(".")


@every
def test_D38_hostile_tokens_stand_in_the_still_as_text(name, tmp_path):
    drawing = MAKE[name](HOSTILE).save(tmp_path / "x.svg").read_text("utf-8")
    ET.fromstring(drawing)  # well-formed: nothing has closed it early
    assert "<script" not in drawing
    assert "<img" not in drawing


@every
def test_a_script_is_one_module_that_imports_nothing_and_parses_no_markup(name):
    source = script(name)
    assert not re.search(r"^\s*import\b|\bimport\(", source, flags=re.MULTILINE)
    assert source.count("export ") == 1
    assert "</script" not in source
    ways_in = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser", "http")
    for way in (*ways_in, "fetch(", "XMLHttpRequest", "createContextualFragment"):
        assert way not in source.replace("http://www.w3.org/2000/svg", ""), way


def test_D40_text_and_what_is_behind_it_are_both_inherited_or_both_set():
    style = re.sub(r"/\*.*?\*/", "", (STATIC / "kit.css").read_text(), flags=re.S)
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", style)
    assert len(rules) > 20
    for selector, body in rules:
        declared = dict(re.findall(r"([\w-]+):\s*([^;]+);", body))
        if "forced-color-adjust" in body or "Highlight" in body:
            continue
        text, behind = declared.get("color"), declared.get("background")
        if behind is not None and "gradient" in behind:
            continue  # stripes below a text, not a ground
        if text == "inherit":
            assert behind in ("inherit", "transparent"), selector
        else:  # on paper, black on white
            assert (text is None) == (behind is None), selector
        if "text" in selector and "fill" in declared:
            assert declared["fill"] == "currentColor", selector


def test_colours_of_our_own_stand_out_from_white_and_from_black():
    from matplotlib.colors import to_rgb

    from bertlab.viz.style import HEAD_COLOURS, relative_luminance

    ours = re.findall(r"--\w+: (#\w{6})", (STATIC / "kit.css").read_text())
    assert len(ours) >= 4
    for colour in [*ours, *HEAD_COLOURS]:
        y = float(relative_luminance(to_rgb(colour)))
        assert min(1.05 / (y + 0.05), (y + 0.05) / (0.0056 + 0.05)) > 2.9, colour


def test_widgets_can_stand_in_a_box_together():
    widgets = [MAKE[name](PLAIN) for name in ALL]
    assert len(VBox(widgets).children) == len(ALL)


# ------------------------------------------------------------------------------------------ in a browser


@pytest.mark.browser
@every
def test_D38_hostile_tokens_are_shown_run_nothing_and_are_never_merged(put_on_page, name):
    page = put_on_page(MAKE[name](HOSTILE))
    settled(page)
    seen = Elements(page.locator("#widget").inner_html())
    assert not {"img", "script", "iframe", "a", "b"} & set(seen.names)
    assert seen.handlers == []
    if name in WITHOUT_TOKENS:
        return
    whole = " ".join(seen.text)
    for token in HOSTILE:
        assert shown(token) in whole, token


@pytest.mark.browser
def test_a_token_is_shown_in_the_browser_as_in_pictures(blank_page):
    source = (STATIC / "kit.js").read_text("utf-8")
    tokens = [*HOSTILE, "\n", "a\tb", "   ", "\ufeff\u200d", "a\u200bb", "\x00", "\u2067x", "\u00ad", "cat"]
    seen = blank_page.page.evaluate(
        """async ([source, tokens]) => {
          const kit = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
          return [...tokens.map(kit.shown), kit.shown("\\ud800")];
        }""",
        [source, tokens],
    )
    assert seen == [shown(token) for token in [*tokens, "\ud800"]]


@pytest.mark.browser
@every
def test_D39_two_copies_on_one_page_share_no_id_and_both_live(put_on_page, name):
    put_on_page(MAKE[name](PLAIN), "first")
    page = put_on_page(MAKE[name](PLAIN), "second")
    first, second = (settled(page, f"#{copy}") for copy in ("first", "second"))
    found = [Elements(page.locator(f"#{copy}").inner_html()) for copy in ("first", "second")]
    assert not set(found[0].ids) & set(found[1].ids)
    page.evaluate("([trait, value]) => widgets.second.model.set(trait, value)", CHANGE[name])
    assert settled(page, "#second") != second
    assert settled(page, "#first") == first


@pytest.mark.browser
@every
def test_after_cleanup_nothing_is_left(put_on_page, name):
    page = put_on_page(MAKE[name](PLAIN))
    settled(page)
    page.evaluate("widgets.widget.cleanup()")
    assert page.evaluate("Object.values(widgets.widget.listeners).flat().length") == 0
    assert page.locator("#widget").inner_html() == ""
    page.evaluate(
        "document.body.setAttribute('data-theme', 'dark')"
    )  # a forgotten observer would draw, and fail
    page.wait_for_timeout(50)


@pytest.mark.browser
def test_two_keys_before_anything_is_drawn_move_a_slider_twice(put_on_page):
    page = put_on_page(MAKE["head_view"](PLAIN))
    page.get_by_role("slider", name="lines from").evaluate("""(slider) => {
      for (const key of ["ArrowRight", "ArrowRight"]) {
        slider.dispatchEvent(new KeyboardEvent("keydown", { key }));
      }
    }""")
    assert page.evaluate("widgets.widget.model.get('threshold')") == 0.05


@pytest.mark.browser
@every
def test_every_stop_of_the_tab_key_is_named_and_seen(put_on_page, name):
    page = put_on_page(MAKE[name](PLAIN))
    settled(page)
    stops = []
    for _ in range(80):
        page.keyboard.press("Tab")
        stop = page.evaluate("""() => {
          const at = document.activeElement, style = getComputedStyle(at);
          if (!at.closest("#widget")) return null;
          const name = at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent;
          const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
          return [at.tagName, name.trim().slice(0, 60), outlined];
        }""")
        if stop is None:
            break
        stops.append(stop)
    assert 1 < len(stops) < 80
    assert all(words and outlined for _, words, outlined in stops), stops


@pytest.mark.browser
@every
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_fault(put_on_page, name, theme):
    page = put_on_page(MAKE[name](PLAIN))
    colours = {"light": ("#fff", "#111"), "dark": ("#111", "#eee")}[theme]
    page.evaluate(
        "([back, ink]) => Object.assign(document.body.style, { background: back, color: ink })", colours
    )
    page.evaluate("document.documentElement.lang = 'en'")
    settled(page)
    page.evaluate(AXE)
    result = page.evaluate("axe.run('#widget')")
    assert result["passes"], "axe looked at nothing"
    faults = [
        (fault["impact"], fault["id"], [node["html"][:120] for node in fault["nodes"]][:3])
        for fault in result["violations"]
        if fault["impact"] in ("serious", "critical")
    ]
    assert faults == []


@pytest.mark.browser
@every
def test_high_contrast_of_the_host_is_followed(put_on_page, name):
    page = put_on_page(MAKE[name](PLAIN))
    page.emulate_media(forced_colors="active")
    settled(page)
    assert page.locator("#widget .bertlab").bounding_box()["height"] > 100


@pytest.mark.browser
@every
@pytest.mark.parametrize("width", [420, 700])
def test_a_narrow_page_needs_no_sideways_scrolling(put_on_page, name, width):
    page = put_on_page(MAKE[name](PLAIN))
    page.set_viewport_size({"width": width, "height": 800})
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
@every
def test_a_saved_page_shows_the_same_and_asks_for_nothing(browser, tmp_path, name):
    widget = MAKE[name](HOSTILE)
    path = widget.save(tmp_path / "x.html")
    page = browser.new_page()
    watched = Watched(page, own=path.as_uri())
    page.goto(path.as_uri())
    expect(page.locator("#view .bertlab")).to_have_count(1)
    before = settled(page, "#view")
    assert watched.complaints == []
    if name not in WITHOUT_TOKENS:
        assert all(shown(token) in page.locator("#view").text_content() for token in HOSTILE[:4])
    assert before
    page.close()


COLOURS = """root => {
  const texts = [...root.querySelectorAll("button, p, span, output")];
  return [
    [...texts.map((e) => getComputedStyle(e).color),
     ...[...root.querySelectorAll("svg text")].map((e) => getComputedStyle(e).fill)],
    [root, ...texts].map((e) => getComputedStyle(e).backgroundColor),
  ];
}"""


@pytest.mark.browser
@every
def test_D40_text_has_the_hosts_colour_in_light_and_dark(put_on_page, name):
    page = put_on_page(MAKE[name](PLAIN))
    settled(page)
    for behind, text in (("white", "rgb(32, 32, 32)"), ("black", "rgb(238, 238, 238)")):
        page.evaluate(
            "([b, t]) => { document.body.style = `background: ${b}; color: ${t}`; }", [behind, text]
        )
        texts, backgrounds = page.locator(".bertlab").evaluate(COLOURS)
        assert set(texts) == {text}
        assert set(backgrounds) == {"rgba(0, 0, 0, 0)"}
