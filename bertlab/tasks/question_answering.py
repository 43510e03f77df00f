"""Extractive question answering: a long passage in overlapping windows, and where the answer is in each.

A passage that does not fit into the input with its question is read in windows, each with the whole question
before it. Here the stride is the *step* from one window to the next, as `doc_stride` of the original release.
What Hugging Face's tokenizers call stride is the overlap: the room for the passage less our step.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bertlab.tasks.squad import Question
from bertlab.text import Encoding, Inputs, WordPiece, pair_inputs

CLS = (0, 0)  # start and end where the answer is not in the window: both at [CLS]


@dataclass(frozen=True)
class Window:
    """A question and a stretch of its passage, as BERT reads them."""

    inputs: Inputs
    begin: int  # which piece of the passage is its first
    first: int  # at which position of the input that piece stands
    n_pieces: int  # how many pieces of the passage it has

    @property
    def end(self) -> int:
        """The piece of the passage that is the first one behind it."""
        return self.begin + self.n_pieces

    def labels(self, first: int, last: int) -> tuple[int, int]:
        """Positions of the first and the last piece of an answer; (0, 0), [CLS], unless it has them all.

        Parameters
        ----------
        first, last : pieces of the passage, `last` being part of the answer.
        """
        if self.begin <= first and last < self.end:
            return first - self.begin + self.first, last - self.begin + self.first
        return CLS


def passage_windows(
    question_ids: Sequence[int],
    passage_ids: Sequence[int],
    tokenizer: WordPiece,
    max_length: int = 384,
    step: int = 128,
) -> list[Window]:
    """Lay a passage out in windows behind its question: [CLS] question [SEP] stretch [SEP].

    Parameters
    ----------
    question_ids, passage_ids : pieces, as the tokenizer gives them. Neither is cut.
    tokenizer : has the ids of [CLS] and [SEP].
    max_length : most positions of a window, special tokens counted.
    step : pieces from the begin of a window to the begin of the next, not their overlap. The smaller, the
        more often a piece is read.

    Returns
    -------
    windows that together have every piece; one if all of the passage fits. The last one may be shorter.

    Raises
    ------
    ValueError
        If the passage has no piece, the question leaves no room, or `step` is below 1 or leaves pieces out
        between two windows.

    References
    ----------
    google-research/bert, run_squad.py, `max_seq_length` and `doc_stride`, whose values are the defaults.

    Examples
    --------
    >>> from bertlab.text import SPECIAL
    >>> windows = passage_windows([5] * 4, [6] * 20, WordPiece([*SPECIAL, "q", "p"]), max_length=17, step=5)
    >>> [(window.begin, window.end, window.labels(8, 11)) for window in windows]
    [(0, 10, (0, 0)), (5, 15, (9, 12)), (10, 20, (0, 0))]
    """
    n, room = len(passage_ids), max_length - len(question_ids) - 3  # [CLS], [SEP], [SEP]
    if not n:
        raise ValueError("the passage has 0 pieces: give one with words in it")
    if room < 1:
        raise ValueError(
            f"a question of {len(question_ids)} pieces leaves {room} of max_length={max_length} for the "
            "passage: shorten it, or choose a larger max_length"
        )
    if not step >= 1 or (step > room and n > room):
        raise ValueError(f"step={step} with room for {room} pieces of the passage: choose 1 to {room}")
    begins = range(0, max(n - room, 0) + step, step)  # up to the first window that reaches the end
    stretches = [(begin, passage_ids[begin : begin + room]) for begin in begins]
    first = len(question_ids) + 2
    return [
        Window(pair_inputs(question_ids, stretch, tokenizer, max_length), begin, first, len(stretch))
        for begin, stretch in stretches
    ]


def answer_pieces(offsets: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """Find the fewest pieces that cover a stretch of the text.

    A piece that is covered in part only is taken whole: "19" out of "1990s" may be the piece "1990".

    Parameters
    ----------
    offsets : of the text's pieces, as `WordPiece.encode` gives them.
    start, end : characters `text[start:end]`.

    Returns
    -------
    the first and the last one.

    Raises
    ------
    ValueError
        If no piece has a character of it, as of white space.

    Examples
    --------
    >>> answer_pieces([(0, 5), (6, 10), (10, 11)], 6, 11), answer_pieces([(0, 5), (6, 10), (10, 11)], 2, 7)
    ((1, 2), (0, 1))
    """
    first = int(np.searchsorted([piece_end for _, piece_end in offsets], start, side="right"))
    last = int(np.searchsorted([piece_start for piece_start, _ in offsets], end, side="left")) - 1
    if first > last:
        raise ValueError(f"no piece has a character of {start} to {end}: an answer must have a visible one")
    return first, last


def cut_answer(passage: str, offsets: Sequence[tuple[int, int]], first: int, last: int) -> str:
    """Cut out of the passage as it was written what some of its pieces stand for.

    Nothing is put together out of pieces: case, accents, white space and words that became [UNK] are those
    of the passage. Accents written as characters of their own, which an uncased model drops, go with the
    letter before them.

    Parameters
    ----------
    passage, offsets : the text and the places of its pieces in it, as `WordPiece.encode` gives them.
    first, last : pieces, both part of the answer.

    Examples
    --------
    >>> cut_answer("The Café  Noir", [(0, 3), (4, 8), (10, 14)], 1, 2)
    'Café  Noir'
    """
    end = offsets[last][1]
    limit = offsets[last + 1][0] if last + 1 < len(offsets) else len(passage)
    while end < limit and unicodedata.category(passage[end]).startswith("M"):
        end += 1
    return passage[offsets[first][0] : end]


@dataclass(frozen=True)
class WindowedQuestion:
    """A question with its passage in windows, and the places of the passage's pieces."""

    question: Question
    offsets: list[tuple[int, int]]
    windows: list[Window]

    def labels(self) -> list[tuple[int, int]]:
        """Start and end of the first gold answer in each window, as positions; (0, 0) where it is not whole.

        The first answer, as in the original release: in training data there is one. Without an answer, all
        are (0, 0).

        Raises
        ------
        ValueError
            If no piece has a character of the answer.
        """
        if not self.question.answers:
            return [CLS] * len(self.windows)
        answer = self.question.answers[0]
        pieces = answer_pieces(self.offsets, answer.start, answer.end)
        return [window.labels(*pieces) for window in self.windows]

    def cut(self, window: Window, start: int, end: int) -> str:
        """Cut the answer at two positions of a window, both part of it, out of the passage."""
        shift = window.begin - window.first
        return cut_answer(self.question.passage, self.offsets, start + shift, end + shift)


def windowed(
    questions: Iterable[Question], tokenizer: WordPiece, max_length: int = 384, step: int = 128
) -> list[WindowedQuestion]:
    """Put questions and passages into pieces and windows; a passage of several questions is cut up once.

    Parameters
    ----------
    questions : as `read_squad` gives them.
    tokenizer, max_length, step : as in `passage_windows`.

    Raises
    ------
    ValueError
        As in `passage_windows`; the sentence names the question.
    """
    passages: dict[str, Encoding] = {}
    found = []
    for question in questions:
        if question.passage not in passages:
            passages[question.passage] = tokenizer.encode(question.passage)
        passage, ids = passages[question.passage], tokenizer.encode(question.text).ids
        try:
            windows = passage_windows(ids, passage.ids, tokenizer, max_length, step)
        except ValueError as error:
            raise ValueError(f"question {question.id!r}: {error}") from None
        found.append(WindowedQuestion(question, passage.offsets, windows))
    return found
