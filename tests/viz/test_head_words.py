"""The words of the head view's still picture."""

from __future__ import annotations

import numpy as np

from bertlab.viz.head_words import between_said, chosen_said, heads_said, strongest_said


def test_heads_are_named_in_runs():
    assert heads_said(range(12)) == "heads 0–11"
    assert heads_said([0, 2, 3, 9]) == "heads 0, 2–3, 9"


def test_many_chosen_tokens_are_counted_few_are_named():
    labels = list("abcde")
    assert chosen_said(labels, labels, [], []) == "where each token looks"
    assert chosen_said(labels, labels, [], [], "word") == "where each word looks"
    assert chosen_said(labels, labels, [1, 3], []) == "where “b” and “d” look, summed over 2 tokens"
    assert chosen_said(labels, labels, [], [0, 1, 2, 3]) == "what looks at 4 tokens"
    assert chosen_said(labels, labels, [], [4], "word") == "what looks at “e”"


def test_tokens_that_cannot_be_seen_get_a_sign():
    assert chosen_said(["", "a"], ["a"], [0], []) == "where “∅” looks"
    assert between_said(["a", " "], ["a", " "]) == "within “a ␣”"


def test_of_a_long_sentence_the_beginning_is_said():
    said = between_said([str(i) for i in range(512)], ["end"])
    assert " 39 … (512 in all)” to “end”" in said
    assert len(said) < 200


def test_the_strongest_is_named_only_if_it_is_so_on_every_machine():
    weights = np.array([[0.5, 0.3, 0.2], [0.31, 0.3, 0.39]])
    labels = ["a", "b", "c"]
    assert strongest_said(weights, ["x", "y"], labels, [0], []) == "; most to “a”"
    assert strongest_said(weights, ["x", "y"], labels, [1], []) == "; most to “c”"
    assert strongest_said(weights, ["x", "y"], labels, [], [1]) == ""  # 0.3 and 0.3
    assert strongest_said(weights, ["x", "y"], labels, [], [0]) == "; most from “x”"
    assert strongest_said(0 * weights, ["x", "y"], labels, [0], []) == ""
