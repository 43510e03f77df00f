"""Questions about passages in SQuAD's JSON form: read, checked, and split by article."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from bertlab import datasets

T = TypeVar("T")
FORM = "SQuAD's form is data, paragraphs, qas, answers, one inside the other"
CALLED = {list: "a list", str: "a string", int: "a whole number"}


@dataclass(frozen=True)
class Answer:
    """What somebody marked in a passage."""

    text: str
    start: int  # its first character in the passage, counted in code points

    @property
    def end(self) -> int:
        """The character behind its last one."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class Question:
    """A question about a passage, and the answers that people gave."""

    id: str
    text: str
    passage: str
    answers: tuple[Answer, ...] = ()  # none: the passage does not say (SQuAD 2.0), or nobody was asked
    article: int = 0  # which article of the file the passage is from


def read_squad(path: str | Path) -> list[Question]:
    """Read a file in the form of SQuAD 1.1, or of 2.0 with its unanswerable questions.

    Parameters
    ----------
    path : a JSON file. Where a 2.0 file has plausible but wrong answers, they are left out.

    Returns
    -------
    the questions in the order of the file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no JSON or holds no question; if a key is missing, its value of another kind, or an id is
        there twice; if an answer does not stand where its `answer_start` says; or if a question has no
        answer, unless it says `is_impossible`, as 2.0 does. The sentence names the place.

    References
    ----------
    Rajpurkar et al. 2016 (SQuAD 1.1); Rajpurkar, Jia and Liang 2018 (2.0).
    """
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path.name} cannot be read as JSON in UTF-8 ({error}): {FORM}") from None
    questions = list(_questions(content, path.name))
    if not questions:
        raise ValueError(f"{path.name} holds no question: {FORM}")
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise ValueError(f"{path.name} has two questions with the id {question.id!r}: make ids unique")
        seen.add(question.id)
    return questions


def read_xquad(language: str = "en") -> list[Question]:
    """Read XQuAD: 1,190 questions on 48 articles of SQuAD 1.1, the same ones in each language.

    Parameters
    ----------
    language : "en", "de" or "zh".

    Raises
    ------
    bertlab.datasets.UnknownName
        If it is in no such language.
    bertlab.datasets.DataUnavailable
        If it is not on this machine and cannot be fetched.

    References
    ----------
    Artetxe, Ruder and Yogatama 2020, sec. 4.
    """
    return read_squad(datasets.load("xquad").path(f"xquad.{language}.json"))


def gold_answers(questions: Iterable[Question]) -> dict[str, list[str]]:
    """Answers of each question by its id, as `squad_scores` compares with.

    Examples
    --------
    >>> gold_answers([Question("q1", "Who?", "Ada.", (Answer("Ada", 0),)), Question("q2", "When?", "Ada.")])
    {'q1': ['Ada'], 'q2': []}
    """
    return {question.id: [answer.text for answer in question.answers] for question in questions}


def split_by_article(
    questions: Sequence[Question], shares: Sequence[float], rng: np.random.Generator
) -> list[list[Question]]:
    """Split questions so that no article is in two parts; else a model is tested on passages it has learnt.

    Parameters
    ----------
    questions : of several articles.
    shares : what part of the *articles* each part gets, such as (0.8, 0.2); their sum is 1.
    rng : draws the articles. One seed gives the same articles in every language of XQuAD.

    Returns
    -------
    one list a share, each in the order of `questions`.

    Raises
    ------
    ValueError
        If a share is not positive, their sum is not 1, or a part would get no article.

    Examples
    --------
    >>> questions = [Question(f"{n}", "Why?", "So.", article=n // 2) for n in range(10)]
    >>> rest, held_out = split_by_article(questions, (0.6, 0.4), np.random.default_rng(0))
    >>> [question.article for question in rest], [question.article for question in held_out]
    ([2, 2, 3, 3, 4, 4], [0, 0, 1, 1])
    """
    if not shares or min(shares) <= 0 or abs(sum(shares) - 1) > 1e-9:
        raise ValueError(f"shares={tuple(shares)}: give positive numbers whose sum is 1")
    articles = rng.permutation(sorted({question.article for question in questions}))
    bounds = np.round(np.cumsum(shares) * len(articles)).astype(int)
    parts = [set(part.tolist()) for part in np.split(articles, bounds[:-1])]
    if not all(parts):
        sizes = tuple(map(len, parts))
        raise ValueError(
            f"shares={tuple(shares)} give {sizes} of {len(articles)} articles: make the smallest larger"
        )
    return [[question for question in questions if question.article in part] for part in parts]


def _questions(content: object, where: str) -> Iterator[Question]:
    for a, article in enumerate(_field(content, "data", list, where)):
        in_article = f"{where}, data[{a}]"
        for p, paragraph in enumerate(_field(article, "paragraphs", list, in_article)):
            in_paragraph = f"{in_article}.paragraphs[{p}]"
            passage = _field(paragraph, "context", str, in_paragraph)
            for q, entry in enumerate(_field(paragraph, "qas", list, in_paragraph)):
                yield _question(entry, passage, a, f"{in_paragraph}.qas[{q}]")


def _question(entry: object, passage: str, article: int, where: str) -> Question:
    identity, text = _field(entry, "id", str, where), _field(entry, "question", str, where)
    records = _field(entry, "answers", list, where)
    answers = tuple(_answer(one, passage, f"{where}.answers[{n}]") for n, one in enumerate(records))
    impossible = isinstance(entry, dict) and entry.get("is_impossible", False)
    if impossible is not (not answers):
        raise ValueError(
            f"{where}: {len(answers)} answers and is_impossible={impossible!r}: "
            "an answerable question has answers, one that says is_impossible: true has none"
        )
    return Question(identity, text, passage, answers, article)


def _answer(record: object, passage: str, where: str) -> Answer:
    answer = Answer(_field(record, "text", str, where), _field(record, "answer_start", int, where))
    if not answer.text:
        raise ValueError(
            f"{where}: the answer is empty: leave it out, and say is_impossible where there is none"
        )
    found = passage[answer.start : answer.end] if answer.start >= 0 else ""
    if found != answer.text:
        place = passage.find(answer.text)
        it = "nowhere in the passage" if place < 0 else f"at {place}: count its characters, not bytes"
        raise ValueError(
            f"{where}: answer_start={answer.start} does not fit the answer {answer.text!r}: "
            f"the passage has {found!r} there, and the answer is {it}"
        )
    return answer


def _field(record: object, key: str, kind: type[T], where: str) -> T:
    """Value of a key, of the kind that it must have."""
    if not isinstance(record, dict) or key not in record:
        raise ValueError(f"{where}: {key!r} is missing: {FORM}")
    value = record[key]
    if type(value) is not kind:  # not isinstance, to which true is an int
        raise ValueError(f"{where}: {key!r} is {value!r:.60}: give {CALLED[kind]}")
    return value
