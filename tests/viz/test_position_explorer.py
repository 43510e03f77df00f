"""The explorer of positions: what is sent, and what slider, click and hover show."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from bertlab import viz
from bertlab.viz.position_explorer import position_payload, signed_levels
from bertlab.viz.position_table import similarities
from tests.viz.test_position_table import sinusoids

LEFT, TOP, WIDE = 62, 40, 770  # of the heat map, as in position_explorer.js


# ------------------------------------------------------------------------------------- without a browser


def test_the_table_is_rounded_to_half_a_step_at_most(rng):
    table = rng.normal(size=(30, 20))
    levels, step = signed_levels(table)
    assert levels.dtype == np.dtype("<i2")
    assert np.abs(levels * step - table).max() <= step / 2 * (1 + 1e-9)
    assert np.abs(levels).max() == 32767
    assert (signed_levels(np.zeros((2, 2))).levels == 0).all()


def test_the_stated_error_bounds_the_true_one(rng):
    table = 3 * rng.normal(size=(30, 20))
    levels, step = signed_levels(table)
    assert np.abs(levels * step - table).max() <= 1.1 * float(position_payload(table)["error"])


def test_512_positions_of_768_numbers_take_less_than_a_megabyte():
    assert len(viz.position_explorer(sinusoids(512, 768)).chunk("table")[0]) == 512 * 768 * 2


def test_large_numbers_that_share_the_end_colours_are_told():
    table = np.ones((100, 10))
    assert position_payload(table)["beyond"] == ""
    table[0, :3] = -50
    assert position_payload(table)["beyond"] == "0.5"


def test_the_still_is_of_the_present_place():
    explorer = viz.position_explorer(sinusoids(8, 6), position=1)
    explorer.position, explorer.dimension = 5, 2
    np.testing.assert_array_equal(explorer.still().axes[1].lines[0].get_ydata(), explorer.table[5])
    assert "vector of position 5, dimension 2 along" in explorer.alt


def test_what_cannot_be_is_refused():
    explorer = viz.position_explorer(sinusoids(8, 6))
    with pytest.raises(ValueError, match="position=8: there are 8, from 0"):
        explorer.position = 8
    with pytest.raises(ValueError, match="dimension=6: there are 6, from 0"):
        viz.position_explorer(sinusoids(8, 6), dimension=6)
    with pytest.raises(ValueError, match=r"larger than 1024 × 1024: show a part of it"):
        viz.position_explorer(np.ones((1025, 1)))
    with pytest.raises(KeyError):
        explorer.chunk("other")


# ------------------------------------------------------------------------------------------ in a browser


def place(page, explorer, position, dimension):
    """Where a number of the table is drawn."""
    box, (n, width) = page.locator("canvas").bounding_box(), explorer.table.shape
    tall = min(18, 256 // n) * n
    x, y = LEFT + WIDE * (dimension + 0.5) / width, TOP + tall * (position + 0.5) / n
    return box["x"] + x * box["width"] / 860, box["y"] + y * box["width"] / 860


@pytest.fixture
def explorer():
    return viz.position_explorer(sinusoids(40, 16), position=3, dimension=4)


@pytest.fixture
def page(explorer, put_on_page):
    page = put_on_page(explorer)
    expect(page.get_by_text("position 3, dimension 4")).to_be_visible()
    return page


@pytest.mark.browser
def test_the_slider_moves_the_position_and_the_similarities_are_those_of_python(explorer, page):
    page.get_by_role("slider", name="position").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_text("Positions as a table").click()
    expect(page.locator("caption")).to_have_text(
        "Every position: its value in dimension 4, its similarity to position 4"
    )
    rows = page.locator("tbody tr").evaluate_all(
        "all => all.map((r) => [...r.querySelectorAll('td')].map((e) => +e.textContent.replace('−', '-')))"
    )
    np.testing.assert_allclose(np.array(rows)[:, 0], explorer.table[:, 4], atol=1e-4)
    np.testing.assert_allclose(np.array(rows)[:, 1], similarities(explorer.table, 4), atol=6e-4)
    assert page.evaluate("widgets.widget.synced") == [{"position": 4}]


@pytest.mark.browser
def test_of_sinusoids_the_similarities_stay_as_they_are_when_the_position_moves(page):
    said = page.locator("[aria-live]")
    before = said.text_content()
    page.get_by_role("slider", name="position").focus()
    for _ in range(2):
        page.keyboard.press("PageUp")
    expect(said).to_contain_text("Similarity of position 23")
    numbers = [line.replace("of position 23", "of position 3") for line in (before, said.text_content())]
    assert numbers[0].partition(";")[0] == numbers[1].partition(";")[0]  # at distance 1, back and on


@pytest.mark.browser
def test_hovering_a_column_shows_its_wave_and_tells_python_nothing(explorer, page):
    page.mouse.move(*place(page, explorer, 10, 7))
    expect(page.locator("svg")).to_contain_text("dimension 7 along positions")
    expect(page.locator(".at-cell")).to_contain_text(f"position 10, dimension 7: {explorer.table[10, 7]:.4g}")
    for name, value in (("position", "10"), ("dimension", "7")):
        expect(page.get_by_role("slider", name=name)).to_have_value(value)
    expect(page.locator("svg")).to_contain_text("similarity to position 10")
    expect(page.locator(".near")).to_contain_text("Similarity of position 10 ")
    expect(page.locator("[aria-live]")).to_contain_text(
        "Similarity of position 3 "
    )  # hovering is not read out
    page.mouse.move(1, 1)
    expect(page.locator("svg")).to_contain_text("dimension 4 along positions")
    assert page.evaluate("widgets.widget.synced") == []


@pytest.mark.browser
def test_a_click_on_a_curve_chooses_its_position_or_dimension(explorer, page):
    box = page.locator("svg").bounding_box()
    scale = box["width"] / 860

    def click(x, y):
        page.mouse.click(box["x"] + scale * x, box["y"] + scale * y)

    click(62 + 770 * 11.5 / 16, 60)
    assert page.evaluate("widgets.widget.synced.at(-1)") == {"dimension": 11}
    click(62 + 340 * 25 / 39, 220)
    click(492 + 340 * 30 / 39, 220)
    expect(page.locator(".at-cell")).to_contain_text("position 30, dimension 11")
    assert page.evaluate("widgets.widget.synced.map(({ position }) => position)") == [None, 25, 30]
    click(450, 220)  # between the two
    assert page.evaluate("widgets.widget.synced.length") == 3


@pytest.mark.browser
def test_where_colours_end_and_what_a_learned_table_may_do_is_said(put_on_page, rng):
    table = rng.normal(size=(40, 50))
    table[0, :9] = -50
    note = put_on_page(viz.position_explorer(table)).locator(".note")
    expect(note).to_contain_text("The largest 0.5 % share the end colours; sizes reach 50.")
    expect(note).to_contain_text(
        "Where the curve of similarity moves along and keeps its shape, as with sinusoids"
    )


@pytest.mark.browser
def test_a_click_chooses_position_and_dimension_and_python_is_told(explorer, page):
    page.mouse.click(*place(page, explorer, 30, 9))
    expect(page.locator("svg")).to_contain_text("similarity to position 30")
    assert page.evaluate("widgets.widget.synced.at(-1)") == {"position": 30, "dimension": 9}
    expect(page.get_by_role("slider", name="dimension")).to_have_value("9")


@pytest.mark.browser
def test_the_pixels_of_the_heat_map_are_the_numbers_of_the_table(explorer, page):
    palette = position_payload(explorer.table)["palette"]
    for position, dimension in ((0, 0), (0, 1), (10, 7), (39, 15), (5, 2)):
        x, y = LEFT + WIDE * (dimension + 0.5) / 16, TOP + 6 * (position + 0.5)
        pixel = page.evaluate(
            """([x, y]) => {
              const canvas = document.querySelector("canvas"), dots = canvas.width / 860;
              return [...canvas.getContext("2d").getImageData(x * dots, y * dots, 1, 1).data].slice(0, 3);
            }""",
            [x, y],
        )
        level = round(128 * (explorer.table[position, dimension] + 1) / 2)
        wanted = [int(palette[level][at : at + 2], 16) for at in (1, 3, 5)]
        assert np.abs(np.array(pixel) - wanted).max() <= 4, (position, dimension)


@pytest.mark.browser
def test_hover_over_512_by_768_numbers_is_drawn_in_less_than_50_ms(put_on_page):
    page = put_on_page(viz.position_explorer(sinusoids(512, 768)))
    expect(page.get_by_text("position 0, dimension 0")).to_be_visible()
    box = page.locator("canvas").bounding_box()
    page.evaluate("""() => {
      const ask = window.requestAnimationFrame;
      window.took = [];
      window.requestAnimationFrame = (draw) => ask((now) => {
        const began = performance.now();
        draw(now);
        window.took.push(performance.now() - began);
      });
    }""")
    for i in range(8):
        page.mouse.move(box["x"] + 200 + 40 * i, box["y"] + 100)
        page.wait_for_timeout(30)
    took = page.evaluate("window.took")
    assert len(took) >= 5
    assert min(took) < 50, took  # the least: others may be at work beside us
