"""A saved page: alive from a disk, without a network, and no token can break out of it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from playwright.sync_api import expect

from bertlab import viz
from tests.viz.conftest import Watched
from tests.viz.widgets import HOSTILE

NASTY = (*HOSTILE, "</script><script>alert(3)</script>", "<!--", "]]>", "\u2028", "\ud800", "🙂", "שלום")


class Scripts(HTMLParser):
    """Names of all elements of a page."""

    def __init__(self, source):
        super().__init__()
        self.names = []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)


@pytest.fixture
def saved(tmp_path):
    labels = list(NASTY)
    return viz.softmax_temperature(np.arange(len(labels)), labels, {NASTY[0]: 1.0}).save(
        tmp_path / "page.html"
    )


def test_D38_no_token_ends_the_script_that_carries_it(saved):
    page = saved.read_text("utf-8")
    assert Scripts(page).names.count("script") == 3
    state = re.search(r'id="state">(.*?)</script>', page, flags=re.DOTALL)
    assert json.loads(state[1])["payload"]["labels"] == list(NASTY)


def test_a_page_names_no_address_and_forbids_to_load_any(saved):
    page = saved.read_text("utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in page


@pytest.mark.browser
def test_a_page_works_from_the_disk_with_mouse_and_keys_and_asks_for_nothing(browser, saved):
    page = browser.new_page()
    watched = Watched(page, own=saved.as_uri())
    page.goto(saved.as_uri())
    expect(page.locator("main .bertlab")).to_have_count(1)
    expect(page.get_by_text(HOSTILE[0]).first).to_be_visible()
    page.get_by_role("slider").focus()
    page.keyboard.press("Home")
    expect(page.locator(".probability").last).to_have_text("1.000")
    page.get_by_role("button", name=HOSTILE[0]).click()
    expect(page.locator(".probability").last).not_to_have_text("1.000")
    assert watched.complaints == []
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_follows_the_readers_theme(browser, saved, scheme):
    page = browser.new_page(color_scheme=scheme)
    page.goto(saved.as_uri())
    look = "(e) => [getComputedStyle(e).color, getComputedStyle(document.body).backgroundColor]"
    text, behind = page.locator(".bertlab").evaluate(look)
    dark = {
        "light": ("rgb(0, 0, 0)", "rgb(255, 255, 255)"),
        "dark": ("rgb(255, 255, 255)", "rgb(18, 18, 18)"),
    }
    assert (text, behind) == dark[scheme]
    page.close()


@pytest.mark.browser
def test_without_scripts_a_page_shows_the_still_picture(browser, saved):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(saved.as_uri())
    assert "The softmax over" in page.locator("main img").get_attribute("alt")
    assert page.locator("main img").bounding_box()["width"] > 500
    page.context.close()
