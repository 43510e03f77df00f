"""The head view in a browser: every choice changes what it should, in the numbers of its table."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from bertlab import viz
from bertlab.viz.head_selection import strongest
from bertlab.viz.word_pieces import merge, word_groups
from tests.viz.reading import TOKENS, WORDS, Seen, encoder_decoder, two_layers

pytestmark = pytest.mark.browser


@pytest.fixture
def look(put_on_page):
    return lambda view: Seen(put_on_page(view))


@pytest.fixture
def layers(rng):
    return two_layers(rng)


@pytest.fixture
def cross(rng):
    return encoder_decoder(rng)


def test_pointing_at_a_token_shows_its_lines_alone_on_either_side(look, layers):
    seen = look(viz.head_view(layers, TOKENS, threshold=0.1))
    enough = layers[0] >= 0.1
    assert seen.count() == enough.sum()
    seen.token(0, 3).hover()
    assert seen.count() == enough[:, 3].sum()
    seen.token(1, 6).hover()
    assert seen.count() == enough[:, :, 6].sum()
    seen.away()
    assert seen.count() == enough.sum()
    assert seen.page.evaluate("widgets.widget.synced") == []  # pointing is no choice: Python is not told


def test_the_sentence_follows_the_pointer_without_being_read_aloud(look, layers):
    seen = look(viz.head_view(layers, TOKENS, queries=[1]))
    now = seen.page.locator(".now")
    expect(now).to_contain_text("“play” looks most at")
    seen.token(1, 2).hover()
    expect(now).to_contain_text("“##ing” is looked at most by")
    expect(now).to_have_attribute("aria-live", "off")
    seen.away()
    expect(now).to_contain_text("“play” looks most at")
    expect(now).to_have_attribute("aria-live", "off")
    seen.token(0, 3).click()
    expect(now).to_contain_text("“play” and “cat” (token 3) look most at")
    expect(now).to_have_attribute("aria-live", "polite")
    seen.token(0, 5).hover()
    expect(now).to_have_attribute("aria-live", "off")
    seen.page.keyboard.press("ArrowDown")
    expect(now).to_contain_text("“[SEP]” (token 4) looks most at")
    expect(now).to_have_attribute("aria-live", "polite")


def test_a_threshold_that_no_weight_reaches_is_said(look, layers):
    weights = np.full((2, 9, 9), 1 / 9)
    seen = look(viz.head_view(weights, TOKENS, threshold=0.2))
    note = seen.page.locator(".note")
    expect(note).to_contain_text("0 lines: no weight reaches 0.2, the largest is 0.111; lower “lines from”.")
    pixels = (
        "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean)"
    )
    assert seen.page.locator("canvas").evaluate(pixels)  # it is written where the lines would be
    seen.put(heads=[])
    expect(note).to_contain_text("0 lines: no head is on.")
    assert not seen.page.locator("canvas").evaluate(pixels)
    seen.put(heads=[0], threshold=0)
    assert seen.count() == 81


def test_a_fixed_token_that_is_not_shown_is_named_with_what_shows_it(look, layers):
    seen = look(viz.head_view(layers, TOKENS, sentence_b=5, sentences="AB", queries=[6]))
    now = seen.page.locator(".now")
    expect(now).to_contain_text("“cat” (token 6) stands in sentence B and is not shown; B→A or B→B shows it.")
    seen.put(queries=[], looked_at=[1, 2])
    expect(now).to_contain_text(
        "“play” and “##ing” stand in sentence A and are not shown; A→A or B→A shows them."
    )
    seen.put(sentences="BA")
    expect(now).to_contain_text(re.compile("^Layer 0: “play” and “##ing” are looked at most by"))
    seen.put(sentences="all", hide_special=True, looked_at=[8])
    expect(now).to_contain_text("“[SEP]” (token 8) is a special token and hidden.")
    seen.put(merge_words=True, hide_special=False, looked_at=[1])
    expect(now).to_contain_text(re.compile("^Layer 0: “playing” is looked at"))


DASHES = """() => {
  const seen = new Set(), pen = document.querySelector("canvas").getContext("2d"), stroke = pen.stroke;
  pen.stroke = function () { seen.add(`${this.strokeStyle} ${this.getLineDash()}`); stroke.call(this); };
  return new Promise((go) => {
    widgets.widget.model.set("threshold", 0);
    requestAnimationFrame(() => requestAnimationFrame(() => go([...seen])));
  });
}"""


def test_heads_of_one_colour_are_told_apart_by_their_dashes(look, rng):
    seen = look(viz.head_view(rng.dirichlet(np.ones(9), size=(20, 9)), TOKENS))
    assert len(seen.page.evaluate(DASHES)) == 20  # no two heads look alike
    expect(seen.page.locator(".note")).to_contain_text(
        "Lines of heads 8–15 are dashed, from head 16 on dotted."
    )
    look_of = "node => getComputedStyle(node).backgroundImage + getComputedStyle(node).boxShadow"
    chips = seen.page.get_by_role("toolbar").get_by_role("button")
    assert len({chips.nth(head).evaluate(look_of) for head in range(20)}) == 20


def test_what_stands_in_place_of_an_empty_table_can_be_read(look, layers):
    seen = look(viz.head_view(layers, TOKENS))
    seen.page.locator("summary").click()
    assert seen.page.locator("caption").bounding_box()["height"] < 60


# Opacity in the middle of each cell of the strips beside the right column, or the left one.
OPACITIES = """([side, heads, rows]) => {
  const canvas = document.querySelector("canvas"), pen = canvas.getContext("2d");
  const box = canvas.getBoundingClientRect();
  const list = document.querySelectorAll("[role=listbox]")[side].getBoundingClientRect();
  const start = side ? list.left - box.left - 5 - 10 * heads : list.right - box.left + 6;
  return Array.from({ length: rows }, (_, row) => Array.from({ length: heads }, (_, head) =>
    pen.getImageData(start + 10 * head + 4, 22 * row + 11, 1, 1).data[3] / 255));
}"""


def test_the_cells_beside_the_other_column_are_as_strong_as_each_heads_weight(look, layers):
    seen = look(viz.head_view(layers, TOKENS, heads=[0, 1, 3]))
    on = np.array([True, True, False, True])[:, None]
    seen.token(0, 3).hover()
    cells = np.array(seen.settle().page.evaluate(OPACITIES, [1, 4, 9])).T
    np.testing.assert_allclose(cells, np.sqrt(layers[0][:, 3]) * on, atol=0.01)
    seen.token(1, 7).hover()
    cells = np.array(seen.settle().page.evaluate(OPACITIES, [0, 4, 9])).T
    np.testing.assert_allclose(cells, np.sqrt(layers[0][:, :, 7]) * on, atol=0.01)


def test_clicks_fix_tokens_and_their_weights_are_summed(look, layers):
    seen = look(viz.head_view(layers, TOKENS, threshold=0.1))
    seen.token(0, 3).click()
    seen.shows(layers[0][:, 3])
    seen.token(0, 6).click()
    caption, heads, rows, _ = seen.table()
    assert caption.startswith("Layer 0: where “cat” (token 3) and “cat” (token 6) look, sum over 2 tokens")
    assert (heads, rows) == (["head 0", "head 1", "head 2", "head 3", "sum, mean of heads"], TOKENS)
    seen.shows(layers[0][:, [3, 6]].sum(axis=1))
    assert seen.count() == (layers[0][:, [3, 6]] >= 0.1).sum()
    expect(seen.page.get_by_text("sum over 2 tokens, mean of 4 heads", exact=True)).to_be_visible()
    assert (seen.state("queries", "looked_at"), seen.fixed(0)) == ([[3, 6], []], [3, 6])
    expect(seen.page.locator(".between small").nth(1)).to_have_text(re.compile("^sum"))
    most = TOKENS[int(layers[0][:, [3, 6]].sum(axis=1).mean(axis=0).argmax())]
    expect(seen.page.locator("[aria-live]")).to_contain_text(
        f"“cat” (token 3) and “cat” (token 6) look most at “{most}”"
    )

    seen.token(1, 1).click()  # choosing on the other side gives these up
    assert (seen.state("queries", "looked_at"), seen.fixed(0), seen.fixed(1)) == ([[], [1]], [], [1])
    seen.shows(layers[0][:, :, 1])
    seen.token(1, 1).click()
    assert seen.state("queries", "looked_at") == [[], []]
    seen.token(1, 2).click()
    seen.page.keyboard.press("Escape")
    assert (seen.state("looked_at"), seen.fixed(1)) == ([[]], [])
    assert seen.count() == (layers[0] >= 0.1).sum()


def test_all_can_be_done_by_keyboard(look, layers):
    seen = look(viz.head_view(layers, TOKENS, threshold=0))
    press = seen.page.keyboard.press
    seen.token(0, 0).focus()
    press("ArrowDown")
    press("ArrowDown")
    press("ArrowDown")
    assert seen.page.evaluate("document.activeElement.textContent") == "cat"
    assert seen.count() == 4 * 9  # the token that the keys have come to is looked at before it is chosen
    expect(seen.page.locator(".now")).to_contain_text("“cat” (token 3) looks most at")
    press("Enter")
    press("End")
    press(" ")
    assert seen.state("queries") == [[3, 8]]
    press("PageUp")
    assert seen.page.evaluate("document.activeElement.textContent") == "[CLS]"
    press("ArrowRight")  # over to the other column
    press("ArrowDown")
    press("Enter")
    assert seen.state("queries", "looked_at") == [[], [1]]
    press("Escape")
    assert seen.state("queries", "looked_at") == [[], []]
    one_stop = "list => list.querySelectorAll('[tabindex=\"0\"]').length"
    assert [column.evaluate(one_stop) for column in (seen.left, seen.right)] == [1, 1]

    seen.page.get_by_role("button", name="head 0").focus()
    press("Enter")
    press("ArrowRight")
    press(" ")
    assert seen.state("heads") == [[2, 3]]
    press("End")
    press("Shift+Enter")
    assert seen.state("heads") == [[3]]
    press("Shift+Enter")
    assert seen.state("heads") == [[0, 1, 2, 3]]


def test_heads_go_on_and_off_one_alone_all_or_none(look, layers):
    seen = look(viz.head_view(layers, TOKENS, queries=[2], threshold=0.1))
    head = lambda n: seen.page.get_by_role("button", name=f"head {n}")  # noqa: E731
    head(1).click()
    expect(head(1)).to_have_attribute("aria-pressed", "false")
    seen.shows(layers[0][[0, 2, 3], 2])
    assert seen.count() == (layers[0][[0, 2, 3], 2] >= 0.1).sum()
    head(3).dblclick()
    assert seen.state("heads") == [[3]]
    seen.shows(layers[0][[3], 2])
    head(3).dblclick()
    assert seen.state("heads") == [[0, 1, 2, 3]]
    seen.page.get_by_role("button", name="none", exact=True).click()
    assert seen.count() == 0
    expect(seen.page.locator(".now")).to_have_text("Layer 0: no head is on.")
    seen.page.get_by_role("toolbar", name="heads").locator("..").get_by_role("button", name="all").click()
    assert seen.count() == (layers[0][:, 2] >= 0.1).sum()


def test_the_layer_goes_by_its_slider_and_a_pruned_layer_shows_the_heads_it_has(look, layers):
    seen = look(viz.head_view(layers, TOKENS, queries=[2], heads=[0, 2, 3]))
    chips = seen.page.get_by_role("toolbar").get_by_role("button")
    seen.page.get_by_role("slider", name="layer").focus()
    seen.page.keyboard.press("ArrowRight")
    expect(chips).to_have_count(3)
    expect(seen.page.locator(".now")).to_contain_text("Layer 1: “##ing” looks")
    seen.shows(layers[1][[0, 2], 2])
    assert seen.state("layer", "heads") == [1, [0, 2, 3]]
    seen.page.get_by_role("slider", name="layer").focus()
    seen.page.keyboard.press("Home")
    expect(chips).to_have_count(4)
    seen.shows(layers[0][[0, 2, 3], 2])


@pytest.mark.parametrize("pair", ["AA", "AB", "BA", "BB"])
def test_from_sentence_to_sentence(look, layers, pair):
    seen = look(viz.head_view(layers, TOKENS, sentence_b=5, threshold=0))
    of = {"A": slice(0, 5), "B": slice(5, 9)}
    seen.page.get_by_role("button", name="→".join(pair)).click()
    assert seen.count() == 4 * len(TOKENS[of[pair[0]]]) * len(TOKENS[of[pair[1]]])
    assert (seen.names(0), seen.names(1)) == (TOKENS[of[pair[0]]], TOKENS[of[pair[1]]])
    seen.token(0, 2).click()
    assert seen.state("queries", "sentences") == [[2 + of[pair[0]].start], pair]
    seen.shows(layers[0][:, 2 + of[pair[0]].start, of[pair[1]]])


def test_word_pieces_are_merged_and_parted_and_what_is_fixed_stays_fixed(look, layers):
    seen = look(viz.head_view(layers, TOKENS, queries=[2, 3]))
    button = seen.page.get_by_role("button", name="merge word pieces")
    button.click()
    assert seen.names(0) == seen.names(1) == WORDS
    assert seen.fixed(0) == [1, 2]
    groups = word_groups(TOKENS)
    words = np.array([merge(head, groups, groups) for head in layers[0]])
    seen.shows(words[:, [1, 2]].sum(axis=1))
    seen.token(0, 5).click()  # a word: both its pieces
    assert seen.state("queries") == [[2, 3, 6, 7]]
    seen.token(0, 1).click()
    seen.shows(words[:, [2, 5]].sum(axis=1))
    button.click()
    assert (seen.names(0), seen.fixed(0)) == (TOKENS, [3, 6, 7])
    seen.shows(layers[0][:, [3, 6, 7]].sum(axis=1))


def test_special_tokens_are_hidden_and_the_other_weights_stay_as_they_are(look, layers):
    seen = look(viz.head_view(layers, TOKENS, queries=[3], threshold=0))
    seen.page.get_by_role("button", name="hide special tokens").click()
    plain = [1, 2, 3, 5, 6, 7]
    assert seen.names(0) == seen.names(1) == [TOKENS[i] for i in plain]
    seen.shows(layers[0][:, 3, plain])
    expect(seen.page.locator(".note")).to_contain_text("what goes to them is not given to others")
    seen.put(looked_at=[], queries=[0])  # hidden: nothing is in focus
    assert seen.count() == 4 * 6 * 6


def test_threshold_leaves_out_lines_and_top_k_leaves_out_weights(look, layers):
    seen = look(viz.head_view(layers, TOKENS))
    threshold = seen.page.get_by_role("slider", name="lines from")
    threshold.focus()
    seen.page.keyboard.press("ArrowRight")
    seen.page.keyboard.press("ArrowRight")
    assert seen.state("threshold") == [0.05]
    assert seen.count() == (layers[0] >= 0.05).sum()
    seen.token(0, 4).click()
    seen.shows(layers[0][:, 4])
    seen.page.get_by_role("group", name="strongest").get_by_role("button", name="2", exact=True).click()
    kept = np.array([strongest(head, 2) for head in layers[0]])
    seen.shows(kept[:, 4])
    seen.token(1, 8).click()
    seen.shows(kept[:, :, 8])
    seen.put(looked_at=[], threshold=0)
    assert seen.count() == 4 * 9 * 2
    expect(seen.page.locator(".note")).to_contain_text(
        "Only the 2 largest weights of each query and head count; in the numbers, too, the others are 0."
    )
    seen.put(top_k=1)
    expect(seen.page.locator(".note")).to_contain_text(
        "Only the largest weight of each query and head counts;"
    )


def test_what_python_sets_is_drawn(look, layers):
    seen = look(viz.head_view(layers, TOKENS, sentence_b=5))
    seen.put(queries=[1], layer=1, heads=[0, 1])
    expect(seen.page.locator(".now")).to_contain_text("Layer 1: “play” looks")
    seen.shows(layers[1][[0, 1], 1])
    seen.put(merge_words=True, hide_special=True, sentences="AB", threshold=0.0, top_k=1)
    assert (seen.names(0), seen.names(1)) == (["playing", "cat"], ["the", "cats"])
    assert seen.count() == 2
    expect(seen.page.get_by_role("button", name="A→B")).to_have_attribute("aria-pressed", "true")
    expect(seen.page.get_by_role("button", name="merge")).to_have_attribute("aria-pressed", "true")


def test_encoder_decoder_and_cross_attention_are_one_choice_away(look, cross):
    seen = look(viz.head_view(cross, layer=2, queries=[4], threshold=0))
    assert seen.count() == 2 * 5
    seen.page.get_by_role("button", name="cross").click()
    expect(seen.page.locator(".now")).to_contain_text("Layer 1, all 4 heads")
    assert (seen.names(0), seen.names(1)) == (cross["cross"].query_tokens, cross["cross"].key_tokens) or (
        seen.names(0) == list(cross["cross"].query_tokens)
        and seen.names(1) == list(cross["cross"].key_tokens)
    )
    assert seen.state("set_number", "layer", "queries") == [2, 1, []]
    assert seen.count() == 4 * 3 * 5
    seen.token(1, 3).click()
    seen.shows(cross["cross"].weights[1][:, :, 3])
    expect(seen.page.get_by_role("button", name="merge")).to_be_hidden()  # nothing to merge
    seen.page.get_by_role("button", name="decoder").click()
    expect(seen.page.locator(".now")).to_contain_text("Layer 1, all 4 heads")
    assert seen.count() == 4 * 3 * 3
