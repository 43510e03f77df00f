"""Named entities: sentences with a label a word, as they are published and as BERT reads and answers them.

A word may be several pieces. The first one bears the word's label, the others are left out of the loss, and
the prediction for a word is that of its first piece (Devlin et al. 2019, sec. 5.3). So a word counts once,
whatever it is cut into; a B copied to every piece would make three names of one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np

from bertlab import datasets
from bertlab.tasks.bio import OUTSIDE, Broken, Scheme, bio_labels, split_label, to_bio
from bertlab.text.inputs import Inputs, Truncation, pair_inputs
from bertlab.text.masked_lm import IGNORE_INDEX
from bertlab.text.wordpiece import WordPiece

CORPORA = ("wikigold", "wnut17")
DOCUMENT = "-DOCSTART-"


@dataclass(frozen=True)
class TaggedSentence:
    """Words, and the label of each in BIO."""

    words: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class TaggedTexts:
    """A data set in three parts that share no document, and all labels there are, O first."""

    labels: tuple[str, ...]
    train: list[TaggedSentence]
    val: list[TaggedSentence]
    test: list[TaggedSentence]


@dataclass(frozen=True)
class WordInputs:
    """Words as BERT reads them, and where each of them begins."""

    inputs: Inputs  # T pieces, special tokens counted
    firsts: np.ndarray  # (W,) int64: position of the first piece of each word that was not cut off
    n_words: int  # all words; the last n_words - W of them were cut off


def load_entities(name: str) -> TaggedTexts:
    """Load a public data set of named entities.

    - "wikigold": articles of Wikipedia, four types. It has no official split. Of every five articles in a
      row, the first goes to test, the second to val, the others to train. Written in IOB1 without any B, so
      two entities of one type that touch are one; read into BIO.
    - "wnut17": what people write on the net, six types, in its official split.

    Parameters
    ----------
    name : one of the two.

    Returns
    -------
    the sentences of each part, and the labels.

    Raises
    ------
    ValueError
        If the name is another one.
    DataUnavailable, DataDamaged
        As `bertlab.datasets.load`.

    References
    ----------
    Balasuriya et al. 2009 (wikigold); Derczynski et al. 2017 (wnut17).

    Examples
    --------
    Needs the data::

        texts = load_entities("wikigold")
        len(texts.train), len(texts.val), len(texts.test)  # (1034, 343, 319)
    """
    if name not in CORPORA:
        raise ValueError(f"{name!r} is no data set of named entities: choose one of {CORPORA}")
    dataset = datasets.load(name)
    if name == "wikigold":
        articles = read_conll(dataset.path("wikigold.conll"), scheme="IOB1")
        test, val = articles[0::5], articles[1::5]
        train = [article for i, article in enumerate(articles) if i % 5 > 1]
    else:
        train, val, test = (read_conll(dataset.path(f"{part}.conll")) for part in ("train", "dev", "test"))
    parts = [[sentence for document in part for sentence in document] for part in (train, val, test)]
    kinds = {split_label(label)[1] for part in parts for one in part for label in one.labels} - {""}
    return TaggedTexts(bio_labels(kinds), *parts)


def read_conll(
    path: str | Path, scheme: Scheme = "BIO", broken: Broken = "refuse"
) -> list[list[TaggedSentence]]:
    """Read a file of CoNLL's form: a word and its label a line, an empty line between sentences.

    Parameters
    ----------
    path : UTF-8. Columns are apart by spaces or tabs; the word is the first, the label the last, and any
        between are left out. A line that begins with -DOCSTART- parts two documents.
    scheme : what the labels are written in.
    broken : what happens where they break its rule; see `to_bio`.

    Returns
    -------
    documents, each a list of its sentences, none empty; one document if no line says otherwise. Labels are
    BIO.

    Raises
    ------
    ValueError
        If the file is not UTF-8 or has no word; if a line has no label, or one that is unknown or not allowed
        there.

    References
    ----------
    Tjong Kim Sang & De Meulder 2003.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name} is not UTF-8 ({error.reason}, byte {error.start}): convert it"
        ) from error
    documents: list[list[TaggedSentence]] = [[]]
    rows: list[tuple[str, str]] = []
    for number, line in enumerate([*lines, ""], 1):
        columns = re.split(r"[ \t]+", line.strip())
        if columns[0] not in {"", DOCUMENT}:
            rows.append(_word_and_label(columns, f"{path.name}, line {number}"))
            continue
        if rows:
            documents[-1].append(
                _sentence(rows, scheme, broken, f"{path.name}, sentence before line {number}")
            )
            rows = []
        if columns[0] == DOCUMENT:
            documents.append([])
    found = [document for document in documents if document]
    if not found:
        raise ValueError(f"{path.name} has no words: give a file with a word and its label a line")
    return found


def _word_and_label(columns: list[str], where: str) -> tuple[str, str]:
    if len(columns) < 2:
        raise ValueError(f"{where}: {columns[0]!r} has no label: write one behind each word, O for no entity")
    try:
        split_label(columns[-1])
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    return columns[0], columns[-1]


def _sentence(rows: list[tuple[str, str]], scheme: Scheme, broken: Broken, where: str) -> TaggedSentence:
    words, labels = zip(*rows, strict=True)
    try:
        return TaggedSentence(words, tuple(to_bio(labels, scheme, broken)))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def word_inputs(
    words: Sequence[str], tokenizer: WordPiece, max_length: int = 512, truncation: Truncation | None = None
) -> WordInputs:
    """Put words between the special tokens, and remember where each begins.

    Parameters
    ----------
    words : of one sentence. One of which cleaning leaves nothing, such as a lone variation selector, is read
        as [UNK]: every word has a first piece.
    tokenizer : cuts each word by itself.
    max_length, truncation : as in `pair_inputs`; "only_first" cuts at the end.

    Returns
    -------
    the input, and where the words begin. Of a word that is cut in two, the beginning stays.

    Raises
    ------
    ValueError
        If the pieces do not fit and may not be cut.

    Examples
    --------
    >>> from bertlab.text import SPECIAL
    >>> tokenizer = WordPiece([*SPECIAL, "ivo", "hart", "##well"])
    >>> found = word_inputs(["Ivo", "Hartwell"], tokenizer)
    >>> found.inputs.ids.tolist(), found.firsts.tolist()
    ([2, 5, 6, 7, 3], [1, 2])
    """
    pieces = [ids or [tokenizer.unk_id] for ids in tokenizer.encode_batch(words)]
    inputs = pair_inputs([i for ids in pieces for i in ids], None, tokenizer, max_length, truncation)
    firsts = np.array(list(accumulate(map(len, pieces), initial=1))[:-1], np.int64)  # [CLS] stands at 0
    return WordInputs(inputs, firsts[firsts < len(inputs.ids) - 1], len(words))


def piece_labels(found: WordInputs, labels: Sequence[str], names: Sequence[str]) -> np.ndarray:
    """Give the first piece of each word the word's label.

    Parameters
    ----------
    found : W of the words stand in it, in T pieces.
    labels : of all words.
    names : the labels a model knows, in the order of its outputs.

    Returns
    -------
    (T,) int64: index of the label at first pieces, elsewhere `IGNORE_INDEX`.

    Raises
    ------
    ValueError
        If there is not one label a word, or if one is not among the names.

    Examples
    --------
    >>> from bertlab.text import SPECIAL
    >>> found = word_inputs(["Ivo", "Hartwell"], WordPiece([*SPECIAL, "ivo", "hart", "##well"]))
    >>> piece_labels(found, ["B-PER", "I-PER"], ["O", "B-PER", "I-PER"]).tolist()
    [-100, 1, 2, -100, -100]
    """
    if len(labels) != found.n_words:
        raise ValueError(f"{len(labels)} labels for {found.n_words} words: give one for each word")
    index = {name: i for i, name in enumerate(names)}
    if unknown := [label for label in labels if label not in index]:
        raise ValueError(f"label {unknown[0]!r} is unknown: the model knows {', '.join(names)}")
    placed = np.full(len(found.inputs.ids), IGNORE_INDEX, np.int64)
    placed[found.firsts] = [index[label] for label in labels[: len(found.firsts)]]
    return placed


def word_labels(predicted: Sequence[int] | np.ndarray, found: WordInputs, names: Sequence[str]) -> list[str]:
    """Read the labels of words off what a model says of pieces.

    Parameters
    ----------
    predicted : (T,) integers, or more if padding follows: a label for each piece. First pieces count alone.
    found : the input they were predicted for.
    names : the labels in the order of the model's outputs.

    Returns
    -------
    a label for each word, as predicted: the sequence may break BIO's rule. `entity_scores` has two readings
    of that, `to_bio` repairs or refuses it. Words that were cut off are O: their entities count as missed.

    Raises
    ------
    ValueError
        If there are fewer predictions than pieces.

    Examples
    --------
    >>> from bertlab.text import SPECIAL
    >>> found = word_inputs(["Ivo", "Hartwell"], WordPiece([*SPECIAL, "ivo", "hart", "##well"]))
    >>> word_labels([0, 1, 2, 0, 0], found, ["O", "B-PER", "I-PER"])
    ['B-PER', 'I-PER']
    """
    if len(predicted) < len(found.inputs.ids):
        raise ValueError(
            f"{len(predicted)} predictions for {len(found.inputs.ids)} pieces: give one for each"
        )
    seen = [names[int(predicted[first])] for first in found.firsts]
    return seen + [OUTSIDE] * (found.n_words - len(seen))
