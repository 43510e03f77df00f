"""Claims about batches: nobody is told from another's padding, and what is said comes back in order."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import BertConfig, BertModel
from bertlab.nn.packing import Packing
from bertlab.tasks.batches import answers, tensors
from bertlab.tasks.heads import BertForClassification, BertForSpans, BertForTokens, Head
from bertlab.text import Inputs

HEADS = ("classification", "tokens", "spans")


def some_head(kind: str, pad_id: int = 0, dropout: float = 0.0) -> Head:
    torch.manual_seed(0)
    sizes = {"d_model": 8, "n_layers": 2, "n_heads": 2, "d_ff": 16, "max_positions": 12}
    bert = BertModel(BertConfig(vocab_size=20, pad_id=pad_id, dropout=dropout, **sizes))
    if kind == "spans":
        model: Head = BertForSpans(bert)
    else:
        model = (BertForClassification if kind == "classification" else BertForTokens)(bert, 5, dropout)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.4)
    return model


def some_inputs(lengths: list[int], pad_id: int = 0) -> list[Inputs]:
    rng = np.random.default_rng(1)
    pieces = np.setdiff1d(np.arange(20), [pad_id])
    return [Inputs(rng.choice(pieces, n), np.arange(n) // 3 % 2, cut=0) for n in lengths]


def alone(model: Head, one: Inputs) -> np.ndarray:
    """What a model says of an input by itself: no batch, no padding."""
    ids, segments = torch.from_numpy(one.ids)[None], torch.from_numpy(one.segments)[None]
    said = model.eval()(ids, segments).detach()
    return (said[:, 0] if isinstance(model, BertForSpans) else said[0]).numpy()


@pytest.mark.parametrize("kind", HEADS)
@settings(max_examples=20)
@given(
    lengths=st.lists(st.integers(2, 12), min_size=1, max_size=9),
    size=st.integers(1, 5),
    pad=st.integers(0, 9),
)
def test_each_input_is_told_as_if_it_were_alone_and_all_in_their_order(kind, lengths, size, pad):
    model, inputs = some_head(kind, pad), some_inputs(lengths, pad)
    found = answers(model, inputs, batch_size=size)
    for one, said in zip(inputs, found, strict=True):
        wanted = alone(model, one)
        assert said.shape == wanted.shape
        np.testing.assert_allclose(said, wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", HEADS)
def test_asking_is_done_without_dropout_and_leaves_the_model_as_it_was(kind):
    model, inputs = some_head(kind, dropout=0.5), some_inputs([3, 9, 5])
    for training in (True, False):
        model.train(training)
        found = answers(model, inputs)
        assert model.training is training
        for one, said in zip(inputs, found, strict=True):
            np.testing.assert_allclose(said, alone(model, one), rtol=0, atol=1e-5)
            assert not torch.from_numpy(said).requires_grad


def test_a_batch_is_packed_where_much_of_it_is_padding():
    model = some_head("tokens")
    ids, segments, packing = tensors(some_inputs([12, *[3] * 9]), model)
    assert ids.shape == segments.shape == (10, 12)
    assert isinstance(packing, Packing)
    assert tensors(some_inputs([6, 6]), model)[2] is None


def test_padding_is_that_of_the_model():
    ids, segments, _ = tensors(some_inputs([2, 4], pad_id=7), some_head("tokens", pad_id=7))
    assert ids[0, 2:].tolist() == [7, 7]
    assert segments[0, 2:].tolist() == [0, 0]


def test_asking_nothing_gives_nothing():
    assert answers(some_head("tokens"), []) == []
