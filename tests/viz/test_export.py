"""A saved page: alive from a disk, without a network, and no token can break out of it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from playwright.sync_api import expect

from bertlab import viz
from bertlab.viz.export import _packed
from bertlab.viz.widget import STATIC
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


@pytest.mark.parametrize(("n_tokens", "megabytes"), [(128, 1.0), (512, 20.0)])
def test_a_page_of_twelve_layers_of_random_weights_the_hardest_to_compress_stays_small(
    tmp_path, n_tokens, megabytes
):
    scores = np.random.default_rng(0).normal(size=(12, n_tokens, n_tokens)).astype(np.float32)
    powers = np.exp(scores)
    layer = powers / powers.sum(axis=-1, keepdims=True)
    tokens = [f"word{i}" for i in range(n_tokens)]
    page = viz.head_view([layer] * 12, tokens).save(tmp_path / "x.html")  # 12 layers, compressed one by one
    assert page.stat().st_size < 1e6 * megabytes


@pytest.mark.browser
def test_what_a_page_carries_comes_back_to_the_byte(blank_page, rng):
    buffers = [rng.integers(0, top, size=n, dtype=np.uint8).tobytes() for n, top in enumerate([1, 256] * 20)]
    source = (STATIC / "offline.js").read_text("utf-8").split("export default")[0]
    came = blank_page.page.evaluate(
        """async ([source, texts]) => {
          const unpacked = new Function(source + "; return unpacked;")();
          return Promise.all(texts.map(async (text) => [...new Uint8Array((await unpacked(text)).buffer)]));
        }""",
        [source, [_packed(buffer) for buffer in buffers]],
    )
    assert [bytes(numbers) for numbers in came] == buffers


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
def test_without_scripts_a_page_says_what_it_shows_and_what_it_needs(browser, saved):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(saved.as_uri())
    words = page.locator("main").inner_text()
    assert "The softmax over" in words
    assert "needs JavaScript" in words
    page.context.close()
