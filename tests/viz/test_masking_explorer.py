"""The explorer of masking: one rule in Python and in the browser, one seed, one picture."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from bertlab import viz
from bertlab.viz.masked_tokens import KINDS, SHARES, chosen_kinds, counts, masked
from bertlab.viz.widget import script
from tests.viz.test_mask_explorer import CALL

TOKENS = ["[CLS]", "my", "dog", "is", "hairy", "and", "my", "cat", "is", "not", "[SEP]"]
WORDS = ["apple", "river", "house"]


def make(seed=3, **options):
    return viz.masking_explorer(TOKENS, WORDS, rng=np.random.default_rng(seed), **options)


# ------------------------------------------------------------------------------------- without a browser


def test_one_seed_gives_one_picture_and_another_seed_another():
    assert make(3).chunk("uniforms") == make(3).chunk("uniforms")
    assert make(3).alt == make(3).alt
    assert make(3, rate=0.5).alt != make(4, rate=0.5).alt


def test_the_still_is_of_the_present_draw_and_counts_all_up_to_it():
    explorer = make(rate=0.4)
    explorer.draw = 19
    fig = explorer.still()
    drawn = [text.get_text() for text in fig.axes[0].texts]
    read, kinds = masked(TOKENS, explorer.uniforms[19], 0.4, SHARES, WORDS)
    assert drawn.count("no loss") == kinds.count(-1)
    chosen, of_kind = counts(chosen_kinds(explorer.uniforms[:20], explorer.free, 0.4, SHARES), explorer.free)
    assert chosen == 4 / 9
    assert "Draws 1 to 20: in each 4 of 9 tokens (44.4 %) chosen, 40 % rounded" in drawn[-1].replace(
        "\n", " "
    )
    assert f"{100 * of_kind[0]:.0f} % masked" in drawn[-1].replace("\n", " ")
    assert all(f"read as “{read[i]}”" in explorer.alt for i in range(11) if kinds[i] >= 0)


def test_the_kernel_reads_and_sets_draw_rate_and_shares():
    explorer = make()
    explorer.draw, explorer.rate, explorer.shares = 7, 0.5, (1, 0, 0)
    assert (explorer.draw, explorer.rate, explorer.shares) == (7, 0.5, [1.0, 0.0, 0.0])


def test_what_cannot_be_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="513 tokens: give a list of 1 to 512"):
        viz.masking_explorer(["a"] * 513, WORDS, rng=rng)
    with pytest.raises(ValueError, match="a vocabulary of 1 has no plain word"):
        viz.masking_explorer(TOKENS, ["[MASK]"], rng=rng)
    with pytest.raises(ValueError, match="draws=0"):
        viz.masking_explorer(TOKENS, WORDS, rng=rng, draws=0)
    with pytest.raises(ValueError, match=r"rate=0\.9: the slider ends at 0\.8"):
        make(rate=0.9)
    with pytest.raises(ValueError, match=r"rate=15\.0: give the share of tokens to choose"):
        make().rate = 15
    with pytest.raises(ValueError, match="draw=200: there are 200, from 0"):
        make().draw = 200
    with pytest.raises(ValueError, match="give three that sum to 1"):
        make().shares = [0.8, 0.2]
    with pytest.raises(KeyError):
        make().chunk("other")


# ------------------------------------------------------------------------------------------ in a browser


@pytest.mark.browser
def test_D22_the_browser_masks_as_python_does_in_many_draws(blank_page, rng):
    source = script("masked_tokens")
    for trial in range(60):
        n = int(rng.integers(1, 40))
        tokens = [f"t{i}" for i in range(n)]
        free = rng.random(n) < 0.8
        free[0] = True
        special = {token for token, may in zip(tokens, free, strict=True) if not may}
        uniforms = rng.random((n, 3), dtype=np.float32)
        if trial % 3 == 0:
            uniforms = np.floor(uniforms * 8) / 8  # many ties, and values that lie on the shares
        shares = [(0.5, 0.25, 0.25), SHARES, (1, 0, 0)][trial % 3]
        rate = float(rng.choice([0, 0.15, 0.5, 0.8, 1]))
        mine = masked(tokens, uniforms, rate, shares, WORDS, special)
        chance = uniforms.astype(float).ravel().tolist()
        given = [tokens, chance, free.tolist(), rate, list(shares), WORDS, "[MASK]"]
        theirs = blank_page.page.evaluate(CALL, [source, "masked", *given])
        assert theirs == {"kinds": mine.kinds, "read": mine.read}, trial


def shown_on(page):
    """The three rows of the sentence, and the kind of each token."""
    rows = page.locator(".sentence tr").evaluate_all("""rows => rows.map((row) => (
      [...row.querySelectorAll("td")].map((cell) => [cell.querySelector("bdi")?.textContent ?? "",
        cell.querySelector(".mark")?.className.split(" ").at(-1) ?? ""])))""")
    original, read, predicted = ([cell for row in rows[k::3] for cell in row] for k in range(3))
    words = [[token for token, _ in row] for row in (original, read, predicted)]
    return (*words, [kind for _, kind in read])


def expected(explorer, draw, rate, shares=SHARES):
    read, kinds = masked(TOKENS, explorer.uniforms[draw], rate, shares, WORDS)
    named = [KINDS[kind] if kind >= 0 else "" for kind in kinds]
    return (
        TOKENS,
        read,
        [token if kind >= 0 else "" for token, kind in zip(TOKENS, kinds, strict=True)],
        named,
    )


@pytest.mark.browser
def test_three_rows_show_what_was_what_is_read_and_what_must_be_predicted(put_on_page):
    explorer = make(rate=0.5)
    page = put_on_page(explorer)
    expect(page.locator(".sentence table").first).to_be_visible()
    assert shown_on(page) == expected(explorer, 0, 0.5)
    expect(page.locator(".no-loss")).to_have_count(11 - 5)


@pytest.mark.browser
def test_rate_shares_and_draw_change_the_picture_and_python_is_told(put_on_page):
    explorer = make()
    page = put_on_page(explorer)
    said = page.locator("[aria-live]")
    expect(said).to_have_text(
        "Draw 1: 1 of 9 tokens is chosen (11.1 %; 15 % of 9 is 1.35, rounded in every draw alike); the loss "
        "is taken over it alone."
    )
    page.get_by_role("slider", name="rate").focus()
    for _ in range(3):
        page.keyboard.press("PageUp")
    page.get_by_role("button", name="Draw again").click()
    page.get_by_role("button", name="20 more").click()
    page.get_by_role("button", name="only [MASK]").click()
    expect(said).to_contain_text("Draw 22: 4 of 9 tokens")
    assert page.evaluate("widgets.widget.synced.at(-1)") == {"rate": 0.45, "draw": 21, "shares": [1, 0, 0]}
    assert shown_on(page) == expected(explorer, 21, 0.45, (1, 0, 0))
    page.get_by_role("button", name="First draw").click()
    expect(page.locator("output").last).to_have_text("draw 1 of 200")
    expect(page.get_by_role("button", name="First draw")).to_be_disabled()


@pytest.mark.browser
def test_all_draws_so_far_are_counted_beside_what_is_expected(put_on_page):
    explorer = make(rate=0.4)
    page = put_on_page(explorer)
    page.evaluate("widgets.widget.model.set('draw', 199)")
    expect(page.get_by_role("button", name="Draw again")).to_be_disabled()
    expect(page.locator("output").last).to_have_text("draw 200 of 200, the last: “First draw” leads back")
    kinds = chosen_kinds(explorer.uniforms, explorer.free, 0.4, SHARES)
    chosen, of_kind = counts(kinds, explorer.free)
    rows = page.locator(".table tbody tr")
    expect(rows.nth(1).locator("th")).to_have_text("of the chosen, draws 1 to 200")
    wanted = [f"{100 * share:.0f} % ({100 * aim:.0f} %)" for share, aim in zip(of_kind, SHARES, strict=True)]
    expect(rows.nth(1).locator("td")).to_have_text(["100 %", *wanted])
    expect(rows.nth(0).locator("td")).to_have_text(
        ["4 of 9", *[str((kinds[-1] == k).sum()) for k in range(3)]]
    )
    numbers = [float(cell.split()[0]) for cell in rows.nth(2).locator("td").all_text_contents()]
    np.testing.assert_allclose(numbers, 100 * chosen * np.array([1, *of_kind]), atol=0.051)


@pytest.mark.browser
def test_shares_of_ones_own_have_a_button(put_on_page):
    page = put_on_page(make(shares=(0.5, 0.25, 0.25)))
    expect(page.get_by_role("button", name="50 / 25 / 25")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="80 / 10 / 10").click()
    expect(page.get_by_role("button", name="50 / 25 / 25")).to_have_attribute("aria-pressed", "false")


@pytest.mark.browser
def test_a_narrow_page_breaks_the_sentence_into_more_lines(put_on_page):
    page = put_on_page(make())
    tables = page.locator(".sentence table")
    expect(tables).to_have_count(2)
    page.set_viewport_size({"width": 420, "height": 800})
    expect(tables).to_have_count(4)
    assert shown_on(page)[0] == TOKENS


@pytest.mark.browser
def test_that_one_is_always_chosen_is_said_only_where_it_matters(put_on_page):
    explorer = make(rate=0.0)
    assert "1 of 9 tokens (11.1 %) chosen, at least one always is" in explorer._counted()
    page = put_on_page(explorer)
    said = page.locator("[aria-live]")
    expect(said).to_contain_text("(11.1 %; 0 % of 9 is 0, but at least one is always chosen)")
    page.evaluate("widgets.widget.model.set('rate', 0.8)")
    expect(said).to_contain_text(
        "7 of 9 tokens are chosen (77.8 %; 80 % of 9 is 7.2, rounded in every draw alike)"
    )
