"""Stretches of running text: what a language model reads that goes through a text in order.

A document is one long row of pieces. It is cut into stretches of equal length, each between [CLS] and [SEP];
where the first cut falls is drawn anew in every epoch, so that in the end each piece has stood near a border
and far from one. All pieces of a document are read once in an epoch, none twice.

Each stretch begins without a memory. To hand the memory of one batch on to the next ("truncated
backpropagation through time") would let a model look further back; but then a batch depends on the one before
it, and from the right it cannot be done, since what follows has not been read yet. So both directions get the
same stretches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bertlab.text.corpus import Corpus
from bertlab.text.counter_random import below, key, random_bits
from bertlab.text.masked_lm import Bools, Ids
from bertlab.text.pretraining_examples import epoch_order
from bertlab.text.wordpiece import WordPiece

_CUTS, _BATCHES = 6, 7  # streams of random numbers of their own
NEAR = 32  # so many batches are filled with stretches of similar length


class TextBatch(NamedTuple):
    """Stretches of text."""

    ids: Ids  # (B, T) [CLS] … [SEP], padded on the right
    mask: Bools  # (B, T) True where there is a piece


class Stretches:
    """All batches of all epochs of a corpus, as running text.

    A batch is a function of (seed, epoch, its number): after an interruption one asks for the next number.
    Stretches of similar length come into one batch, so that little is padded.

    Parameters
    ----------
    corpus : from `tokenise` or `open_shards`.
    tokenizer : has the ids of [CLS], [SEP] and [PAD].
    max_length : positions of a stretch at most, [CLS] and [SEP] counted.
    batch_size : stretches in a batch.
    seed : of cuts and order.

    Raises
    ------
    ValueError
        If no piece would fit, or the corpus has fewer stretches than a batch.

    Examples
    --------
    >>> from bertlab.datasets.documents import Document
    >>> from bertlab.text import SPECIAL, tokenise
    >>> tokenizer = WordPiece([*SPECIAL, *"abcde"])
    >>> corpus = tokenise([Document(["a b c", "d e"], "letters")], tokenizer)
    >>> batch = Stretches(corpus, tokenizer, max_length=9, batch_size=1).batch(epoch=0, number=0)
    >>> batch.ids.tolist()
    [[2, 5, 6, 7, 8, 9, 3]]
    """

    def __init__(
        self, corpus: Corpus, tokenizer: WordPiece, max_length: int = 128, batch_size: int = 32, seed: int = 0
    ) -> None:
        if max_length < 3:
            raise ValueError(
                f"max_length={max_length} leaves no room between [CLS] and [SEP]: choose 3 or more"
            )
        if batch_size < 1:
            raise ValueError(f"batch_size={batch_size}: choose at least 1")
        self.corpus, self.tokenizer, self.seed = corpus, tokenizer, seed
        self.room, self.batch_size = max_length - 2, batch_size
        self._epoch = self._plan(0)
        if not self.n_batches(0):
            n = len(self._epoch[1])
            raise ValueError(f"batch_size={batch_size} is more than the {n} stretches there are: choose less")

    def n_batches(self, epoch: int) -> int:
        """Count the full batches of an epoch; the few stretches that fill none are left out of it."""
        return len(self._stretches(epoch)[0]) // self.batch_size

    def batches(self, epoch: int, start: int = 0) -> Iterator[TextBatch]:
        """Go through an epoch, from a batch on."""
        for number in range(start, self.n_batches(epoch)):
            yield self.batch(epoch, number)

    def batch(self, epoch: int, number: int) -> TextBatch:
        """Make one batch; see `part`."""
        return self.part(epoch, number, 0, 1)

    def part(self, epoch: int, number: int, part: int, n_parts: int) -> TextBatch:
        """Make one of the equal parts of a batch.

        Raises
        ------
        IndexError
            If the epoch has no batch of that number.
        """
        stretches, order = self._stretches(epoch)
        if not 0 <= number < len(stretches) // self.batch_size:
            raise IndexError(
                f"epoch {epoch} has no batch {number}: it has {len(stretches) // self.batch_size}"
            )
        rows = order[number * self.batch_size : (number + 1) * self.batch_size][part::n_parts]
        return self._laid_out(stretches[rows])

    def _laid_out(self, stretches: Ids) -> TextBatch:
        """Lay stretches (b, 3) into one array."""
        lengths = stretches[:, 2] + 2
        mask = np.arange(lengths.max()) < lengths[:, None]
        ids = np.full(mask.shape, self.tokenizer.pad_id, np.int64)
        ids[:, 0] = self.tokenizer.cls_id
        for row, (document, begin, length) in zip(ids, stretches.tolist(), strict=True):
            first, stop = self.corpus.documents[document : document + 2]
            row[1 : length + 1] = self.corpus.ids(first, stop)[begin : begin + length]
            row[length + 1] = self.tokenizer.sep_id
        return TextBatch(ids, mask)

    def _stretches(self, epoch: int) -> tuple[Ids, Ids]:
        """The stretches of an epoch, and their order; those of the last epoch asked for are kept."""
        if self._epoch[0] != epoch:
            self._epoch = self._plan(epoch)
        return self._epoch[1:]

    def _plan(self, epoch: int) -> tuple[int, Ids, Ids]:
        """Cut all documents: (n, 3) document, first piece, length; and shuffle."""
        borders = self.corpus.borders[self.corpus.documents]  # (documents + 1,) in pieces
        lengths = np.diff(borders)
        # A document that fits is not cut. Of a longer one, the first stretch may be shorter than the others.
        drawn = 1 + below(random_bits(key(self.seed, _CUTS, epoch), len(lengths))[0], self.room)
        first = np.where(lengths <= self.room, lengths, drawn)
        counts = 1 + -(-(lengths - first) // self.room)
        document = np.repeat(np.arange(len(lengths)), counts)
        rank = np.arange(len(document)) - np.repeat(np.cumsum(counts) - counts, counts)
        begin = np.where(rank == 0, 0, first[document] + (rank - 1) * self.room)
        end = np.minimum(first[document] + rank * self.room, lengths[document])
        stretches = np.stack([document, begin, end - begin], axis=1)
        return epoch, stretches, self._order(stretches[:, 2], epoch)

    def _order(self, lengths: Ids, epoch: int) -> Ids:
        """Shuffle; sort by length within blocks of `NEAR` batches; shuffle the batches."""
        order = epoch_order(len(lengths), self.seed, epoch)
        block = np.arange(len(order)) // (NEAR * self.batch_size)
        order = order[np.lexsort((lengths[order], block))]
        n = len(order) // self.batch_size
        whole = order[: n * self.batch_size].reshape(n, self.batch_size)
        batches = np.argsort(random_bits(key(self.seed, _BATCHES, epoch), n)[0], kind="stable")
        shuffled: Ids = whole[batches].reshape(-1)
        return shuffled
