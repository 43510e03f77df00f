"""The neural language model in PyTorch: parity with the reference, and the module around the function."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import functional
from bertlab.nn.nnlm import NNLM, nnlm
from tests.inputs import arguments_of
from tests.nn.parity import check


@settings(max_examples=15)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(data: st.DataObject) -> None:
    check("nnlm", data.draw(arguments_of("nnlm")))


@pytest.mark.parametrize("direct", [False, True])
def test_the_module_is_the_function_with_its_own_parameters(direct: bool) -> None:
    torch.manual_seed(0)
    model = NNLM(vocab_size=9, d_model=3, d_hidden=5, n_context=2, direct=direct)
    context, following = torch.tensor([[1, 8], [0, 3]]), torch.tensor([2, 7])
    logits = nnlm(context, model.state_dict())
    torch.testing.assert_close(model(context), logits)
    torch.testing.assert_close(model.loss(context, following), functional.cross_entropy(logits, following))
    assert ("direct.weight" in model.state_dict()) == direct
    model.loss(context, following).backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_its_size_is_that_of_the_paper() -> None:
    """Bengio et al. 2003, sec. 2: |V|(1 + nm + h) + h(1 + (n - 1)m), n - 1 the words it looks back."""
    V, m, h, n = 17, 5, 7, 4
    model = NNLM(V, m, h, n - 1, direct=True)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    assert parameters == V * (1 + n * m + h) + h * (1 + (n - 1) * m)
