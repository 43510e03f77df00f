"""Each check of notebook 00 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.classroom.start_here import check_by_hand, check_cosine, check_misleading

RIVER, MONEY = {"money": 0.81, "river": 0.90}, {"money": 0.90, "river": 0.84}


SHOWN = ["The boat was tied to the bank."]


def misleading(answer) -> None:
    sentence, likeness = answer if isinstance(answer, tuple) else (answer, None)
    check_misleading(sentence, lambda _: likeness, SHOWN)


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


def cosine(a, b):
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    return a @ b / lengths if lengths else 0.0


def test_the_right_answers_pass(capsys):
    assert said(check_by_hand, 24 / 25, capsys).startswith("✓")
    assert said(check_cosine, cosine, capsys).startswith("✓")
    assert said(misleading, ("We left our boat at the bank.", MONEY), capsys).startswith("✓")


@pytest.mark.parametrize("check", [check_by_hand, check_cosine, misleading])
def test_a_stub_is_not_tried_yet(check, capsys):
    assert said(check, ..., capsys).startswith("○")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (24, "the sum of products"),
        (24 / 5, "by one length"),
        (2**0.5, "the distance between the points"),
        (7 / 25, "first number by first"),
        (25, "is no cosine"),
        (0.5, "0.5 is not it"),
        ([0.96, 0.96], "one number"),
    ],
)
def test_each_mistake_with_the_pencil_has_its_sentence(answer, sentence, capsys):
    told = said(check_by_hand, answer, capsys)
    assert told.startswith("✗")
    assert sentence in told


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda a, b: a @ b, "the sum of products"),
        (lambda a, b: a @ b / np.linalg.norm(a), "one of the lengths"),
        (lambda a, b: a @ b / np.linalg.norm(b), "one of the lengths"),
        (lambda a, b: a @ b / (a @ a) / (b @ b), "squares of the lengths"),
        (lambda a, b: np.linalg.norm(a - b), "this is a distance"),
        (lambda a, b: 1 - cosine(a, b), "one minus the cosine"),
        (lambda a, b: a * b / np.linalg.norm(a) / np.linalg.norm(b), "one number"),
        (lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b), "gives NaN"),
        (lambda a, b: cosine(a, b) if a.any() else 1.0, "has no direction"),
        (lambda a, b: 0.3, "are not right"),
    ],
)
def test_each_mistake_in_the_function_has_its_sentence(wrong, sentence, capsys):
    told = said(check_cosine, wrong, capsys)
    assert told.startswith("✗")
    assert sentence in told


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (("We rested on the bank of the river.", RIVER), "read it rightly (money 0.81, river 0.90)"),
        (("We left our boat at the shore.", MONEY), "is not in your sentence"),
        (("We left our boat between its banks.", MONEY), "bank, not banks"),
        (("The boat was tied to the bank!", MONEY), "one of your own"),
        (("From bank to bank he swam.", MONEY), "more than once"),
        (("On the bank.", MONEY), "3 words are too few"),
        ((3, MONEY), "as a string"),
    ],
)
def test_a_sentence_that_does_not_mislead_is_told_why(answer, sentence, capsys):
    told = said(misleading, answer, capsys)
    assert told.startswith("✗")
    assert sentence in told
