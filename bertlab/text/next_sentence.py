"""Next sentence prediction: pairs of texts, in half of which the second really follows the first.

A text is a run of sentences. Going through a document, sentences are taken until they fill an input (in one
of ten cases a shorter one, of any length), and cut between two sentences into A and B. In half of all cases
B is put aside for a text from another document of the same source, and the next pair begins with what was
put aside. That is how the original release does it (appendix A.2).

Where it departs from that, the false B shall not give itself away. There a false B begins anywhere in a
document, which a true B never does: not with the first sentence, for a story "One day …". A last sentence
that is left alone has no true B and always gets a false one. Here:

- A false B begins where the true B of another pair begins, of a pair whose A has as many sentences (of any
  pair, where there is none), in another document, and goes on as a true one does: until the input is full
  or its document ends. So neither A nor B alone tells which it is. Their lengths together tell a little,
  as neighbours are alike: 51 % of pairs, where a coin has 50 (experiments/masking_statistics.py).
- Documents are likely to give a false B in proportion to their pairs, not all equally.
- A last sentence left alone is not used in that epoch. A document of one sentence is never used.
- A false B that begins with the very sentence that follows A in truth, as where a text stands in a corpus
  twice, is drawn again; if that does not help, the pair becomes a true one.

All is a function of (seed, epoch): each epoch has pairs of its own.

References
----------
Devlin et al. 2019, sec. 3.1 and appendix A.2; google-research/bert, create_pretraining_data.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertlab.text.corpus import Corpus
from bertlab.text.counter_random import Bits, below, key, random_bits, uniform

IS_NEXT, NOT_NEXT = 0, 1  # labels, in the order of the columns of published checkpoints

Whole = NDArray[np.int64]

_PAIRS, _OTHERS = 2, 3  # streams of random numbers, apart from those of masks
_TRIES = 4  # draws of a false B


@dataclass(frozen=True)
class Pairs:
    """N pairs of texts: each text is a range of sentences of a corpus, from the first to behind the last."""

    a: Whole  # (N, 2)
    b: Whole  # (N, 2)
    labels: Whole  # (N,) IS_NEXT or NOT_NEXT

    def __len__(self) -> int:
        return len(self.labels)


def sentence_pairs(
    corpus: Corpus, seed: int, epoch: int, max_length: int = 128, short_share: float = 0.1
) -> Pairs:
    """Draw the sentence pairs of one epoch, in the order of the documents of their A.

    Parameters
    ----------
    corpus : documents in numbers.
    seed, epoch : from 0.
    max_length : of the input, [CLS] and two [SEP] counted. The last sentence of a pair may reach beyond it:
        `pretraining_examples` cuts it.
    short_share : share of pairs that are to be shorter, of any length.

    Returns
    -------
    `Pairs`.

    Raises
    ------
    ValueError
        If a source has fewer than two documents of two sentences or more, or `max_length` has no room.

    Examples
    --------
    >>> from bertlab.datasets.documents import Document
    >>> from bertlab.text import SPECIAL, WordPiece, tokenise
    >>> documents = [Document(["a", "b"], "letters"), Document(["c", "d"], "letters")]
    >>> pairs = sentence_pairs(tokenise(documents, WordPiece([*SPECIAL, *"abcd"])), seed=0, epoch=1)
    >>> pairs.a.tolist(), pairs.b.tolist(), pairs.labels.tolist()
    ([[0, 1], [2, 3]], [[3, 4], [3, 4]], [1, 0])
    """
    _check(corpus, max_length, short_share)
    chunks = _chunks(corpus, seed, epoch, max_length - 3, short_share)
    start, false = chunks.split.copy(), chunks.false.copy()
    document = chunks.document.copy()  # of B
    for attempt in range(_TRIES):
        wrong = np.flatnonzero(false & (corpus.fingerprints[start] == corpus.fingerprints[chunks.split]))
        if len(wrong):
            draws = key(seed, _OTHERS, epoch, attempt, np.arange(len(start)))
            partner = _partners(corpus, chunks, draws)[wrong]
            start[wrong], document[wrong] = chunks.split[partner], chunks.document[partner]
    true = ~false | (corpus.fingerprints[start] == corpus.fingerprints[chunks.split])
    start, document = np.where(true, [chunks.split, chunks.document], [start, document])
    length_of_a = corpus.borders[chunks.split] - corpus.borders[chunks.first]
    stop = _reach(corpus, start, chunks.target - length_of_a, document, at_least=1)
    return Pairs(
        np.stack([chunks.first, chunks.split], axis=1),
        np.stack([start, stop], axis=1),
        np.where(true, IS_NEXT, NOT_NEXT),
    )


def _check(corpus: Corpus, max_length: int, short_share: float) -> None:
    if max_length < 5:
        raise ValueError(f"max_length={max_length} has no room for two texts: choose 5 or more")
    if not 0 <= short_share <= 1:
        raise ValueError(f"short_share={short_share}: give the share of shorter pairs, from 0 to 1")
    usable = corpus.source[np.diff(corpus.documents) >= 2]
    for place, source in enumerate(corpus.sources):
        if (n := int((usable == place).sum())) < 2:
            raise ValueError(
                f"the source {source!r} has {n} document{'s' * (n != 1)} of two sentences or more, and a "
                "false next sentence comes from another one of its source: give two at least, or leave it out"
            )


class _Chunks(NamedTuple):
    """Rows of sentences of a document, A from `first` to `split`, and what follows in truth from `split`."""

    document: Whole
    first: Whole
    split: Whole
    target: Whole  # how many tokens A and B shall have
    false: NDArray[np.bool_]  # whether B is to come from elsewhere


def _chunks(corpus: Corpus, seed: int, epoch: int, room: int, short_share: float) -> _Chunks:
    """Go through all documents at once, a chunk of each at a time."""
    at, ends = corpus.documents[:-1].copy(), corpus.documents[1:]
    keys = key(seed, _PAIRS, epoch, np.arange(len(at)))
    found = list[_Chunks]()
    while len(document := np.flatnonzero(ends - at >= 2)):
        short, length, cut, coin = uniform(random_bits(keys[document], 4, first=4 * len(found))).T
        first = at[document]
        target = np.where(short < short_share, 2 + (length * (room - 1)).astype(np.int64), room)
        stop = _reach(corpus, first, target, document, at_least=2)
        split = first + 1 + (cut * (stop - first - 1)).astype(np.int64)
        at[document] = np.where(coin < 0.5, split, stop)
        found.append(_Chunks(document, first, split, target, coin < 0.5))
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    order = np.argsort(columns[1])  # by first sentence: document after document
    return _Chunks(*(column[order] for column in columns))


def _reach(corpus: Corpus, first: Whole, n_tokens: Whole, document: Whole, at_least: int) -> Whole:
    """Say behind which sentence so many tokens are reached, or the document ends."""
    stop = np.searchsorted(corpus.borders, corpus.borders[first] + n_tokens)
    return np.clip(stop, first + at_least, corpus.documents[document + 1])


def _partners(corpus: Corpus, chunks: _Chunks, draws: Bits) -> Whole:
    """Draw for each chunk one of another document of its source; of those with as long an A, if there are."""
    source = corpus.source[chunks.document]
    n_sentences = chunks.split - chunks.first
    alike = another(source * (n_sentences.max() + 1) + n_sentences, chunks.document, draws)
    return np.where(alike >= 0, alike, another(source, chunks.document, draws))


def another(group: Whole, document: Whole, draws: Bits) -> Whole:
    """Draw for each item another one of its group which is not of its document; all are equally likely.

    Parameters
    ----------
    group, document : (N,)
    draws : (N,) random bits.

    Returns
    -------
    (N,) place of the other item; -1 where there is none.

    Examples
    --------
    >>> bits = np.array([0, 2**31, 0, 0], np.uint64)
    >>> another(np.array([0, 0, 0, 1]), np.array([7, 7, 8, 9]), bits).tolist()
    [2, 2, 0, -1]
    """
    order = np.lexsort((document, group))
    group, own = group[order], (group * (document.max() + 1) + document)[order]  # both rise
    first, stop = (np.searchsorted(group, group, side) for side in _SIDES)
    own_first, own_stop = (np.searchsorted(own, own, side) for side in _SIDES)
    others = (stop - first) - (own_stop - own_first)
    place = first + below(draws[order], others)
    place += np.where(place >= own_first, own_stop - own_first, 0)  # its own document is stepped over
    found = np.empty(len(order), np.int64)
    found[order] = np.where(others > 0, order[np.minimum(place, len(order) - 1)], -1)
    return found


_SIDES: tuple[Any, Any] = ("left", "right")
