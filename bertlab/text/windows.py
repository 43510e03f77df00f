"""Words and the words around them: thinned-out text, windows of random width, pairs, and runs of n words.

What is random is a function of (seed, epoch, place in the text): see `counter_random`. So every epoch has
other windows, a resumed run the same ones, and nobody needs to remember a generator.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bertlab.text.counter_random import below, key, random_bits, uniform
from bertlab.text.word_corpus import WordCorpus

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_KEPT, _WIDTHS = 11, 12  # keep these numbers apart from those of other uses of one seed


def keep_chances(counts: ArrayLike, threshold: float = 1e-3) -> Floats:
    """Say how likely an occurrence of each word is to be read at all: the more frequent, the less.

    Parameters
    ----------
    counts : (V,) how often each word occurs.
    threshold : t, the share of the text from which a word is thinned out (about); 0 keeps everything.

    Returns
    -------
    (V,) float array: ``min(1, √(t / f) + t / f)``, f a word's share of the text.

    Raises
    ------
    ValueError
        If the threshold is negative.

    References
    ----------
    Mikolov et al. 2013b, sec. 2.3. Departs from eq. (5), which has the first term alone, as their own code
    (word2vec.c, "sample") and gensim do.

    Examples
    --------
    >>> keep_chances([96, 4], threshold=0.01).round(3).tolist()
    [0.112, 0.75]
    """
    if threshold < 0:
        raise ValueError(f"threshold={threshold}: give a share of the text, such as 1e-3, or 0 to keep all")
    seen = np.asarray(counts, dtype=float)
    if threshold == 0:
        return np.ones(seen.shape)
    ratio = threshold * seen.sum() / np.maximum(seen, 1)
    chances: Floats = np.minimum(1.0, np.sqrt(ratio) + ratio)
    return chances


class Thinned(NamedTuple):
    """What of a text is read in one epoch; three arrays (n,)."""

    ids: Ints
    sentences: Ints  # number of the sentence of each word
    widths: Ints  # how many words to each side belong to its window, from 1


def thin_out(corpus: WordCorpus, chances: Floats, window: int, seed: int, epoch: int) -> Thinned:
    """Leave out occurrences of frequent words, and give every other one a window.

    A window's width is drawn evenly from 1 to `window`, so near words are asked for more often than far ones.
    Words left out are gone before windows are laid: these then reach further.

    Parameters
    ----------
    corpus : the text.
    chances : (V,) from `keep_chances`.
    window : largest width to each side.
    seed, epoch : whole numbers that the draws depend on.

    Raises
    ------
    ValueError
        If the window is below 1.

    References
    ----------
    Mikolov et al. 2013a, sec. 3.2 for the random width; both as in word2vec.c.
    """
    if window < 1:
        raise ValueError(f"window={window}: give the largest number of words to each side, from 1")
    n = len(corpus)
    drawn = uniform(random_bits(key(seed, _KEPT, epoch), n)[0])
    kept = np.flatnonzero(drawn < chances[corpus.ids])
    widths = 1 + below(random_bits(key(seed, _WIDTHS, epoch), n)[0], window)
    return Thinned(corpus.ids[kept].astype(np.int64), corpus.sentence_of[kept].astype(np.int64), widths[kept])


def window_pairs(text: Thinned) -> tuple[Ints, Ints]:
    """List all pairs of a word and a word in its window, as skip-gram asks for them.

    Parameters
    ----------
    text : from `thin_out`.

    Returns
    -------
    centres, contexts : places in the text, (n_pairs,) each, in the order of the centres, then the contexts.

    Examples
    --------
    >>> text = Thinned(np.array([7, 8, 9]), np.array([0, 0, 1]), np.array([2, 1, 5]))
    >>> [places.tolist() for places in window_pairs(text)]  # no window leaves its sentence
    [[0, 1], [1, 0]]
    """
    places, mask = windows(text)
    rows, columns = np.nonzero(mask)
    return rows, places[rows, columns]


def windows(text: Thinned) -> tuple[Ints, Bools]:
    """Lay out the window of every word, as CBOW reads it.

    Returns
    -------
    places, mask : (n, 2 W), W the widest window. Places in the text, and True where a word is in the window
        and in the same sentence.
    """
    n, reach = len(text.ids), int(text.widths.max(initial=0))
    offsets = np.array([d for d in range(-reach, reach + 1) if d])  # (2 W,)
    places = np.arange(n)[:, None] + offsets  # (n, 2 W)
    inside = (places >= 0) & (places < n) & (abs(offsets) <= text.widths[:, None])
    places = np.clip(places, 0, max(n - 1, 0))
    return places, inside & (text.sentences[places] == text.sentences[:, None])


def word_runs(corpus: WordCorpus, n: int) -> Ints:
    """Find all runs of n words inside a sentence, as a model of order n reads them.

    Parameters
    ----------
    corpus : the text.
    n : length of a run.

    Returns
    -------
    (M,) place of the first word of each run.

    Raises
    ------
    ValueError
        If n is below 1, or no sentence is so long.

    Examples
    --------
    >>> word_runs(WordCorpus.read(["a b a", "b a", "a a a a"], min_count=1), 3).tolist()
    [0, 5, 6]
    """
    if n < 1:
        raise ValueError(f"n={n}: a run has at least one word")
    firsts = np.arange(max(len(corpus) - n + 1, 0))
    runs: Ints = firsts[corpus.sentence_of[firsts] == corpus.sentence_of[firsts + n - 1]]
    if not len(runs):
        raise ValueError(f"no sentence has n={n} words: shorten the runs")
    return runs
