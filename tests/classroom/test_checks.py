"""Claims about how exercises are checked."""

from __future__ import annotations

import numpy as np
import torch

from bertlab.classroom.checks import close, exercise, expect


@exercise("Exercise 1")
def check_sum(add) -> None:
    expect(close(add([1, 2]), 3), "the sum of 1 and 2 is 3: add all the parts")


def test_a_right_answer_is_called_right(capsys):
    check_sum(sum)
    assert capsys.readouterr().out == "✓ Exercise 1: right.\n"


def test_a_wrong_answer_is_told_what_is_wrong(capsys):
    check_sum(max)
    assert capsys.readouterr().out == "✗ Exercise 1: the sum of 1 and 2 is 3: add all the parts\n"


def test_a_stub_is_not_tried_yet(capsys):
    for stub in (lambda parts: ..., lambda parts: None, ..., None):
        check_sum(stub)
        assert capsys.readouterr().out == "○ Exercise 1: not tried yet.\n"


def test_an_error_in_the_answer_is_shown_and_does_not_stop_the_notebook(capsys):
    check_sum(lambda parts: parts[5])
    assert "stopped with IndexError: list index out of range" in capsys.readouterr().out


def test_close_compares_shapes_too():
    assert close(torch.tensor([1.0, 2.0]), np.array([1.0, 2.0]))
    assert not close([1.0], 1.0)
    assert not close([1.0, float("nan")], [1.0, float("nan")])
    assert not close([1.0, 2.1], [1.0, 2.0])
