"""Batches for BERT's pre-training: sentence pairs as BERT reads them, masked, in a fresh order every epoch.

A batch is a function of (seed, epoch, its number): workers and processes share nothing, and after an
interruption one asks for the next number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bertlab.text.corpus import Corpus
from bertlab.text.counter_random import key, random_bits
from bertlab.text.inputs import Batch
from bertlab.text.masked_lm import Bools, Ids, Masker
from bertlab.text.next_sentence import Pairs, sentence_pairs
from bertlab.text.wordpiece import WordPiece

_ORDER = 4  # a stream of random numbers of its own


@dataclass(frozen=True)
class PretrainingBatch:
    """What BERT reads in pre-training, and what it is asked."""

    ids: Ids  # (B, T) with pieces hidden
    segments: Ids  # (B, T)
    mask: Bools  # (B, T) True where there is a piece
    positions: Ids  # (M,) chosen pieces, row * T + column
    labels: Ids  # (M,) what stood there
    next_labels: Ids  # (B,) 0: B follows A, 1: it is from another document


def epoch_order(n: int, seed: int, epoch: int) -> Ids:
    """Shuffle the numbers 0 to n - 1: a function of (seed, epoch).

    Examples
    --------
    >>> sorted(epoch_order(5, seed=0, epoch=1).tolist())
    [0, 1, 2, 3, 4]
    """
    return np.argsort(random_bits(key(seed, _ORDER, epoch), n)[0], kind="stable")


def pair_batch(corpus: Corpus, pairs: Pairs, rows: Ids, tokenizer: WordPiece, max_length: int) -> Batch:
    """Lay pairs into one array, [CLS] A [SEP] B [SEP], padded to the longest.

    What reaches beyond `max_length` is cut as `pair_inputs` does with "longest_first", at the end. (The
    original release cuts at either end.)

    Parameters
    ----------
    corpus, pairs : where the pairs come from.
    rows : (B,) which of the pairs.
    tokenizer : has the ids of the special tokens.
    max_length : most positions.
    """
    a, b, room = pairs.a[rows], pairs.b[rows], max_length - 3
    n_a, n_b = (corpus.borders[text[:, 1]] - corpus.borders[text[:, 0]] for text in (a, b))
    n_a = np.minimum(n_a, np.maximum(room - n_b, (room + 1) // 2))
    n_b = np.minimum(n_b, room - n_a)
    positions = np.arange((n_a + n_b).max() + 3)
    mask = positions < (n_a + n_b + 3)[:, None]
    ids = np.full(mask.shape, tokenizer.pad_id, np.int64)
    ids[:, 0] = tokenizer.cls_id
    for row, ((a0, a1), (b0, b1), left, right) in enumerate(zip(a, b, n_a, n_b, strict=True)):
        ids[row, 1 : left + 1] = corpus.ids(a0, a1, most=left)
        ids[row, left + 2 : left + right + 2] = corpus.ids(b0, b1, most=right)
        ids[row, [left + 1, left + right + 2]] = tokenizer.sep_id
    segments = (mask & (positions >= (n_a + 2)[:, None])).astype(np.int64)
    return Batch(ids, segments, mask)


class PretrainingExamples:
    """All batches of all epochs of a corpus.

    With `n_ranks` processes, each gets every n-th example: together they have the same batches as one.

    Parameters
    ----------
    corpus : from `tokenise` or `open_shards`.
    masker : knows the tokenizer, and the seed of everything.
    max_length : of an input.
    batch_size : of all ranks together.
    rank, n_ranks : this process, and how many there are.

    Raises
    ------
    ValueError
        If `batch_size` cannot be shared evenly, or exceeds the pairs of an epoch. And see `sentence_pairs`.

    Examples
    --------
    >>> from bertlab.datasets.documents import Document
    >>> from bertlab.text import SPECIAL, tokenise
    >>> tokenizer = WordPiece([*SPECIAL, *"abcdefghij"])
    >>> corpus = tokenise([Document([*"abcde"], "letters"), Document([*"fghij"], "letters")], tokenizer)
    >>> examples = PretrainingExamples(corpus, Masker(tokenizer, seed=0), batch_size=2)
    >>> batch = examples.batch(epoch=0, number=0)
    >>> batch.ids.shape == batch.mask.shape, batch.next_labels.shape
    (True, (2,))
    """

    def __init__(
        self,
        corpus: Corpus,
        masker: Masker,
        max_length: int = 128,
        batch_size: int = 32,
        rank: int = 0,
        n_ranks: int = 1,
    ) -> None:
        if not 0 <= rank < n_ranks:
            raise ValueError(f"rank={rank} of n_ranks={n_ranks}: ranks count from 0 to {n_ranks - 1}")
        if batch_size < 1 or batch_size % n_ranks:
            raise ValueError(f"batch_size={batch_size} is no multiple of n_ranks={n_ranks}: choose one")
        self.corpus, self.masker, self.max_length = corpus, masker, max_length
        self.batch_size, self.rank, self.n_ranks = batch_size, rank, n_ranks
        self._epoch = self._plan(0)
        if not self.n_batches(0):
            n = len(self._epoch[1])
            raise ValueError(f"batch_size={batch_size} is more than the {n} pairs of an epoch: choose less")

    def n_batches(self, epoch: int) -> int:
        """Count the full batches of an epoch; the few pairs that fill none are left out of it."""
        return len(self._pairs(epoch)[0]) // self.batch_size

    def batches(self, epoch: int, start: int = 0) -> Iterator[PretrainingBatch]:
        """Go through an epoch, from a batch on."""
        for number in range(start, self.n_batches(epoch)):
            yield self.batch(epoch, number)

    def batch(self, epoch: int, number: int) -> PretrainingBatch:
        """Make one batch, this rank's part of it; see `part`."""
        return self.part(epoch, number, self.rank, self.n_ranks)

    def part(self, epoch: int, number: int, rank: int, n_ranks: int) -> PretrainingBatch:
        """Make one of the equal parts of a batch: that of a process, or what of it is computed at a time.

        Raises
        ------
        IndexError
            If the epoch has no batch of that number.
        """
        pairs, order = self._pairs(epoch)
        if not 0 <= number < len(pairs) // self.batch_size:
            raise IndexError(f"epoch {epoch} has no batch {number}: it has {len(pairs) // self.batch_size}")
        rows = order[number * self.batch_size : (number + 1) * self.batch_size][rank::n_ranks]
        batch = pair_batch(self.corpus, pairs, rows, self.masker.vocab, self.max_length)
        ids, positions, labels = self.masker.mask_sparse(batch.ids, rows, epoch)
        return PretrainingBatch(ids, batch.segments, batch.mask, positions, labels, pairs.labels[rows])

    def _pairs(self, epoch: int) -> tuple[Pairs, Ids]:
        """The pairs of an epoch, and their order; those of the last epoch asked for are kept."""
        if self._epoch[0] != epoch:
            self._epoch = self._plan(epoch)
        return self._epoch[1:]

    def _plan(self, epoch: int) -> tuple[int, Pairs, Ids]:
        pairs = sentence_pairs(self.corpus, self.masker.seed, epoch, self.max_length)
        return epoch, pairs, epoch_order(len(pairs), self.masker.seed, epoch)
