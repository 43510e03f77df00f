"""Explorers in a real JupyterLab, with a kernel behind them."""

from __future__ import annotations

import json
from pathlib import Path

import nbclient
import nbconvert
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

TEMPLATES = Path(__file__).resolve().parents[2] / "tools" / "templates"
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

    # The kernel is told: what it answers comes back through a new cell.
    page.locator(".jp-Cell .cm-content").last.click()
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    page.keyboard.type("print('the kernel has', steps.step)")
    page.keyboard.press("Shift+Enter")
    expect(page.get_by_text("the kernel has 5", exact=True)).to_be_visible()
    assert watched.complaints == []

    # What is saved has a still picture beside each explorer, for readers without a kernel.
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saving completed").first).to_be_visible()
    saved = json.loads((lab.folder / "steps.ipynb").read_text("utf-8"))
    shown = [output["data"] for cell in saved["cells"] for output in cell["outputs"] if "data" in output]
    assert len(shown) == 2
    assert all("image/png" in data and "Seven steps" in "".join(data["text/plain"]) for data in shown)
    page.close()


@pytest.mark.slow
def test_D40_an_exported_notebook_shows_each_explorer_as_a_picture_with_its_tokens_in_words():
    notebook = new_notebook(cells=[new_code_cell(source) for source in (SETUP, STEPS, AGAIN)])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", store_widget_state=False).execute()
    exporter = nbconvert.HTMLExporter(template_name="course", extra_template_basedirs=[str(TEMPLATES)])
    html, _ = exporter.from_notebook_node(notebook)
    assert html.count('<img alt="Seven steps') + html.count('alt="Seven steps') >= 2
    assert html.count("“eins zwei”, from “one &lt;b&gt;two&lt;/b&gt; &lt;/s&gt;”.") >= 2
    assert "model not found" not in html
