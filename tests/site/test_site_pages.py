"""Pages made from records: all of them, with what makes them again."""

from __future__ import annotations

import json
import tomllib

import site_pages
from site_book import ROOT, course
from site_claims import read_claims


def test_every_result_has_its_question_command_cost_machine_versions_and_numbers():
    text = site_pages.results(course())
    for path in (ROOT / "data" / "results").glob("*.json"):
        record = json.loads(path.read_text("utf-8"))
        section = text.partition(f'id="result-{path.stem}"')[2].partition('<div class="cell-anchor"')[0]
        assert f"## {record['question']}" in section
        assert f"`{record['command']}`" in section
        assert f"| {record['cost_core_minutes']:,.1f} minutes" in section
        assert record["machine"] in section
        assert f"torch {record['versions']['torch']}" in section
        assert f'_static/results/{path.stem}.json"' in section


def test_a_result_links_to_the_cells_that_load_it():
    assert 'notebooks/01_seq2seq_attention.html#bottleneck-load">01 ' in site_pages.results(course())


def test_every_term_has_both_scripts_and_a_meaning_and_its_notebook_is_one_of_the_course():
    terms = tomllib.loads((ROOT / "docs" / "glossary.toml").read_text("utf-8"))["term"]
    titles, _ = read_claims()
    assert len(terms) >= 60
    assert len({term["en"] for term in terms}) == len(terms)
    for term in terms:
        assert all(term[key] for key in ("hans", "hant", "means")), term["en"]
        assert term["in"] in titles
    assert site_pages.glossary(course()).count("\n| <span id=") == len(terms)


def test_a_term_of_a_notebook_that_is_not_there_is_named_without_a_link(small_course):
    text = site_pages.glossary(small_course)
    assert '<a href="notebooks/01_start.html">01</a>' in text
    assert "notebooks/09" not in text


def test_errata_have_every_wrong_sentence_with_a_link(small_course):
    text = site_pages.errata(small_course)
    assert '**“One is two.”** It is not: <a href="notebooks/01_start.html#a-idea">section 1</a>.' in text
    assert '<a href="notebooks/01_start.html#a-proof">the cell that decides</a>' in text
    assert text.count("where it stands") == 3


def test_the_front_page_has_all_notebooks_and_says_which_are_being_written(small_course):
    text = site_pages.front(small_course, {"01": "A start", "02": "More", "03": "The rest"})
    assert "| 03 | The rest | *being written* |" in text
    assert "01 · A start <notebooks/01_start>" in text
    assert "{{" not in text.replace("```{", "")


def test_a_page_of_docs_links_to_pages_and_to_files_of_the_repository(tmp_path):
    (tmp_path / "a.md").write_text("[1](../notebooks/01_a.ipynb) [2](../assignments/README.md) [3](#here)")
    made = site_pages.document(tmp_path / "a.md")
    assert made == f"[1](notebooks/01_a.ipynb) [2]({site_pages.FILES}/assignments/README.md) [3](#here)"


def test_every_public_module_has_its_page_of_reference():
    pages = site_pages.reference()
    modules = {
        f"reference/{path.parent.name}.{path.stem}"
        for path in (ROOT / "bertlab").glob("*/*.py")
        if not path.stem.startswith("_")
    }
    assert modules <= pages.keys()


def test_the_repository_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["urls"]["Repository"] == site_pages.REPOSITORY
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"repository-code: {site_pages.REPOSITORY}\n" in citation
    assert f"\nversion: {project['version']}\n" in citation
