"""The explorer of masks: what is drawn is what is masked, in the browser as in Python."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from bertlab import viz
from bertlab.reference.masking import causal_mask, masked_softmax, padding_mask
from bertlab.viz.mask_explorer import ruled_mask
from bertlab.viz.widget import script

TOKENS = ["the", "cat", "the", "[PAD]"]


@pytest.fixture
def scores(rng):
    return 2 * rng.normal(size=(4, 4))


@pytest.fixture
def explorer(scores):
    return viz.mask_explorer(scores, TOKENS, causal=True, padding=1)


# ------------------------------------------------------------------------------------- without a browser


def test_the_controls_make_the_masks_of_the_reference():
    ids = np.array([[5, 6, 7, 0]])
    np.testing.assert_array_equal(ruled_mask(4, 4, True, 0), causal_mask(4))
    np.testing.assert_array_equal(ruled_mask(2, 4, False, 1), np.repeat(padding_mask(ids)[0, 0], 2, axis=0))
    np.testing.assert_array_equal(ruled_mask(4, 4, True, 1), causal_mask(4) & padding_mask(ids)[0, 0])


def test_D02_the_conventions_that_are_named_are_those_of_torch(scores):
    mask = ruled_mask(4, 4, True, 1)
    given, tensor = torch.tensor(scores)[None], torch.tensor(mask)
    weights = torch.tensor(masked_softmax(scores, mask))[None]
    # One wide head whose queries are the scores and whose keys and values are the identity shows its weights.
    eye = torch.eye(4, dtype=torch.float64)[None]
    attend = torch.nn.functional.scaled_dot_product_attention
    torch.testing.assert_close(attend(given, eye, eye, attn_mask=tensor, scale=1.0), weights)
    added = torch.where(tensor, 0.0, -torch.inf).double()
    torch.testing.assert_close(attend(given, eye, eye, attn_mask=added, scale=1.0), weights)
    module = torch.nn.MultiheadAttention(4, 1, bias=False, batch_first=True).double()
    _, seen = module(given, given, given, attn_mask=~tensor)
    assert torch.equal(seen[0] > 0, tensor)


def test_the_kernel_reads_and_sets_the_mask_as_an_array_too(explorer):
    assert explorer.mask == ruled_mask(4, 4, True, 1).tolist()
    explorer.mask = np.eye(4, dtype=bool)
    assert explorer.mask == np.eye(4, dtype=bool).tolist()
    assert "4 of 16 pairs" in explorer.alt


def test_setting_padding_or_causal_makes_the_mask_anew_and_keeps_what_was_drawn(explorer):
    explorer.padding = 2
    assert explorer.mask == ruled_mask(4, 4, True, 2).tolist()
    wanted = ruled_mask(4, 4, False, 3)
    explorer.mask = np.where(np.eye(4), ~ruled_mask(4, 4, True, 2), explorer.mask)  # the diagonal by hand
    explorer.causal = False
    explorer.padding = 3
    np.testing.assert_array_equal(
        np.array(explorer.mask)[~np.eye(4, dtype=bool)], wanted[~np.eye(4, dtype=bool)]
    )
    assert np.diag(explorer.mask).tolist() == [False, False, True, True]


def test_a_mask_that_the_browser_sends_with_its_controls_is_kept(explorer):
    drawn = np.eye(4, dtype=bool).tolist()
    explorer.set_state({"padding": 3, "mask": drawn})
    assert (explorer.padding, explorer.mask) == (3, drawn)


def test_the_still_is_of_the_present_mask(explorer, scores):
    explorer.mask = np.eye(4, dtype=bool)
    np.testing.assert_array_equal(explorer.still().axes[1].images[0].get_array(), np.eye(4))


def test_what_cannot_be_is_refused(scores, explorer):
    with pytest.raises(ValueError, match="padding=5: of 4 keys 0 to 4 can be padding"):
        viz.mask_explorer(scores, TOKENS, padding=5)
    with pytest.raises(ValueError, match="causal=True with key_tokens"):
        viz.mask_explorer(scores, TOKENS, list("abcd"), causal=True)
    with pytest.raises(ValueError, match="a mask, and causal or padding beside it"):
        viz.mask_explorer(scores, TOKENS, padding=1, mask=np.eye(4, dtype=bool))
    with pytest.raises(ValueError, match="tokens are 33 in number: give a list of 1 to 32"):
        viz.mask_explorer(np.zeros((33, 33)), ["a"] * 33)
    with pytest.raises(ValueError, match="the mask has dtype int64"):
        explorer.mask = np.eye(4, dtype=int)
    with pytest.raises(ValueError, match="padding=-1"):
        explorer.padding = -1


# ------------------------------------------------------------------------------------------ in a browser

CALL = """async ([script, name, ...values]) => {
  const module = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  return module[name](...values);
}"""


def drawn(page):
    """The mask and the weights as they stand on the page."""
    cells = page.get_by_role("gridcell").evaluate_all("all => all.map((e) => e.getAttribute('aria-label'))")
    mask = np.array(["may be attended to" in cell for cell in cells])
    return mask, np.array([float(cell.rpartition(" ")[2]) for cell in cells])


@pytest.mark.browser
def test_D01_the_browsers_softmax_is_that_of_the_reference_for_any_mask(blank_page, rng):
    scores = 5 * rng.normal(size=(4, 6))
    for mask in [*(rng.random((12, 4, 6)) < 0.4), np.zeros((4, 6), bool)]:
        given = [script("masked_softmax"), "maskedSoftmax", scores.tolist(), mask.tolist()]
        weights = blank_page.page.evaluate(CALL, given)
        np.testing.assert_allclose(weights, masked_softmax(scores, mask), atol=1e-14)


@pytest.mark.browser
def test_padding_and_causal_make_the_mask_and_the_kernel_is_told(explorer, scores, put_on_page):
    page = put_on_page(explorer)
    np.testing.assert_array_equal(drawn(page)[0], np.ravel(explorer.mask))
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="causal").click()
    mask = ruled_mask(4, 4, False, 2)
    told = page.evaluate("widgets.widget.synced.at(-1)")
    assert told == {"causal": False, "padding": 2, "mask": mask.tolist()}
    np.testing.assert_array_equal(drawn(page)[0], mask.ravel())
    np.testing.assert_allclose(drawn(page)[1], masked_softmax(scores, mask).ravel(), atol=0.0051)


@pytest.mark.browser
def test_cells_flip_by_click_drag_and_keys_and_are_kept_until_a_control_moves(explorer, put_on_page):
    page = put_on_page(explorer)
    cells = page.get_by_role("gridcell")
    mask = ruled_mask(4, 4, True, 1)
    cells.nth(1).click()
    mask[0, 1] = True
    boxes = [cells.nth(i).bounding_box() for i in (4, 6)]  # from one end of the second row over the third key
    middles = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
    page.mouse.move(*middles[0])
    page.mouse.down()
    page.mouse.move(*middles[1], steps=8)
    page.mouse.up()
    cells.nth(8).hover()  # no longer pressed: changes nothing
    mask[1, :3] = False
    cells.nth(0).focus()
    cells.nth(14).hover()  # keys go on from the focus, not from the pointer
    for key in (
        "ArrowDown",
        "ArrowDown",
        "ArrowRight",
        "End",
        " ",
        "Home",
        "Enter",
        "ArrowUp",
        "ArrowLeft",
        " ",
    ):
        page.keyboard.press(key)
    mask[2, 3], mask[2, 0], mask[1, 0] = True, False, True
    np.testing.assert_array_equal(drawn(page)[0], mask.ravel())
    assert page.evaluate("widgets.widget.synced.at(-1)")["mask"] == mask.tolist()
    by_hand = mask != ruled_mask(4, 4, True, 1)
    expect(page.locator(".by-hand")).to_have_count(int(by_hand.sum()))
    page.get_by_role("button", name="Undo the drawing").click()
    np.testing.assert_array_equal(drawn(page)[0], ruled_mask(4, 4, True, 1).ravel())
    expect(page.get_by_role("button", name="Undo the drawing")).to_be_disabled()


@pytest.mark.browser
def test_D01_a_row_with_nothing_left_gets_zeros_and_is_marked_and_told(explorer, put_on_page):
    page = put_on_page(explorer)
    told = page.locator("[aria-live]")
    expect(told).not_to_contain_text("Nothing is left")
    page.get_by_role("gridcell").first.click()
    expect(told).to_contain_text("Nothing is left to “the”: zeros here.")
    assert drawn(page)[1][:4].tolist() == [0, 0, 0, 0]
    assert page.locator(".empty").evaluate_all("all => all.map((e) => e.getAttribute('visibility'))") == [
        "visible", "hidden", "hidden", "hidden",
    ]  # fmt: skip
    expect(page.locator(".sum")).to_have_text(["0: none", "1", "1", "1"])


@pytest.mark.browser
def test_D02_the_cell_under_the_pointer_is_named_in_all_conventions(explorer, put_on_page):
    page = put_on_page(explorer)
    line = page.locator(".at-cell")
    page.get_by_role("gridcell").nth(4).hover()
    expect(line).to_contain_text("“cat” → “the”")
    expect(line.locator("strong")).to_have_text(["True", "False", "0"])
    page.get_by_role("gridcell").nth(6).hover()
    expect(line.locator("strong")).to_have_text(["False", "True", "−∞"])
    assert page.evaluate("widgets.widget.synced") == []


@pytest.mark.browser
def test_what_is_drawn_stays_when_causal_changes_until_it_is_undone(explorer, put_on_page):
    page = put_on_page(explorer)  # causal, one key of padding
    page.locator("[role=gridcell]").first.click()
    page.get_by_role("button", name="causal").click()
    wanted = ruled_mask(4, 4, False, 1).copy()
    wanted[0, 0] = False
    np.testing.assert_array_equal(drawn(page)[0], wanted.ravel())
    page.get_by_role("button", name="Undo the drawing").click()
    np.testing.assert_array_equal(drawn(page)[0], ruled_mask(4, 4, False, 1).ravel())


@pytest.mark.browser
def test_a_change_from_python_is_drawn_and_keys_of_their_own_have_no_causal_switch(rng, put_on_page):
    page = put_on_page(viz.mask_explorer(rng.normal(size=(2, 3)), ["a", "b"], ["x", "y", "z"]))
    expect(page.get_by_role("button", name="causal")).to_have_count(0)
    page.evaluate("widgets.widget.model.set('mask', [[true, false, true], [false, false, false]])")
    assert drawn(page)[0].tolist() == [True, False, True, False, False, False]
    page.locator("summary").click()
    expect(page.locator("tbody tr").nth(1).locator("td")).to_have_text(["hidden"] * 3)
