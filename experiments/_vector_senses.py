"""What a table of word vectors can say of the sense of a word: nothing by its own row, some by the others.

A word's own row is the same at all its places, so whoever sees it alone says one sense always; the best that
this can reach is the share of the most frequent one. The mean of the rows around it differs from place to
place. Occurrences are those of `sense_layers`, to the last one: numbers compare with that record.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer

from _bert_vocabulary import published
from _homographs import Sentence, right_by_word
from _minilm import MiniLM
from bertlab.datasets.senses import senses
from bertlab.text import Vectors, WordPiece
from bertlab.text.word_corpus import split_words
from sense_layers import majority_is_right, nearest_is_right, occurrences, states

Floats = NDArray[np.float64]
SETS = ("wikipedia-homographs", "coarsewsd-20")
REACHES = {"2 words": 2, "5 words": 5, "sentence": 10**6}  # to each side


class Place(NamedTuple):
    """A word in its sentence."""

    words: tuple[str, ...]
    at: int

    def around(self, reach: int) -> list[str]:
        """The words at most so many places away, but for the word itself."""
        return [
            *self.words[max(self.at - reach, 0) : self.at],
            *self.words[self.at + 1 : self.at + 1 + reach],
        ]


def place_of(one: Sentence, vocab: WordPiece) -> Place:
    """Put the pieces of a sentence together again: its words in small letters, without marks."""
    joined, at = list[str](), 0
    for i, piece in enumerate(one.ids[1:-1], start=1):
        text = vocab.vocab[piece]
        if i == one.pieces.start:
            at = len(joined)
        if text.startswith("##") and joined:
            joined[-1] += text[2:]
        else:
            joined.append(text)
    words = [word if i == at or split_words(word) else "" for i, word in enumerate(joined)]
    return Place(tuple(word for word in words if word), sum(bool(word) for word in words[:at]))


@cache
def asked_about(name: str) -> tuple[list[Sentence], list[Sentence], list[Place], list[Place]]:
    """Read a set: occurrences of train and of test, and their places in words."""
    vocab = published()
    train, test = (occurrences(name, vocab, split) for split in ("train", "test"))
    theirs, mine = ([place_of(one, vocab) for one in some] for some in (train, test))
    return train, test, theirs, mine


def contexts(vectors: Vectors, places: Sequence[Place], reach: int) -> Floats:
    """Give the mean vector of the known words around each place; zero where there is none: (n, D)."""
    found = np.zeros((len(places), vectors.matrix.shape[1]))
    for i, place in enumerate(places):
        if rows := [vectors.place(word) for word in place.around(reach) if word in vectors]:
            found[i] = vectors.matrix[rows].mean(0)
    return found


def told(vectors: Vectors, name: str) -> dict[str, Any]:
    """Tell senses by the words around: by the nearest occurrence of train, and by a probe for each word.

    Returns
    -------
    nearest : for each reach, for each occurrence of test whether it is right (n,).
    probe : for each reach, (right, asked) of each word.
    """
    train, test, theirs, mine = asked_about(name)
    found: dict[str, Any] = {"nearest": {}, "probe": {}}
    for label, reach in REACHES.items():
        x, asked = contexts(vectors, theirs, reach), contexts(vectors, mine, reach)
        right = nearest_is_right(train, test, torch.from_numpy(x), torch.from_numpy(asked))
        found["nearest"][label] = right.int().tolist()
        by_word = right_by_word(x, asked, train, test)
        found["probe"][label] = {word: [one.right, one.n] for word, one in by_word.items()}
    return found


def told_by_counting(name: str) -> dict[str, Any]:
    """The same by the nearest TF-IDF of the whole sentence; and what one answer a word always gets right."""
    train, test, theirs, mine = asked_about(name)
    counter = TfidfVectorizer(tokenizer=str.split, token_pattern=None, sublinear_tf=True)
    texts = [[" ".join(one.around(10**6)) for one in some] for some in (theirs, mine)]
    x, asked = counter.fit_transform(texts[0]), counter.transform(texts[1])
    right = [False] * len(test)
    for word in dict.fromkeys(one.word for one in test):
        rows = [i for i, one in enumerate(train) if one.word == word]
        columns = [i for i, one in enumerate(test) if one.word == word]
        best = np.asarray((asked[columns] @ x[rows].T).todense()).argmax(1)
        for i, b in zip(columns, best, strict=True):
            right[i] = test[i].sense == train[rows[b]].sense
    one_answer = majority_is_right(train, test)
    return {"nearest": {"sentence": [int(hit) for hit in right]}, "one answer": one_answer.int().tolist()}


def raw_sentences() -> list[tuple[str, str, str]]:
    """The sentences of `senses`: word, sense, sentence."""
    return [
        (word, sense, one) for word, some in senses().items() for sense, rows in some.items() for one in rows
    ]


def our_sentences() -> list[tuple[str, str, Place]]:
    """The same in words: word, sense, and where the word stands."""
    cut = [(word, sense, split_words(one)) for word, sense, one in raw_sentences()]
    return [(word, sense, Place(tuple(words), words.index(word))) for word, sense, words in cut]


def told_in_ours(x: Floats) -> list[int]:
    """For each of our sentences, whether the nearest other one with the word has its sense.

    Parameters
    ----------
    x : (n, D), a vector for each of `our_sentences`.
    """
    rows, unit = our_sentences(), x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    cosines = unit @ unit.T
    same = np.array([[a == b for b, _, _ in rows] for a, _, _ in rows])
    cosines[~same] = -np.inf
    np.fill_diagonal(cosines, -np.inf)
    return [int(rows[i][1] == rows[best][1]) for i, best in enumerate(cosines.argmax(1))]


def contextual() -> dict[str, Any]:
    """Ask a published BERT about our sentences: the state of the word, after each layer."""
    model, found = MiniLM(), list[Sentence]()
    vocab = model.tokenizer
    for word, sense, sentence in raw_sentences():
        start = sentence.lower().index(word)
        encoding = vocab.encode(sentence)
        mine = [i for i, (a, b) in enumerate(encoding.offsets, 1) if a < start + len(word) and b > start]
        ids = [vocab.cls_id, *encoding.ids, vocab.sep_id]
        found.append(Sentence(word, sense, ids, slice(mine[0], mine[-1] + 1)))
    layers, _ = states(model, found)
    return {"our sentences": [told_in_ours(layer.double().numpy()) for layer in layers]}
