"""Widgets in a real JupyterLab, with a kernel behind them, and without one."""

from __future__ import annotations

import ast
import json
import re
import time

import nbclient
import nbconvert
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from refresh import canonical, execute
from tests.viz.conftest import ROOT
from tests.viz.widgets import MAKE

TEMPLATES = ROOT / "tools" / "templates"
SETUP = """import numpy as np
from bertlab import viz
rng = np.random.default_rng(0)
scores, states = rng.normal(size=(2, 3)), rng.normal(size=(3, 4))
weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
trace = viz.DecodingTrace(
    source_tokens=["one", "<b>two</b>", "</s>"], target_tokens=["eins", "zwei"], encoder_states=states,
    initial_state=states[0], states=states[:2], scores=scores, weights=weights, contexts=weights @ states,
    combined=states[1:], top_words=[[("eins", 0.9)], [("zwei", 0.8)]],
)"""
STEPS = "steps = viz.decoding_steps(trace)\nsteps"
AGAIN = "viz.decoding_steps(trace, step=6)"


@pytest.mark.browser
@pytest.mark.slow
def test_the_seven_steps_work_twice_in_one_notebook_and_the_kernel_sees_where_they_are(lab):
    watched = lab.open("steps", SETUP, STEPS, AGAIN)
    page = watched.page
    both = page.locator(".bertlab.decoding-steps")
    expect(both).to_have_count(2, timeout=30_000)
    first, second = both.nth(0), both.nth(1)
    expect(first.locator("svg .source")).to_have_count(3)
    expect(first).to_contain_text("<b>two</b>")

    first.get_by_role("button", name="4 Softmax").click()
    first.focus()
    page.keyboard.press("ArrowRight")  # no shortcut of JupyterLab's may take it
    first.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    expect(first.locator("output")).to_have_text("word 1 of 2, step 6 of 7")
    expect(second.locator("output")).to_have_text("word 1 of 2, step 7 of 7")

    assert lab.ask(page, "steps.step", "the kernel has") == "5"
    assert watched.complaints == []

    # What is saved has a still picture beside each explorer, for readers without a kernel.
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saving completed").first).to_be_visible()
    saved = json.loads((lab.folder / "steps.ipynb").read_text("utf-8"))
    shown = [output["data"] for cell in saved["cells"] for output in cell["outputs"] if "data" in output]
    assert len(shown) == 2
    assert all("image/png" in data and "Seven steps" in "".join(data["text/plain"]) for data in shown)
    page.close()


ALL_OF_THEM = (
    "from tests.viz.widgets import MAKE, PLAIN\nw = {name: make(PLAIN) for name, make in MAKE.items()}"
)


def button(name):
    return lambda part, page: part.get_by_role("button", name=name, exact=True).click()


def slide(label, key):
    def press(part, page):
        part.get_by_role("slider", name=label, exact=True).focus()
        page.keyboard.press(key)

    return press


def click(role, number):
    return lambda part, page: part.get_by_role(role).nth(number).click()


def keys(role, *names):
    def press(part, page):
        part.get_by_role(role).first.focus()
        for name in names:
            page.keyboard.press(name)

    return press


def type_text(field, text):
    def type_it(part, page):
        part.get_by_role("textbox", name=field).fill("")
        part.get_by_role("textbox", name=field).press_sequentially(text)

    return type_it


# What a reader does to each widget, and what the kernel must then know.
DONE = {
    "decoding_steps": ([button("4 Softmax"), slide("step", "ArrowRight")], {"step": 53}),
    "softmax_temperature": ([button("√64"), slide("scores divided by", "Home")], {"place": 0}),
    "head_view": (
        [
            click("option", 2),
            click("option", 4),
            slide("layer", "ArrowRight"),
            button("head 3"),
            button("A→B"),
        ],
        {"queries": [2, 4], "layer": 2, "heads": [0, 1, 2], "sentences": "AB"},
    ),
    "matrix_view": ([button("3"), slide("layer", "ArrowLeft")], {"head": 3, "layer": 0}),
    "model_view": ([click("gridcell", 9)], {"layer": 2, "head": 1}),
    "neuron_view": (
        [click("option", 3), button("2"), slide("layer", "End")],
        {"query": 3, "head": 2, "layer": 2},
    ),
    "input_flow": ([button("6 Sum"), button("saw")], {"step": 5, "position": 3}),
    "mask_explorer": ([button("causal"), slide("padding", "ArrowRight")], {"causal": False, "padding": 1}),
    "position_explorer": (
        [slide("position", "End"), slide("dimension", "PageUp")],
        {"position": 7, "dimension": 10},
    ),
    "masking_explorer": ([button("Draw again"), slide("rate", "ArrowRight")], {"draw": 1}),
    "scale_explorer": ([slide("dₖ", "End")], {"place": 9}),
    "piece_explorer": ([type_text("text to cut", "Cats saw")], {"text": "Cats saw"}),
    "vector_explorer": (
        [type_text("word", "saw"), type_text("plus", "cat"), button("leave out the words of the question")],
        {"word": "saw", "minus": "", "plus": "cat", "exclude": False},
    ),
}


@pytest.mark.browser
@pytest.mark.slow
def test_every_widget_lives_in_one_notebook_by_mouse_and_keys_and_tells_the_kernel(lab):
    assert set(DONE) == set(MAKE)
    watched = lab.open("all", ALL_OF_THEM, *(f"w[{name!r}]" for name in MAKE), 'MAKE["head_view"](PLAIN)')
    page = watched.page
    widgets = page.locator(".jp-Notebook .bertlab[role=group]")
    expect(widgets).to_have_count(len(MAKE) + 1, timeout=180_000)
    for number, (name, (actions, _)) in enumerate((name, DONE[name]) for name in MAKE):
        part = widgets.nth(number)
        part.scroll_into_view_if_needed()
        before = part.text_content()
        for act in actions:
            act(part, page)
        expect(part, name).not_to_have_text(before)
    wanted = {name: expected for name, (_, expected) in DONE.items()}
    traits = {name: list(expected) for name, expected in wanted.items()}
    state = (
        f"{{name: {{trait: getattr(w[name], trait) for trait in some}} for name, some in {traits}.items()}}"
    )
    assert ast.literal_eval(lab.ask(page, state, "kernel:")) == wanted
    # Back from Python: the widget on the page follows.
    lab.ask(page, 'setattr(w["head_view"], "layer", 0)', "set:")
    expect(widgets.nth(list(MAKE).index("head_view")).get_by_role("slider", name="layer")).to_have_value("0")
    assert watched.complaints == []
    page.close()


@pytest.mark.browser
@pytest.mark.slow
def test_D40_a_refreshed_notebook_opened_without_running_it_shows_every_still(lab):
    notebook = new_notebook(
        cells=[new_code_cell(ALL_OF_THEM), *(new_code_cell(f"w[{name!r}]") for name in MAKE)]
    )
    execute(notebook, ROOT)
    (lab.folder / "still.ipynb").write_text(canonical(notebook), "utf-8")
    watched = lab.reopen("still")
    expect(watched.page.locator(".jp-OutputArea-output img")).to_have_count(len(MAKE))
    assert not watched.page.get_by_text("Error displaying widget").count()
    assert watched.complaints == []
    watched.page.close()


@pytest.mark.slow
def test_D40_an_exported_notebook_shows_each_explorer_as_a_picture_with_its_tokens_in_words():
    notebook = new_notebook(cells=[new_code_cell(source) for source in (SETUP, STEPS, AGAIN)])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", store_widget_state=False).execute()
    exporter = nbconvert.HTMLExporter(template_name="course", extra_template_basedirs=[str(TEMPLATES)])
    html, _ = exporter.from_notebook_node(notebook)
    assert html.count('<img alt="Seven steps') + html.count('alt="Seven steps') >= 2
    assert html.count("“eins zwei”, from “one &lt;b&gt;two&lt;/b&gt; &lt;/s&gt;”.") >= 2
    assert "model not found" not in html


@pytest.mark.browser
@pytest.mark.slow
def test_views_follow_the_theme_of_jupyterlab_while_they_are_open(lab, tmp_path):
    shown = ("head_view", "matrix_view", "neuron_view")
    watched = lab.open("theme", ALL_OF_THEM, *(f"w[{name!r}]" for name in shown))
    page = watched.page
    views = page.locator(".jp-Notebook .bertlab[role=group]")
    expect(views).to_have_count(len(shown), timeout=60_000)
    pixels = "(root) => [...root.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL())"
    look = "(root) => getComputedStyle(root).color"
    page.wait_for_timeout(500)
    light = [(view.evaluate(pixels), view.evaluate(look)) for view in views.all()]
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.locator(".lm-Menu-itemLabel", has_text="Theme").first.click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^JupyterLab Dark$")).click()
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    page.wait_for_timeout(500)
    for view, (pixels_before, ink_before) in zip(views.all(), light, strict=True):
        red = int(re.findall(r"\d+", view.evaluate(look))[0])
        assert red > 200, "text on a dark page is light"
        assert ink_before != view.evaluate(look)
        assert pixels_before != view.evaluate(pixels)
    assert watched.complaints == []
    page.close()


LARGE = """import numpy as np
from bertlab import viz
scores = np.random.default_rng(0).normal(size=({layers}, {heads}, 512, 512)).astype(np.float32)
powers = np.exp(scores)
layers = list(powers / powers.sum(axis=-1, keepdims=True))
tokens = [f"word{{i}}" for i in range(512)]
print("made")"""


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize(("n_layers", "n_heads"), [(12, 12), (24, 16)])
def test_512_tokens_are_drawn_soon_and_move_few_bytes(lab, n_layers, n_heads, record_property):
    watched = lab.open(f"large{n_layers}", LARGE.format(layers=n_layers, heads=n_heads))
    page, moved = watched.page, watched.received
    expect(page.get_by_text("made", exact=True)).to_be_visible(timeout=60_000)
    page.locator(".jp-Cell .cm-content").last.click()
    for key in ("Escape", "b", "Enter"):
        page.keyboard.press(key)
    page.keyboard.insert_text("viz.head_view(layers, tokens)")
    moved.clear()
    start = time.perf_counter()
    page.keyboard.press("Shift+Enter")
    view = page.locator(".jp-Notebook .bertlab.head-view")
    expect(view.get_by_role("img", name=re.compile("^[1-9][0-9]* lines"))).to_be_visible(timeout=30_000)
    first = time.perf_counter() - start
    box = view.get_by_role("listbox").first.get_by_role("option")
    hovers = []
    for i in range(1, 16):
        start = time.perf_counter()
        box.nth(i).hover()
        expect(view.locator(".now")).to_contain_text(f"“word{i}”")
        hovers.append(time.perf_counter() - start)
    record_property("seconds until the first picture", first)
    print(f"{n_layers} x {n_heads} x 512: first picture {first:.2f} s, {sum(moved) / 1e6:.1f} MB moved")
    assert 1e6 < sum(moved) < 15e6
    assert first < 10  # on a quiet machine below 2; tests run on busy ones
    assert sorted(hovers)[7] < 0.5  # all that Playwright does included
    assert watched.complaints == []
    page.close()
