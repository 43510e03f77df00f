"""`bertlab.nn.masking` against the reference, and its promise in every floating dtype."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn.masking import causal_mask, masked_softmax
from tests.inputs import arguments_of
from tests.nn.parity import check
from tests.wing import NN, REFERENCE


@settings(max_examples=100)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(data: st.DataObject) -> None:
    check("masked_softmax", data.draw(arguments_of("masked_softmax")))


def test_both_wings_make_the_same_masks() -> None:
    ids = np.array([[5, 6, 0], [0, 0, 7]])
    np.testing.assert_array_equal(NN.padding_mask(ids), REFERENCE.padding_mask(ids))
    for n in range(4):
        np.testing.assert_array_equal(NN.causal_mask(n), REFERENCE.causal_mask(n))


def test_the_causal_mask_lives_where_it_is_wanted() -> None:
    assert causal_mask(2, device="meta").device.type == "meta"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_an_empty_row_is_zero_forward_and_backward_in_every_dtype(dtype: torch.dtype) -> None:
    scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=dtype, requires_grad=True)
    weights = masked_softmax(scores, torch.tensor([[True, True], [False, False]]))
    assert weights.dtype == dtype
    (weights * torch.tensor([1.0, -1.0], dtype=dtype)).sum().backward()
    assert (weights[1] == 0).all()
    assert scores.grad is not None
    assert (scores.grad[1] == 0).all()
    assert (scores.grad[0] != 0).all()
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_the_lowest_number_of_a_dtype_may_stand_visible_beside_a_hidden_one(dtype: torch.dtype) -> None:
    lowest = torch.finfo(dtype).min
    weights = masked_softmax(torch.tensor([[lowest, 0.0]], dtype=dtype), torch.tensor([[True, False]]))
    assert weights[0, 1] == 0
    assert weights[0, 0] > 0
