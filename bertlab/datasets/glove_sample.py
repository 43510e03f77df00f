"""A piece of real GloVe that needs no network: the directions of three thousand frequent words.

Each line of glove_sample.txt is a word and, in base64, its 50 numbers as bytes: the published ones, stretched
until the largest is 127, and rounded. So a cosine is right to about 0.01; how long a vector was is lost. The
words are the 3,000 most frequent ones of letters alone, then those of `word_relations` that these lack.

References
----------
Pennington et al. 2014, GloVe 6B, 50 numbers; in the public domain (PDDL 1.0).
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from bertlab.datasets.word_relations import KINDS, RELATIONS

Floats = NDArray[np.float32]
FREQUENT = 3000


@cache
def glove_sample() -> tuple[tuple[str, ...], Floats]:
    """Return the words, most frequent first, and their vectors at length 1, (V, 50).

    Examples
    --------
    >>> words, directions = glove_sample()
    >>> words[:3], directions.shape
    (('the', 'of', 'to'), (3133, 50))
    """
    lines = resources.files("bertlab.datasets").joinpath("glove_sample.txt").read_text("utf-8").split("\n")
    words, rows = zip(*(line.split(" ") for line in lines if line), strict=True)
    whole = np.stack([np.frombuffer(base64.b64decode(row), np.int8) for row in rows]).astype(np.float32)
    directions = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    directions.flags.writeable = False  # everybody gets the same ones
    return words, directions


def sample_lines(words: Sequence[str], vectors: Floats) -> Iterator[str]:
    """Make the lines of the file from all published vectors.

    Parameters
    ----------
    words, vectors : V words, most frequent first, and their vectors (V, D).
    """
    plain = [word for word in words if word.isascii() and word.isalpha()]
    place = {word: i for i, word in enumerate(words)}
    for word in dict.fromkeys([*plain[:FREQUENT], *_listed()]):
        if word in place:
            row = np.asarray(vectors[place[word]], np.float64)
            whole = np.rint(127 * row / abs(row).max()).astype(np.int8)
            yield f"{word} {base64.b64encode(whole.tobytes()).decode()}"


def _listed() -> Iterable[str]:
    for relation in RELATIONS.values():
        for pair in relation:
            yield from pair
    for kind in KINDS.values():
        yield from kind
