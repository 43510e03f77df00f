"""PyTorch's own loop over padded sequences says what our loop says, forward and backward."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn.fused_lstm import fused_lstm, right_padded, turned
from bertlab.nn.recurrent import lstm
from tests.inputs import arguments_of


@settings(max_examples=60)
@given(data=st.data())
def test_the_states_and_all_gradients_are_those_of_the_loop(data: st.DataObject) -> None:
    x, mask, *weights, _, _, reverse, w_project = data.draw(arguments_of("lstm"))
    x, *weights = (torch.tensor(array, requires_grad=True) for array in (x, *weights))
    if w_project is not None:
        w_project = torch.tensor(w_project, requires_grad=True)
    mask = None if mask is None else torch.tensor(mask)
    found = fused_lstm(x, mask, *weights, reverse, w_project)
    expected, _ = lstm(x, mask, *weights, reverse=reverse, w_project=w_project)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
    sources = [x, *weights, *([] if w_project is None else [w_project])]
    grad = torch.randn_like(expected)
    ours = torch.autograd.grad((found * grad).sum(), sources, retain_graph=True)
    for one, other in zip(ours, torch.autograd.grad((expected * grad).sum(), sources), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


def test_a_row_is_turned_round_within_its_own_length() -> None:
    mask = torch.tensor([[True, True, True, False], [True, False, False, False], [True] * 4])
    order = turned(torch.zeros(3, 4, 1), mask)
    assert order.tolist() == [[2, 1, 0, 3], [0, 1, 2, 3], [3, 2, 1, 0]]
    assert turned(torch.zeros(1, 3, 1), None).tolist() == [[2, 1, 0]]


@pytest.mark.parametrize(
    ("mask", "right"),
    [([[1, 1, 0], [0, 0, 0], [1, 1, 1]], True), ([[0, 1, 1]] * 3, False), ([[1, 0, 1]] * 3, False)],
)
def test_padding_before_a_token_is_seen(mask: list[list[int]], right: bool) -> None:
    assert right_padded(torch.zeros(3, 3, 2), torch.tensor(mask, dtype=torch.bool)) == right


@pytest.mark.parametrize("mask", [torch.ones(2, 3), torch.ones(2, 1, 1, 3, dtype=torch.bool)])
def test_a_mask_that_is_not_one_bool_a_token_is_refused(mask: torch.Tensor) -> None:
    weights = torch.ones(8, 4), torch.ones(8, 2), torch.ones(8), torch.ones(8)
    with pytest.raises(ValueError, match=r"expected bool of \(2, 3\)"):
        fused_lstm(torch.ones(2, 3, 4), mask, *weights)


def test_weights_of_another_cell_are_refused() -> None:
    weights = torch.ones(6, 4), torch.ones(6, 2), torch.ones(6), torch.ones(6)
    with pytest.raises(ValueError, match="4 gates for a state of width 2 need 8 rows"):
        fused_lstm(torch.ones(2, 3, 4), None, *weights)
