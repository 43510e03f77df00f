"""Text as whole words, the way word vectors are trained: small letters, no punctuation, no rare words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+")


def split_words(text: str) -> list[str]:
    """Cut a text into words and numbers; all else goes.

    Examples
    --------
    >>> split_words("Don’t stop: 3 o'clock — the well-known BANK!")
    ["don't", 'stop', '3', "o'clock", 'the', 'well', 'known', 'bank']
    """
    return _WORD.findall(text.lower().replace("’", "'"))


@dataclass(frozen=True, eq=False)
class WordCorpus:
    """Sentences as numbers of words; no window reaches from one sentence into another.

    Examples
    --------
    >>> corpus = WordCorpus.read(["The cat saw the cat.", "The dog saw it."], min_count=2)
    >>> corpus.words, corpus.ids.tolist(), corpus.borders.tolist(), corpus.counts.tolist()
    (('the', 'cat', 'saw'), [0, 1, 2, 0, 1, 0, 2], [0, 5, 7], [3, 2, 2])
    """

    words: tuple[str, ...]  # V of them, the most frequent first
    ids: NDArray[np.int32]  # (N,) all sentences one behind the other
    borders: Ints  # (sentences + 1,) sentence i is ids[borders[i] : borders[i + 1]]

    @classmethod
    def read(cls, sentences: Iterable[str], min_count: int = 5) -> WordCorpus:
        """Cut sentences into words, and number those that occur often enough.

        A rarer word is taken out as if it had not been written, so its neighbours become each other's, as in
        word2vec. Equally frequent words stand in the order of the alphabet.

        Parameters
        ----------
        sentences : texts; each is one sentence.
        min_count : how often a word must occur.

        Raises
        ------
        ValueError
            If no word occurs so often.
        """
        return cls.of_words([split_words(sentence) for sentence in sentences], min_count)

    @classmethod
    def of_words(cls, sentences: Sequence[Sequence[str]], min_count: int = 5) -> WordCorpus:
        """Number the words of sentences that are cut already; see `read`."""
        counts = Counter(word for sentence in sentences for word in sentence)
        often = (word for word, n in counts.items() if n >= min_count)
        words = tuple(sorted(often, key=lambda word: (-counts[word], word)))
        if not words:
            raise ValueError(f"no word occurs min_count={min_count} times: give more text, or lower it")
        place = {word: i for i, word in enumerate(words)}
        rows = [[place[word] for word in sentence if word in place] for sentence in sentences]
        rows = [row for row in rows if row]
        ids = np.fromiter((i for row in rows for i in row), np.int32)
        return cls(words, ids, np.cumsum([0, *map(len, rows)]))

    @cached_property
    def counts(self) -> Ints:
        """How often each word occurs (V,)."""
        return np.bincount(self.ids, minlength=len(self.words))

    @cached_property
    def sentence_of(self) -> NDArray[np.int32]:
        """The number of the sentence of each word (N,)."""
        return np.repeat(np.arange(len(self.borders) - 1, dtype=np.int32), np.diff(self.borders))

    def __len__(self) -> int:
        return len(self.ids)
