"""The seven steps and the temperature: what each does of its own (test_every_widget.py: what all do)."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from playwright.sync_api import expect

from bertlab import viz
from bertlab.viz.output import png
from bertlab.viz.payload import softmax_table

# ------------------------------------------------------------------------------------- without a browser


def test_the_still_of_the_seven_steps_is_of_the_word_where_the_explorer_begins(make_trace):
    trace = make_trace()
    assert png(viz.decoding_steps(trace, step=9).still()) == png(viz.seven_steps(trace, 1))
    assert "“hundert” is written, word 2 of" in viz.decoding_steps(trace, step=9).alt


@pytest.mark.parametrize("step", [-1, 28])
def test_a_step_that_is_not_there_is_refused(make_trace, step):
    with pytest.raises(ValueError, match=f"step={step}: there are 28 steps, from 0"):
        viz.decoding_steps(make_trace(), step)


def test_importing_the_package_starts_no_kernel_and_asks_for_no_screen():
    program = "import sys, bertlab.viz; assert 'torch' not in sys.modules, 'torch'"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


# ------------------------------------------------------------------------------------------ in a browser


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


# Colours of all texts, then of what lies behind them.
