"""What ELMo-mini reads, and the exam that it takes beside counted n-grams: words, known and unknown.

It reads the text of the shipped BERTs (`_bert_corpus`), in whole words with their capitals: each is spelled,
so none is unknown to it. What it predicts are the 8,187 most frequent words, in small letters. Of the running
words of the training text these are 94 of 100. A rarer word is read, but never asked for, neither in training
nor in the exam: one class for all of them would often be the likeliest answer, and the surprise would look
smaller than it is. The n-grams, counted over the same words, are scored the same way: what they give to the
class of rare words is taken out, and the rest made to sum to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from _bert_corpus import held_out_documents, training_documents
from _bert_held_out import Answered, Answers, Exam, Question, answered, difference, summary
from _ngrams import KneserNey, one_row
from bertlab.datasets.documents import Document
from bertlab.nn import ELMoForPreTraining
from bertlab.nn.functional import linear
from bertlab.tasks.spelled_words import SpelledELMo, whole_words
from bertlab.text import IGNORE_INDEX, SPECIAL, Corpus, WordPiece, open_shards, tokenise, write_shards
from bertlab.text.normalisation import CharacterTable
from bertlab.text.stretches import Stretches
from bertlab.text.wordpiece_training import count_words
from bertlab.training.results import RUNS

FOLDER = RUNS / "elmo_text"
WORDS, KNOWN, SHARDS, HELD_OUT = (FOLDER / name for name in ("words.txt", "known.txt", "shards", "held_out"))
SIZE = 8192  # rows of the softmax, the five special tokens among them
LENGTH, BATCH, STRETCHES = 64, 32, 512  # words and marks of a stretch; stretches of an exam
DIRECTIONS = ("forward", "backward", "both")
REACH = 3  # words that an n-gram knows

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
Guess = Callable[[Question], dict[str, NDArray[Any]]]  # for each direction (M, V) log probabilities


class Text(NamedTuple):
    """The training text, and the two lists of words."""

    words: WordPiece  # all words of all texts, with their capitals: a number for each spelling
    known: WordPiece  # those that can be predicted, in small letters
    corpus: Corpus  # in numbers of `words`


@cache
def prepared() -> Text:
    """Open the text; write it first, where it is not there (two minutes)."""
    if not (SHARDS / "index.json").exists():
        documents = training_documents().documents
        held_out = held_out_documents()
        every = [document for some in (documents, *held_out.values()) for document in some]
        FOLDER.mkdir(parents=True, exist_ok=True)
        words = whole_words(text for one in every for text in one.sentences)
        words.save(WORDS)
        known_words(documents).save(KNOWN)
        write_shards(HELD_OUT, held_out["books"], words)  # is looked at while a model trains
        write_shards(SHARDS, documents, words)
    words = WordPiece.from_file(WORDS, lowercase=False, recognise_special=True)
    return Text(words, WordPiece.from_file(KNOWN), open_shards(SHARDS, words))


def known_words(documents: Sequence[Document], size: int = SIZE) -> WordPiece:
    """List the most frequent words of documents; of equals, the first of the alphabet.

    Examples
    --------
    >>> known_words([Document(["A dog.", "The dog, a cat."], "notes")], size=8).vocab[5:]
    ['.', 'a', 'dog']
    """
    counts = count_words((text for one in documents for text in one.sentences), CharacterTable())
    often = sorted(counts, key=lambda word: (-counts[word], word))
    return WordPiece([*SPECIAL, *often[: size - len(SPECIAL)]])


def targets(words: WordPiece, known: WordPiece) -> Ids:
    """Give each word its number in the softmax (V,), or IGNORE_INDEX: special tokens are not asked for.

    Examples
    --------
    >>> known = WordPiece([*SPECIAL, "dog", "."])
    >>> targets(WordPiece([*SPECIAL, "Dog", "cat", "."], lowercase=False), known)[5:].tolist()
    [5, -100, 6]
    """
    spelled = known.encode_batch(words.vocab)
    one = [ids[0] if len(ids) == 1 and ids[0] != known.unk_id else IGNORE_INDEX for ids in spelled]
    return np.array(one)


def exam(documents: Sequence[Document], text: Text, stretches: int = STRETCHES) -> tuple[Exam, float]:
    """Ask for all known words of some stretches of held-out text; and say which share of words is unknown."""
    found, answers = Exam(), targets(text.words, text.known)
    every = Stretches(tokenise(documents, text.words), text.words, LENGTH, BATCH)
    running = 0
    for ids, mask in islice(every.batches(epoch=0), max(stretches // BATCH, 1)):
        positions = np.flatnonzero(answers[ids].reshape(-1) != IGNORE_INDEX)
        running += int(mask.sum()) - 2 * len(ids)
        right = answers[ids].reshape(-1)[positions]
        question = Question(ids, np.zeros_like(ids), mask, positions)
        found.append((question, Answers(right, np.zeros(len(ids), np.int64))))
    asked = sum(len(one.pieces) for _, one in found)
    return found, 1 - asked / running


def together(forward: NDArray[Any], backward: NDArray[Any], alone: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Glue what two directions say, all in log probabilities (M, V), (M, V) and (V,).

    If both sides were independent given the word, Bayes' rule would give p(w | left) p(w | right) / p(w).
    """
    both = forward + backward - alone
    peak = both.max(-1, keepdims=True)
    normed = both - peak - np.log(np.exp(both - peak).sum(-1, keepdims=True))
    return {"forward": forward, "backward": backward, "both": normed}


def frequencies(text: Text) -> NDArray[np.float32]:
    """Log frequency of each known word in the training text (V,), one added to each count."""
    numbers = targets(text.words, text.known)
    counts = np.ones(len(text.known))
    for shard in text.corpus.shards:
        asked = numbers[np.asarray(shard, np.int64)]
        counts += np.bincount(asked[asked != IGNORE_INDEX], minlength=len(counts))
    found: NDArray[np.float32] = np.log(counts / counts.sum()).astype(np.float32)
    return found


def by_elmo(model: ELMoForPreTraining, text: Text, alone: NDArray[np.float32]) -> Guess:
    """Let a model guess: from the left what it says one place before, from the right one place behind."""
    read = SpelledELMo(model.eval().elmo, text.words)

    @torch.no_grad()
    def guess(question: Question) -> dict[str, NDArray[Any]]:
        states = read(torch.from_numpy(question.ids), torch.from_numpy(question.mask)).states
        ahead, back = states.flatten(0, 1).chunk(2, dim=-1)  # (B T, D) each
        places = torch.from_numpy(question.positions)
        of_next, of_previous = (
            linear(half[near], model.table, model.output.bias).log_softmax(-1).numpy()
            for half, near in ((ahead, places - 1), (back, places + 1))
        )
        return together(of_next, of_previous, alone)

    return guess


def by_counting(text: Text, alone: NDArray[np.float32]) -> Guess:
    """Let Kneser-Ney guess, from up to three words on either side within the same stretch."""
    numbers = targets(text.words, text.known)
    own = np.where(numbers == IGNORE_INDEX, text.known.unk_id, numbers)
    own[text.words.pad_id] = 0  # the border between documents
    row = own[one_row(text.corpus)]
    sides = [KneserNey(one, len(text.known), REACH + 1) for one in (row, row[::-1])]

    def guess(question: Question) -> dict[str, NDArray[Any]]:
        ids = own[question.ids]
        line, column = np.divmod(question.positions, ids.shape[1])
        last = question.mask.sum(1)[line] - 2  # column of the last word; [CLS] stands at 0
        said = []
        for model, step, room in zip(sides, (-1, 1), (column - 1, last - column), strict=True):
            places = column[:, None] + step * np.arange(1, REACH + 1)  # (M, REACH), the nearest first
            near = ids[line[:, None], places.clip(0, ids.shape[1] - 1)]
            p, _ = model.predict(near, np.minimum(room, REACH))
            p[:, : len(SPECIAL)] = 1e-12
            said.append(np.log(p / p.sum(-1, keepdims=True)))
        return together(said[0], said[1], alone)

    return guess


def examined(guesses: dict[str, Guess], asked: Exam) -> dict[str, Any]:
    """Compare guesses, the first with each other one.

    Returns
    -------
    of each name, for each direction what `summary` gives; of the first also "minus" each other one.
    """
    found: dict[str, Any] = {name: {} for name in guesses}
    first, *others = guesses
    each = {name: in_all_directions(guess, asked) for name, guess in guesses.items()}
    for direction in DIRECTIONS:
        for name in guesses:
            found[name][direction] = summary(each[name][direction])
        for name in others:
            gap = difference(each[first][direction], each[name][direction])
            found.setdefault(f"{first} minus {name}", {})[direction] = gap
    return found


def in_all_directions(guess: Guess, asked: Exam) -> dict[str, Answered]:
    """Ask for all words, each question once; see `answered`."""
    parts: dict[str, list[Answered]] = {direction: [] for direction in DIRECTIONS}
    seen = 0
    for question, answers in asked:
        for direction, scores in guess(question).items():
            one = answered([(question, answers)], partial(_given, scores))
            parts[direction].append(Answered(one.values, one.inputs + seen))
        seen += len(question.ids)
    return {
        direction: Answered(*(np.concatenate(columns) for columns in zip(*some, strict=True)))
        for direction, some in parts.items()
    }


def _given(scores: NDArray[Any], question: Question) -> NDArray[Any]:
    return scores
