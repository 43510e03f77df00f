"""How often words meet: counts over windows, each meeting worth one over its distance, as GloVe counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertlab.text.word_corpus import WordCorpus

AT_ONCE = 1_000_000  # words; their meetings are sorted in memory, 8 bytes each


class Cooccurrences(NamedTuple):
    """The entries that are not 0, sorted by row, then by column; three arrays (M,)."""

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    counts: NDArray[np.float64]


def cooccurrences(corpus: WordCorpus, window: int = 10) -> Cooccurrences:
    """Count how often each word meets each other one in a sentence, at most `window` words apart.

    Two words d places apart count 1 / d, in both directions: (a, b) and (b, a) have the same count, and a
    word that meets itself counts twice.

    Parameters
    ----------
    corpus : the text.
    window : greatest distance.

    Raises
    ------
    ValueError
        If the window is below 1, or no two words meet.

    References
    ----------
    Pennington et al. 2014, sec. 4.2: "word pairs that are d words apart contribute 1/d to the total count".

    Examples
    --------
    >>> found = cooccurrences(WordCorpus.read(["a b c", "a b"], min_count=1), window=2)
    >>> [(int(i), int(j), float(x)) for i, j, x in zip(*found) if i < j]  # a-b twice, a-c over one word, b-c
    [(0, 1, 2.0), (0, 2, 0.5), (1, 2, 1.0)]
    """
    if window < 1:
        raise ValueError(f"window={window}: give the greatest distance, from 1")
    V = len(corpus.words)
    keys, counts = np.empty(0, np.int64), np.empty(0)
    for more_keys, more_counts in _chunks(corpus, window):
        keys, counts = _added(np.concatenate([keys, more_keys]), np.concatenate([counts, more_counts]))
    if not len(keys):
        raise ValueError("no two words meet: give sentences of at least two words")
    both, inverse = _added(np.concatenate([keys, keys % V * V + keys // V]), np.concatenate([counts, counts]))
    return Cooccurrences((both // V).astype(np.int32), (both % V).astype(np.int32), inverse)


def _chunks(corpus: WordCorpus, window: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Count pairs (left word, right word) as left * V + right, some text at a time."""
    V, ids = len(corpus.words), corpus.ids.astype(np.int64)
    for first in range(0, len(ids), AT_ONCE):
        met = []
        for d in range(1, window + 1):
            left = np.arange(first, min(first + AT_ONCE, len(ids) - d))
            left = left[corpus.sentence_of[left] == corpus.sentence_of[left + d]]
            met.append((ids[left] * V + ids[left + d]) * window + d - 1)
        found, times = np.unique(np.concatenate(met), return_counts=True)  # each pair at each distance
        yield _added(found // window, times / (found % window + 1))


def _added(
    keys: NDArray[np.int64], counts: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sort by key, and add up the counts of equal keys."""
    if not len(keys):
        return keys, counts
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    firsts = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[firsts], np.add.reduceat(counts, firsts)
