"""Masks of other conventions, to ours and back, in both wings; and masks that apply together."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.wing import Wing

Masks = arrays(np.bool_, st.tuples(st.integers(1, 2), st.just(1), st.integers(0, 3), st.integers(0, 3)))
MASK = np.array([[True, False, True], [True, True, False]])


def test_true_means_hidden_on_the_other_side(wing: Wing) -> None:
    np.testing.assert_array_equal(wing.to_hidden_mask(MASK), [[0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(wing.from_hidden_mask(MASK), [[0, 1, 0], [0, 0, 1]])


def test_an_added_mask_is_zero_where_one_may_attend_and_as_low_as_can_be_elsewhere(wing: Wing) -> None:
    inf = -np.inf
    np.testing.assert_array_equal(wing.to_additive_mask(MASK), [[0, inf, 0], [0, 0, inf]])
    lowest = wing.to_additive_mask(MASK, finite=True)
    np.testing.assert_array_equal(lowest == 0, MASK)
    assert (lowest[~MASK] == np.finfo(lowest.dtype).min).all()


@settings(max_examples=25)
@given(mask=Masks)
def test_every_mask_comes_back_from_the_other_conventions(wing: Wing, mask: np.ndarray) -> None:
    np.testing.assert_array_equal(wing.from_hidden_mask(wing.to_hidden_mask(mask)), mask)
    for finite in (True, False):
        additive = wing.to_additive_mask(mask, finite=finite)
        assert additive.shape == mask.shape
        np.testing.assert_array_equal(wing.from_additive_mask(additive), mask)


@pytest.mark.parametrize(
    "hidden", [-1e3, -1e4, -1e9, np.finfo(np.float32).min, np.finfo(np.float16).min, -np.inf]
)
def test_every_low_number_in_use_hides(wing: Wing, hidden: float) -> None:
    np.testing.assert_array_equal(wing.from_additive_mask(np.array([0.0, -0.0, hidden])), [True, True, False])


def test_scores_with_an_added_mask_have_the_weights_of_ours(wing: Wing, rng: np.random.Generator) -> None:
    scores, mask = rng.normal(size=(2, 3, 4, 5)), rng.random((2, 1, 4, 5)) < 0.6
    mask[..., 0] = True  # a row that sees nothing would be NaN
    added = wing.softmax(scores + wing.to_additive_mask(mask))
    np.testing.assert_allclose(wing.masked_softmax(scores, mask), added, atol=1e-12)


def test_a_row_that_sees_nothing_differs_in_all_three(wing: Wing) -> None:
    scores, mask = np.array([[1.0, 2.0]]), np.array([[False, False]])
    np.testing.assert_array_equal(wing.masked_softmax(scores, mask), [[0, 0]])
    lowest = np.asarray(wing.to_additive_mask(mask, finite=True), dtype=np.float64)
    np.testing.assert_allclose(wing.softmax(scores + lowest), [[0.5, 0.5]])  # reads what is hidden
    with np.errstate(invalid="ignore"):
        assert np.isnan(wing.softmax(scores + wing.to_additive_mask(mask))).all()


REFUSED = {
    "numbers as ours to hidden": ("to_hidden_mask", np.ones(2), "from 0/1 by mask != 0"),
    "numbers as ours to added": ("to_additive_mask", np.ones(2, dtype=int), "int64"),
    "an added mask taken for hidden": ("from_hidden_mask", np.zeros(2), "from_additive_mask"),
    "zeros and ones taken for hidden": ("from_hidden_mask", np.zeros(2, dtype=int), "hidden != 0"),
    "booleans taken for added": ("from_additive_mask", np.ones(2, dtype=bool), "from_hidden_mask"),
    "integers taken for added": ("from_additive_mask", np.zeros(2, dtype=int), "int64"),
    "0 and 1 taken for added": ("from_additive_mask", np.array([0.0, 1.0]), "1.0 in an additive mask"),
    "a bias taken for a mask": ("from_additive_mask", np.array([0.0, -999.0]), "-999.0 in an additive mask"),
    "NaN taken for added": ("from_additive_mask", np.array([np.nan]), "nan in an additive mask"),
    "+inf taken for added": ("from_additive_mask", np.array([np.inf]), "inf in an additive mask"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_mask_of_another_kind_is_refused_in_one_sentence(wing: Wing, mistake: str) -> None:
    function, mask, named = REFUSED[mistake]
    with pytest.raises(ValueError, match=rf"^[^\n]*{re.escape(named)}[^\n]*$"):
        getattr(wing, function)(mask)


def test_what_one_mask_hides_is_hidden(wing: Wing) -> None:
    ids = np.array([[5, 6, 0, 7], [0, 5, 6, 0]])
    both = wing.combine_masks(wing.padding_mask(ids), wing.causal_mask(4))
    assert both.shape == (2, 1, 4, 4)
    for b, query, key in np.ndindex(2, 4, 4):
        assert both[b, 0, query, key] == (ids[b, key] != 0 and key <= query)


def test_no_mask_hides_nothing(wing: Wing) -> None:
    assert wing.combine_masks() is None
    assert wing.combine_masks(None, None) is None
    np.testing.assert_array_equal(wing.combine_masks(None, MASK, None), MASK)


def test_masks_are_combined_without_being_changed(wing: Wing) -> None:
    one, other = MASK.copy(), ~MASK
    assert not wing.combine_masks(one, other, MASK).any()
    np.testing.assert_array_equal(one, MASK)


@pytest.mark.parametrize(
    ("masks", "named"),
    [
        ((MASK, np.zeros((2, 3))), "float64"),
        ((np.ones((2, 2), dtype=bool), MASK), "(2, 2), (2, 3)"),
    ],
)
def test_masks_that_cannot_be_combined_are_refused(wing: Wing, masks: Any, named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        wing.combine_masks(*masks)
