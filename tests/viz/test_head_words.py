"""The words of the head view's still picture."""

from __future__ import annotations

import numpy as np

from bertlab.viz.head_words import (
    between_said,
    chosen_said,
    dashes_said,
    heads_said,
    hidden_said,
    lines_said,
    share_said,
    strongest_said,
)


def test_heads_are_named_in_runs():
    assert heads_said(range(12)) == "heads 0–11"
    assert heads_said([0, 2, 3, 9]) == "heads 0, 2–3, 9"


def test_many_chosen_tokens_are_counted_few_are_named():
    labels = [f"“{letter}”" for letter in "abcde"]
    assert chosen_said(labels, labels, [], []) == "where each token looks"
    assert chosen_said(labels, labels, [], [], "word") == "where each word looks"
    assert chosen_said(labels, labels, [1, 3], []) == "where “b” and “d” look, summed over 2 tokens"
    assert chosen_said(labels, labels, [], [0, 1, 2, 3]) == "what looks at 4 tokens"
    assert chosen_said(labels, labels, [], [4], "word") == "what looks at “e”"


def test_tokens_that_cannot_be_seen_get_a_sign():
    assert between_said(["a", " "], ["a", " "]) == "within “a ␣”"


def test_of_a_long_sentence_the_beginning_is_said():
    said = between_said([str(i) for i in range(512)], ["end"])
    assert " 39 … (512 in all)” to “end”" in said
    assert len(said) < 200


def test_the_strongest_is_named_only_if_it_is_so_on_every_machine():
    weights = np.array([[0.5, 0.3, 0.2], [0.31, 0.3, 0.39]])
    labels = ["“a”", "“b”", "“c”"]
    assert strongest_said(weights, ["x", "y"], labels, [0], []) == "; most to “a”"
    assert strongest_said(weights, ["x", "y"], labels, [1], []) == "; most to “c”"
    assert strongest_said(weights, ["x", "y"], labels, [], [1]) == ""  # 0.3 and 0.3
    assert strongest_said(weights, ["“x”", "“y”"], labels, [], [0]) == "; most from “x”"
    assert strongest_said(0 * weights, ["x", "y"], labels, [0], []) == ""


def test_tokens_of_another_sentence_are_named_with_what_shows_them():
    said = "“a” and “b” stand in sentence A and are not shown: A→A or B→A shows them."
    assert hidden_said(["“a”", "“b”"], 1, "B") == said


def test_heads_of_one_colour_are_said_to_differ_in_dashes():
    assert dashes_said(8) == ""
    assert dashes_said(9) == "Lines of head 8 are dashed."
    assert dashes_said(16) == "Lines of heads 8–15 are dashed."


def test_no_line_is_explained_by_the_largest_weight_which_is_never_rounded_up():
    assert lines_said(0, 0.9, 0.89996) == "0 lines: no weight reaches 0.9, the largest is 0.899."
    assert lines_said(0, 0.9, 0.0) == "0 lines; those under 0.9 are not drawn."


def test_what_a_part_leaves_out_is_computed():
    given = np.array([0.3, 0.2, 0.35, 0.15])
    placed = [f"“t” (token {i})" for i in range(4)]
    said = "0.35 of 1 is shown; most of the rest goes to “t” (token 0)."
    assert share_said(np.array([0.5, 0.05, 0.35, 0.1]), 2, 3, placed, "goes to") == said
    assert share_said(given, 2, 3, placed, "comes from") == (
        "0.35 of 1 is shown; of the rest, 0.3 comes from “t” (token 0)."
    )
    assert share_said(given, 0, 4, placed, "goes to") == ""
