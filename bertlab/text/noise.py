"""Noise for negative sampling: words drawn by their frequency, with the frequent ones held back a little."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bertlab.text.counter_random import below, key, random_bits, uniform

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_STREAM = 13  # keeps these numbers apart from those of other uses of one seed


def noise_distribution(counts: ArrayLike, power: float = 0.75) -> Floats:
    """Turn counts into chances to be drawn as a negative.

    Parameters
    ----------
    counts : (V,) how often each word occurs.
    power : 1 draws words as they occur, 0 all alike.

    Returns
    -------
    (V,) float array that sums to 1: ``count ** power`` in proportion.

    Raises
    ------
    ValueError
        If a count is negative or all are 0.

    References
    ----------
    Mikolov et al. 2013b, sec. 2.2: "the unigram distribution U(w) raised to the 3/4rd power".

    Examples
    --------
    >>> noise_distribution([16, 81, 1]).round(4).tolist()
    [0.2222, 0.75, 0.0278]
    """
    seen = np.asarray(counts, dtype=float)
    if seen.min(initial=0) < 0 or not seen.sum():
        raise ValueError(f"counts sum to {seen.sum():g}, the least is {seen.min(initial=0):g}: count a text")
    weights = np.where(seen > 0, seen, 1) ** power * (seen > 0)  # a word never seen is no noise at power 0
    share: Floats = weights / weights.sum()
    return share


class Noise:
    """Draws words from a distribution, in no more steps for a large vocabulary than for a small one.

    V columns of equal height hold the distribution, each shared by at most two words: a draw takes a column,
    then one of the two. What is drawn is a function of (seed, epoch, group).

    Which words may come: all, the target and the other words of its window too. `negative_sampling_loss`
    leaves out a negative that *is* the target, as word2vec does, and no others.

    Parameters
    ----------
    chances : (V,) from `noise_distribution`.
    seed : whole number that the draws depend on.

    References
    ----------
    The columns: Walker 1977; how to fill them: Vose 1991.

    Examples
    --------
    >>> noise = Noise(noise_distribution([16, 81, 1]), seed=0)
    >>> drawn = noise.draw(epoch=0, groups=np.arange(1000), n=5)
    >>> drawn.shape, (np.bincount(drawn.ravel()) / drawn.size).round(1).tolist()
    ((1000, 5), [0.2, 0.7, 0.0])
    """

    def __init__(self, chances: Floats, seed: int) -> None:
        self.seed = seed
        self._share, self._other = _columns(chances)

    def draw(self, epoch: int, groups: Ints, n: int) -> Ints:
        """Draw n words for each group (G,) of an epoch: (G, n)."""
        bits = random_bits(key(self.seed, _STREAM, epoch, groups), 2 * n)  # (G, 2 n)
        column = below(bits[:, :n], len(self._share))
        lower = uniform(bits[:, n:]) < self._share[column]
        drawn: Ints = np.where(lower, column, self._other[column])
        return drawn


def _columns(chances: Floats) -> tuple[Floats, Ints]:
    """Give every word's column a share for itself, and another word that has the rest."""
    size = len(chances)
    height = np.asarray(chances, dtype=float) * size / np.sum(chances)
    share, other = np.ones(size), np.arange(size)
    low, high = list(np.flatnonzero(height < 1)), list(np.flatnonzero(height >= 1))
    while low and high:
        small, large = low.pop(), high.pop()
        share[small], other[small] = height[small], large
        height[large] -= 1 - height[small]
        (low if height[large] < 1 else high).append(large)
    return share, other  # what is left over, by rounding, is full
