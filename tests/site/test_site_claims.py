"""A claim of a notebook that is there is proved, or the site is not built."""

from __future__ import annotations

import pytest

from site_book import course
from site_claims import judge, page, read_claims

TITLES = {"01": "A start", "02": "More", "03": "The rest"}


def test_every_notebook_that_is_there_proves_the_claims_that_it_owes():
    _, claims = read_claims()
    assert judge(claims, course())[1] == []


def test_claims_are_numbered_without_gaps_and_owed_by_notebooks_that_have_a_title():
    titles, claims = read_claims()
    assert [claim["number"] for _, claim in claims] == list(range(1, len(claims) + 1))
    assert {number for _, claim in claims for number in claim["in"]} <= titles.keys()


def test_the_printed_output_of_the_proving_cell_is_on_the_page(small_course, claim):
    judged, missing = judge([claim(proofs=["01 a-proof"])], small_course)
    text = page(judged, TITLES)
    assert missing == []
    assert '<a href="notebooks/01_start.html#a-proof">§ 2</a>' in text
    assert "<pre>True</pre>" in text
    assert '<span class="verdict wrong">wrong</span>' in text


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"proofs": ["01 a-gone"]}, "has no cell 'a-gone'"),
        ({"proofs": ["01 a-silent"]}, "shows nothing"),
        ({"proofs": []}, "has no proof in notebook 01"),
        ({"in": ["01", "02"], "proofs": ["01 a-proof"]}, "has no proof in notebook 02"),
        ({"proofs": ["03 c-sum"], "in": ["03"]}, "notebook 03, its proof, is not there"),
        ({"proofs": ["01 a-proof"], "answer": None}, "has no answer"),
    ],
)
def test_a_proof_that_is_missing_is_named(small_course, claim, entry, says):
    assert any(says in sentence for sentence in judge([claim(**entry)], small_course)[1])


def test_a_notebook_that_is_not_there_yet_is_listed_and_stops_nothing(small_course, claim):
    judged, missing = judge([claim(**{"in": ["03"], "answer": None})], small_course)
    text = page(judged, TITLES)
    assert missing == []
    assert "## Not yet" in text
    assert "notebook 03 (The rest)" in text
    assert "not yet</span>" in text


def test_a_row_of_a_notebooks_own_table_proves_and_links_to_the_sections_that_it_names(small_course, claim):
    entry = {"in": ["02"], "says": "the [CLS] token", "answer": None, "verdict": None}
    judged, missing = judge([claim(**entry)], small_course)
    assert missing == []
    assert [(proof.cell, proof.says) for proof in judged[0].proofs] == [("b-idea", "*care*: look")]
    assert "<em>care</em>: look" in page(judged, TITLES)


def test_another_claim_than_that_of_the_row_is_not_proved_by_it(small_course, claim):
    assert judge([claim(**{"in": ["02"], "says": "the [SEP] token"})], small_course)[1]


def test_what_a_cell_prints_is_text_and_does_not_end_the_page(small_course, claim):
    small_course[0].cell("a-proof")["outputs"][0]["text"] = "<b>\n\n## no heading"
    text = page(judge([claim(proofs=["01 a-proof"])], small_course)[0], TITLES)
    assert "&lt;b&gt;" in text
    assert "\n\n## no heading" not in text
