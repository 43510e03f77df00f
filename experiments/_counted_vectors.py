"""Word vectors without any training: counts brought to few numbers, and numbers drawn by chance."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from bertlab.text import Vectors, WordCorpus
from bertlab.text.cooccurrence import Cooccurrences, cooccurrences

WINDOW, SMOOTH, POWER = 5, 0.75, 0.5


def ppmi(found: Cooccurrences, n_words: int, smooth: float = SMOOTH) -> sparse.csr_matrix:
    """Say how much more often words meet than by chance: the logarithm of the ratio, and 0 if less often.

    Parameters
    ----------
    found : how often words meet.
    n_words : V.
    smooth : the counts of contexts are raised to it, so that rare ones do not look telling.

    Returns
    -------
    (V, V) sparse matrix.

    References
    ----------
    Levy, Goldberg & Dagan 2015, "Improving distributional similarity with lessons learned from word
    embeddings", sec. 2.1 and 3.2: smoothing of contexts by 0.75, taken over from word2vec's noise.
    """
    times = np.bincount(found.rows, found.counts, n_words)
    contexts = np.bincount(found.columns, found.counts, n_words) ** smooth
    chance = times[found.rows] * contexts[found.columns] / contexts.sum()
    information = np.log(found.counts / chance)
    kept = information > 0
    return sparse.csr_matrix(
        (information[kept], (found.rows[kept], found.columns[kept])), shape=(n_words, n_words)
    )


def counted_vectors(corpus: WordCorpus, d_model: int) -> Vectors:
    """Factor the matrix of `ppmi` into D numbers a word, by its largest singular values.

    References
    ----------
    Levy & Goldberg 2014, "Neural word embedding as implicit matrix factorization", sec. 5: skip-gram with
    negative sampling factors such a matrix, too. Square roots of the singular values: sec. 5.3 there.
    """
    matrix = ppmi(cooccurrences(corpus, WINDOW), len(corpus.words))
    u, s, _ = svds(matrix, d_model, v0=np.ones(len(corpus.words)))
    order = np.argsort(-s)
    return Vectors(corpus.words, (u[:, order] * s[order] ** POWER).astype(np.float32))


def random_vectors(words: tuple[str, ...], d_model: int, seed: int) -> Vectors:
    """Draw D numbers for each word: what can be told by which words stand there, and by nothing else."""
    drawn = np.random.default_rng(seed).normal(size=(len(words), d_model))
    return Vectors(words, drawn.astype(np.float32))
