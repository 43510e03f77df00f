"""Copies of notebooks for the site: every cell can be linked to, and nothing else is changed."""

from __future__ import annotations

import nbformat
import pytest

from site_book import course, staged, wrong_sentences


def sources(text: str) -> list[str]:
    return [cell.source for cell in nbformat.reads(text, as_version=4).cells]


@pytest.mark.parametrize("notebook", course(), ids=lambda notebook: str(notebook.path.stem))
def test_every_cell_but_that_of_colab_has_its_anchor_once(notebook):
    text = "\n".join(sources(staged(notebook, {}, {})))
    names = [cell["id"] for cell in notebook.cells if cell["id"] != "colab-cell"]
    assert [name for name in names if text.count(f'class="cell-anchor" id="{name}"') != 1] == []


def test_the_title_stays_first(first):
    assert sources(staged(first, {}, {}))[0].startswith("# 01 · A start: nothing more\n\n<div")


def test_outputs_are_those_that_were_saved_and_pictures_keep_their_words(first):
    cells = {cell.id: cell for cell in nbformat.reads(staged(first, {}, {}), as_version=4).cells}
    assert cells["a-sum"].outputs[0].text == "2\n"
    assert cells["a-view"].metadata["mystnb"]["image"]["alt"] == "a <view>"
    assert "mystnb" not in first.cell("a-view")["metadata"], "the notebook itself is left as it is"


def test_a_live_page_takes_the_place_of_the_picture_with_its_words_as_title(first):
    text = staged(first, {"a-view": "live/a-view.html"}, {})
    cells = {cell.id: cell for cell in nbformat.reads(text, as_version=4).cells}
    assert "remove-output" in cells["a-view"].metadata["tags"]
    assert '<iframe class="live" src="live/a-view.html" title="a &lt;view&gt;"' in cells["a-view-live"].source


def test_a_widget_without_a_page_leads_to_its_like_in_the_gallery(first):
    text = "\n".join(
        sources(staged(first, {}, {"head_view": "gallery.html#g", "model_view": "gallery.html#m"}))
    )
    assert text.count("gallery.html#g") == 1
    assert "gallery.html#m" not in text


def test_notes_are_folded_and_links_to_headings_lead_to_their_cells(first):
    text = "\n".join(sources(staged(first, {}, {})))
    assert "<summary>For the lecturer</summary>\n\nTwo minutes." in text
    assert '<a href="#a-wrong">the end</a>' in text


def test_sections_and_cells_are_found(first):
    assert first.section_of("a-proof") == "§ 2"
    assert first.question == "Why does it start?"
    assert first.number == "01"
    with pytest.raises(KeyError, match=r"01_start\.ipynb has no cell 'a-none'"):
        first.cell("a-none")


def test_wrong_sentences_come_with_the_cell_that_follows_and_end_with_their_section(first):
    assert [(sentence, cell, shown) for sentence, _, cell, shown in wrong_sentences(first)] == [
        ("One is zero.", "a-wrong", ""),
        ("One is two.", "a-proof", "True"),
        ("Two is three.", "a-more", ""),
        ("Three is four.", "a-more", ""),
    ]
