"""What is held out is not trained on, neither as a book nor as a sentence that stands elsewhere."""

from __future__ import annotations

import pytest

from _bert_corpus import (
    HELD_OUT_BOOKS,
    chapters,
    held_out_documents,
    plain_words,
    training_documents,
    without_overlap,
    word_runs,
)
from bertlab.datasets import DataUnavailable, load
from bertlab.datasets.documents import Document

LONG = "The quick brown fox jumps over the lazy dog again."  # ten words
FIVE = [f"Sentence {number} of the five." for number in ("one", "two", "three", "four", "five")]


def held(*sentences: str) -> dict[str, list[Document]]:
    return {"exam": [Document(list(sentences), "exam")]}


def sentences_of(documents):
    return [document.sentences for document in documents]


def test_a_shared_run_of_words_is_found_whatever_the_marks_and_capitals():
    kept = without_overlap(
        [Document([*FIVE, 'the QUICK brown fox - " jumps " over the lazy dog', "x y", "z"], "notes")],
        held(LONG),
    )
    assert sentences_of(kept.documents) == [FIVE, ["x y", "z"]]
    assert kept.overlap["documents"] == {"notes with exam": 1}
    assert kept.overlap["sentences_taken_out"] == {"notes with exam": 1}


def test_a_run_one_word_too_short_is_none():
    document = Document([" ".join(LONG.split()[:7]), "Another."], "notes")
    kept = without_overlap([document], held(LONG))
    assert kept.documents == [document]
    assert kept.overlap["documents"] == {}


def test_a_run_across_sentences_takes_all_of_them_out():
    document = Document(["A b c d.", "E f.", "G h i.", "Left one.", "Left two."], "notes")
    kept = without_overlap([document], held("a b c d e f g h"))
    assert sentences_of(kept.documents) == [["Left one.", "Left two."]]


def test_what_follows_a_gap_is_no_next_sentence_and_no_single_sentence_is_left():
    document = Document([FIVE[0], FIVE[1], LONG, FIVE[2], LONG, FIVE[3], FIVE[4]], "notes")
    kept = without_overlap([document], held(LONG))
    assert sentences_of(kept.documents) == [FIVE[:2], FIVE[3:]]
    assert kept.overlap["sentences_taken_out"] == {"notes with exam": 3}


def test_two_ways_to_cut_words_make_no_difference():
    for penn, book in (
        ("I do n't know .", "I don't know."),
        ("John 's well - known hat", "John’s well-known hat"),
    ):
        assert "".join(plain_words(penn)) == "".join(plain_words(book))


@pytest.fixture(scope="module")
def real():
    try:
        return training_documents(), held_out_documents()
    except DataUnavailable as reason:
        pytest.skip(str(reason))


def test_no_run_of_the_real_held_out_text_is_trained_on(real):
    training, held_out = real
    seen = {run for some in held_out.values() for one in some for run, _, _ in word_runs(one.sentences, 8)}
    assert len(seen) > 500_000
    assert not any(run in seen for one in training.documents for run, _, _ in word_runs(one.sentences, 8))


def test_whole_books_are_held_out_a_twentieth_of_all(real):
    assert set(HELD_OUT_BOOKS) <= set(load("books").files)
    inside, outside = (
        sum(len(s) for one in chapters(held_out) for s in one.sentences) for held_out in (True, False)
    )
    assert 0.03 < inside / (inside + outside) < 0.06


def test_no_other_book_is_by_their_authors():
    try:
        files = load("books").files
    except DataUnavailable as reason:
        pytest.skip(str(reason))
    for author in ("frederick-douglass", "kenneth-grahame", "oscar-wilde"):
        assert sum(file.startswith(author) for file in files) == 1
