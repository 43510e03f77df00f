"""The first layer of a published BERT, by our attention, against `transformers`: every head to 1e-5."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from transformers import AutoTokenizer, BertModel

from bertlab.datasets import DataUnavailable, pretrained
from bertlab.nn.attention import scaled_dot_product_attention, split_heads

SENTENCE = "The dog chased the ball because it was hungry."
N_HEADS, D_HEAD = 12, 32


@pytest.fixture(scope="module")
def folder():
    try:
        return pretrained("all-MiniLM-L6-v2")
    except DataUnavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def theirs(folder):
    model = BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    inputs = AutoTokenizer.from_pretrained(folder)(SENTENCE, return_tensors="pt")
    with torch.no_grad():
        return inputs.input_ids[0], model(**inputs, output_attentions=True, output_hidden_states=True)


@pytest.fixture(scope="module")
def tensors(folder):
    return load_file(folder / "model.safetensors")


def embedded(tensors, ids):
    words, places, segments = (
        tensors[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type")
    )
    norm = tensors["embeddings.LayerNorm.weight"], tensors["embeddings.LayerNorm.bias"]
    return F.layer_norm(words[ids] + places[: len(ids)] + segments[0], (N_HEADS * D_HEAD,), *norm, eps=1e-12)


def projected(tensors, x, part):
    weight, bias = (tensors[f"encoder.layer.0.attention.self.{part}.{kind}"] for kind in ("weight", "bias"))
    return split_heads(F.linear(x, weight, bias)[None], N_HEADS)  # (1, T, 384) -> (1, 12, T, 32)


def test_what_enters_the_first_layer_is_theirs(tensors, theirs):
    ids, output = theirs
    torch.testing.assert_close(embedded(tensors, ids), output.hidden_states[0][0], atol=1e-5, rtol=0)


def test_the_attention_weights_of_all_heads_of_the_first_layer_are_theirs(tensors, theirs):
    ids, output = theirs
    x = embedded(tensors, ids)
    q, k, v = (projected(tensors, x, part) for part in ("query", "key", "value"))
    _, weights = scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(weights, output.attentions[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("divisor", [1.0, float(D_HEAD), math.sqrt(N_HEADS * D_HEAD)])
def test_another_divisor_than_the_root_of_32_is_noticed(tensors, theirs, divisor):
    ids, output = theirs
    x = embedded(tensors, ids)
    q, k, _ = (projected(tensors, x, part) for part in ("query", "key", "value"))
    weights = torch.softmax(q @ k.mT / divisor, dim=-1)
    assert (weights - output.attentions[0]).abs().max() > 0.05
