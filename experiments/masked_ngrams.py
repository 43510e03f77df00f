"""How well are masked pieces guessed by counting neighbours? The mark that the shipped checkpoints must pass.

On the held-out books and wikitext-2, with the questions that the checkpoints are asked, in both vocabularies:
the unigram guess, n-grams from the left, from both sides, with what stood between the same neighbours, with
words that the input repeats. Counted is the text that the checkpoints train on; weights are fitted on a
twentieth of it that was not counted then.

The record also keeps what all later numbers rest on: overlap taken out of the training text, sizes, choice
of the cut vocabulary, and the checksums of vocabularies and questions.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from tqdm import tqdm

from _bert_corpus import HELD_OUT_BOOKS, held_out_documents, shards, sizes, training_documents
from _bert_held_out import KINDS, Exam, exam, exams, fingerprint, masked_words
from _bert_vocabulary import LEAST, NAMES, count_pieces, cut, published, tokenizer
from _ngrams import one_row
from _two_sided import EXPERTS, START, TwoSided, everywhere, fitted
from bertlab.datasets.documents import Document
from bertlab.text import WordPiece, tokenise
from bertlab.text.normalisation import CharacterTable
from bertlab.text.shards import vocabulary_sha256
from bertlab.text.wordpiece_training import count_words
from bertlab.training import save_result

NAME = "masked_ngrams"
QUESTION = "How well can masked pieces be guessed by counting which pieces stand side by side?"
FITTED_ON = 20  # one document in so many, a stretch of each source, is not counted while weights are fitted
PAIRS = {True: 96, False: 192}  # to fit on, from books and from the others, where they are short
LEASTS = (1, 5, 10, 15, 20, 30, 50, 100)  # uses that a piece must have, to be kept in the cut vocabulary


def split(documents: Sequence[Document], share: int = FITTED_ON) -> tuple[list[Document], list[Document]]:
    """Part a stretch from the middle of each source from the rest; of books, so, whole ones.

    Examples
    --------
    >>> rest, stretch = split([Document([letter], "letters") for letter in "abcdef"], share=3)
    >>> [document.sentences[0] for document in rest], [document.sentences[0] for document in stretch]
    (['a', 'b', 'c', 'f'], ['d', 'e'])
    """
    rest, stretch = list[Document](), list[Document]()
    for source in sorted({document.source for document in documents}):
        mine = [document for document in documents if document.source == source]
        first, n = len(mine) // 2, len(mine) // share
        stretch += mine[first : first + n]
        rest += mine[:first] + mine[first + n :]
    return rest, stretch


def weights(documents: Sequence[Document], vocab: WordPiece) -> dict[str, np.ndarray]:
    """Fit the weights of the experts on a part of the training text, with counts of the rest."""
    rest, stretch = split(documents)
    questions = Exam()
    for is_book, n in PAIRS.items():
        part = [document for document in stretch if (document.source == "books") == is_book]
        questions += exam(tokenise(part, vocab), vocab, KINDS["hidden"], n)
    model = TwoSided(one_row(tokenise(rest, vocab)), vocab)
    return {
        "from the left": everywhere([1, 0, 0, 0, 0, 0]),
        "from both sides": everywhere(START),
        "and around, weighted": fitted(model, questions, 4),
        "and repeated": fitted(model, questions),
    }


def baselines(documents: Sequence[Document], vocab: WordPiece, name: str) -> dict[str, Any]:
    """Measure all models in one vocabulary."""
    ladder = weights(documents, vocab)
    model = TwoSided(one_row(shards(name, vocab, documents)), vocab)
    found: dict[str, Any] = {}
    for (held_out, kind), questions in tqdm(exams(vocab).items(), desc=f"{NAME}, {name}: exams"):
        measured = {"unigram": masked_words(questions, model.unigram_scores)}
        for label, weight in ladder.items():
            measured[label] = masked_words(questions, partial(model.scores, weights=weight))
        found.setdefault(held_out, {})[kind] = {"sha256": fingerprint(questions), **measured}
    return {"experts": EXPERTS, "weights": ladder["and repeated"].round(2).tolist(), **found}


def vocabularies(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Count what each size of the cut vocabulary costs: pieces a word, and words that become [UNK]."""
    texts = {"training": documents, **held_out_documents()}
    words = {name: word_counts(some) for name, some in texts.items()}
    whole = published()
    rows = [("whole", whole), ("trained", tokenizer("trained"))]
    rows[1:1] = [(f"used {n} times", cut(whole, words["training"], n).tokenizer) for n in LEASTS]
    return [
        {"kept": kept, "pieces": len(vocab), **{name: fertility(vocab, some) for name, some in words.items()}}
        for kept, vocab in rows
    ]


def word_counts(documents: Sequence[Document]) -> Counter[str]:
    """Count clean words; a lost one is none."""
    sentences = (sentence.replace("[UNK]", " ") for document in documents for sentence in document.sentences)
    return count_words(sentences, CharacterTable(lowercase=True))


def fertility(vocab: WordPiece, words: Counter[str]) -> dict[str, Any]:
    """Pieces a word, and words that cannot be spelled."""
    uses = count_pieces(vocab, words)
    return {"pieces_a_word": round(uses.total() / words.total(), 4), "unknown_words": uses["[UNK]"]}


def main() -> None:
    """Measure, and write the record."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    usual = training_documents(run=13).overlap
    documents, overlap = training_documents()
    results: dict[str, Any] = {
        "held_out": {"books": HELD_OUT_BOOKS, "wikitext-2": "validation and test"},
        "overlap": [usual, overlap],
        "cut_vocabulary": {"least": LEAST, "choices": vocabularies(documents)},
    }
    for name in NAMES:
        vocab = tokenizer(name, documents)
        results[name] = {
            "pieces": len(vocab),
            "sha256": vocabulary_sha256(vocab),
            "training": sizes(shards(name, vocab, documents)),
            **{which: sizes(tokenise(some, vocab)) for which, some in held_out_documents().items()},
            "guesses": baselines(documents, vocab, name),
        }
    print(save_result(NAME, QUESTION, results, sum(os.times()[:4])))


if __name__ == "__main__":
    main()
