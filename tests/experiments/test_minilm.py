"""The published encoder of the experiments is what `transformers` computes, with and without some heads."""

from __future__ import annotations

import copy

import pytest
import torch
from transformers import BertModel

from _minilm import N_HEADS, N_LAYERS, MiniLM, batches, encode, prune, states_before
from bertlab.datasets import DataUnavailable, pretrained
from bertlab.nn.masking import padding_mask

TEXTS = [
    "The dog chased the ball because it was hungry.",
    "A short one.",
    "The fox said that the grapes were sour, and went away.",
]


@pytest.fixture(scope="module")
def ours():
    try:
        return MiniLM()
    except DataUnavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def ids(ours):
    (_, ids), *more = batches(ours, TEXTS)
    assert not more
    assert (ids == 0).any()  # the short ones are padded
    return ids


@pytest.fixture(scope="module")
def theirs(ours):
    return BertModel.from_pretrained(pretrained("all-MiniLM-L6-v2"), attn_implementation="eager").eval()


def test_every_state_is_theirs(ours, theirs, ids):
    x, mask = ours.embed(ids), padding_mask(ids)
    with torch.no_grad():
        states = theirs(ids, attention_mask=(ids != 0).long(), output_hidden_states=True).hidden_states
    for layer, wanted in enumerate(states):
        found = ours(x, mask, last=layer)
        torch.testing.assert_close(found[ids != 0], wanted[ids != 0], atol=2e-5, rtol=0)


def test_an_embedding_depends_neither_on_its_batch_nor_on_where_the_work_begins(ours):
    texts = batches(ours, TEXTS)
    together = encode(ours, texts)
    for number, text in enumerate(TEXTS):
        torch.testing.assert_close(together[number], encode(ours, batches(ours, [text]))[0])
    torch.testing.assert_close(together, encode(ours, texts, 3, states_before(ours, 3, texts)))


def test_pruned_heads_say_nothing(ours, theirs, ids):
    heads = [(0, 2), (0, 11), (3, 5)]
    without = copy.deepcopy(ours)
    prune(without, heads)
    mixed = copy.deepcopy(
        theirs
    )  # theirs cannot hide a head any more: what it says is set to 0 on its way out
    hooks = []
    for layer in {layer for layer, _ in heads}:
        silent = [head for number, head in heads if number == layer]

        def hide(_, inputs, silent=silent):
            by_head = inputs[0].clone().unflatten(-1, (N_HEADS, -1))
            by_head[..., silent, :] = 0
            return (by_head.flatten(-2),)

        dense = mixed.encoder.layer[layer].attention.output.dense
        hooks.append(dense.register_forward_pre_hook(hide))
    with torch.no_grad():
        wanted = mixed(ids, attention_mask=(ids != 0).long()).last_hidden_state
    found = without(without.embed(ids), padding_mask(ids))
    torch.testing.assert_close(found[ids != 0], wanted[ids != 0], atol=2e-5, rtol=0)
    assert (found - ours(ours.embed(ids), padding_mask(ids))).abs().max() > 0.01


def test_a_head_that_always_says_the_same_is_replaced_by_its_mean(ours, ids):
    constant = copy.deepcopy(ours)
    with torch.no_grad():  # head (2, 4) has no values but its bias: whatever its weights, it says the bias
        constant.layers[2].attention.value.weight[128:160] = 0
        constant.layers[2].attention.value.bias[128:160] = torch.randn(32)
    means = torch.zeros(N_LAYERS, 384)
    means[2, 128:160] = constant.layers[2].attention.value.bias[128:160]
    pruned = copy.deepcopy(constant)
    prune(pruned, [(2, 4)], means)
    mask = padding_mask(ids)
    torch.testing.assert_close(
        pruned(pruned.embed(ids), mask), constant(constant.embed(ids), mask), atol=1e-5, rtol=0
    )
