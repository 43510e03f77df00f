"""Word2Vec in PyTorch: parity with the reference, and the module around the losses."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn.word2vec import Word2Vec, cbow_loss, skip_gram_loss
from tests.inputs import arguments_of
from tests.nn.parity import check


@pytest.mark.parametrize("concept", ["negative_sampling_loss", "skip_gram_loss", "cbow_loss"])
@settings(max_examples=15)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(concept: str, data: st.DataObject) -> None:
    check(concept, data.draw(arguments_of(concept)))


def some_model() -> Word2Vec:
    torch.manual_seed(0)
    model = Word2Vec(vocab_size=7, d_model=4)
    torch.nn.init.normal_(model.output.weight)
    return model


def test_the_module_s_losses_are_the_functions_with_its_own_tables() -> None:
    model = some_model()
    one, other, noise = torch.tensor([3, 1]), torch.tensor([4, 2]), torch.tensor([[5, 6], [0, 2]])
    tables = model.state_dict()
    assert model.skip_gram_loss(one, other, noise) == skip_gram_loss(one, other, noise, tables)
    around, mask = torch.tensor([[1, 2], [3, 0]]), torch.tensor([[True, True], [True, False]])
    assert model.cbow_loss(around, mask, other, noise) == cbow_loss(around, mask, other, noise, tables)
    model.skip_gram_loss(one, other, noise).backward()
    assert model.input.weight.grad[[0, 2, 4, 5, 6]].abs().sum() == 0
    assert model.output.weight.grad[[0, 2, 4, 5, 6]].abs().sum(1).all()


def test_at_first_nothing_is_known_and_only_the_output_can_learn() -> None:
    model = Word2Vec(vocab_size=7, d_model=4)
    assert model.input.weight.abs().max() <= 0.5 / 4
    assert model.output.weight.abs().max() == 0
    model.skip_gram_loss(torch.tensor([3]), torch.tensor([4]), torch.tensor([[5]])).backward()
    assert model.input.weight.grad.abs().max() == 0
    assert model.output.weight.grad.abs().max() > 0
