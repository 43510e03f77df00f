"""`bertlab.nn.positions` against the reference, and as modules."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import LearnedPositions, SinusoidalPositions
from bertlab.nn.positions import sinusoidal_positions
from tests.inputs import arguments_of
from tests.nn.parity import check
from tests.wing import REFERENCE

Modules = pytest.mark.parametrize("module", [SinusoidalPositions, LearnedPositions])


@settings(max_examples=40)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(data: st.DataObject) -> None:
    check("learned_positions", data.draw(arguments_of("learned_positions")))


@pytest.mark.parametrize("sizes", [(0, 3), (1, 1), (7, 5), (512, 64), (5000, 9)])
def test_both_wings_make_the_same_waves(sizes: tuple[int, int]) -> None:
    ours = sinusoidal_positions(*sizes, dtype=torch.float64)
    np.testing.assert_allclose(ours, REFERENCE.sinusoidal_positions(*sizes), rtol=0, atol=1e-10)


@Modules
def test_a_module_adds_the_positions_to_every_sentence(module: type[torch.nn.Module]) -> None:
    positions, x = module(8, 5), torch.randn(2, 6, 5)
    rows = positions(torch.zeros(1, 8, 5))[0]  # the whole table
    assert len({tuple(row.tolist()) for row in rows}) == 8
    torch.testing.assert_close(positions(x), x + rows[:6], rtol=0, atol=0)


@Modules
def test_a_later_start_takes_later_rows(module: type[torch.nn.Module]) -> None:
    positions, x = module(8, 5), torch.randn(2, 8, 5)
    whole = positions(x)
    steps = [positions(x[:, t : t + 2], start=t) for t in (0, 2, 4, 6)]
    torch.testing.assert_close(torch.cat(steps, dim=1), whole, rtol=0, atol=0)


def test_waves_have_nothing_to_learn_and_nothing_to_save() -> None:
    positions = SinusoidalPositions(8, 4)
    assert list(positions.parameters()) == []
    assert positions.state_dict() == {}


def test_only_the_rows_in_use_learn() -> None:
    positions = LearnedPositions(8, 4)
    positions(torch.zeros(3, 2, 4), start=1).sum().backward()
    gradient = positions.embedding.weight.grad
    assert (gradient[1:3] == 3).all()  # the sum over the batch
    assert (gradient[[0, 3, 4, 5, 6, 7]] == 0).all()


def test_waves_are_made_anew_where_the_module_goes() -> None:
    exact = sinusoidal_positions(300, 6, torch.float64)
    moved = SinusoidalPositions(300, 6).to(torch.bfloat16).double()
    assert torch.equal(moved.table, exact)
    assert SinusoidalPositions(300, 6).to("meta").table.device.type == "meta"
    half = SinusoidalPositions(300, 6).half()
    assert torch.equal(half.table, exact.half())
    inside = torch.nn.Sequential(SinusoidalPositions(300, 6)).double()
    assert torch.equal(inside[0].table, exact)


@pytest.mark.parametrize("module", [SinusoidalPositions, LearnedPositions])
def test_positions_come_in_the_default_dtype_and_keep_that_of_the_input(
    module: type[torch.nn.Module],
) -> None:
    assert module(4, 2)(torch.zeros(1, 3, 2)).dtype == torch.float32
    assert module(4, 2).bfloat16()(torch.zeros(1, 3, 2).bfloat16()).dtype == torch.bfloat16


def test_in_bfloat16_neighbours_far_out_are_still_told_apart() -> None:
    table = sinusoidal_positions(400, 8, torch.bfloat16)
    assert all(not torch.equal(table[p], table[p + 1]) for p in range(399))
