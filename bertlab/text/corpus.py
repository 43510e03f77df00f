"""Documents in numbers: the pieces of all their sentences in one row, with the borders between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bertlab.text.counter_random import GOLDEN, scramble
from bertlab.text.wordpiece import SPECIAL, WordPiece

Borders = NDArray[np.int64]


class Document(Protocol):
    """What `bertlab.datasets.documents` gives: sentences, and the kind of text that they are of."""

    @property
    def sentences(self) -> Sequence[str]:
        """The sentences in their order."""

    @property
    def source(self) -> str:
        """The kind of text, such as "books"."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents in numbers; sentence i has the tokens `borders[i]` to `borders[i + 1]` of all.

    Examples
    --------
    >>> from bertlab.datasets.documents import Document
    >>> tokenizer = WordPiece([*SPECIAL, "it", "rained", "we", "ran", "."])
    >>> corpus = tokenise([Document(["It rained.", "We ran."], "notes")], tokenizer)
    >>> corpus.ids(1, 2).tolist(), corpus.documents.tolist()
    ([7, 8, 9], [0, 2])
    """

    shards: Sequence[NDArray[Any]]  # the tokens, in one array or in several; no document lies in two of them
    borders: Borders  # (sentences + 1,) in tokens
    documents: Borders  # (documents + 1,) in sentences
    source: NDArray[np.int64]  # (documents,) place in `sources`
    sources: tuple[str, ...]
    fingerprints: NDArray[np.uint64]  # (sentences,) equal where two sentences are equal

    @cached_property
    def _starts(self) -> Borders:
        return np.cumsum([0, *(len(shard) for shard in self.shards)])

    def ids(self, first: int, stop: int, most: int | None = None) -> NDArray[Any]:
        """Return the tokens of sentences of one document, at most so many."""
        begin, end = self.borders[first], self.borders[stop]
        shard = int(np.searchsorted(self._starts, begin, side="right")) - 1
        end = end if most is None else min(end, begin + most)
        return self.shards[shard][begin - self._starts[shard] : end - self._starts[shard]]


def tokenise(documents: Iterable[Document], tokenizer: WordPiece) -> Corpus:
    """Turn documents into numbers.

    A sentence without a piece (of control characters alone) is left out, and so is a document without a
    sentence.

    Parameters
    ----------
    documents : each with `sentences` and a `source`.
    tokenizer : cuts the sentences into pieces.

    Raises
    ------
    ValueError
        If nothing is left; or if a special token other than [UNK] stands in a text, where it would read as
        one that BERT's input has put there.
    """
    tokens, lengths, counts, kinds = list[int](), list[int](), list[int](), list[str]()
    for document in documents:
        sentences = [ids for ids in tokenizer.encode_batch(document.sentences) if ids]
        if sentences:
            tokens += [i for ids in sentences for i in ids]
            lengths += map(len, sentences)
            counts.append(len(sentences))
            kinds.append(document.source)
    if not tokens:
        raise ValueError("the documents hold no word: give at least one with text")
    # 65,536 pieces fit into 16 bits, which halves the shards
    row = np.array(tokens, np.uint16 if len(tokenizer) <= 2**16 else np.uint32)
    _check_plain(row, tokenizer)
    borders, sources = np.cumsum([0, *lengths]), tuple(sorted(set(kinds)))
    source = np.array([sources.index(kind) for kind in kinds])
    return Corpus([row], borders, np.cumsum([0, *counts]), source, sources, _fingerprints(row, borders))


def _check_plain(tokens: NDArray[Any], tokenizer: WordPiece) -> None:
    for token in SPECIAL:
        if token != "[UNK]" and (tokens == tokenizer.ids[token]).any():
            raise ValueError(f"{token} stands in a text: tokenise with recognise_special=False, or remove it")


def _fingerprints(tokens: NDArray[Any], borders: Borders) -> NDArray[np.uint64]:
    """Scramble each token together with its position in the sentence, and add them up."""
    positions = np.arange(len(tokens)) - np.repeat(borders[:-1], np.diff(borders))
    mixed = scramble(GOLDEN * (positions.astype(np.uint64) << np.uint64(32) | tokens.astype(np.uint64)))
    return np.add.reduceat(mixed, borders[:-1])


def join(parts: Sequence[Corpus]) -> Corpus:
    """Put corpora one behind the other; their tokens are not copied.

    Examples
    --------
    >>> from bertlab.datasets.documents import Document
    >>> tokenizer = WordPiece([*SPECIAL, "it", "rained", "."])
    >>> part = tokenise([Document(["It rained."], "notes")], tokenizer)
    >>> join([part, part]).borders.tolist(), len(join([part, part]).shards)
    ([0, 3, 6], 2)
    """
    sources = tuple(sorted({source for part in parts for source in part.sources}))
    places = [np.array([sources.index(source) for source in part.sources])[part.source] for part in parts]
    return Corpus(
        [shard for part in parts for shard in part.shards],
        _behind_each_other([part.borders for part in parts]),
        _behind_each_other([part.documents for part in parts]),
        np.concatenate(places),
        sources,
        np.concatenate([part.fingerprints for part in parts]),
    )


def _behind_each_other(borders: Sequence[Borders]) -> Borders:
    return np.cumsum(np.concatenate([[0], *(np.diff(one) for one in borders)]))
