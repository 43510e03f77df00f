"""The cut vocabulary spells every word that the whole one can, and its pieces keep their rows."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

import _bert_vocabulary
from _bert_vocabulary import CHECKSUMS, LEAST, check, count_pieces, cut, old_ids, published
from bertlab.datasets import DataUnavailable
from bertlab.text import SPECIAL, WordPiece
from bertlab.training.results import RESULTS

LETTERS = [*"abcdz", *(f"##{letter}" for letter in "abcdz")]
LONGER = ["ab", "abc", "##bc", "##bcd", "abcd", "zz", "##cd"]
WHOLE = WordPiece([SPECIAL[0], "[unused0]", *SPECIAL[1:], *LETTERS, *LONGER])
WORDS = {"abcd": 3, "abc": 9, "dbcd": 2, "bcd": 1, "d": 1}


def test_pieces_used_too_seldom_go_and_the_others_stay():
    vocab = cut(WHOLE, WORDS, least=4).tokenizer.vocab
    assert "abcd" not in vocab  # used 3 times
    assert "abc" in vocab  # used 9 times for itself, and 3 times for abcd
    assert "zz" not in vocab
    assert "abc" in cut(WHOLE, {"abc": 4}, least=4).tokenizer.vocab  # as often as asked is enough
    assert "[unused0]" not in vocab


def test_a_shorter_piece_is_counted_for_the_words_of_the_longer_one_that_went():
    # abc is used 3 times for itself, and 3 times for abcd once that has gone
    vocab = cut(WHOLE, {"abcd": 3, "abc": 3}, least=4).tokenizer.vocab
    assert "abcd" not in vocab
    assert "abc" in vocab


def test_no_word_becomes_unknown_that_was_none_before(rng):
    words = Counter("".join(rng.choice([*"abcd"], rng.integers(1, 7))) for _ in range(300))
    for least in (1, 2, 5, 50, 1000):
        left = cut(WHOLE, words, least).tokenizer
        assert count_pieces(left, words)["[UNK]"] == 0
        assert set("abcd") | {f"##{x}" for x in "abcd"} <= set(left.vocab)


def test_letters_that_never_occur_go():
    assert not {"z", "##z"} & set(cut(WHOLE, WORDS, least=1).tokenizer.vocab)


def test_every_piece_left_is_used_as_often_as_asked_or_a_letter_or_special():
    found = cut(WHOLE, WORDS, least=2)
    uses = count_pieces(found.tokenizer, WORDS)
    for piece in found.tokenizer.vocab:
        assert piece in SPECIAL or len(piece.removeprefix("##")) == 1 or uses[piece] >= 2


def test_new_numbers_lead_to_the_old_ones():
    found = cut(WHOLE, WORDS, least=2)
    assert [WHOLE.vocab[i] for i in found.old_ids] == found.tokenizer.vocab
    assert (np.diff(found.old_ids) > 0).all()
    np.testing.assert_array_equal(found.old_ids, old_ids(found.tokenizer, WHOLE))
    assert found.tokenizer.special_ids == frozenset(range(5))


def test_another_vocabulary_than_that_of_the_results_is_refused():
    with pytest.raises(ValueError, match="the training text or the code that makes it has changed"):
        check("trained", WHOLE)


def test_the_checksums_are_those_of_the_results():
    record = json.loads((RESULTS / "masked_ngrams.json").read_text())
    assert {name: record[name]["sha256"] for name in CHECKSUMS} == CHECKSUMS
    assert record["cut_vocabulary"]["least"] == LEAST


def test_the_published_vocabulary_is_made_into_the_one_of_the_results(tmp_path, monkeypatch):
    monkeypatch.setattr(_bert_vocabulary, "FOLDER", tmp_path)
    try:
        whole = published()
        vocab = _bert_vocabulary.tokenizer("cut")
    except DataUnavailable as reason:
        pytest.skip(str(reason))
    assert len(vocab) == 15_523
    assert [whole.vocab[i] for i in old_ids(vocab, whole)] == vocab.vocab
    assert _bert_vocabulary.tokenizer("cut").vocab == vocab.vocab  # from the file, this time
