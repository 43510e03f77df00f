"""The two columns of tokens of a still picture: which part of a long sentence, and where things stand."""

from __future__ import annotations

import numpy as np

from bertlab.viz.head_selection import rows_of
from bertlab.viz.token_columns import MOST_ROWS, columns, drawn_said, parts

LONG = [f"t{i}" for i in range(512)]


def texts(sheet):
    return [text.get_text() for text in sheet.ax.texts]


def test_a_short_sentence_is_drawn_whole():
    both = parts(np.zeros((3, 3)), ["a", "b", "c"], ["a", "b", "c"], ([], [1]))
    assert [(part.start, part.stop, part.chosen) for part in both] == [(0, 3, []), (0, 3, [1])]
    assert [part.lead for part in both] == [[0, 1, 2], [1]]


def test_of_a_long_sentence_what_is_around_the_chosen_token_is_drawn_and_the_title_says_so():
    weights = np.zeros((512, 512))
    for chosen, start in ((100, 80), (0, 0), (511, 472)):
        both = parts(weights, LONG, LONG, ([chosen], []))
        assert [(part.start, part.stop) for part in both] == [(start, start + MOST_ROWS)] * 2
        assert both[0].chosen == [chosen]
        sheet = columns("Title", both, 0.0, "foot")
        said = f" (tokens {start}–{start + MOST_ROWS - 1} of 512, counted from 0)"
        assert drawn_said(both, (rows_of(LONG), rows_of(LONG))) == said
        assert texts(sheet).count(f"t{chosen}") == 2


def test_the_other_sentence_shows_where_most_of_the_weight_goes():
    weights = np.zeros((5, 512))
    weights[2, 300] = weights[1, 40] = 0.5
    both = parts(weights, list("abcde"), LONG, ([2], []))
    assert (both[0].start, both[0].stop) == (0, 5)
    assert both[1].start <= 300 < both[1].stop
    both = parts(weights.T, LONG, list("abcde"), ([], [1]))
    assert both[0].start <= 40 < both[0].stop


def test_chosen_tokens_are_bold_and_the_others_of_their_column_step_back():
    both = parts(np.zeros((3, 3)), ["a", "b", "c"], ["d", "e", "f"], ([1], []))
    sheet = columns("Title", both, 1.0, "")
    weights = {text.get_text(): text.get_fontweight() for text in sheet.ax.texts}
    colours = {text.get_text(): text.get_color() for text in sheet.ax.texts}
    assert [weights[name] for name in "abcdef"] == ["normal", "bold", *["normal"] * 4]
    assert colours["a"] == colours["c"] != colours["b"] == colours["d"]


def test_a_strip_has_room_beside_the_other_column_only():
    plain = columns("T", parts(np.zeros((1, 1)), ["a"], ["b"], ([], [])), 2.0, "")
    right = columns("T", parts(np.zeros((1, 1)), ["a"], ["b"], ([0], [])), 2.0, "")
    left = columns("T", parts(np.zeros((1, 1)), ["a"], ["b"], ([], [0])), 2.0, "")
    assert (right.left, round(plain.right - right.right, 6)) == (plain.left, 2)
    assert (round(left.left - plain.left, 6), left.right) == (2, plain.right)


def test_tokens_are_no_formula_and_long_ones_are_cut():
    tokens = ["$x^2$", "Donaudampfschifffahrtsgesellschaft", ""]
    sheet = columns("$a$ and $b$", parts(np.zeros((3, 3)), tokens, tokens, ([], [])), 0.0, "$c$")
    sheet.ax.figure.draw_without_rendering()
    assert not any(text.get_parse_math() for text in [*sheet.ax.texts, sheet.ax.figure.texts[0]])
    assert "$x^2$" in texts(sheet)
    assert "∅" in texts(sheet)
    assert any(text.startswith("Donaudampf") and text.endswith("…") for text in texts(sheet))
    assert sheet.left < 2


def test_nothing_to_draw_is_drawn():
    both = parts(np.zeros((0, 3)), [], ["a", "b", "c"], ([], []))
    assert "looks (query)" in texts(columns("Nothing", both, 0.0, ""))
