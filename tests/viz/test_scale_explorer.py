"""The explorer of the scale √d_k: slider and queries, from Python's side and in a browser."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from bertlab import viz


def make(seed=4, **options):
    return viz.scale_explorer(rng=np.random.default_rng(seed), **options)


def test_one_seed_gives_one_picture_and_another_seed_another():
    assert make().payload == make().payload
    assert make().payload != make(5).payload


def test_d_k_follows_from_the_place_of_the_slider_and_the_still_is_of_it():
    explorer = make(d_k=16)
    assert (explorer.place, explorer.d_k) == (4, 16)
    explorer.place, explorer.draw = 9, 2
    assert explorer.d_k == 512
    widths = [bar.get_width() for bar in explorer.still().axes[0].patches]
    np.testing.assert_allclose(widths, explorer.both.plain.weights[9, 2])
    assert "at width 512" in explorer.alt


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="d_k=100: the slider has 1, 2, 4"):
        make(d_k=100)
    with pytest.raises(ValueError, match="n_keys=17: give 2 to 16"):
        make(n_keys=17)
    with pytest.raises(ValueError, match="draws=1: give at least 2"):
        make(draws=1)
    with pytest.raises(ValueError, match="place=10: there are 10, from 0"):
        make().place = 10
    with pytest.raises(ValueError, match="draw=40: there are 40, from 0"):
        make().draw = 40


def weights(page, arm):
    return [float(text) for text in page.locator("svg > g").nth(arm).locator(".weight").all_text_contents()]


@pytest.mark.browser
def test_slider_and_button_change_both_arms_and_python_is_told(put_on_page):
    explorer = make(n_keys=6)
    page = put_on_page(explorer)
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    for _ in range(2):
        page.get_by_role("button", name="Another query").click()
    expect(page.locator("output").last).to_have_text("query 3 of 40")
    assert page.evaluate("widgets.widget.synced.at(-1)") == {"place": 7, "draw": 2}
    for number, arm in enumerate(explorer.both):
        np.testing.assert_allclose(weights(page, number), arm.weights[7, 2], atol=0.0051)
        bars = page.locator("svg > g").nth(number).locator("rect")
        long = bars.evaluate_all("all => all.map((bar) => +bar.getAttribute('width'))")
        np.testing.assert_allclose(np.array(long) / sum(long), arm.weights[7, 2], atol=1e-5)
        half = page.locator("svg > g").nth(number)
        expect(half).to_contain_text(f"entropy {arm.entropies[7, 2]:.2f} of 2.58 bits")
    expect(page.locator("svg")).to_contain_text("expected √128 = 11.3")


@pytest.mark.browser
def test_the_spread_is_told_beside_what_is_expected(put_on_page):
    explorer = make()
    page = put_on_page(explorer)
    plain = page.locator("svg > g").first
    one, every = np.std(explorer.both.plain.scores[6, 0], ddof=1), np.std(explorer.both.plain.scores[6])
    expect(plain).to_contain_text(f"standard deviation {one:.2f}; all queries {every:.2f}")
    expect(plain).to_contain_text("expected √64 = 8")
    expect(page.locator("svg > g").nth(1)).to_contain_text("expected 1")


@pytest.mark.browser
def test_the_table_has_all_widths_and_the_curve_marks_the_present_one(put_on_page):
    explorer = make()
    page = put_on_page(explorer)
    page.locator("summary").click()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(10)
    numbers = [float(cell) for cell in rows.nth(3).locator("td").all_text_contents()]
    arms = explorer.both
    wanted = [8**0.5, *(arm.scores[3].std() for arm in arms), *(arm.entropies[3].mean() for arm in arms)]
    np.testing.assert_allclose(numbers, wanted, atol=0.0051)
    at = [float(page.locator("svg .now").nth(k).get_attribute("cx")) for k in (0, 1)]
    assert at[0] == at[1] == pytest.approx(62 + 660 * 6 / 9)


@pytest.mark.browser
def test_after_the_last_query_comes_the_first_again(put_on_page):
    page = put_on_page(make(draws=2))
    page.get_by_role("button", name="Another query").click()
    expect(page.locator("output").last).to_have_text("query 2 of 2")
    page.get_by_role("button", name="Another query").click()
    expect(page.locator("output").last).to_have_text("query 1 of 2")
