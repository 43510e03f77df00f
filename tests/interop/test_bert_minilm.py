"""all-MiniLM-L6-v2, a published BERT: every state is that of `transformers`, in PyTorch and in pure NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers

from bertlab.datasets import DataUnavailable, pretrained
from bertlab.interop import load_bert, read_bert
from bertlab.nn import BertForPreTraining, BertModel
from bertlab.nn.heads import split_heads
from bertlab.reference.bert import bert
from bertlab.reference.masking import padding_mask

NAME = "all-MiniLM-L6-v2"
TEXTS = [
    ("The dog chased the ball because it was hungry.", None),
    ("Who ate the grapes?", "The fox said that the grapes were sour, and went away."),
    ("Crème brûlée, 我爱 NLP!", "A short one."),
]


@pytest.fixture(scope="module")
def ours() -> Any:
    try:
        return load_bert(NAME)
    except DataUnavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def theirs(ours: Any) -> Any:
    folder = pretrained(NAME)
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def asked(theirs: Any) -> dict[str, torch.Tensor]:
    tokenize = theirs[1]
    firsts, seconds = [first for first, _ in TEXTS], [second or "" for _, second in TEXTS]
    asked = dict(tokenize(firsts, seconds, padding="longest", return_tensors="pt"))
    assert (asked["attention_mask"] == 0).any()
    return asked


@pytest.fixture(scope="module")
def wanted(theirs: Any, asked: Any) -> Any:
    with torch.no_grad():
        return theirs[0](**asked, output_hidden_states=True, output_attentions=True)


def test_what_it_is_and_what_it_lacks_is_told(ours: Any) -> None:
    said = "6 layers of 384, 12 heads; embeddings, encoder, pooler; no masked-LM head, no next-sentence head"
    assert str(read_bert(NAME)) == f"{NAME}: {said}"
    model, _ = ours
    assert type(model) is BertModel
    assert sum(p.numel() for p in model.parameters()) == model.config.n_parameters == 22_713_216
    with pytest.raises(ValueError, match="no masked-LM head"):
        load_bert(NAME, BertForPreTraining)


def test_its_tokenizer_is_theirs(ours: Any, theirs: Any) -> None:
    for first, second in TEXTS:
        for text in filter(None, (first, second)):
            found = [ours[1].cls_id, *ours[1].encode(text).ids, ours[1].sep_id]
            assert found == theirs[1](text, truncation=False, padding=False)["input_ids"]


@pytest.mark.parametrize("need_weights", [True, False], ids=["with weights", "fused"])
def test_every_state_is_theirs(ours: Any, asked: Any, wanted: Any, need_weights: bool) -> None:
    real = asked["attention_mask"].bool()
    with torch.no_grad():
        found = ours[0](asked["input_ids"], asked["token_type_ids"], need_weights=need_weights)
    for state, their in zip(found.layers, wanted.hidden_states, strict=True):
        torch.testing.assert_close(state[real], their[real], rtol=0, atol=1e-5)
    torch.testing.assert_close(found.pooled, wanted.pooler_output, rtol=0, atol=1e-5)
    if need_weights:
        for weights, their in zip(found.weights, wanted.attentions, strict=True):
            rows = real[:, None, :, None].expand_as(weights)
            torch.testing.assert_close(weights[rows], their[rows], rtol=0, atol=1e-5)


def test_every_state_is_theirs_in_pure_numpy(ours: Any, asked: Any, wanted: Any) -> None:
    model, _ = ours
    params = {name: p.detach().double().numpy() for name, p in model.named_parameters()}
    ids, segments = asked["input_ids"].numpy(), asked["token_type_ids"].numpy()
    config, real = model.config, asked["attention_mask"].bool().numpy()
    mask = padding_mask(ids, config.pad_id)
    layers, pooled, weights = bert(ids, segments, params, config.n_heads, mask, config.activation, config.eps)
    for state, their in zip(layers, wanted.hidden_states, strict=True):
        np.testing.assert_allclose(state[real], their.numpy()[real], rtol=0, atol=1e-5)
    np.testing.assert_allclose(pooled, wanted.pooler_output.numpy(), rtol=0, atol=1e-5)
    for shares, their in zip(weights, wanted.attentions, strict=True):
        rows = np.broadcast_to(real[:, None, :, None], shares.shape)
        np.testing.assert_allclose(shares[rows], their.numpy()[rows], rtol=0, atol=1e-5)


@pytest.mark.parametrize("divisor", [1.0, 32.0, 384.0**0.5])
def test_another_divisor_than_the_root_of_32_is_noticed(
    ours: Any, asked: Any, wanted: Any, divisor: float
) -> None:
    attention, x = ours[0].encoder.layers[0].attention, wanted.hidden_states[0][:1]
    real = int(asked["attention_mask"][0].sum())
    with torch.no_grad():
        q, k = (split_heads(part(x[:, :real]), 12) for part in (attention.query, attention.key))
    their = wanted.attentions[0][:1, :, :real, :real]
    right, wrong = (torch.softmax(q @ k.mT / d, dim=-1) for d in (32**0.5, divisor))
    torch.testing.assert_close(right, their, rtol=0, atol=1e-5)
    assert (wrong - their).abs().max() > 0.05
