"""What a view may be given: any model's attention; what it may not: refused in one sentence."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab import nn
from bertlab.viz.attentions import AttentionLayers, attention_sets

WORDS = ["the", "cat", "saw", "the", "cat"]


@pytest.fixture
def softmax(rng):
    """Random attention weights of any shape."""

    def make(*shape):
        powers = np.exp(rng.normal(size=shape))
        return powers / powers.sum(axis=-1, keepdims=True)

    return make


@pytest.fixture(scope="module")
def hub_bert():
    """A tiny random BERT of transformers, and what it was given."""
    from transformers import BertConfig, BertModel

    config = {"vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2}
    config |= {"intermediate_size": 8, "max_position_embeddings": 8}
    torch.manual_seed(0)
    return lambda kernel: BertModel(BertConfig(**config, attn_implementation=kernel)).eval()


def test_attentions_of_transformers_fit_as_they_are(hub_bert):
    model = hub_bert("eager")
    given = model(torch.arange(5)[None], output_attentions=True).attentions
    layers = AttentionLayers(given, WORDS)
    assert layers.heads == [2, 2, 2]
    np.testing.assert_array_equal(layers.weights[2], given[2][0].detach().numpy())


@pytest.mark.filterwarnings("ignore:.*sdpa.*")
def test_attentions_that_a_fast_kernel_never_made_are_explained(hub_bert):
    given = hub_bert("sdpa")(torch.arange(5)[None]).attentions
    for missing in (given, None, (None, None), ()):
        with pytest.raises(ValueError, match=r'no attention weights.*sdpa.*attn_implementation="eager"'):
            AttentionLayers(missing, WORDS)


def test_weights_of_our_own_layers_fit_as_they_are():
    x = torch.randn(1, 5, 8)
    _, weights = nn.MultiHeadAttention(8, 2)(x, x, x, need_weights=True)
    assert AttentionLayers(weights, WORDS).heads == [2]
    assert AttentionLayers([weights, weights], WORDS).heads == [2, 2]


def test_layers_come_in_every_usual_form_and_mean_the_same(softmax):
    stacked = softmax(3, 1, 2, 5, 5)
    for given in (
        stacked,
        torch.tensor(stacked),
        list(stacked),
        list(stacked[:, 0]),
        tuple(torch.tensor(stacked)),
    ):
        layers = AttentionLayers(given, WORDS)
        np.testing.assert_array_equal(np.stack(layers.weights), stacked[:, 0])
    assert AttentionLayers(stacked[0, 0], WORDS).heads == [2]
    assert AttentionLayers(stacked[0, 0, 0], WORDS).heads == [1]


def test_layers_may_have_different_numbers_of_heads(softmax):
    pruned = AttentionLayers([softmax(3, 5, 5), softmax(1, 5, 5)], WORDS)
    assert (pruned.heads, pruned.size) == ([3, 1], 100)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_any_precision_and_a_tensor_that_needs_gradients(dtype):
    weights = torch.full((2, 5, 5), 0.2, requires_grad=True).to(dtype)
    array = AttentionLayers(weights, WORDS).weights[0]
    assert array.dtype == (np.float64 if dtype == torch.float64 else np.float32)
    np.testing.assert_allclose(array, 0.2, atol=2e-3)


def test_what_is_large_is_not_copied():
    weights = np.full((2, 5, 5), 0.2, dtype=np.float32)
    assert np.shares_memory(AttentionLayers(weights, WORDS).weights[0], weights)


def test_queries_and_keys_may_be_different_sentences(softmax):
    cross = AttentionLayers(softmax(2, 3, 5), ["le", "chat", "vit"], WORDS)
    assert cross.is_cross
    assert not AttentionLayers(softmax(2, 5, 5), WORDS).is_cross


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ((4, 2, 5, 5), r"shape \(4, 2, 5, 5\), a batch of 4 examples: choose one"),
        ((2, 5, 4), r"but 5 query tokens and 5 key tokens need \(heads, 5, 5\)"),
        ((2, 4, 4), r"give one token for each position, \[CLS\], \[SEP\] and padding among them, as in"),
        ((2, 1, 2, 5, 5, 1), r"but 5 query tokens"),
        ((5,), r"shape \(5,\)"),
    ],
)
def test_a_batch_or_another_length_is_refused_with_the_fix(softmax, shape, said):
    with pytest.raises(ValueError, match=said):
        AttentionLayers(softmax(*shape), WORDS)


def test_a_batch_inside_a_list_of_layers_names_the_layer(softmax):
    with pytest.raises(ValueError, match=r"layer 1 of attentions has shape .*a batch of 3 examples"):
        AttentionLayers([softmax(1, 2, 5, 5), softmax(3, 2, 5, 5)], WORDS)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, np.nan])
def test_scores_and_weights_under_dropout_are_refused(softmax, wrong):
    weights = softmax(2, 5, 5)
    weights[1, 2, 3] = wrong
    with pytest.raises(ValueError, match=r"after the softmax, and without dropout \(model.eval\(\)\)"):
        AttentionLayers(weights, WORDS)


def test_the_extremes_of_what_is_refused_are_the_true_ones():
    with pytest.raises(ValueError, match="has weights from -3 to -1: give them after the softmax"):
        AttentionLayers(np.linspace(-3, -1, 25).reshape(5, 5), WORDS)
    with pytest.raises(ValueError, match="has weights from 2 to 3: "):
        AttentionLayers(np.linspace(2, 3, 25).reshape(5, 5), WORDS)


def test_what_generate_returns_is_explained(softmax):
    step = (softmax(1, 2, 5, 5), softmax(1, 2, 5, 5))
    with pytest.raises(ValueError, match=r"attentions\[0\] is a tuple, as generate\(\) returns"):
        AttentionLayers((step, step), WORDS)


@pytest.mark.parametrize(
    ("tokens", "said"),
    [("the cat", "give a list of strings"), ([5, 6, 7, 8, 9], "give a list of strings"), ([], "is empty")],
)
def test_tokens_are_a_list_of_strings(softmax, tokens, said):
    with pytest.raises(ValueError, match=said):
        AttentionLayers(softmax(2, 5, 5), tokens)


@pytest.mark.parametrize("start", [0, 5, -1])
def test_the_second_sentence_begins_within_the_tokens(softmax, start):
    with pytest.raises(ValueError, match=f"sentence_b={start}: .* from 1 to 4"):
        AttentionLayers(softmax(2, 5, 5), WORDS, sentence_b=start)
    with pytest.raises(ValueError, match="in self-attention"):
        AttentionLayers(softmax(2, 5, 5), WORDS, WORDS, sentence_b=2)


def test_a_view_takes_weights_or_layers_or_several_sets(softmax):
    weights = softmax(2, 5, 5)
    layers = AttentionLayers(weights, WORDS)
    assert list(attention_sets(weights, WORDS, None, 2)) == [""]
    assert attention_sets(weights, WORDS, None, 2)[""].sentence_b == 2
    assert attention_sets(layers, None, None, None) == {"": layers}
    assert attention_sets({"encoder": layers, "cross": layers}, None, None, None).keys() == {
        "encoder",
        "cross",
    }


def test_tokens_are_given_once_and_not_forgotten(softmax):
    layers = AttentionLayers(softmax(2, 5, 5), WORDS)
    with pytest.raises(ValueError, match="give the tokens"):
        attention_sets(layers.weights, None, None, None)
    with pytest.raises(ValueError, match="bring their own tokens"):
        attention_sets({"encoder": layers}, WORDS, None, None)
    with pytest.raises(ValueError, match="attentions of 'cross' have no tokens"):
        attention_sets({"encoder": layers, "cross": layers.weights}, None, None, None)
    with pytest.raises(ValueError, match="empty mapping"):
        attention_sets({}, None, None, None)
