"""Real text as documents, each a list of sentences: what masked words and sentence pairs are made of."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bertlab.datasets.errors import UnknownName
from bertlab.datasets.loading import Dataset, load
from bertlab.datasets.registry import unknown
from bertlab.datasets.sentences import split_sentences

UNKNOWN = "[UNK]"  # stands where a published text has lost a word


@dataclass(frozen=True)
class Document:
    """Sentences in their order, and the kind of text that they are of.

    A false next sentence is to come from another document of the same source: else the kind gives it away.
    """

    sentences: list[str]
    source: str


def documents(name: str) -> list[Document]:
    """Return a public data set as documents.

    ==============  ==========================  =========================================================
    set             a document is               its sentences
    ==============  ==========================  =========================================================
    ``books``       a chapter                   paragraphs, cut by `split_sentences`; no sentence crosses a
                                                paragraph's end; headings, rules and emphasis are left out
    ``masc``        a text                      the lines of the file; its two files are two sources
    ``wikisplit``   a sentence split in two     the two: the second column, as the first one repeats it
    ``wikitext-2``  an article                  paragraphs, cut behind the points that are words of their own
    ==============  ==========================  =========================================================

    In wikitext-2, `@-@` and its like are undone, and a word that was replaced by `<unk>` reads `[UNK]`: a
    tokenizer that recognises special tokens gives it the id of the unknown word, which is never hidden and
    never a target.

    Parameters
    ----------
    name : str
        One of the sets above.

    Returns
    -------
    list of Document
        None of them without a sentence.

    Raises
    ------
    UnknownName
        If the set is none of these. What `load` raises, besides.
    """
    if name not in _READERS:
        raise UnknownName(unknown("set of documents", name, _READERS))
    return [document for document in _READERS[name](load(name)) if document.sentences]


def _books(dataset: Dataset) -> Iterator[Document]:
    for file in dataset.files:
        yield from book_documents(dataset.lines(file))


def book_documents(lines: list[str]) -> Iterator[Document]:
    """Cut a book in Markdown into its chapters, and these into sentences.

    Parameters
    ----------
    lines : three lines of header, a rule, then one paragraph a line; a chapter's heading begins with #.

    Examples
    --------
    >>> book = ["# Title: T", "-------", "## I", "He _ran_. She sat.", "", "* * *", "## II", "It rained."]
    >>> [document.sentences for document in book_documents(book)]
    [['He ran.', 'She sat.'], ['It rained.']]
    """
    for is_heading, block in itertools.groupby(lines, key=lambda line: line.startswith("#")):
        if not is_heading:
            paragraphs = (_plain(line) for line in block if re.search(r"[^\W_]", line))
            sentences = [sentence for paragraph in paragraphs for sentence in split_sentences(paragraph)]
            if sentences:
                yield Document(sentences, "books")


def _plain(line: str) -> str:
    """Undo Markdown: emphasis, also inside a word (any_body), quotation, entities."""
    return re.sub(r"^\s*>|[*_]", "", html.unescape(line)).strip()


def _masc(dataset: Dataset) -> Iterator[Document]:
    for file in dataset.files:
        source = f"masc {file.removesuffix('.txt')}"
        for has_words, block in itertools.groupby(dataset.lines(file), key=lambda line: bool(line.strip())):
            if has_words:
                yield Document([line.strip() for line in block], source)


def _wikisplit(dataset: Dataset) -> Iterator[Document]:
    for file in dataset.files:
        for line in dataset.lines(file):
            split = line.split("\t")[1]
            yield Document([sentence.strip() for sentence in split.split("<::::>")], "wikisplit")


def _wikitext(dataset: Dataset) -> Iterator[Document]:
    for file in dataset.files:
        yield from article_documents(dataset.lines(file))


def article_documents(lines: list[str]) -> Iterator[Document]:
    """Cut word-tokenised articles apart, and these into sentences.

    Parameters
    ----------
    lines : one paragraph a line; a line `= Title =` begins an article, `= = Section = =` a part of it.

    Examples
    --------
    >>> lines = [" = Bats = ", " A <unk> bat . A 3 @.@ 5 @-@ inch wing . ", " = = Food = = ", " Flies . "]
    >>> [document.sentences for document in article_documents(lines)]
    [['A [UNK] bat .', 'A 3.5-inch wing .', 'Flies .']]
    """
    sentences: list[str] = []
    for line in (line.strip() for line in lines):
        if re.fullmatch(r"= (?!=).* =", line):
            if sentences:
                yield Document(sentences, "wikitext-2")
            sentences = []
        elif line and not line.startswith("= ="):
            sentences.extend(_tokenised_sentences(line))
    if sentences:
        yield Document(sentences, "wikitext-2")


def _tokenised_sentences(paragraph: str) -> list[str]:
    """Cut where a mark is a word of its own, behind the quotation mark or bracket that closes there."""
    paragraph = re.sub(r" @([-,.])@ ", r"\1", paragraph).replace("<unk>", UNKNOWN)
    sentences: list[list[str]] = [[]]
    quotes = 0
    ended = False
    for word in paragraph.split():
        closes = word == ")" or (word == '"' and quotes % 2 == 1)
        if ended and not closes and not word[0].islower():
            sentences.append([])
        ended = word in {".", "!", "?"} or (ended and closes)
        quotes += word == '"'
        sentences[-1].append(word)
    return [" ".join(words) for words in sentences if words]


_READERS: dict[str, Callable[[Dataset], Iterator[Document]]] = {
    "books": _books,
    "masc": _masc,
    "wikisplit": _wikisplit,
    "wikitext-2": _wikitext,
}
