"""What the pre-training of the shipped checkpoints reads, and what it must never have read.

Trained on: books, wikisplit and masc. Held out: three whole books, and wikitext-2 (its validation and test
part). What stands in both is taken out of the training text.

The books held out are of three kinds, a tale for children, a novel and a life told by who lived it, and they
are the only ones of their authors: no other book has their people, places or turns of phrase.

    python experiments/_bert_corpus.py

writes both vocabularies and the shards in both under runs/bert_corpus/ (a minute; what is there is kept).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from bertlab import datasets
from bertlab.datasets.documents import Document, book_documents
from bertlab.text import Corpus, ShardsError, WordPiece, open_shards, write_shards
from bertlab.training.results import RUNS

FOLDER = RUNS / "bert_corpus"
HELD_OUT_BOOKS = (
    "frederick-douglass-narrative-of-the-life-of-frederick-douglass.md",
    "kenneth-grahame-the-wind-in-the-willows.md",
    "oscar-wilde-the-picture-of-dorian-gray.md",
)
RUN = 8  # words; 13 are usual, but wikitext-2 has lost one word in 16, and few runs of 13 are whole


class Training(NamedTuple):
    """Documents to train on, and how much was taken out of them."""

    documents: list[Document]
    overlap: dict[str, Any]


def chapters(held_out: bool) -> Iterator[Document]:
    """The chapters of the books that are held out, or of all others."""
    dataset = datasets.load("books")
    for file in dataset.files:
        if (file in HELD_OUT_BOOKS) == held_out:
            yield from book_documents(dataset.lines(file))


def held_out_documents() -> dict[str, list[Document]]:
    """Text for evaluation, by its name: "books" and "wikitext-2"."""
    return {"books": list(chapters(held_out=True)), "wikitext-2": datasets.documents("wikitext-2")}


def training_documents(run: int = RUN) -> Training:
    """Read all text to train on, without what stands in the held-out text, too.

    Parameters
    ----------
    run : so many equal words in a row are an overlap.
    """
    wanted = [*chapters(held_out=False), *datasets.documents("wikisplit"), *datasets.documents("masc")]
    return without_overlap(wanted, held_out_documents(), run)


def plain_words(sentence: str) -> list[str]:
    """Words without capitals, marks and apostrophes, so that two ways of cutting them make no difference.

    Examples
    --------
    >>> plain_words('"Do n\\'t , " he said .') == plain_words("“Don't,” he said.")
    True
    """
    plain = re.sub(r" (?=n['’]t\b)|['’]", "", sentence.lower())
    return re.findall(r"[^\W_]+", plain)


def word_runs(sentences: Sequence[str], run: int) -> Iterator[tuple[str, int, int]]:
    """All runs of so many words, each with the numbers of the sentences where it begins and ends.

    Examples
    --------
    >>> list(word_runs(["It rained.", "We ran."], run=3))
    [('it rained we', 0, 1), ('rained we ran', 0, 1)]
    """
    words, places = list[str](), list[int]()
    for i, sentence in enumerate(sentences):
        found = plain_words(sentence)
        words += found
        places += [i] * len(found)
    for start in range(len(words) - run + 1):
        yield " ".join(words[start : start + run]), places[start], places[start + run - 1]


def without_overlap(
    documents: Iterable[Document], held_out: dict[str, list[Document]], run: int = RUN
) -> Training:
    """Take out the sentences that share a run of words with held-out text.

    A document is cut in two where a sentence is taken out: what follows a gap is no next sentence. A rest of
    one sentence goes, too.

    Parameters
    ----------
    documents : to train on.
    held_out : documents by the name of their set.
    run : so many equal words in a row are an overlap.

    Returns
    -------
    `Training`; its counts are by source and held-out set.
    """
    seen = {
        words: name
        for name, others in held_out.items()
        for document in others
        for words, _, _ in word_runs(document.sentences, run)
    }
    kept, sentences, touched = list[Document](), dict[str, int](), dict[str, int]()
    for document in documents:
        bad = set[int]()
        where = set[str]()
        for words, first, last in word_runs(document.sentences, run):
            if words in seen:
                bad |= set(range(first, last + 1))
                where.add(f"{document.source} with {seen[words]}")
        rests = list(_rests(document, bad)) if bad else [document]
        kept += rests
        gone = len(document.sentences) - sum(len(rest.sentences) for rest in rests)
        for name in where:
            touched[name] = touched.get(name, 0) + 1
            sentences[name] = sentences.get(name, 0) + gone
    return Training(kept, {"words_in_a_row": run, "documents": touched, "sentences_taken_out": sentences})


def _rests(document: Document, bad: set[int]) -> Iterator[Document]:
    """What is left of a document between the sentences that go; no single sentence."""
    borders = [-1, *sorted(bad), len(document.sentences)]
    for before, after in pairwise(borders):
        if after - before > 2:
            yield Document(document.sentences[before + 1 : after], document.source)


def shards(name: str, tokenizer: WordPiece, documents: Sequence[Document] | None = None) -> Corpus:
    """Open the training text in numbers; write it first, where it is not there.

    Parameters
    ----------
    name : of the vocabulary; the shards are in ``runs/bert_corpus/<name>/``.
    tokenizer : of that vocabulary.
    documents : from `training_documents`, if at hand.
    """
    folder = FOLDER / name
    try:
        return open_shards(folder, tokenizer)
    except ShardsError:
        if (folder / "index.json").exists():  # of another vocabulary, or damaged: not ours to overwrite
            raise
    return write_shards(folder, training_documents().documents if documents is None else documents, tokenizer)


def sizes(corpus: Corpus) -> dict[str, int]:
    """Count tokens, sentences and documents.

    Examples
    --------
    >>> from bertlab.text import SPECIAL, tokenise
    >>> sizes(tokenise([Document(["a", "b a"], "letters")], WordPiece([*SPECIAL, "a", "b"])))
    {'tokens': 3, 'sentences': 2, 'documents': 1}
    """
    return {
        "tokens": int(corpus.borders[-1]),
        "sentences": len(corpus.borders) - 1,
        "documents": len(corpus.source),
    }


def main() -> None:
    """Write vocabularies and shards, and say what they hold."""
    from _bert_vocabulary import NAMES, tokenizer

    documents = training_documents().documents
    for name in NAMES:
        vocab = tokenizer(name, documents)
        corpus = shards(name, vocab, documents)
        print(
            f"{name}: {len(vocab):,} pieces;", ", ".join(f"{n:,} {what}" for what, n in sizes(corpus).items())
        )


if __name__ == "__main__":
    main()
