"""Claims about the sentences that come with the package."""

from __future__ import annotations

from bertlab.datasets.fables import fables


def test_there_are_two_hundred_different_sentences_that_end_as_sentences_do():
    sentences = fables()
    assert len(sentences) == len(set(sentences)) == 204
    assert all(sentence.isascii() and sentence[-1] in ".!?" for sentence in sentences)
    assert {len(sentence.split()) for sentence in sentences} <= set(range(3, 58))
