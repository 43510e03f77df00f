"""The explorer of word vectors: neighbours and analogies, in the browser as in Python."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from bertlab import viz
from bertlab.viz.vector_explorer import N_NEAREST

WORDS = ["man", "woman", "king", "queen", "zero", *(f"w{i}" for i in range(12))]
FIRST = [[2.4, 0.1, -0.1], [2.0, 1.8, -0.2], [-0.2, 0.2, 1.6], [-0.9, 0.4, 0.0], [0, 0, 0]]
VECTORS = np.concatenate([FIRST, np.random.default_rng(0).normal(size=(12, 3))])


def make(*examples):
    return viz.vector_explorer(WORDS, VECTORS, examples or [("king", "man", "woman"), ("man",)])


# ------------------------------------------------------------------------------------- without a browser


def test_the_nearest_words_are_those_of_the_sum_of_unit_vectors():
    explorer = make()
    unit = VECTORS / np.maximum(np.linalg.norm(VECTORS, axis=1, keepdims=True), 1e-9)
    cosines = unit @ (unit[2] - unit[0] + unit[1]) / np.linalg.norm(unit[2] - unit[0] + unit[1])
    wanted = {
        word: cosine
        for word, cosine in zip(WORDS, cosines, strict=True)
        if word not in ("man", "woman", "king")
    }
    best = sorted(wanted, key=wanted.__getitem__, reverse=True)[:N_NEAREST]
    assert [word for word, _ in explorer.nearest()] == best
    assert dict(explorer.nearest()) == pytest.approx({word: wanted[word] for word in best}, abs=0.02)
    explorer.exclude = False
    assert explorer.nearest()[0][0] == "king"


def test_one_word_alone_is_asked_for_its_neighbours():
    explorer = make(("man",))
    assert explorer.query == "man"
    assert "man" not in dict(explorer.nearest())
    explorer.exclude = False
    assert explorer.nearest()[0] == ("man", pytest.approx(1))


def test_the_still_and_the_words_tell_what_is_asked_and_what_is_near():
    explorer = make()
    assert explorer.still().get_suptitle() == "Nearest to king − man + woman"
    first, cosine = explorer.nearest()[0]
    assert explorer.alt.startswith(f"Nearest to king − man + woman: {first} {cosine:.2f}, ")
    explorer.word = "emperor"
    assert explorer.alt == "Nearest to emperor − man + woman: nothing, since a word has no vector."
    assert explorer.still().get_suptitle() == "emperor − man + woman: a word has no vector"


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"2 words, 1 of them different, and vectors of shape \(2, 1\)"):
        viz.vector_explorer(["a", "a"], [[1], [2]], [("a",)])
    with pytest.raises(ValueError, match=r"1 words, 1 of them different, and vectors of shape \(2, 1\)"):
        viz.vector_explorer(["a"], [[1], [2]], [("a",)])
    with pytest.raises(ValueError, match=r"examples=\[\]: give a list"):
        viz.vector_explorer(["a"], [[1]], [])
    with pytest.raises(ValueError, match=r"examples=\['a'\]: give a list of tuples"):
        viz.vector_explorer(["a"], [[1]], ["a"])
    with pytest.raises(ValueError, match="the example 'b' has no vector"):
        viz.vector_explorer(["a"], [[1]], [("b",)])
    with pytest.raises(ValueError, match="a word of 61 letters: give at most 60"):
        make().word = "a" * 61


# ------------------------------------------------------------------------------------------ in a browser


def shown_on(page):
    texts = page.locator("svg text").evaluate_all("all => all.map((e) => e.textContent)")
    return list(zip(texts[::2], texts[1::2], strict=True))


def told_by(explorer):
    return [(word, f"{cosine:.2f}".replace("-", "−")) for word, cosine in explorer.nearest()]


@pytest.mark.browser
def test_the_browser_finds_what_python_finds(put_on_page):
    page = put_on_page(make())
    assert shown_on(page) == told_by(make())
    page.get_by_role("button", name="leave out the words of the question").click()
    with_all = make()
    with_all.exclude = False
    assert shown_on(page) == told_by(with_all)
    assert page.evaluate("widgets.widget.synced.at(-1).exclude") is False


@pytest.mark.browser
def test_typing_asks_at_once_and_an_unknown_word_is_named(put_on_page):
    page = put_on_page(make(("man",), ("king", "man", "woman")))
    page.get_by_role("textbox", name="word").first.fill("queen")
    assert shown_on(page) == told_by(make(("queen",)))
    page.get_by_role("textbox", name="word").first.fill("emperor")
    expect(page.locator(".told")).to_have_text("emperor has no vector here.")
    assert shown_on(page) == []
    page.get_by_role("button", name="king − man + woman").click()
    assert shown_on(page) == told_by(make())
    assert [page.get_by_role("textbox").nth(i).input_value() for i in range(3)] == ["king", "man", "woman"]
