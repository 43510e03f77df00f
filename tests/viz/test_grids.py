"""Matrices with their numbers: what is in the array is in the picture, in its place."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab import viz
from bertlab.viz.style import number

TITLE = "A row of the output is a mixture of the values"


def texts(fig):
    return [text.get_text() for text in fig.axes[0].texts]


def test_every_number_stands_in_a_cell_once_with_names_operators_and_shapes():
    q, k = np.array([[1.0, 0.0], [0.5, 2.0], [-1.25, 3.0]]), np.array([[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    fig = viz.matrices(
        [viz.Matrix("Q", q, rows=["a", "b", "c"]), "·", viz.Matrix("K", k), "="],
        [viz.Matrix("scores", q @ k)],
        title=TITLE,
    )
    said = texts(fig)
    assert len(fig.axes[0].collections) == 3
    for expected in ("Q", "·", "K", "=", "scores", "3 × 2", "2 × 3", "3 × 3", "a", "b", "c", "−1.25"):
        assert said.count(expected) == 1, expected
    for value in (q @ k).ravel():
        assert number(float(value)) in said


def test_rows_run_down_and_columns_to_the_right():
    fig = viz.matrices([viz.Matrix("M", [[1, 2], [3, 4]])], title=TITLE)
    place = {text.get_text(): text.get_position() for text in fig.axes[0].texts}
    assert place["1"][0] == place["3"][0] < place["2"][0] == place["4"][0]
    assert place["1"][1] == place["2"][1] > place["3"][1] == place["4"][1]


def test_D38_labels_of_rows_and_columns_are_text():
    matrix = viz.Matrix("$M$", [[1, 2]], rows=["$r$"], columns=["<b>", "$c$"])
    fig = viz.matrices([matrix], title=TITLE)
    fig.draw_without_rendering()
    labels = {text.get_text(): text for text in fig.axes[0].texts}
    assert not any(labels[name].get_parse_math() for name in ("$M$", "$r$", "<b>", "$c$"))


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (viz.Matrix("v", [1.0, 2.0]), "give it two dimensions"),
        (viz.Matrix("M", [[1.0, 2.0]], rows=["a", "b"]), "1 rows but 2 labels"),
        (viz.Matrix("M", [[1.0, 2.0]], columns=["a"]), "2 columns but 1 labels"),
    ],
)
def test_what_is_no_matrix_or_has_other_labels_is_refused(matrix, said):
    with pytest.raises(ValueError, match=said):
        viz.matrices([matrix], title=TITLE)
