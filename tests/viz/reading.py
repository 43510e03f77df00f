"""What tests of the head view share: its inputs, and a page to read its numbers from."""

from __future__ import annotations

import re

import numpy as np
from playwright.sync_api import Page, expect

from bertlab import viz

TOKENS = ["[CLS]", "play", "##ing", "cat", "[SEP]", "the", "cat", "##s", "[SEP]"]
WORDS = ["[CLS]", "playing", "cat", "[SEP]", "the", "cats", "[SEP]"]
HEADS = (4, 3)  # the second layer has lost one


def two_layers(rng: np.random.Generator) -> list[np.ndarray]:
    """Attention between `TOKENS`."""
    return [rng.dirichlet(np.full(9, 0.5), size=(n_heads, 9)) for n_heads in HEADS]


def encoder_decoder(rng: np.random.Generator) -> dict[str, viz.AttentionLayers]:
    """Three sets of different sizes."""
    source, target = ["one", "two", "three", "four", "</s>"], ["eins", "zwei", "</s>"]

    def weights(n_layers: int, n_heads: int, n_queries: int, n_keys: int) -> list[np.ndarray]:
        return list(rng.dirichlet(np.ones(n_keys), size=(n_layers, n_heads, n_queries)))

    return {
        "encoder": viz.AttentionLayers(weights(3, 2, 5, 5), source),
        "decoder": viz.AttentionLayers(weights(2, 4, 3, 3), target),
        "cross": viz.AttentionLayers(weights(2, 4, 3, 5), target, source),
    }


class Seen:
    """A head view on a page, and what can be read of it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.left, self.right = (page.get_by_role("listbox").nth(side) for side in (0, 1))
        expect(page.locator(".now")).not_to_contain_text("loading")

    def settle(self):
        """Wait for the next frame but one: all that was asked for is drawn."""
        self.page.evaluate("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")
        return self

    def count(self):
        return int(re.search(r"(\d+) lines?", self.settle().page.locator(".note").text_content())[1])

    def state(self, *traits):
        return [self.page.evaluate("trait => widgets.widget.model.get(trait)", trait) for trait in traits]

    def put(self, **traits):
        """What Python would do."""
        for name, value in traits.items():
            self.page.evaluate("([n, v]) => widgets.widget.model.set(n, v)", [name, value])
        return self.settle()

    def token(self, side, row):
        return (self.left, self.right)[side].get_by_role("option").nth(row)

    def names(self, side):
        self.settle()
        return (self.left, self.right)[side].get_by_role("option").all_text_contents()

    def fixed(self, side):
        chosen = "options => options.flatMap((o, i) => o.getAttribute('aria-selected') === 'true' ? [i] : [])"
        self.settle()
        return (self.left, self.right)[side].get_by_role("option").evaluate_all(chosen)

    def away(self):
        self.page.mouse.move(5, 5)
        return self.settle()

    def table(self):
        """Caption, names of columns and rows, numbers."""
        self.away()
        if self.page.locator("details").get_attribute("open") is None:
            self.page.locator("summary").click()
        self.page.locator("caption").wait_for()
        cells = """rows => rows.map((row) => [...row.children].map((cell) => cell.textContent))"""
        head, *rows = self.page.locator("table tr").evaluate_all(cells)
        numbers = np.array([[float(cell) for cell in row[1:]] for row in rows])
        return self.page.locator("caption").text_content(), head[1:], [row[0] for row in rows], numbers

    def shows(self, by_head: np.ndarray, atol: float = 1e-3) -> None:
        """Assert that the table holds these (heads, rows) numbers, and their mean over the heads."""
        _, _, _, numbers = self.table()
        np.testing.assert_allclose(numbers[:, :-1].T, by_head, atol=atol)
        np.testing.assert_allclose(numbers[:, -1], np.mean(by_head, axis=0), atol=atol)
