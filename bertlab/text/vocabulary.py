"""Words to numbers and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor


class Vocabulary:
    """A fixed list of words, each with its number; three reserved words stand first.

    Parameters
    ----------
    words : the words in the order of their ids, after the reserved ones.

    Raises
    ------
    ValueError
        If a word occurs twice or is a reserved one.

    Examples
    --------
    >>> vocabulary = Vocabulary(["one", "two"])
    >>> vocabulary.encode(["two", "one"])
    [4, 3, 1]
    >>> vocabulary.decode([4, 3, 1, 0])
    ['two', 'one']
    """

    PAD, END, UNKNOWN = "<PAD>", "<END>", "<UNK>"
    pad_id, end_id, unknown_id = 0, 1, 2

    def __init__(self, words: Iterable[str]) -> None:
        self.words = [self.PAD, self.END, self.UNKNOWN, *words]
        self.ids = {word: i for i, word in enumerate(self.words)}
        if len(self.ids) < len(self.words):
            twice = next(word for word, count in Counter(self.words).items() if count > 1)
            raise ValueError(f"the word {twice!r} stands in the vocabulary twice: give each word once")

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sequence[str]], min_count: int = 1) -> Vocabulary:
        """Take the words seen at least `min_count` times, frequent ones first, equals in alphabetical order.

        Examples
        --------
        >>> Vocabulary.from_sentences([["b", "a"], ["b"]]).words[3:]
        ['b', 'a']
        """
        counts = Counter(word for sentence in sentences for word in sentence)
        return cls(sorted((w for w, n in counts.items() if n >= min_count), key=lambda w: (-counts[w], w)))

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, sentence: Sequence[str]) -> list[int]:
        """Turn words into ids and append the end token; a word that is not in the list becomes <UNK>."""
        return [*(self.ids.get(word, self.unknown_id) for word in sentence), self.end_id]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Turn ids into words, up to the end token."""
        words = []
        for i in ids:
            if i == self.end_id:
                break
            words.append(self.words[i])
        return words

    def batch(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Encode sentences into one (B, T) integer tensor, filled up with padding on the right.

        Raises
        ------
        ValueError
            If there is no sentence.

        Examples
        --------
        >>> Vocabulary(["one", "two"]).batch([["one", "two"], ["one"]]).tolist()
        [[3, 4, 1], [3, 1, 0]]
        """
        return pad([self.encode(sentence) for sentence in sentences], self.pad_id)


def pad(rows: Sequence[Sequence[int]], pad_id: int = 0) -> Tensor:
    """Lay rows of different lengths into one tensor, filled up on the right.

    Parameters
    ----------
    rows : B lists of ids.
    pad_id : what fills the rest.

    Returns
    -------
    (B, T) int64 tensor, T the longest length.

    Raises
    ------
    ValueError
        If there is no row.

    Examples
    --------
    >>> pad([[5, 6], [7]]).tolist()
    [[5, 6], [7, 0]]
    """
    if not rows:
        raise ValueError("there are 0 rows to pad: give at least one sentence")
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[pad_id] * (longest - len(row))] for row in rows])
