"""AdaGrad on rows against `torch.optim.Adagrad` on the whole table."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.training.adagrad import SparseAdaGrad


@pytest.mark.parametrize("width", [(), (3,)], ids=["numbers", "vectors"])
@settings(max_examples=15)
@given(seed=st.integers(0, 999), first=st.sampled_from([0.0, 1.0]), steps=st.integers(1, 4))
def test_it_is_torch_s_with_the_gradients_of_a_row_added_up(
    width: tuple[int, ...], seed: int, first: float, steps: int
) -> None:
    torch.manual_seed(seed)
    start = torch.randn(6, *width, dtype=torch.float64)
    ours, theirs = start.clone(), torch.nn.Parameter(start.clone())
    mover = SparseAdaGrad(ours, first=first)
    whole = torch.optim.Adagrad([theirs], lr=0.3, initial_accumulator_value=first)
    for _ in range(steps):
        ids, grads = torch.randint(6, (5,)), torch.randn(5, *width, dtype=torch.float64)
        mover.step(ids, grads, rate=0.3)
        theirs.grad = torch.zeros_like(theirs).index_add_(0, ids, grads)
        whole.step()
        torch.testing.assert_close(ours, theirs.data, rtol=0, atol=1e-10)


@settings(max_examples=15)
@given(seed=st.integers(0, 999), first=st.sampled_from([0.0, 1.0]), steps=st.integers(1, 3))
def test_by_row_a_row_moves_straight_by_the_root_of_its_mean_squares(
    seed: int, first: float, steps: int
) -> None:
    torch.manual_seed(seed)
    table = torch.randn(6, 3, dtype=torch.float64)
    wanted, squares = table.clone(), [first] * 6
    mover = SparseAdaGrad(table, first, by_row=True)
    for _ in range(steps):
        ids, grads = torch.randint(6, (5,)), torch.randn(5, 3, dtype=torch.float64)
        mover.step(ids, grads, rate=0.3)
        for row in set(ids.tolist()):
            total = grads[ids == row].sum(0)
            squares[row] += float((total**2).mean())
            wanted[row] -= 0.3 * total / squares[row] ** 0.5
    torch.testing.assert_close(table, wanted, rtol=0, atol=1e-9)


def test_a_row_of_one_number_is_the_same_by_row_or_by_number() -> None:
    torch.manual_seed(0)
    one, other = torch.ones(4, 1), torch.ones(4, 1)
    movers = SparseAdaGrad(one), SparseAdaGrad(other, by_row=True)
    for _ in range(3):
        ids, grads = torch.randint(4, (6,)), torch.randn(6, 1)
        for mover in movers:
            mover.step(ids, grads, rate=0.1)
    torch.testing.assert_close(one, other)


def test_rows_without_a_gradient_stay_and_a_gradient_of_zero_moves_nothing() -> None:
    table = torch.ones(4, 2)
    mover = SparseAdaGrad(table)
    mover.step(torch.tensor([1, 1, 2]), torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), rate=0.5)
    assert table.tolist() == [[1, 1], [0.5, 1], [1, 1], [1, 1]]
    mover.step(torch.empty(0, dtype=torch.long), torch.empty(0, 2), rate=0.5)
    assert table.tolist() == [[1, 1], [0.5, 1], [1, 1], [1, 1]]
