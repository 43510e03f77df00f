"""What the experiments on number words share."""

from __future__ import annotations

import numpy as np

from bertlab.datasets.numbers import Pair, sample_pairs
from bertlab.nn import Seq2Seq, greedy_decode
from bertlab.text import Vocabulary


def vocabularies() -> tuple[Vocabulary, Vocabulary]:
    """Collect every English and German piece: a few thousand pairs, and zero, hold all of them."""
    pairs = sample_pairs(np.random.default_rng(0), 5000, list_length=2)
    english = Vocabulary.from_sentences([["zero"], *(p[0] for p in pairs)])
    return english, Vocabulary.from_sentences([["null"], *(p[1] for p in pairs)])


def translate(
    model: Seq2Seq, pairs: list[Pair], english: Vocabulary, german: Vocabulary, max_length: int
) -> list[list[str]]:
    """Translate the sources of pairs greedily."""
    ids, _ = greedy_decode(model, english.batch([source for source, _ in pairs]), max_length)
    return [german.decode(row) for row in ids.tolist()]


def exact(outputs: list[list[str]], pairs: list[Pair]) -> float:
    """Count the translations without a single mistake, as a share."""
    return float(np.mean([output == target for output, (_, target) in zip(outputs, pairs, strict=True)]))
