"""Claims about text as whole words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.text.word_corpus import WordCorpus, split_words

SENTENCES = st.lists(st.lists(st.sampled_from(list("abcd")), max_size=6), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Mrs. Smith’s 2 dogs", ["mrs", "smith's", "2", "dogs"]),
        ("'tis 'quoted' rock'n'roll", ["tis", "quoted", "rock'n'roll"]),
        ("e-mail, co_op; naïve Ærø", ["e", "mail", "co", "op", "naïve", "ærø"]),
        ("a1b2 3.14", ["a", "1", "b", "2", "3", "14"]),
        ("我 爱 北京!", ["我", "爱", "北京"]),
        (" \n … ", []),
    ],
)
def test_words_are_letters_with_apostrophes_inside_or_digits(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@settings(max_examples=50)
@given(sentences=SENTENCES, min_count=st.integers(1, 3))
def test_reading_back_gives_the_frequent_words_in_their_sentences(
    sentences: list[list[str]], min_count: int
) -> None:
    counts = Counter(word for sentence in sentences for word in sentence)
    often = {word for word, n in counts.items() if n >= min_count}
    if not often:
        with pytest.raises(ValueError, match=f"no word occurs min_count={min_count} times"):
            WordCorpus.of_words(sentences, min_count)
        return
    corpus = WordCorpus.of_words(sentences, min_count)
    assert list(corpus.words) == sorted(often, key=lambda word: (-counts[word], word))
    assert corpus.counts.tolist() == [counts[word] for word in corpus.words]
    kept = [[word for word in sentence if word in often] for sentence in sentences]
    kept = [sentence for sentence in kept if sentence]
    spans = zip(corpus.borders[:-1], corpus.borders[1:], strict=True)
    assert [[corpus.words[i] for i in corpus.ids[a:b]] for a, b in spans] == kept
    assert corpus.sentence_of.tolist() == [i for i, words in enumerate(kept) for _ in words]
    assert len(corpus) == sum(map(len, kept))


def test_sentences_are_cut_then_counted() -> None:
    corpus = WordCorpus.read(["The cat.", "the CAT!", "a dog"], min_count=2)
    assert corpus.words == ("cat", "the")
    assert corpus.ids.tolist() == [1, 0, 1, 0]
    assert corpus.ids.dtype == np.int32
