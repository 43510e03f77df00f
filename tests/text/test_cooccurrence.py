"""Claims about how often words meet: the counts by plain loops, in any pieces."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.text import cooccurrence
from bertlab.text.cooccurrence import cooccurrences
from bertlab.text.word_corpus import WordCorpus

SENTENCES = st.lists(
    st.lists(st.sampled_from(list("abcd")), min_size=1, max_size=7), min_size=1, max_size=6
).filter(lambda rows: any(len(row) > 1 for row in rows))


def by_loops(corpus: WordCorpus, window: int) -> dict[tuple[int, int], float]:
    counts: dict[tuple[int, int], float] = defaultdict(float)
    for a, b in zip(corpus.borders[:-1], corpus.borders[1:], strict=True):
        words = corpus.ids[a:b].tolist()
        for i, word in enumerate(words):
            for j, other in enumerate(words):
                if i != j and abs(i - j) <= window:
                    counts[word, other] += 1 / abs(i - j)
    return counts


@settings(max_examples=60)
@given(sentences=SENTENCES, window=st.integers(1, 4), at_once=st.sampled_from([1, 3, 100]))
def test_counts_are_those_of_plain_loops_whatever_is_sorted_at_once(
    sentences: list[list[str]], window: int, at_once: int
) -> None:
    corpus = WordCorpus.of_words(sentences, min_count=1)
    before = cooccurrence.AT_ONCE
    cooccurrence.AT_ONCE = at_once
    try:
        rows, columns, counts = cooccurrences(corpus, window)
    finally:
        cooccurrence.AT_ONCE = before
    found = {(i, j): x for i, j, x in zip(rows.tolist(), columns.tolist(), counts.tolist(), strict=True)}
    assert list(found) == sorted(found)
    assert found == pytest.approx(dict(by_loops(corpus, window)), rel=1e-12)


def test_the_counts_are_symmetric_to_the_bit() -> None:
    corpus = WordCorpus.of_words([list("abcabdbca")] * 3, min_count=1)
    rows, columns, counts = cooccurrences(corpus, window=5)
    table = np.zeros((4, 4))
    table[rows, columns] = counts
    np.testing.assert_array_equal(table, table.T)


def test_a_text_without_meetings_and_a_window_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="no two words meet"):
        cooccurrences(WordCorpus.of_words([["a"], ["b"]], min_count=1))
    with pytest.raises(ValueError, match="window=0: give the greatest distance"):
        cooccurrences(WordCorpus.of_words([["a", "b"]], min_count=1), window=0)
