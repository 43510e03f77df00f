"""`bertlab.nn.functional` against the reference, forward and backward, and against `torch.nn`."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn.functional import cross_entropy, layer_norm
from tests.inputs import arguments_of
from tests.nn.parity import check

CONCEPTS = (
    "softmax",
    "log_softmax",
    "cross_entropy",
    "linear",
    "embedding",
    "layer_norm",
    "gelu",
    "gelu_tanh",
    "relu",
    "sigmoid",
)


@pytest.mark.parametrize("concept", CONCEPTS)
@settings(max_examples=40)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(concept: str, data: st.DataObject) -> None:
    check(concept, data.draw(arguments_of(concept)))


def test_layer_norm_is_that_of_torch() -> None:
    theirs = torch.nn.LayerNorm(6, eps=1e-12, dtype=torch.float64)
    torch.nn.init.normal_(theirs.weight)
    torch.nn.init.normal_(theirs.bias)
    x = torch.randn(2, 3, 6, dtype=torch.float64)
    ours = layer_norm(x, theirs.weight, theirs.bias, theirs.eps)
    torch.testing.assert_close(ours, theirs(x), rtol=0, atol=1e-12)


def test_cross_entropy_is_that_of_torch_wherever_a_target_counts() -> None:
    logits, targets = torch.randn(2, 4, 5), torch.tensor([[0, 4, -100, 2], [-100, -100, 1, 1]])
    theirs = torch.nn.CrossEntropyLoss()(logits.mT, targets)  # there the classes are the second axis
    torch.testing.assert_close(cross_entropy(logits, targets), theirs)
