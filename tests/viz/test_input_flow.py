"""The explorer of BERT's input: from Python's side, then in a browser without Jupyter."""

from __future__ import annotations

import json

import numpy as np
import pytest
from playwright.sync_api import expect

from bertlab.viz.input_flow import input_flow
from bertlab.viz.input_told import told
from bertlab.viz.style import shown
from tests.viz.looking import overlapping
from tests.viz.widgets import HOSTILE

TOKENS = ["[CLS]", "my", "dog", "[SEP]", "he", "likes", "[SEP]"]


def flow(tokens=TOKENS, width=16, normed=True, **others):
    rng = np.random.default_rng(0)
    n = len(tokens)
    segments = [int(i >= 4) for i in range(n)]
    three = rng.normal(size=(n, width)), rng.normal(size=(2, width))[segments], rng.normal(size=(n, width))
    sums = sum(three)
    norm = (sums - sums.mean(axis=1, keepdims=True)) / sums.std(axis=1, keepdims=True) + 0.5
    given = {"ids": range(100, 100 + n), "normed": norm if normed else None} | others
    return input_flow(tokens, segments, *three, **given)


# ------------------------------------------------------------------------------------- without a browser


def test_what_is_drawn_on_one_scale_adds_up():
    drawn = flow().payload["cells"]
    three = np.array([drawn[name] for name in ("token", "segment", "position")])
    np.testing.assert_allclose(three.sum(axis=0), drawn["sum"], atol=0.002)
    assert np.abs(drawn["norm"]).max() == 1
    assert {len(vector) for vectors in drawn.values() for vector in vectors} == {12}


def test_the_payload_of_128_tokens_is_small_and_plain():
    payload = flow([f"t{i}" for i in range(128)], width=768).payload
    assert len(json.dumps(payload)) < 400_000


def test_without_ids_and_layer_norm_there_are_five_steps():
    view = flow(ids=None, normed=False)
    assert [step for step, _ in view.payload["steps"]] == ["tokens", "token", "segment", "position", "sum"]
    assert "layer norm" not in view.payload["note"]
    view.step = 4
    with pytest.raises(ValueError, match="step=5: there are 5, from 0"):
        view.step = 5


@pytest.mark.parametrize("place", [{"step": 7}, {"step": -1}, {"position": 7}, {"position": -1}])
def test_a_place_that_is_not_there_is_refused(place):
    with pytest.raises(ValueError, match="there are 7, from 0"):
        flow(**place)


def test_still_and_words_are_of_the_present_token():
    view = flow(position=2)
    assert view.alt == (
        "BERT's input for “[CLS] my dog [SEP] he likes [SEP]”: a token, a segment and a position embedding "
        "for each token, all 16 wide, and their sum, and after layer norm; marked is “dog” at position 2."
    )
    view.position = 5
    assert "marked is “likes” at position 5." in view.alt
    assert overlapping(view.still()) == []


# ------------------------------------------------------------------------------------------ in a browser


@pytest.mark.browser
def test_steps_go_by_slider_buttons_and_keys(put_on_page):
    page = put_on_page(flow())
    said, slider = page.locator(".said strong"), page.get_by_role("slider")
    expect(said).to_have_text("1 · Tokens")
    page.get_by_role("button", name="Next").click()
    expect(said).to_have_text("2 · Ids")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(said).to_have_text("3 · Token embedding")
    slider.fill("4")
    expect(said).to_have_text("5 · Position embedding")
    page.locator(".bertlab").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Back").click()
    expect(said).to_have_text("4 · Segment embedding")
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_role("button", name="6 Sum").click()
    expect(said).to_have_text("6 · Sum")
    assert page.evaluate("widgets.widget.synced.at(-1)") == {"step": 5}


@pytest.mark.browser
def test_a_token_is_chosen_by_click_and_by_keys_and_its_numbers_are_told(put_on_page):
    view = flow(step=5)
    page = put_on_page(view)
    tokens = page.get_by_role("group", name="token", exact=True).get_by_role("button")
    expect(tokens).to_have_text(TOKENS)
    tokens.nth(2).click()
    formula, text = told(view.inputs, 2)[5]
    expect(page.locator(".formula")).to_have_text(formula)
    expect(page.locator(".said")).to_contain_text(text)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(tokens.nth(4)).to_be_focused()
    expect(page.locator(".formula")).to_have_text(told(view.inputs, 4)[5].formula)
    page.locator(".bertlab").focus()
    page.keyboard.press("PageDown")
    assert page.evaluate("widgets.widget.synced.at(-1)") == {"position": 5}
    box = page.locator("canvas").bounding_box()
    page.mouse.click(box["x"] + 66 * 1.5, box["y"] + 200)
    assert page.evaluate("widgets.widget.model.get('position')") == 1


@pytest.mark.browser
def test_the_addition_is_written_out_as_far_as_it_has_come(put_on_page):
    view = flow(position=2, step=3)
    page = put_on_page(view)
    rows = page.locator(".addition tbody tr")
    expect(rows.locator("th")).to_have_text(["token", "+ segment", "+ position", "= sum", "layer norm"])
    numbers = view.payload["numbers"]
    expect(rows.nth(1).locator("td")).to_have_text([*numbers["segment"][2], "…"])
    expect(rows.nth(2).locator("td")).to_have_text([""] * 7)
    page.get_by_role("button", name="6 Sum").click()
    written = [
        [float(x.replace("−", "-")) for x in rows.nth(i).locator("td").all_text_contents()[:6]]
        for i in range(4)
    ]
    np.testing.assert_allclose(np.sum(written[:3], axis=0), written[3], atol=0.002)
    expect(rows.nth(4).locator("td").first).to_have_text("")


PIXELS = """([row, column]) => {
  const canvas = document.querySelector("canvas"), dots = devicePixelRatio, pen = canvas.getContext("2d");
  const { data } = pen.getImageData((column * 66 + 8) * dots, row * dots, 50 * dots, 70 * dots);
  let blue = 0, orange = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] < 200) continue;
    if (data[i + 2] > data[i] + 60) blue++;
    if (data[i] > data[i + 2] + 60) orange++;
  }
  return [blue > 0, orange > 0];
}"""


@pytest.mark.browser
def test_each_step_draws_one_more_row(put_on_page):
    page = put_on_page(flow(step=1))
    tops = [52 + 20 + 100 * i for i in range(5)]
    for step in range(1, 7):
        page.evaluate("step => widgets.widget.model.set('step', step)", step)
        page.wait_for_timeout(60)
        drawn = [any(page.evaluate(PIXELS, [top, 3])) for top in tops]
        assert drawn == [i < step - 1 for i in range(5)], step


@pytest.mark.browser
def test_of_128_tokens_only_those_in_sight_are_drawn_and_the_chosen_one_is_brought_there(put_on_page):
    page = put_on_page(flow([f"t{i}" for i in range(128)], position=100, step=6))
    assert page.locator("canvas").evaluate("canvas => canvas.clientWidth") < 860
    box, token = (
        page.locator(".columns").bounding_box(),
        page.get_by_role("button", name="t100").bounding_box(),
    )
    assert box["x"] <= token["x"] <= box["x"] + box["width"] - token["width"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="t100").focus()
    page.keyboard.press("Home")
    assert page.locator(".columns").evaluate("box => box.scrollLeft") == 0


@pytest.mark.browser
def test_the_table_has_a_line_for_each_token(put_on_page):
    view = flow()
    page = put_on_page(view)
    page.locator("summary").click()
    lines = page.locator("details tbody tr")
    expect(lines).to_have_count(7)
    first = [view.payload["numbers"][kind][4][0] for kind in ("token", "segment", "position", "sum", "norm")]
    assert lines.nth(4).locator("th, td").all_text_contents() == ["4", "he", "104", "B", *first]


@pytest.mark.browser
def test_a_change_from_python_is_drawn_and_after_cleanup_nothing_is_left(put_on_page):
    page = put_on_page(flow())
    page.evaluate("widgets.widget.model.set('position', 5)")
    expect(page.locator(".formula")).to_contain_text("likes")
    page.evaluate("widgets.widget.cleanup()")
    assert page.evaluate("Object.values(widgets.widget.listeners).flat().length") == 0
    assert page.locator("#widget").inner_html() == ""


@pytest.mark.browser
def test_D38_hostile_tokens_stay_text_and_stay_apart(put_on_page):
    tokens = [*HOSTILE, "same", "same"]
    page = put_on_page(flow(tokens, position=3, step=2))
    seen = page.get_by_role("group", name="token", exact=True).get_by_role("button").all_text_contents()
    assert seen == [shown(token) for token in tokens]
    assert page.locator("#widget").evaluate("root => root.querySelectorAll('img, script, a, b').length") == 0
