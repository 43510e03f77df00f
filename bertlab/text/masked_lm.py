"""Masked language modelling: hide some pieces of a text, and have the model say what stood there.

Of all pieces 15 % are chosen. A chosen one reads [MASK] in 80 % of cases, a random piece in 10 %, and itself
in 10 %; the label is what really stood there, in all three cases. Special tokens, [UNK] and padding are never
chosen, and no random piece is a special token or an unused entry of the vocabulary.

How many: each piece is drawn for itself, so 15 % is an average. BERT's own code takes a fixed number a text,
rounded, and at least one. Independent draws need no rounding, give a piece of a short text the same chance as
one of a long text, and are a comparison an array wide, whence their speed. The price: of four pieces none is
chosen in 52 % of cases, and such a text adds nothing to the loss.

Whole words: drawn is the word, and with it all its pieces, which then fare each by its own 80/10/10, as in
BERT's own code. That one has a budget, and skips a word that does not fit into what is left of it: in a short
text, long words are never chosen. Here there is no budget, no word is skipped or cut, and long words have the
chance of all others.

References
----------
Devlin et al. 2019, sec. 3.1 and appendix A.1; google-research/bert, create_pretraining_data.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bertlab.text.counter_random import GOLDEN, below, key, scramble, short_bits
from bertlab.text.wordpiece import WordPiece

IGNORE_INDEX = -100  # label of what is not chosen: PyTorch's cross_entropy leaves it out by default
SHARES = (0.8, 0.1, 0.1)  # of the chosen: [MASK], a random piece, unchanged

Ids = NDArray[np.int64]
Bools = NDArray[np.bool_]

_STREAM = 1  # keeps these numbers apart from those of other uses of one seed
_ACTIONS = np.uint64(
    2**32
)  # the draws for what happens are numbered from here, those for who is chosen from 0
_LEVELS = 2**16  # chances are multiples of 1 / _LEVELS in a Masker


class Kinds(NamedTuple):
    """What kinds of pieces a vocabulary has, an entry a piece."""

    ordinary: Bools  # may be chosen
    continues: Bools  # "##ing": goes on inside a word
    random: Ids  # the pieces that may come instead of a chosen one


@lru_cache(maxsize=2)
def kinds(vocab: WordPiece) -> Kinds:
    """Tell the kinds of pieces apart.

    Raises
    ------
    ValueError
        If there is no ordinary piece.
    """
    ordinary = np.ones(len(vocab), dtype=bool)
    ordinary[list(vocab.special_ids)] = False
    used = ordinary & [not piece.startswith("[unused") for piece in vocab.vocab]
    if not used.any():
        raise ValueError(f"a vocabulary of {len(vocab)} pieces has no ordinary one: nothing can be masked")
    continues = np.array([piece.startswith("##") for piece in vocab.vocab])
    return Kinds(ordinary, continues, np.flatnonzero(used))


def mask_tokens(
    ids: ArrayLike,
    vocab: WordPiece,
    rng: np.random.Generator,
    rate: float = 0.15,
    shares: Sequence[float] = SHARES,
    whole_words: bool = False,
) -> tuple[Ids, Ids]:
    """Hide pieces at random, as BERT's pre-training does.

    Parameters
    ----------
    ids : (..., T) pieces, special tokens and padding included.
    vocab : tokenizer, which knows what is special.
    rng : source of chance.
    rate : chance of each piece to be chosen.
    shares : of the chosen: replaced by [MASK], by a random piece (by chance itself), unchanged.
    whole_words : choose all pieces of a word or none.

    Returns
    -------
    corrupted : (..., T) int64, what the model reads.
    labels : (..., T) int64, what stood there where a piece is chosen, elsewhere `IGNORE_INDEX`.

    Raises
    ------
    ValueError
        If `rate` or `shares` are no chances, or an id is not of the vocabulary.

    Examples
    --------
    >>> from bertlab.text import SPECIAL
    >>> vocab = WordPiece([*SPECIAL, "the", "cat", "sat"])
    >>> corrupted, labels = mask_tokens([2, 5, 6, 7, 3, 0], vocab, np.random.default_rng(1), rate=0.5)
    >>> corrupted.tolist(), labels.tolist()
    ([2, 5, 4, 7, 3, 0], [-100, -100, 6, -100, -100, -100])
    """
    given = _checked(ids, len(vocab))
    masked, random, _ = check_chances(rate, shares)
    ordinary, continues, replacements = kinds(vocab)
    chosen = rng.random(given.shape) < rate
    if whole_words:
        chosen = np.take_along_axis(chosen, word_starts(given, ordinary, continues), axis=-1)
    chosen &= ordinary[given]
    # A draw of its own: the number that chose a piece is below 0.15, so below 0.8 as well.
    action = rng.random(given.shape)
    instead = np.where(action < masked, vocab.mask_id, rng.choice(replacements, given.shape))
    corrupted = np.where(chosen & (action < masked + random), instead, given)
    return corrupted, np.where(chosen, given, IGNORE_INDEX)


def _checked(ids: ArrayLike, vocab_size: int) -> Ids:
    given = np.asarray(ids)
    if given.size == 0:
        given = given.astype(np.int64)
    if given.ndim == 0 or given.dtype.kind not in "iu":
        raise ValueError(f"ids of shape {given.shape} and type {given.dtype}: give whole numbers, (..., T)")
    if given.size and not 0 <= given.min() <= given.max() < vocab_size:
        raise ValueError(
            f"ids from {given.min()} to {given.max()} are not of a vocabulary of {vocab_size} pieces"
        )
    return given.astype(np.int64)


def check_chances(rate: float, shares: Sequence[float]) -> tuple[float, float, float]:
    """Give back the shares, or raise ValueError if they, or the rate, are no chances."""
    if not 0 <= rate <= 1:
        raise ValueError(f"rate={rate}: give the chance of a piece to be chosen, from 0 to 1, in BERT 0.15")
    if len(shares) != 3 or min(shares) < 0 or not math.isclose(sum(shares), 1.0, abs_tol=1e-9):
        raise ValueError(
            f"shares={tuple(shares)}: give three that sum to 1, of [MASK], random, same; in BERT {SHARES}"
        )
    return (shares[0], shares[1], shares[2])


def word_starts(ids: Ids, ordinary: Bools, continues: Bools) -> Ids:
    """Give each piece the position at which its word begins.

    "##ing" behind a special token begins a word, too: truncation can have taken what stood before it.

    Parameters
    ----------
    ids : (..., T)
    ordinary, continues : see `Kinds`.

    Examples
    --------
    >>> ordinary, continues = np.array([False, True, True]), np.array([False, False, True])
    >>> word_starts(np.array([0, 1, 2, 2, 0, 2, 1]), ordinary, continues).tolist()
    [0, 1, 1, 1, 4, 5, 6]
    """
    inside = continues[ids]
    inside[..., 1:] &= ordinary[ids[..., :-1]]
    inside[..., :1] = False
    return np.maximum.accumulate(np.where(inside, 0, np.arange(ids.shape[-1])), axis=-1)


@lru_cache
def _epoch_key(seed: int, epoch: int) -> NDArray[np.uint64]:
    """Make what the keys of all examples of an epoch begin with: a third of the time of a batch is saved."""
    return key(seed, _STREAM, epoch)


class Masker:
    """Masks whole batches; which mask an example gets is a function of (seed, epoch, its number).

    So it is fresh in every epoch, the same for any number of workers, however the examples are batched and
    padded, and after an interruption goes on as if there had been none. The rule is that of `mask_tokens`;
    the chances are rounded to multiples of 2**-16 (0.15 is 0.149994), since a draw of 16 bits is enough.

    Parameters
    ----------
    vocab : tokenizer.
    seed : from 0 to 2**64 - 1.
    rate, shares, whole_words : see `mask_tokens`.

    Raises
    ------
    ValueError
        See `mask_tokens`.

    Examples
    --------
    >>> from bertlab.text import SPECIAL
    >>> masker = Masker(WordPiece([*SPECIAL, *"abcdefgh"]), seed=0)
    >>> ids = np.array([[2, 5, 6, 7, 8, 9, 3], [2, 5, 6, 3, 0, 0, 0]])
    >>> both = masker.mask(ids, examples=np.array([40, 41]), epoch=3)
    >>> alone = masker.mask(ids[1:, :4], examples=np.array([41]), epoch=3)
    >>> all((two[1:, :4] == one).all() for two, one in zip(both, alone))
    True
    """

    def __init__(
        self,
        vocab: WordPiece,
        seed: int,
        rate: float = 0.15,
        shares: Sequence[float] = SHARES,
        whole_words: bool = False,
    ) -> None:
        masked, random, _ = check_chances(rate, shares)
        self.vocab, self.seed, self.whole_words = vocab, seed, whole_words
        self._kinds = kinds(vocab)
        self._chosen = round(rate * _LEVELS)
        self._masked, self._changed = round(masked * _LEVELS), round((masked + random) * _LEVELS)

    def mask(self, ids: Ids, examples: ArrayLike, epoch: int) -> tuple[Ids, Ids]:
        """Hide pieces, and give a label to every position.

        Parameters
        ----------
        ids : (B, T) of the vocabulary.
        examples : (B,), the number of each example.
        epoch : from 0.

        Returns
        -------
        corrupted : (B, T) int64
        labels : (B, T) int64, `IGNORE_INDEX` where nothing is chosen.
        """
        corrupted, positions, originals = self.mask_sparse(ids, examples, epoch)
        labels = np.full(corrupted.shape, IGNORE_INDEX)
        labels.reshape(-1)[positions] = originals
        return corrupted, labels

    def mask_sparse(self, ids: Ids, examples: ArrayLike, epoch: int) -> tuple[Ids, Ids, Ids]:
        """Hide pieces, and give labels to what is chosen alone: a model need predict nothing else.

        Parameters
        ----------
        ids, examples, epoch : see `mask`.

        Returns
        -------
        corrupted : (B, T) int64
        positions : (M,) int64, rising; in the batch laid out in one row: row * T + column.
        labels : (M,) int64, what stood there.
        """
        keys = key(examples, after=_epoch_key(self.seed, epoch))
        if ids.ndim != 2 or len(keys) != len(ids):
            raise ValueError(f"ids of shape {ids.shape} with {len(keys)} numbers: give (B, T) and B numbers")
        corrupted = ids.astype(np.int64, order="C")  # a copy
        flat, width = corrupted.reshape(-1), ids.shape[1]
        positions = np.flatnonzero(self._draw(keys, corrupted))
        labels = flat[positions]
        ordinary = self._kinds.ordinary[labels]
        positions, labels = positions[ordinary], labels[ordinary]

        rows = positions // width
        columns = (positions - rows * width).astype(np.uint64)
        bits = scramble(keys[rows] + GOLDEN * (columns + _ACTIONS))
        action, random = bits >> np.uint64(48), self._kinds.random
        instead = np.where(action < self._masked, self.vocab.mask_id, random[below(bits, len(random))])
        flat[positions] = np.where(action < self._changed, instead, labels)
        return corrupted, positions, labels

    def _draw(self, keys: NDArray[np.uint64], ids: Ids) -> Bools:
        """Draw who is chosen, special tokens among them; four positions share the bits of one scrambling."""
        chosen: Bools = short_bits(keys, ids.shape[1]) < self._chosen
        if self.whole_words:
            starts = word_starts(ids, self._kinds.ordinary, self._kinds.continues)
            chosen = np.take_along_axis(chosen, starts, axis=1)
        return chosen
