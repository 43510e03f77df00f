"""The text that word vectors are trained on, as whole words, and what is held out of it.

Books, wikisplit and masc without what stands in the held-out text, as `_bert_corpus` has them: what the
shipped checkpoints have read. A word must occur ten times: that leaves about as many words as the published
vectors are cut to here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

from _bert_corpus import held_out_documents, training_documents
from bertlab.text import WordCorpus
from bertlab.text.word_corpus import split_words
from bertlab.training.results import RUNS

MIN_COUNT = 10
FILE = RUNS / "static_vectors" / "corpus.npz"


@cache
def word_corpus(file: Path = FILE) -> WordCorpus:
    """Read the training text; it is kept in a file, since cutting it takes half a minute."""
    if not file.exists():
        sentences = (
            sentence for document in training_documents().documents for sentence in document.sentences
        )
        corpus = WordCorpus.read(sentences, MIN_COUNT)
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_name(f"{file.stem}-{os.getpid()}.npz")  # another process may do the same
        np.savez(temporary, words=np.array(corpus.words), ids=corpus.ids, borders=corpus.borders)
        os.replace(temporary, file)
    with np.load(file, allow_pickle=False) as kept:
        return WordCorpus(tuple(kept["words"].tolist()), kept["ids"], kept["borders"])


def held_out_corpora(words: tuple[str, ...]) -> dict[str, WordCorpus]:
    """Read the held-out text in the words of the training text."""
    return {
        name: in_words((sentence for document in documents for sentence in document.sentences), words)
        for name, documents in held_out_documents().items()
    }


def in_words(sentences: Iterable[str], words: tuple[str, ...]) -> WordCorpus:
    """Number the words of a text by a given list; others are taken out, as rare words are in training.

    Examples
    --------
    >>> corpus = in_words(["The cat sat.", "A dog!", "the dog"], ("the", "dog", "sat"))
    >>> corpus.ids.tolist(), corpus.borders.tolist()
    ([0, 2, 1, 0, 1], [0, 2, 3, 5])
    """
    place = {word: i for i, word in enumerate(words)}
    rows = [[place[word] for word in split_words(sentence) if word in place] for sentence in sentences]
    rows = [row for row in rows if row]
    ids = np.fromiter((i for row in rows for i in row), np.int32)
    return WordCorpus(words, ids, np.cumsum([0, *map(len, rows)]))


def some_sentences(corpus: WordCorpus, rows: np.ndarray) -> WordCorpus:
    """Take some sentences of a corpus, with all of its words.

    Examples
    --------
    >>> corpus = WordCorpus.read(["a b", "b", "b a a"], min_count=1)
    >>> some_sentences(corpus, np.array([0, 2])).ids.tolist()
    [1, 0, 0, 1, 1]
    """
    chosen = np.isin(corpus.sentence_of, rows)
    lengths = np.diff(corpus.borders)[np.sort(rows)]
    return WordCorpus(corpus.words, corpus.ids[chosen], np.cumsum([0, *lengths]))
