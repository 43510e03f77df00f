"""What a pre-training reads: which examples belong to which step, and which of them are this process's."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from bertlab.text import Corpus, Masker, PretrainingBatch, PretrainingExamples, WordPiece, open_shards
from bertlab.text.corpus import join
from bertlab.text.shards import INDEX
from bertlab.training.pretrain_config import ConfigError, PretrainConfig


def open_all(folders: Sequence[str], tokenizer: WordPiece) -> Corpus:
    """Open several folders of shards as one corpus."""
    return join([open_shards(folder, tokenizer) for folder in folders])


def shards_sha256(folders: Sequence[str]) -> str:
    """Identify what stands in shards: a run that goes on must find the same text."""
    digest = hashlib.sha256()
    for folder in folders:
        index = Path(folder) / INDEX
        digest.update(index.read_bytes() if index.exists() else b"")
    return digest.hexdigest()


def masker(config: PretrainConfig, tokenizer: WordPiece) -> Masker:
    """Make the one that masks, from a configuration."""
    return Masker(tokenizer, config.seed, config.mask_rate, config.mask_shares, config.whole_words)


class Feed:
    """The batches of a training, each in equal parts, of which this process computes some.

    Parts are numbered over all processes, and which examples are in a part does not depend on who computes
    it: 8 processes with a part each do what 2 with 4 do.

    Parameters
    ----------
    config : sizes and seed.
    corpus, tokenizer : what is read.
    rank, n_ranks : this process, and how many there are.

    Raises
    ------
    ConfigError
        If the batch cannot be cut into equal parts.
    """

    def __init__(
        self, config: PretrainConfig, corpus: Corpus, tokenizer: WordPiece, rank: int = 0, n_ranks: int = 1
    ) -> None:
        share, rest = divmod(config.batch_size, n_ranks)
        size = config.micro_batch or share
        if rest or not share or share % size:
            raise ConfigError(
                f"batch_size = {config.batch_size} does not cut into parts of micro_batch = {size} for "
                f"{n_ranks} process(es): choose a multiple of {size * n_ranks}"
            )
        self.examples = PretrainingExamples(
            corpus, masker(config, tokenizer), config.max_length, config.batch_size
        )
        self.parts_each = share // size
        self.n_parts = self.parts_each * n_ranks
        self.own = range(rank * self.parts_each, (rank + 1) * self.parts_each)
        self._first = [0]  # number of the first step of each epoch
        self._ahead = ThreadPoolExecutor(1, thread_name_prefix="batches")
        self._next: tuple[int, Future[list[PretrainingBatch]]] | None = None

    def __call__(self, step: int) -> list[PretrainingBatch]:
        """Give this process's parts of the batch of a step; meanwhile those of the next one are made."""
        ready = self._next
        parts = (
            ready[1].result() if ready and ready[0] == step else self._ahead.submit(self.make, step).result()
        )
        self._next = (step + 1, self._ahead.submit(self.make, step + 1))
        return parts

    def make(self, step: int) -> list[PretrainingBatch]:
        """Make this process's parts of the batch of a step."""
        epoch, number = self.place(step)
        return [self.examples.part(epoch, number, part, self.n_parts) for part in self.own]

    def place(self, step: int) -> tuple[int, int]:
        """Say which epoch, and which of its batches, a step is: epochs have different numbers of batches."""
        while step >= self._first[-1]:
            self._first.append(self._first[-1] + self.examples.n_batches(len(self._first) - 1))
        epoch = next(e for e, first in enumerate(self._first) if first > step) - 1
        return epoch, step - self._first[epoch]

    def close(self) -> None:
        """Stop making batches."""
        self._ahead.shutdown(cancel_futures=True)


def held_out_batches(
    config: PretrainConfig, tokenizer: WordPiece, rank: int = 0, n_ranks: int = 1
) -> list[PretrainingBatch]:
    """Make this process's share of the batches that the model is measured on: always the same ones."""
    corpus = open_all(config.held_out, tokenizer)
    size = config.micro_batch or config.batch_size
    examples = PretrainingExamples(corpus, masker(config, tokenizer), config.max_length, size)
    return list(itertools.islice(examples.batches(epoch=0), rank, config.held_out_batches, n_ranks))
