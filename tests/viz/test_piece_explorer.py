"""The explorer of WordPiece: type, and see the pieces."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from bertlab import viz
from bertlab.viz.greedy_pieces import greedy_pieces
from bertlab.viz.piece_explorer import MOST_LINES, draw_pieces

VOCABULARY = ["[PAD]", "[UNK]", "un", "##aff", "##able", "play", "##ing", "!", "the"]


def make(*examples):
    return viz.piece_explorer(VOCABULARY, examples or ("Unaffable!", "playing the harp"))


# ------------------------------------------------------------------------------------- without a browser


def test_the_still_and_the_words_tell_the_pieces_of_the_present_text():
    explorer = make()
    assert explorer.alt == "“Unaffable!” in 4 pieces: un ##aff ##able !."
    explorer.text = "playing the harp"
    assert explorer.alt == "“playing the harp” in 4 pieces: play ##ing the [UNK]."
    drawn = [text.get_text() for text in explorer.still().axes[0].texts]
    assert drawn == ["play", "5", "##ing", "6", "the", "8", "[UNK]", "harp"]
    assert explorer.still().get_suptitle() == "3 words, 4 pieces"


def test_a_text_too_long_for_the_picture_says_how_much_of_it_is_drawn():
    fig = make("unaffable " * 150).still()
    assert "the first" in fig.get_suptitle()
    tops = {round(text.get_position()[1], 3) for text in fig.axes[0].texts}
    assert len(tops) == 2 * MOST_LINES
    assert all(0 < text.get_position()[0] < 8.6 for text in fig.axes[0].texts)


def test_an_empty_text_has_a_picture_and_words():
    assert make("").alt == "“∅” in 0 pieces: nothing."
    assert make("").still().get_suptitle() == "0 words, 0 pieces"


def test_a_word_wider_than_the_sheet_is_drawn_smaller():
    ids = {"[UNK]": 0, "a": 1, "##a": 2}
    fig = draw_pieces(greedy_pieces("a" * 100, ids))
    assert max(text.get_position()[0] for text in fig.axes[0].texts) < 8.6


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="0 examples: give a list of one text or more"):
        viz.piece_explorer(VOCABULARY, [])
    with pytest.raises(ValueError, match="examples: give a list"):
        viz.piece_explorer(VOCABULARY, "text")
    with pytest.raises(ValueError, match=r"the vocabulary lacks '\[UNK\]'"):
        viz.piece_explorer(["a"], ["a"])
    with pytest.raises(ValueError, match="a text of 2001 characters: give at most 2000"):
        make().text = "a" * 2001


# ------------------------------------------------------------------------------------------ in a browser


def pieces_on(page):
    return page.locator(".piece").evaluate_all("all => all.map((e) => e.innerText.split(/\\s+/))")


@pytest.mark.browser
def test_typing_cuts_at_once_and_python_is_told(put_on_page):
    page = put_on_page(make())
    assert pieces_on(page) == [["un", "2"], ["##aff", "3"], ["##able", "4"], ["!", "7"]]
    page.get_by_role("textbox", name="text to cut").fill("")
    expect(page.locator(".told")).to_have_text("0 characters, 0 words, 0 pieces, 0 of them [UNK].")
    page.get_by_role("textbox", name="text to cut").press_sequentially("playing x")
    assert pieces_on(page) == [["play", "5"], ["##ing", "6"], ["[UNK]", "1"]]
    expect(page.locator(".told")).to_have_text("9 characters, 2 words, 3 pieces, 1 of them [UNK].")
    assert page.evaluate("widgets.widget.model.get('text')") == "playing x"
    assert page.evaluate("widgets.widget.synced.at(-1).text") == "playing x"


@pytest.mark.browser
def test_an_example_is_one_click_away_and_the_kernel_can_set_the_text(put_on_page):
    page = put_on_page(make())
    button = page.get_by_role("button", name="playing the harp")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("textbox")).to_have_value("playing the harp")
    page.evaluate("widgets.widget.model.set('text', 'the')")
    expect(page.get_by_role("textbox")).to_have_value("the")
    assert pieces_on(page) == [["the", "8"]]


@pytest.mark.browser
def test_the_table_has_all_that_was_looked_up(put_on_page):
    page = put_on_page(make("unable"))
    page.get_by_text("What was looked up, word by word").click()
    row = page.locator("tbody tr")
    expect(row.locator("th, td").first).to_have_text("unable")
    expect(row.locator("td").last).to_have_text("unable, unabl, unab, una, un ✓, ##able ✓")
