"""Claims about documents in numbers: what is where, what is left out, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab import datasets
from bertlab.datasets import Document
from bertlab.text import SPECIAL, WordPiece, tokenise
from bertlab.text.corpus import join

VOCAB = [*SPECIAL, "a", "b", "c", "##c", "."]
TOKENIZER = WordPiece(VOCAB)
TWO = [Document(["A b.", "C."], "letters"), Document(["ac a"], "notes"), Document(["B.", "C."], "letters")]


def test_every_sentence_is_where_the_borders_say():
    corpus = tokenise(TWO, TOKENIZER)
    sentences = [sentence for document in TWO for sentence in document.sentences]
    assert [corpus.ids(i, i + 1).tolist() for i in range(5)] == TOKENIZER.encode_batch(sentences)
    assert corpus.documents.tolist() == [0, 2, 3, 5]
    assert [corpus.sources[i] for i in corpus.source] == ["letters", "notes", "letters"]


def test_several_sentences_come_in_one_piece_and_can_be_cut():
    corpus = tokenise(TWO, TOKENIZER)
    assert corpus.ids(0, 2).tolist() == [5, 6, 9, 7, 9]
    assert corpus.ids(0, 2, most=4).tolist() == [5, 6, 9, 7]
    assert corpus.ids(3, 4, most=40).tolist() == [6, 9]


def test_joined_parts_are_the_whole():
    whole, parts = (
        tokenise(TWO, TOKENIZER),
        join([tokenise(TWO[:1], TOKENIZER), tokenise(TWO[1:], TOKENIZER)]),
    )
    assert len(parts.shards) == 2
    for name in ("borders", "documents", "source", "fingerprints"):
        assert (getattr(parts, name) == getattr(whole, name)).all()
    assert parts.sources == whole.sources
    for first, stop in [(0, 1), (0, 2), (2, 3), (3, 5), (4, 5)]:
        assert (parts.ids(first, stop) == whole.ids(first, stop)).all()


def test_fingerprints_are_equal_where_sentences_are():
    corpus = tokenise([Document(["a b", "b a", "a b", "a", "a a", "a b c"], "letters")], TOKENIZER)
    assert len(np.unique(corpus.fingerprints)) == 5
    assert corpus.fingerprints[0] == corpus.fingerprints[2]


def test_what_holds_no_piece_is_left_out():
    corpus = tokenise([Document(["\u200b", "a"], "x"), Document([" "], "y"), Document(["b"], "x")], TOKENIZER)
    assert corpus.borders.tolist() == [0, 1, 2]
    assert corpus.documents.tolist() == [0, 1, 2]
    assert corpus.sources == ("x",)
    with pytest.raises(ValueError, match="the documents hold no word"):
        tokenise([Document(["\u200b"], "x")], TOKENIZER)


def test_ids_take_two_bytes_where_the_vocabulary_allows():
    large = WordPiece([*VOCAB, *(f"w{i}" for i in range(2**16 - len(VOCAB)))])
    larger = WordPiece([*large.vocab, "last"])
    assert tokenise(TWO, large).shards[0].dtype == np.uint16
    corpus = tokenise([Document(["last"], "x")], larger)
    assert corpus.shards[0].dtype == np.uint32
    assert corpus.ids(0, 1).tolist() == [2**16]


def test_a_special_token_in_a_text_is_plain_text_or_refused():
    documents = [Document(["a [SEP] b"], "x")]
    assert TOKENIZER.sep_id not in tokenise(documents, TOKENIZER).shards[0]
    with pytest.raises(ValueError, match=r"\[SEP\] stands in a text: tokenise with recognise_special=False"):
        tokenise(documents, WordPiece(VOCAB, recognise_special=True))


def test_a_lost_word_of_wikitext_is_the_unknown_word(published, mirror):
    """And so it is never a target: [UNK] is never chosen."""
    articles = [d for d in datasets.documents("wikitext-2") if any("[UNK]" in s for s in d.sentences)][:20]
    corpus = tokenise(articles, WordPiece(published, recognise_special=True, fast=True))
    lost = sum(sentence.count("[UNK]") for article in articles for sentence in article.sentences)
    assert lost > 100
    unknown = int((corpus.shards[0] == published.index("[UNK]")).sum())
    plain = tokenise(articles, WordPiece(published, fast=True))
    assert unknown == lost + int((plain.shards[0] == published.index("[UNK]")).sum())
