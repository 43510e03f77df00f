"""Names at the ends of lines: apart from each other, in order, near their line."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bertlab.viz.labels import spread_apart

labels = st.lists(st.tuples(st.floats(-1, 1), st.floats(0.01, 0.3)), min_size=1, max_size=7)


@given(labels)
def test_no_two_labels_overlap_and_their_order_is_kept(pairs):
    wanted, heights = np.array(pairs).T
    placed = spread_apart(wanted, heights)
    order = np.argsort(wanted, kind="stable")
    lower, upper = order[:-1], order[1:]
    assert (placed[upper] - placed[lower] >= (heights[upper] + heights[lower]) / 2 - 1e-9).all()


@given(labels)
def test_the_labels_together_stay_where_they_wanted_to_be(pairs):
    wanted, heights = np.array(pairs).T
    np.testing.assert_allclose(spread_apart(wanted, heights).mean(), wanted.mean(), atol=1e-9)


def test_labels_with_room_enough_stay_exactly():
    np.testing.assert_allclose(spread_apart([0.9, 0.1, 0.5], [0.2, 0.2, 0.2]), [0.9, 0.1, 0.5])
