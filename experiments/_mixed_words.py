"""One vector for two words: pairs of words written as one, on purpose, in half of their places.

What happens to a word with two senses is hard to see, since nobody knows what its senses would have had for
vectors. Here it is known: the other half of the places gives each of the two words a vector of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertlab.datasets.word_relations import KINDS
from bertlab.text import Vectors, WordCorpus

PAIRS, LEAST = 40, 100  # words written as one; how often each must occur


def pseudo_words(corpus: WordCorpus, pairs: list[tuple[str, str]], seed: int = 0) -> WordCorpus:
    """Write some pairs of words as one word, "a_b", in half of the places of each.

    The other half stays, so that one training gives vectors of a, of b, and of the word that means both.

    Parameters
    ----------
    corpus : the text.
    pairs : words of it, none of them twice.
    seed : of which places.

    References
    ----------
    Gale, Church & Yarowsky 1992, "Work on statistical methods for word sense disambiguation", for words made
    ambiguous on purpose.

    Examples
    --------
    >>> text = WordCorpus.read(["cat dog cat dog cat cat"], min_count=1)
    >>> both = pseudo_words(text, [("cat", "dog")])
    >>> both.words, both.counts.tolist()
    (('cat', 'dog', 'cat_dog'), [2, 1, 3])
    """
    rng, ids = np.random.default_rng(seed), corpus.ids.copy()
    place = {word: i for i, word in enumerate(corpus.words)}
    for number, pair in enumerate(pairs):
        for word in pair:
            where = np.flatnonzero(corpus.ids == place[word])
            ids[rng.choice(where, len(where) // 2, replace=False)] = len(corpus.words) + number
    return WordCorpus((*corpus.words, *("_".join(pair) for pair in pairs)), ids, corpus.borders)


def chosen_pairs(corpus: WordCorpus) -> list[tuple[str, str]]:
    """Draw pairs of words of two kinds, the more frequent one first; none comes twice."""
    often = {word: int(n) for word, n in zip(corpus.words, corpus.counts, strict=True) if n >= LEAST}
    kind_of = {word: kind for kind, words in KINDS.items() for word in words if word in often}
    left, pairs = list(np.random.default_rng(0).permutation(sorted(kind_of))), list[tuple[str, str]]()
    while left and len(pairs) < PAIRS:
        first = str(left.pop())
        other = next((str(word) for word in left if kind_of[word] != kind_of[first]), None)
        if other is None:
            break
        left.remove(other)
        pairs.append((first, other) if often[first] >= often[other] else (other, first))
    return pairs


def where_they_lie(
    vectors: Vectors, pairs: list[tuple[str, str]], corpus: WordCorpus
) -> list[dict[str, Any]]:
    """Say of each word that means two how near it lies to either.

    Parameters
    ----------
    vectors : of all words, "a_b" among them.
    pairs : the more frequent word first.
    corpus : the text as it was.

    Returns
    -------
    share : of the first word, of all places of both. cosines, ranks : to the first and the second word; of
        all words the nearest has rank 1. apart : the cosine of the two. in_plane : which share of the square
        of the vector of "a_b" lies in the plane of both; in_another : in that of the next pair.

    References
    ----------
    Arora et al. 2018, "Linear algebraic structure of word senses, with applications to polysemy", sec. 2.
    """
    counts, rows = dict(zip(corpus.words, corpus.counts.tolist(), strict=True)), []
    for i, (a, b) in enumerate(pairs):
        both = f"{a}_{b}"
        near = [word for word, _ in vectors.neighbours(both, len(vectors) - 1)]
        rows.append(
            {
                "pair": [a, b],
                "share": round(counts[a] / max(counts[a] + counts[b], 1), 3),
                "cosines": [round(vectors.similarity(both, word), 3) for word in (a, b)],
                "apart": round(vectors.similarity(a, b), 3),
                "ranks": [near.index(word) + 1 for word in (a, b)],
                "in_plane": in_plane(vectors, both, (a, b)),
                "in_another": in_plane(vectors, both, pairs[(i + 1) % len(pairs)]),
            }
        )
    return rows


def in_plane(vectors: Vectors, word: str, pair: tuple[str, str]) -> float:
    """Say which share of a vector's square lies in the plane of two others."""
    basis, _ = np.linalg.qr(np.stack([vectors[one] for one in pair]).T)
    vector = vectors.unit[vectors.place(word)]
    return round(float(((vector @ basis) ** 2).sum()), 4)
