"""`bertlab.nn.feed_forward` against the reference, and as a module."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import FeedForward
from bertlab.nn.feed_forward import ACTIVATIONS, feed_forward
from tests.inputs import arguments_of
from tests.nn.parity import check


@settings(max_examples=40)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(data: st.DataObject) -> None:
    check("feed_forward", data.draw(arguments_of("feed_forward")))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_module_is_the_function_with_its_own_parameters(activation: str) -> None:
    module, x = FeedForward(6, 9, activation), torch.randn(2, 5, 6)
    torch.testing.assert_close(module(x), feed_forward(x, module.state_dict(), activation))


def test_nothing_is_dropped_between_the_layers() -> None:
    module, x = FeedForward(6, 9).train(), torch.randn(2, 5, 6)
    assert torch.equal(module(x), module(x))


def test_an_unknown_activation_is_refused_when_the_module_is_made() -> None:
    with pytest.raises(ValueError, match=r"'GELU'.*relu, gelu, gelu_tanh"):
        FeedForward(6, 9, "GELU")
