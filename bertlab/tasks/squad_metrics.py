"""Exact match and F1 of extractive question answering, by the rules of SQuAD's own evaluation script.

The script of version 2.0 is followed. On data of version 1.1 the two differ only where a gold answer is
nothing once normalised, such as "The": 1.1 gives an F1 of 0 even to the same answer, 2.0 drops it.

The rules are made for English, and their corners are part of them: only ASCII punctuation goes; articles go
within an answer too ("vitamin A" is "vitamin"); and where words are not written apart, as in Chinese, an
answer is one word, so that F1 hardly says more than exact match.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

ARTICLES = re.compile(r"\b(a|an|the)\b")
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise_answer(text: str) -> str:
    """Take away what should not decide whether two answers are the same.

    Parameters
    ----------
    text : an answer.

    Returns
    -------
    it in lower case, then without ASCII punctuation, then without English articles, words one space apart.

    References
    ----------
    Rajpurkar et al. 2016, sec. 6.1; `normalize_answer` of evaluate-v1.1.py and evaluate-v2.0.py.

    Examples
    --------
    >>> normalise_answer("The  U.S. dollar!"), normalise_answer("1,000,000"), normalise_answer("an A")
    ('us dollar', '1000000', '')
    """
    return " ".join(ARTICLES.sub(" ", text.lower().translate(NO_PUNCTUATION)).split())


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """Whether a prediction is one of the gold answers, both normalised.

    Parameters
    ----------
    prediction : "" says that the passage has no answer.
    answers : the gold answers; none for an unanswerable question.

    Returns
    -------
    1.0 or 0.0. Without a gold answer, or with such as are nothing once normalised, only nothing is right.

    References
    ----------
    `compute_exact` of evaluate-v2.0.py.

    Examples
    --------
    >>> exact_match("the Denver Broncos", ["Denver Broncos", "Broncos"]), exact_match("Denver", [])
    (1.0, 0.0)
    """
    return float(normalise_answer(prediction) in _gold(answers))


def f1(prediction: str, answers: Sequence[str]) -> float:
    """How much of a gold answer a prediction has in common with it, word by word; of several, the best.

    Parameters
    ----------
    prediction, answers : as in `exact_match`.

    Returns
    -------
    2PR / (P + R), from 0 to 1: P of the predicted words are in the gold answer, R of its words are predicted,
    each as often as it is in both. Where one side has no word, 1 if neither has and 0 otherwise.

    References
    ----------
    Rajpurkar et al. 2016, sec. 6.1; `compute_f1` of evaluate-v2.0.py.

    Examples
    --------
    >>> f1("Denver Broncos of Colorado", ["the Broncos", "the Denver Broncos"])  # P = 2/4, R = 2/2
    0.6666666666666666
    """
    predicted = normalise_answer(prediction).split()
    return max(_overlap(predicted, answer.split()) for answer in _gold(answers))


def _gold(answers: Sequence[str]) -> list[str]:
    """Gold answers as they are compared; nothing is the only one where there is no other."""
    return [normal for normal in map(normalise_answer, answers) if normal] or [""]


def _overlap(predicted: list[str], gold: list[str]) -> float:
    if not predicted or not gold:
        return float(predicted == gold)
    common = (Counter(predicted) & Counter(gold)).total()
    return 2 * common / (len(predicted) + len(gold))  # = 2PR / (P + R)


@dataclass(frozen=True, repr=False)
class SquadScores:
    """Scores of every question, in the order of the gold answers, and their means.

    Examples
    --------
    >>> squad_scores({"q1": "Broncos", "q2": ""}, {"q1": ["Denver Broncos"], "q2": []})
    exact match 0.500, F1 0.833 over 2 questions (1 of them unanswerable)
    """

    ids: tuple[str, ...]
    exact_each: np.ndarray  # (N,) 0 or 1
    f1_each: np.ndarray  # (N,) from 0 to 1
    answerable: np.ndarray  # (N,) bool: True where the passage has an answer

    @property
    def exact(self) -> float:
        """Share of the questions that were answered exactly, 0 to 1; the script gives per cent."""
        return float(self.exact_each.mean())

    @property
    def f1(self) -> float:
        """Mean F1 over the questions, 0 to 1; the script gives per cent."""
        return float(self.f1_each.mean())

    def __repr__(self) -> str:
        n, without = len(self.ids), int((~self.answerable).sum())
        of_them = f" ({without} of them unanswerable)" if without else ""
        return f"exact match {self.exact:.3f}, F1 {self.f1:.3f} over {n} questions{of_them}"


def squad_scores(predictions: Mapping[str, str], answers: Mapping[str, Sequence[str]]) -> SquadScores:
    """Score the predictions for a whole data set.

    Parameters
    ----------
    predictions : one for each question, by its id; "" says that there is no answer.
    answers : the gold answers of each question, by its id; none for an unanswerable one.

    Raises
    ------
    ValueError
        If there is no question, a question has no prediction, or a prediction belongs to no question. (The
        scripts go on: 1.1 counts a missing prediction as 0, 2.0 leaves the question out of the mean.)
    """
    if not answers:
        raise ValueError("there are 0 questions to score: give the gold answers of at least one")
    if missing := [one for one in answers if one not in predictions]:
        raise ValueError(
            f"{len(missing)} questions have no prediction, such as {missing[0]!r}: give '' for no answer"
        )
    if unknown := [one for one in predictions if one not in answers]:
        raise ValueError(
            f"{len(unknown)} predictions belong to no question, such as {unknown[0]!r}: give its gold answers"
        )
    pairs = [(predictions[one], gold) for one, gold in answers.items()]
    return SquadScores(
        tuple(answers),
        np.array([exact_match(prediction, gold) for prediction, gold in pairs]),
        np.array([f1(prediction, gold) for prediction, gold in pairs]),
        np.array([_gold(gold) != [""] for _, gold in pairs]),
    )
