"""Claims about the real sets as documents: small texts of each kind, then the sets from the mirror."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bertlab.datasets import UnknownName
from bertlab.datasets.documents import UNKNOWN, Document, article_documents, book_documents, documents

BOOK = """# Title: A Book

## Author: N. N.

## Year: 1900

-------

## Part 1

### Chapter 1

He met Mr. Smith. They talked.

"Well?" he *asked*.

* * *

> A line of verse

### Chapter 2 - The _End_

Any_body &amp; all. It ended.
""".splitlines()


def test_a_chapter_is_a_document_and_markup_is_undone():
    assert list(book_documents(BOOK)) == [
        Document(["He met Mr. Smith.", "They talked.", '"Well?" he asked.', "A line of verse"], "books"),
        Document(["Anybody & all.", "It ended."], "books"),
    ]


def test_no_sentence_crosses_the_end_of_a_paragraph():
    lines = ["## I", "No point at the end", "and none here", "", "but here."]
    assert next(book_documents(lines)).sentences == ["No point at the end", "and none here", "but here."]


def test_an_article_is_a_document_with_its_sections_in_it():
    lines = [
        " = A = ",
        ' One . " Two ! " he said . ( Three . ) Four ',
        " = = Section = = ",
        " = = = Smaller = = = ",
        " Five , p. 6 . ",
        " = B <unk> = ",
        ' He said , " Go . " Then he went . ',
    ]
    assert [document.sentences for document in article_documents(lines)] == [
        ["One .", '" Two ! " he said .', "( Three . )", "Four", "Five , p. 6 ."],
        ['He said , " Go . "', "Then he went ."],
    ]


def test_at_signs_are_undone_and_a_lost_word_is_marked():
    lines = [" = A = ", " A 20 @-@ year <unk> of 1 @,@ 000 @.@ 5 m . "]
    assert next(article_documents(lines)).sentences == [f"A 20-year {UNKNOWN} of 1,000.5 m ."]


def test_an_unknown_name_proposes_the_closest():
    with pytest.raises(UnknownName, match="no set of documents 'wikitext2': did you mean 'wikitext-2'"):
        documents("wikitext2")


# --- the real sets --------------------------------------------------------------------------------


@pytest.fixture
def real(real_mirror, monkeypatch):
    """`documents`, with the mirror in place."""
    monkeypatch.setenv("BERTLAB_DATA_MIRROR", str(real_mirror))
    return documents


@pytest.mark.parametrize(
    ("name", "n", "least_sentences", "sources"),
    [
        ("books", (1150, 1300), 200_000, {"books"}),
        ("masc", (392, 392), 34_000, {"masc spoken", "masc written"}),
        ("wikisplit", (15_000, 15_000), 30_000, {"wikisplit"}),
        ("wikitext-2", (120, 124), 16_000, {"wikitext-2"}),
    ],
)
def test_the_real_sets_are_whole(real, name, n, least_sentences, sources):
    found = real(name)
    assert n[0] <= len(found) <= n[1]
    sentences = [sentence for document in found for sentence in document.sentences]
    assert len(sentences) >= least_sentences
    assert {document.source for document in found} == sources
    assert all(sentence.strip() == sentence != "" for sentence in sentences)
    assert not any(mark in sentence for sentence in sentences for mark in ("<unk>", "<::::>", "\n", " @-@ "))


def test_books_are_cut_where_a_reader_would(real):
    sentences = [s for document in real("books") for s in document.sentences]
    after_titles = [a for a, b in pairwise(sentences) if a.endswith((" Mr.", " Mrs.", " Dr.", " St."))]
    # a paragraph of "Little Women" ends so
    assert after_titles == ["mysterious disappearance of our cherished friend, Mrs."]
    assert not any("*" in s or "_" in s or s.startswith("#") for s in sentences)
    assert sum(s[0].islower() for s in sentences) < 0.01 * len(sentences)
    assert "To Sherlock Holmes she is always the woman." in sentences


def test_both_sentences_of_wikisplit_come_once(real):
    found = real("wikisplit")
    assert {len(document.sentences) for document in found} == {2}
    assert found[0].sentences[0].startswith("' Bandolier - Budgie ' , a free iTunes app")
