"""A printed page: what can be read stays, what can only be pressed goes, and nothing is dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.viz.widgets import ALL, MAKE, PLAIN

pytestmark = pytest.mark.browser

DARK = "document.body.style.cssText = 'background: #111; color: #eee'"
LOOK = "node => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"


@pytest.mark.parametrize("name", ALL)
def test_controls_are_not_printed_what_is_said_is(put_on_page, name):
    page = put_on_page(MAKE[name](PLAIN))
    page.evaluate(DARK)
    page.emulate_media(media="print")
    root = page.locator(".bertlab").first
    assert root.evaluate(LOOK) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    for control in page.locator("input, .controls, .tools").all():
        expect(control).to_be_hidden()
    expect(page.locator("canvas, svg, table, .words").first).to_be_visible()


def test_the_numbers_that_were_opened_are_printed_whole_and_heads_that_are_on_stay_as_a_legend(put_on_page):
    page = put_on_page(MAKE["head_view"]([str(i) for i in range(60)]))
    page.evaluate("widgets.widget.model.set('heads', [0, 2]); widgets.widget.model.set('queries', [3])")
    page.locator("summary").click()
    page.locator(".table td").first.wait_for()
    region = page.locator(".table .scroll")
    assert region.bounding_box()["height"] <= 320
    page.emulate_media(media="print")
    assert region.bounding_box()["height"] > 1000
    expect(page.locator(".head:visible")).to_have_text(["0", "2"])
    expect(page.get_by_role("button", name="none")).to_be_hidden()
