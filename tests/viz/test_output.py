"""How figures leave: the same bytes on every run, and never without their words."""

from __future__ import annotations

import base64
import configparser
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import matplotlib as mpl
import nbclient
import nbconvert
import numpy as np
import pytest
from matplotlib import pyplot as plt
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image

import gate
from bertlab import viz
from bertlab.viz import output, style

TEMPLATES = Path(__file__).resolve().parents[2] / "tools" / "templates"


def test_two_runs_give_the_same_bytes_without_date_or_version():
    def once():
        return output.png(viz.attention_map(np.eye(3), list("abc"), list("abc"), "Each looks at itself"))

    first = once()
    assert first == once()
    assert b"atplotlib" not in first
    assert b"tEXt" not in first
    assert b"tIME" not in first


def test_a_picture_is_about_as_wide_as_a_page_and_light():
    data = output.png(viz.attention_map(np.eye(3), list("abc"), list("abc"), "Each looks at itself"))
    assert 800 <= Image.open(io.BytesIO(data)).width <= 900
    assert len(data) < 80_000


def test_fewer_colours_change_no_pixel_visibly():
    fig = viz.attention_map(np.eye(4) / 2 + 1 / 8, list("abcd"), list("abcd"), "Half at itself, half at all")
    small = np.asarray(Image.open(io.BytesIO(output.png(fig))).convert("RGB")).astype(int)
    full = io.BytesIO()
    with mpl.rc_context(style.STYLE):
        fig.savefig(full, dpi=style.DPI, facecolor="white")
    assert np.abs(small - np.asarray(Image.open(full).convert("RGB"))).max() <= 16


@pytest.mark.parametrize("alt", ["", "   ", "a heat map", "nineteen characters"])
def test_a_picture_needs_a_sentence_that_describes_it(alt):
    with pytest.raises(ValueError, match="at least 20 characters"):
        viz.show(mpl.figure.Figure(), alt=alt)


def test_showing_publishes_png_and_words_and_closes_the_figure(monkeypatch):
    published = []
    monkeypatch.setattr(output, "display", lambda *args, **kwargs: published.append((args, kwargs)))
    fig = plt.figure()
    viz.show(fig, alt="An empty sheet, to be closed.")
    (((data,), rest),) = published
    assert rest == {"metadata": {"image/png": {"alt": "An empty sheet, to be closed."}}, "raw": True}
    assert data["text/plain"] == "An empty sheet, to be closed."
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert not plt.fignum_exists(fig.number)


CHINESE = ["我", "爱", "你", "。"]


def test_letters_that_matplotlib_has_no_font_for_are_left_to_the_browser():
    fig = viz.attention_map(np.eye(4), CHINESE, list("abcd"), "Who looks at whom")
    data, metadata = output.picture_bundle(fig, 'Four "signs" & whom they look at.')
    assert (set(data), metadata) == ({"text/html", "text/plain"}, {})
    assert 'alt="Four &quot;signs&quot; &amp; whom they look at." width="860"' in data["text/html"]
    drawn = base64.b64decode(re.search(r"base64,([^\"]+)", data["text/html"])[1]).decode()
    assert all(f">{sign}</text>" in drawn for sign in CHINESE)
    assert data == output.picture_bundle(fig, 'Four "signs" & whom they look at.')[0]


def test_other_letters_stay_pixels():
    fig = viz.attention_map(np.eye(3), ["März", "שלום", "√D"], list("abc"), "Who looks at whom")
    assert "image/png" in output.picture_bundle(fig, "Three tokens, each looks at itself.")[0]


def test_the_gate_takes_a_picture_that_the_browser_draws_and_nbval_does_not_compare_it():
    fig = viz.attention_map(np.eye(4), CHINESE, list("abcd"), "Who looks at whom")
    data, metadata = output.picture_bundle(fig, "Four signs, each looks at itself.")
    shown = {"output_type": "display_data", "data": data, "metadata": metadata}
    assert list(gate._output_faults(shown, free=False)) == []
    rules = configparser.RawConfigParser()
    rules.read(Path(__file__).parents[2] / "notebooks" / "sanitize.cfg")
    seen = data["text/html"]
    for rule in rules.sections():
        seen = re.sub(rules[rule]["regex"], rules[rule]["replace"], seen)
    assert seen == '<img alt="Four signs, each looks at itself." width="860" src="PICTURE">'


class Images(HTMLParser):
    """The `alt` of every image of a page."""

    def __init__(self):
        super().__init__()
        self.alts = []

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.alts.append(dict(attrs).get("alt"))


SOURCE = """from bertlab import viz
fig = viz.attention_map([[1.0]], ["<s>"], ["a"], "It looks")
viz.show(fig, alt='One cell, "dark" & alone: <s> looks at a.')"""


@pytest.mark.slow
def test_an_exported_notebook_has_one_image_and_its_words():
    notebook = new_notebook(cells=[new_code_cell(SOURCE)])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", store_widget_state=False).execute()
    (saved,) = notebook.cells[0].outputs
    assert saved.output_type == "display_data"
    assert saved.data["text/plain"] == 'One cell, "dark" & alone: <s> looks at a.'
    for template in ("course", "classic"):
        exporter = nbconvert.HTMLExporter(template_name=template, extra_template_basedirs=[str(TEMPLATES)])
        page = Images()
        page.feed(exporter.from_notebook_node(notebook)[0])
        assert page.alts == ['One cell, "dark" & alone: <s> looks at a.']


def test_a_letter_that_no_font_has_is_a_box_and_no_warning():
    fig = viz.attention_map(np.eye(2), ["🙂", "\u13a0"], ["a", "b"], "Each looks at its own")
    assert output.png(fig).startswith(b"\x89PNG")


def test_a_drawing_holds_its_words_as_text_and_is_the_same_in_every_run():
    def once():
        return output.svg(viz.attention_map(np.eye(2), ["##</svg>", "&amp;"], ["a", "$x$"], "It looks"))

    drawing = once()
    assert drawing == once()
    for words in (b"##&lt;/svg&gt;", b"&amp;amp;", b"$x$", b"It looks"):
        assert words in drawing, words
    assert drawing.count(b"</svg>") == 1
