"""Claims about words and their numbers."""

from __future__ import annotations

import pytest

from bertlab.text import Vocabulary, pad


def test_a_sentence_comes_back_as_it_went():
    vocabulary = Vocabulary(["one", "two", "three"])
    assert vocabulary.decode(vocabulary.encode(["three", "one"])) == ["three", "one"]


def test_a_word_that_was_never_seen_is_unknown_and_not_dropped():
    vocabulary = Vocabulary(["one"])
    assert vocabulary.encode(["one", "two"]) == [3, vocabulary.unknown_id, vocabulary.end_id]


def test_padding_has_the_id_that_masks_expect():
    assert Vocabulary(["one"]).words[0] == Vocabulary.PAD
    assert pad([[5, 6, 1], [7, 1]]).tolist() == [[5, 6, 1], [7, 1, 0]]


def test_frequent_words_come_first_and_rare_ones_can_be_left_out():
    sentences = [["b", "a", "c"], ["b", "a"], ["b"]]
    assert Vocabulary.from_sentences(sentences).words[3:] == ["b", "a", "c"]
    assert Vocabulary.from_sentences(sentences, min_count=2).words[3:] == ["b", "a"]


def test_a_word_given_twice_is_refused():
    with pytest.raises(ValueError, match="'one'"):
        Vocabulary(["one", "one"])
    with pytest.raises(ValueError, match="<PAD>"):
        Vocabulary(["<PAD>"])


def test_no_sentence_at_all_is_refused():
    with pytest.raises(ValueError, match="0 rows"):
        pad([])
