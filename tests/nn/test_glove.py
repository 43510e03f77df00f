"""GloVe in PyTorch: parity with the reference, and the module around the loss."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn.glove import GloVe, glove_loss
from tests.inputs import arguments_of
from tests.nn.parity import check


@settings(max_examples=15)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(data: st.DataObject) -> None:
    check("glove_loss", data.draw(arguments_of("glove_loss")))


def test_the_module_s_loss_is_the_function_and_its_vectors_are_the_sum_of_both_roles() -> None:
    torch.manual_seed(0)
    model = GloVe(vocab_size=5, d_model=3)
    entries = torch.tensor([0, 1]), torch.tensor([4, 1]), torch.tensor([2.0, 500.0])
    assert model.loss(*entries) == glove_loss(entries, model.state_dict())
    assert all(parameter.abs().max() <= 0.5 / 3 for parameter in model.parameters())
    torch.testing.assert_close(model.vectors(), model.word.weight.data + model.context.weight.data)
    assert not model.vectors().requires_grad
