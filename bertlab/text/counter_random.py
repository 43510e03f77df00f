"""Random numbers out of counters: a function of where they are used, not of what was drawn before.

A generator has a state, so its numbers depend on who drew first: copied into four workers it gives each the
same ones, and after an interruption it begins anew. Here a number is the scrambled form of (seed, epoch,
example, position), the same in any process and any order, with nothing to save for a resume.

The scrambling is the one of SplitMix64, which changes half of the output bits when one bit of the input
changes. Arrays of `uint64` wrap around where they overflow, as it needs.

References
----------
Steele, Lea & Flood 2014, Fast splittable pseudorandom number generators, fig. 17. Salmon et al. 2011,
Parallel random numbers: as easy as 1, 2, 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Bits = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio: counters are far apart after it
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_A, _B, _C = np.uint64(30), np.uint64(27), np.uint64(31)
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def scramble(bits: Bits) -> Bits:
    """Turn counters into random bits, one to one; overwrites and returns an array of uint64.

    Examples
    --------
    >>> [hex(bits) for bits in scramble(np.array([1, 2], np.uint64))]
    ['0x5692161d100b05e5', '0xdbd238973a2b148a']
    """
    bits ^= bits >> _A
    bits *= _FIRST
    bits ^= bits >> _B
    bits *= _SECOND
    bits ^= bits >> _C
    return bits


def key(*numbers: ArrayLike, after: Bits | None = None) -> Bits:
    """Make one key of several whole numbers, such as seed, epoch and example, in this order.

    Parameters
    ----------
    numbers : from 0 to 2**64 - 1; arrays of them are broadcast.
    after : the key of the numbers that come before these, where many keys begin alike.

    Returns
    -------
    an array of keys, of at least one dimension.

    Raises
    ------
    ValueError
        If a number is negative, too large, or not whole.

    Examples
    --------
    >>> key(0, 1, [0, 1, 2]).shape
    (3,)
    >>> key(0, 1) == key(1, 0), key(1, after=key(0)) == key(0, 1)
    (array([False]), array([ True]))
    """
    made = np.zeros(1, np.uint64) if after is None else after
    for number in numbers:
        made = scramble(scramble(_whole(number) + GOLDEN) ^ made)
    return made


def _whole(number: ArrayLike) -> Bits:
    """Read whole numbers, refusing what would silently become another one."""
    given = np.atleast_1d(np.asarray(number))
    if given.dtype.kind not in "iu" or (given.dtype.kind == "i" and (given < 0).any()):
        raise ValueError(f"{number!r} is no counter: give whole numbers from 0 to 2**64 - 1")
    return given.astype(np.uint64)


def random_bits(keys: Bits, n: int, first: int = 0) -> Bits:
    """Draw the numbers `first`, `first` + 1, … of every key.

    Parameters
    ----------
    keys : (B,) uint64
    n : how many.
    first : number of the first one.

    Returns
    -------
    (B, n) uint64

    Examples
    --------
    >>> keys = key(0, [7, 8])
    >>> bool((random_bits(keys, 5)[:, 2:] == random_bits(keys, 3, first=2)).all())
    True
    """
    return scramble(keys[:, None] + GOLDEN * np.arange(first + 1, first + n + 1, dtype=np.uint64))


def short_bits(keys: Bits, n: int) -> NDArray[np.uint16]:
    """Draw n numbers of 16 bits for every key: four come out of one scrambling.

    The first ones are the same, however many are drawn.

    Returns
    -------
    (B, n) uint16, all values equally likely.

    Examples
    --------
    >>> short_bits(key(0), 6).tolist()[0][:5] == short_bits(key(0), 5).tolist()[0]
    True
    """
    words = random_bits(keys, -(-n // 4)).astype("<u8", copy=False)  # the same on machines of any byte order
    return words.view("<u2")[:, :n]


def uniform(bits: Bits) -> NDArray[np.float64]:
    """Turn bits into numbers from 0 to below 1."""
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def below(bits: Bits, n: ArrayLike) -> NDArray[np.int64]:
    """Turn bits into whole numbers from 0 to below n, which is less than 2**32.

    Of n values none is likelier than another by more than n / 2**32 of its share.

    Examples
    --------
    >>> below(random_bits(key(0), 6), 10).min() >= 0
    np.True_
    """
    return (((bits & _LOW) * np.asarray(n, np.uint64)) >> _HALF).astype(np.int64)
