"""Explorers: from Python's side, then in a browser without Jupyter (in JupyterLab: test_in_jupyterlab.py)."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from ipywidgets import VBox
from playwright.sync_api import expect

from bertlab import viz
from bertlab.viz.output import png
from bertlab.viz.payload import softmax_table
from bertlab.viz.widget import STATIC, script
from tests.viz.conftest import HOSTILE

WIDGET, STILL = "application/vnd.jupyter.widget-view+json", "image/png"


@pytest.fixture
def explorers(make_trace):
    return {
        "decoding_steps": viz.decoding_steps(make_trace(), step=9),
        "softmax_temperature": viz.softmax_temperature(
            [2.0, 1.0, -1.0], ["a", "b", "c"], {"one": 1, "√64": 8}
        ),
    }


ALL = ("decoding_steps", "softmax_temperature")


# ------------------------------------------------------------------------------------- without a browser


@pytest.mark.parametrize("name", ALL)
def test_D40_a_saved_explorer_has_a_still_picture_and_its_words(explorers, name):
    data, metadata = explorers[name]._repr_mimebundle_()
    assert data[WIDGET]["model_id"] == explorers[name].model_id
    assert base64.b64decode(data[STILL]) == png(explorers[name].still())
    assert metadata[STILL]["alt"] == data["text/plain"] == explorers[name].alt


@pytest.mark.parametrize("name", ALL)
def test_the_words_of_a_still_are_the_same_in_every_run_and_hold_no_long_numbers(explorers, name):
    data, _ = explorers[name]._repr_mimebundle_()
    assert explorers[name].model_id not in data["text/plain"]
    assert not re.search(r"0x|\d\.\d\d", data["text/plain"])
    assert data["text/plain"].endswith(".")


def test_the_still_of_the_seven_steps_is_of_the_word_where_the_explorer_begins(make_trace):
    trace = make_trace()
    assert png(viz.decoding_steps(trace, step=9).still()) == png(viz.seven_steps(trace, 1))
    assert "“hundert” is written, word 2 of" in viz.decoding_steps(trace, step=9).alt


def test_explorers_can_stand_in_a_box_beside_other_widgets(explorers):
    assert len(VBox(list(explorers.values())).children) == len(explorers)


@pytest.mark.parametrize("step", [-1, 28])
def test_a_step_that_is_not_there_is_refused(make_trace, step):
    with pytest.raises(ValueError, match=f"step={step}: there are 28 steps, from 0"):
        viz.decoding_steps(make_trace(), step)


@pytest.mark.parametrize("name", ALL)
def test_a_script_is_one_module_that_imports_nothing_and_parses_no_markup(name):
    source = script(name)
    assert not re.search(r"^\s*import\b|\bimport\(", source, flags=re.MULTILINE)
    assert source.count("export ") == 1
    for way_in in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "DOMParser",
        "http",
    ):
        assert way_in not in source.replace("http://www.w3.org/2000/svg", ""), way_in


def test_D40_text_and_what_is_behind_it_both_come_from_the_host():
    rules = re.findall(
        r"([^{}]+)\{([^{}]*)\}", re.sub(r"/\*.*?\*/", "", (STATIC / "kit.css").read_text(), flags=re.S)
    )
    for selector, body in rules:
        declared = dict(re.findall(r"([\w-]+):\s*([^;]+);", body))
        if "color" in declared:
            assert declared["color"] == "inherit", selector
            assert declared["background"] in ("inherit", "transparent"), selector
        if "text" in selector and "fill" in declared:
            assert declared["fill"] == "currentColor", selector
    assert not any("background" in body and "color: inherit" not in body for _, body in rules)


def test_colours_of_our_own_stand_out_from_white_and_from_black():
    from matplotlib.colors import to_rgb

    from bertlab.viz.style import relative_luminance

    ours = re.findall(r"--\w+: (#\w{6})", (STATIC / "kit.css").read_text())
    assert len(ours) == 4
    for colour in ours:
        y = float(relative_luminance(to_rgb(colour)))
        assert min(1.05 / (y + 0.05), (y + 0.05) / (0.0056 + 0.05)) > 2.9, colour


def test_importing_the_package_starts_no_kernel_and_asks_for_no_screen():
    program = "import sys, bertlab.viz; assert 'torch' not in sys.modules, 'torch'"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


# ------------------------------------------------------------------------------------------ in a browser


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


@pytest.mark.browser
def test_the_seven_steps_go_by_slider_buttons_and_keys(make_trace, put_on_page):
    page = put_on_page(viz.decoding_steps(make_trace()))
    where, slider = page.locator("output"), page.get_by_role("slider")
    expect(where).to_have_text("word 1 of 4, step 1 of 7")
    page.get_by_role("button", name="Next").click()
    expect(where).to_have_text("word 1 of 4, step 2 of 7")
    slider.focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    expect(where).to_have_text("word 1 of 4, step 3 of 7")
    slider.fill("3")
    expect(where).to_have_text("word 1 of 4, step 4 of 7")
    slider.fill("2")
    page.locator(".bertlab").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "PageDown"):
        page.keyboard.press(key)
    expect(where).to_have_text("word 2 of 4, step 4 of 7")
    page.get_by_role("button", name="7 Word").click()
    page.get_by_role("button", name="Back").click()
    expect(where).to_have_text("word 2 of 4, step 6 of 7")
    page.keyboard.press("End")
    expect(where).to_have_text("word 4 of 4, step 7 of 7")
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.keyboard.press("Home")
    expect(slider).to_have_value("0")
    assert page.evaluate("widgets.widget.synced.at(-1)") == {"step": 0}


@pytest.mark.browser
def test_each_step_adds_what_it_computes(make_trace, put_on_page):
    page = put_on_page(viz.decoding_steps(make_trace(), step=7))
    kinds = ("new", "score", "query", "weight", "context", "flow", "combined", "answer")
    drawn = {
        "Start": (0, 0, 0, 0, 0, 0, 0, 0),
        "New state": (1, 0, 0, 0, 0, 0, 0, 0),
        "Scores": (1, 4, 4, 0, 0, 0, 0, 0),
        "Softmax": (1, 4, 0, 4, 0, 0, 0, 0),
        "Context": (1, 4, 0, 4, 1, 4, 0, 0),
        "Combine": (1, 4, 0, 4, 1, 6, 1, 0),
        "Word": (1, 4, 0, 4, 1, 6, 1, 2),
    }
    for name, counts in drawn.items():
        page.get_by_role("group", name="step").get_by_role("button", name=name).click()
        assert tuple(page.locator(f"svg .{kind}").count() for kind in kinds) == counts, name
    expect(page.locator("svg .source")).to_have_count(4)


@pytest.mark.browser
def test_the_step_is_told_in_words_and_weights_are_bars_of_their_height(make_trace, put_on_page):
    trace = make_trace()
    page = put_on_page(viz.decoding_steps(trace, step=7 * 2 + 3))
    told = viz.trace.told(trace, 2)[3]
    expect(page.locator(".said")).to_contain_text(told.formula)
    expect(page.locator(".said")).to_contain_text(told.text)
    assert page.locator(".said").get_attribute("aria-live") == "polite"
    heights = page.locator(".weight").evaluate_all("bars => bars.map((bar) => +bar.getAttribute('height'))")
    np.testing.assert_allclose(np.array(heights) / sum(heights), trace.weights[2], atol=1e-3)


@pytest.mark.browser
def test_words_are_hidden_until_they_are_written_and_lead_to_their_beginning(make_trace, put_on_page):
    page = put_on_page(viz.decoding_steps(make_trace(), step=6))
    words = page.get_by_role("group", name="word").get_by_role("button")
    expect(words).to_have_text(["zwei", "?", "?", "?"])
    words.nth(2).click()
    expect(words).to_have_text(["zwei", "hundert", "?", "?"])
    expect(page.locator("output")).to_have_text("word 3 of 4, step 1 of 7")


@pytest.mark.browser
def test_play_runs_to_the_end_and_pause_stops_it(make_trace, put_on_page, blank_page):
    blank_page.page.clock.install()
    page = put_on_page(viz.decoding_steps(make_trace(), step=25))
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(1500)
    expect(page.locator("output")).to_have_text("word 4 of 4, step 6 of 7")
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(5000)
    expect(page.locator("output")).to_have_text("word 4 of 4, step 6 of 7")
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(5000)
    expect(page.locator("output")).to_have_text("word 4 of 4, step 7 of 7")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.browser
@pytest.mark.parametrize("name", ALL)
def test_a_change_from_python_is_drawn_and_after_cleanup_nothing_is_left(explorers, put_on_page, name):
    page = put_on_page(explorers[name])
    trait = {"decoding_steps": "step", "softmax_temperature": "place"}[name]
    before = page.locator(".bertlab").inner_html()
    page.evaluate("trait => widgets.widget.model.set(trait, 0)", trait)
    assert page.locator(".bertlab").inner_html() != before
    page.evaluate("widgets.widget.cleanup()")
    assert page.evaluate("Object.values(widgets.widget.listeners).flat().length") == 0
    assert page.locator("#widget").inner_html() == ""


@pytest.mark.browser
def test_the_slider_of_the_temperature_changes_bars_and_entropy(put_on_page):
    explorer = viz.softmax_temperature([2.0, 1.0, -1.0], ["a", "b", "c"], {"not divided": 1, "÷ √64": 8})
    page = put_on_page(explorer)
    bars = page.locator(".probability")
    expect(bars).to_have_text([f"{p:.3f}" for p in softmax_table([2, 1, -1], [1])[0]])
    page.get_by_role("button", name="÷ √64").click()
    expect(bars).to_have_text([f"{p:.3f}" for p in softmax_table([2, 1, -1], [8])[0]])
    expect(page.locator("output")).to_have_text("scores divided by 8")
    expect(page.get_by_role("button", name="÷ √64")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("slider").focus()
    page.keyboard.press("Home")
    expect(bars).to_have_text(["1.000", "0.000", "0.000"])
    expect(page.locator("p[aria-live]")).to_contain_text("entropy 0.00 bits")
    assert page.evaluate("widgets.widget.synced.at(-1)") == {"place": 0}


@pytest.mark.browser
@pytest.mark.parametrize("name", ALL)
def test_D39_two_copies_on_one_page_share_no_id_and_both_work(explorers, put_on_page, name):
    put_on_page(explorers[name], "first")
    page = put_on_page(explorers[name], "second")
    found = [Elements(page.locator(f"#{copy}").inner_html()) for copy in ("first", "second")]
    assert not set(found[0].ids) & set(found[1].ids)
    state = "copy => ['step', 'place', 'head'].map((trait) => widgets[copy].model.get(trait) ?? null)"
    before = [page.evaluate(state, copy) for copy in ("first", "second")]
    page.locator("#second .bertlab").focus()
    page.keyboard.press("ArrowLeft")
    after = [page.evaluate(state, copy) for copy in ("first", "second")]
    assert after[0] == before[0]
    assert after[1] != before[1]


@pytest.mark.browser
@pytest.mark.parametrize("name", ALL)
def test_D38_hostile_tokens_are_shown_and_run_nothing(make_trace, put_on_page, name):
    n = len(HOSTILE)
    if name == "decoding_steps":
        top = [[(token, 0.5), (HOSTILE[0], 0.25)] for token in HOSTILE]
        explorer = viz.decoding_steps(
            make_trace(HOSTILE, HOSTILE, start=HOSTILE[0], top_words=top), step=7 * n - 1
        )
    else:
        explorer = viz.softmax_temperature(np.arange(n), HOSTILE, {HOSTILE[0]: 1.0})
    page = put_on_page(explorer)
    seen = Elements(page.locator("#widget").inner_html())
    assert not {"img", "script", "iframe", "a", "b"} & set(seen.names)
    assert seen.names.count("svg") == 1
    assert seen.handlers == []
    whole = " ".join(seen.text)
    for token in ("<img src=x onerror=alert(1)>", "a<b&c", "$x$", "∅", "␣"):
        assert token in whole, token


@pytest.mark.browser
@pytest.mark.parametrize("name", ALL)
def test_everything_to_press_has_a_name_and_the_drawing_has_words(explorers, put_on_page, name):
    page = put_on_page(explorers[name])
    for button in page.get_by_role("button").all():
        assert button.inner_text().strip()
    for slider in page.get_by_role("slider").all():
        assert slider.get_attribute("aria-label")
        assert slider.get_attribute("aria-valuetext")
    assert len(page.get_by_role("img").get_attribute("aria-label")) > 20
    assert page.locator(".bertlab").get_attribute("aria-label")
    page.locator(".bertlab").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


# Colours of all texts, then of what lies behind them.
COLOURS = """root => {
  const texts = [...root.querySelectorAll("button, p, span, output")];
  return [
    [...texts.map((e) => getComputedStyle(e).color),
     ...[...root.querySelectorAll("svg text")].map((e) => getComputedStyle(e).fill)],
    [root, ...texts].map((e) => getComputedStyle(e).backgroundColor),
  ];
}"""


@pytest.mark.browser
@pytest.mark.parametrize("name", ALL)
def test_D40_text_has_the_hosts_colour_in_light_and_dark(explorers, put_on_page, name):
    page = put_on_page(explorers[name])
    for behind, text in (("white", "rgb(32, 32, 32)"), ("black", "rgb(238, 238, 238)")):
        page.evaluate(
            "([b, t]) => { document.body.style = `background: ${b}; color: ${t}`; }", [behind, text]
        )
        texts, backgrounds = page.locator(".bertlab").evaluate(COLOURS)
        assert set(texts) == {text}
        assert set(backgrounds) == {"rgba(0, 0, 0, 0)"}
