"""`bertlab.nn.residual` against the reference, and dropout where the paper has it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import Residual
from bertlab.nn.residual import after_sublayer, before_sublayer
from tests.inputs import arguments_of
from tests.nn.parity import check
from tests.stacks import NormFirst


@pytest.mark.parametrize("concept", ["before_sublayer", "after_sublayer"])
@settings(max_examples=40)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(concept: str, data: st.DataObject) -> None:
    check(concept, data.draw(arguments_of(concept)))


@NormFirst
def test_the_module_is_the_functions_with_its_own_parameters(norm_first: bool) -> None:
    residual, (x, update) = Residual(6, 0.0, norm_first, 0.1), torch.randn(2, 3, 4, 6)
    for parameter in residual.parameters():
        torch.nn.init.normal_(parameter)
    params = residual.state_dict()
    torch.testing.assert_close(residual.before(x), before_sublayer(x, params, norm_first, 0.1))
    torch.testing.assert_close(residual.after(x, update), after_sublayer(x, update, params, norm_first, 0.1))


def test_dropout_falls_on_the_update_alone_and_scales_what_it_keeps() -> None:
    residual, x = Residual(50, 0.25, norm_first=True), torch.full((4, 5, 50), 7.0)
    dropped = residual.after(x, torch.full_like(x, 3.0)) - x
    assert {round(value, 4) for value in dropped.unique().tolist()} == {0.0, 4.0}  # 3 / (1 - 0.25)
    assert 0.15 < (dropped == 0).float().mean() < 0.35


def test_in_post_ln_dropout_comes_before_the_norm() -> None:
    residual, (x, update) = Residual(50, 0.5, norm_first=False), torch.randn(2, 4, 5, 50)
    output = residual.after(x, update)
    torch.testing.assert_close(output.mean(-1), torch.zeros(4, 5), rtol=0, atol=1e-5)
    torch.testing.assert_close(output.var(-1, correction=0), torch.ones(4, 5), rtol=0, atol=1e-3)


@NormFirst
def test_nothing_is_dropped_in_evaluation_or_before_the_sublayer(norm_first: bool) -> None:
    residual, (x, update) = Residual(6, 0.9, norm_first), torch.randn(2, 3, 4, 6)
    kept = Residual(6, 0.0, norm_first)
    assert torch.equal(residual.before(x), kept.before(x))
    assert torch.equal(residual.eval().after(x, update), kept.after(x, update))


@pytest.mark.parametrize("dropout", [1.0, -0.1])
def test_a_dropout_that_is_no_probability_is_refused(dropout: float) -> None:
    with pytest.raises(ValueError, match=rf"dropout={dropout}.*\[0, 1\)"):
        Residual(4, dropout)
