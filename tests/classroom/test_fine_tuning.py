"""Each check of notebook 10 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.classroom.fine_tuning import check_best_span, check_entity_f1, check_new_numbers
from bertlab.tasks.best_span import best_spans
from bertlab.tasks.bio import find_entities
from bertlab.tasks.entity_metrics import entity_scores


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


NUMBERS = {
    "a bias for each of its outputs": [1536, 2304, 1536, 6912],
    "how many outputs there are": [2, 3, 2, 9],
    "the pooler is not new": [1538 + 590_592, 2307 + 590_592, 1538, 6921],
    "one output could tell": [769, 2307, 1538, 6921],
    "a pair is one input": [1538, 3 * 1537, 1538, 6921],
    "at all 512 positions": [1538, 2307, 512 * 769, 6921],
    "leave out O, and B and I": [1538, 2307, 1538, 4 * 769],
    "has a label B and a label I": [1538, 2307, 1538, 5 * 769],
    "O is the ninth": [1538, 2307, 1538, 8 * 769],
    "1000 for start and end?": [1538, 2307, 1000, 6921],
    "write a list of four numbers, without": {"a": 1},
    "shape (1,)": [1538],
    "not tried yet": ...,
    "right.": [1538, 2307, 1538, 6921],
}


@pytest.mark.parametrize("sentence", NUMBERS)
def test_exercise_1_names_the_mistake(sentence, capsys):
    assert sentence in said(check_new_numbers, NUMBERS[sentence], capsys)


def span(
    start,
    end,
    first,
    most,
    joined=lambda a, b: a + b,
    last=lambda i, T, most: min(i + most, T),
    low=lambda first: first,
    answer=lambda i, j, first: (i, j),
):
    T = len(start)
    pairs = [(i, j) for i in range(low(first), T) for j in range(i, last(i, T, most))]
    i, j = max(pairs, key=lambda pair: joined(start[pair[0]], end[pair[1]]))
    return answer(i, j, first)


def variant(**others):
    return lambda start, end, first, most: span(start, end, first, most, **others)


def apart(start, end, first, most):
    return first + int(start[first:].argmax()), first + int(end[first:].argmax())


def in_place(start, end, first, most):
    start[:first] = -np.inf
    return span(start, end, first, most)


def of_the_library(start, end, first, most):
    (best,) = best_spans(start, end, first, len(start) - first, most)
    return best.start, best.end


SPANS = {
    "ends before it begins": apart,
    "is part of the answer": variant(answer=lambda i, j, first: (i, j + 1)),
    "not from that of the passage": variant(answer=lambda i, j, first: (i - first, j - first)),
    "position 1 is in the question": variant(low=lambda first: 0),
    "is their *sum*": variant(joined=lambda a, b: a * b),
    "six pieces, though four": variant(last=lambda i, T, most: T),
    "count both ends": variant(last=lambda i, T, most: min(i + most + 1, T)),
    "in place": in_place,
    "return two positions": lambda *given: 3,
    "whole numbers": variant(answer=lambda i, j, first: (i + 0.5, j)),
    "of scores": variant(joined=lambda a, b: a + 0.9 * b),
    "not tried yet": lambda *given: ...,
}


@pytest.mark.parametrize("sentence", SPANS)
def test_exercise_2_names_the_mistake(sentence, capsys):
    assert sentence in said(check_best_span, SPANS[sentence], capsys)


@pytest.mark.parametrize("right", [span, of_the_library])
def test_exercise_2_lets_the_right_span_pass(right, capsys):
    assert "right." in said(check_best_span, right, capsys)


def counted(gold, predicted, read=find_entities, key=lambda i, one: (i, *one)):
    """2 · right / (gold + predicted), of all that is in both."""
    theirs, ours = (
        {key(i, one) for i, labels in enumerate(some) for one in read(labels)} for some in (gold, predicted)
    )
    total = len(theirs) + len(ours)
    return 2 * len(theirs & ours) / total if total else 0.0


def by_words(gold, predicted):
    pairs = [pair for a, b in zip(gold, predicted, strict=True) for pair in zip(a, b, strict=True)]
    right = sum(a == b != "O" for a, b in pairs)
    return 2 * right / max(sum(a != "O" for a, _ in pairs) + sum(b != "O" for _, b in pairs), 1)


def accuracy(gold, predicted):
    pairs = [pair for a, b in zip(gold, predicted, strict=True) for pair in zip(a, b, strict=True)]
    return sum(a == b for a, b in pairs) / len(pairs)


def joins_neighbours(labels):
    """Reads B as if it were I where the type goes on."""
    same = [
        f"I{label[1:]}" if i and label[1:] and label[1:] == labels[i - 1][1:] else label
        for i, label in enumerate(labels)
    ]
    return find_entities(same)


def ignores_the_type_of_i(labels):
    fixed = list(labels)
    for i in range(1, len(labels)):
        if labels[i][0] == "I" and fixed[i - 1] != "O":
            fixed[i] = f"I{fixed[i - 1][1:]}"
    return find_entities(fixed)


def strictly(labels):
    return find_entities(labels, "strict")


def overall(name):
    return lambda gold, predicted: getattr(entity_scores(gold, predicted).overall, name)


ENTITIES = {
    "the share of right words": accuracy,
    "F1 over words": by_words,
    "found in part": lambda gold, said: counted(gold, said, key=lambda i, one: (i, one.kind, one.start)),
    "compare the type": lambda gold, said: counted(gold, said, key=lambda i, one: (i, one.start, one.end)),
    "a B begins a new one": lambda gold, said: counted(gold, said, read=joins_neighbours),
    "an I of another type begins": lambda gold, said: counted(gold, said, read=ignores_the_type_of_i),
    "as conlleval reads it": lambda gold, said: counted(gold, said, read=strictly),
    "that is recall": overall("recall"),
    "that is precision": overall("precision"),
    "throw all into one set": lambda gold, said: counted(gold, said, key=lambda i, one: one),
    "the mean of the sentences": lambda gold, said: float(
        np.mean([counted([a], [b]) for a, b in zip(gold, said, strict=True)])
    ),
    "ZeroDivisionError": lambda gold, said: (
        counted(gold, said) if any(map(find_entities, [*gold, *said])) else 1 / 0
    ),
    "one number from 0 to 1": lambda gold, said: [counted(gold, said)],
    "conlleval says 0 there": lambda gold, said: (
        counted(gold, said) if any(map(find_entities, [*gold, *said])) else 1.0
    ),
    "not tried yet": lambda gold, said: ...,
}


@pytest.mark.parametrize("sentence", ENTITIES)
def test_exercise_3_names_the_mistake(sentence, capsys):
    assert sentence in said(check_entity_f1, ENTITIES[sentence], capsys)


@pytest.mark.parametrize("right", [counted, overall("f1")])
def test_exercise_3_lets_right_answers_pass(right, capsys):
    assert "right." in said(check_entity_f1, right, capsys)
