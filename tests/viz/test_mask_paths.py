"""The drawn graph holds the paths that the mask allows, and no other."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch

from bertlab import viz
from bertlab.viz.mask_paths import reachable
from bertlab.viz.style import BLUE
from tests.viz.looking import overlapping

TOKENS = ["dog", "bites", "man", "<PAD>"]
CAUSAL = np.tril(np.ones((4, 4), bool))


def strong(fig) -> int:
    arrows = [patch for patch in fig.axes[0].patches if isinstance(patch, FancyArrowPatch)]
    return sum(patch.get_edgecolor() == mpl.colors.to_rgba(BLUE) for patch in arrows)


def crosses(fig) -> int:
    return sum(line.get_marker() == "x" for line in fig.axes[0].lines)


def test_what_reaches_an_output_is_what_a_product_of_the_masks_reaches(rng):
    steps = (rng.random((5, 5)) < 0.3) | np.eye(5, dtype=bool)
    paths = np.linalg.matrix_power(steps.astype(int), 3)  # how many, from each input to each output
    for output in range(5):
        np.testing.assert_array_equal(reachable(steps, output, 3)[0], paths[output] > 0)


def test_under_a_causal_mask_no_path_comes_from_the_right_however_deep():
    for depth in (1, 2, 6):
        assert reachable(CAUSAL, 1, depth).tolist() == [[True, True, False, False]] * depth + [
            [False, True, False, False]
        ]


def test_paths_to_the_output_are_strong_and_inputs_that_cannot_reach_it_crossed():
    fig = viz.mask_paths(CAUSAL, TOKENS, 1, "No path comes from the right")
    assert strong(fig) == 3 + 2  # first layer: to positions 0 and 1; second: to 1
    assert crosses(fig) == 2
    assert overlapping(fig) == []


def test_the_residual_connection_passes_by_a_mask_that_hides_the_diagonal():
    fig = viz.mask_paths(np.tril(CAUSAL, -1), TOKENS, 0, "Itself", n_layers=1)
    assert strong(fig) == 1
    assert crosses(fig) == 3


def test_paths_from_one_input_alone_go_through_the_neighbours_where_the_diagonal_is_closed():
    open_elsewhere = ~np.eye(4, dtype=bool)
    fig = viz.mask_paths(open_elsewhere, TOKENS, 2, "In two steps", source=2, residual=False)
    assert strong(fig) == 3 + 3  # to each neighbour, and back
    assert crosses(fig) == 0
    once = viz.mask_paths(open_elsewhere, TOKENS, 2, "In one step", n_layers=1, source=2, residual=False)
    assert strong(once) == 0


def test_an_input_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="output 1 and input 4 of 4 tokens"):
        viz.mask_paths(CAUSAL, TOKENS, 1, "None", source=4)


@pytest.mark.parametrize(("output", "layers"), [(4, 2), (-1, 2), (0, 0), (0, 5)])
def test_what_cannot_be_drawn_is_refused(output, layers):
    with pytest.raises(ValueError, match="give an output that is there"):
        viz.mask_paths(CAUSAL, TOKENS, output, "None", n_layers=layers)
