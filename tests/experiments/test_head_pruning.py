"""What the experiment on pruned heads measures is what it says, on four short texts in place of a corpus."""

from __future__ import annotations

import copy
import json

import pytest
import torch

import head_pruning
from _minilm import D_HEAD, N_HEADS, N_LAYERS, MiniLM, batches, encode
from _search import Search
from bertlab.datasets import DataUnavailable
from bertlab.nn.attention import merge_heads, split_heads
from bertlab.nn.functional import cross_entropy
from bertlab.nn.masking import padding_mask
from head_pruning import HEADS, LATE, gradients, mean_outputs, orders, take_out_more

TEXTS = [
    "Who ate the grapes?",
    "What did the dog chase?",
    "The fox ate all the sour grapes.",
    "The dog ran after a ball.",
]


def search(answers, texts=None) -> Search:
    made = Search.__new__(Search)
    made.answers, made.texts = torch.tensor(answers), texts
    return made


@pytest.fixture(scope="module")
def model():
    try:
        return MiniLM()
    except DataUnavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture
def tiny(model, monkeypatch):
    made = search([0, 1], batches(model, TEXTS))
    monkeypatch.setattr(head_pruning, "Search", lambda model, half: made)
    return made


def test_the_rank_of_a_question_counts_the_paragraphs_nearer_than_its_own():
    paragraphs = torch.eye(3)
    questions = torch.tensor([[0.9, 0.1, 0.0], [0.5, 0.4, 0.3], [0.1, 0.2, 0.15]])
    found = search([0, 2, 0])
    embeddings = torch.cat([questions, paragraphs])
    assert found.ranks(embeddings).tolist() == [1, 3, 3]
    assert found.measure(embeddings)["first"] == 33.333
    p = torch.softmax(20 * questions.double(), dim=1)[range(3), [0, 2, 0]]
    assert found.measure(embeddings)["surprise"] == pytest.approx(-p.log().mean().item(), abs=1e-5)


def test_the_gradient_of_a_head_is_how_the_loss_moves_when_it_speaks_louder(model, tiny):
    scaled = torch.tensor(gradients("choose"))
    torch.testing.assert_close(scaled.norm(dim=1), torch.ones(N_LAYERS))
    whole = encode(model, tiny.texts).requires_grad_()
    loss = cross_entropy(20 * whole[:2] @ whole[2:].T, tiny.answers)
    (upstream,) = torch.autograd.grad(loss, whole)

    def moved(layer, head, by):
        louder = copy.deepcopy(model)
        louder.outputs[layer].weight[:, D_HEAD * head : D_HEAD * (head + 1)] *= 1 + by
        return (encode(louder, tiny.texts) * upstream).sum(dim=1)

    def size(layer, head):
        return ((moved(layer, head, 0.01) - moved(layer, head, -0.01)) / 0.02).abs().sum().item()

    for layer, head, other in ((5, 11, 2), (2, 1, 3)):
        ratio = (scaled[layer, head] / scaled[layer, other]).item()
        assert size(layer, head) / size(layer, other) == pytest.approx(ratio, rel=0.02)


def test_what_a_head_says_on_average_is_the_mean_over_the_word_pieces(model, tiny):
    total, n = torch.zeros(384), 0
    for _, ids in tiny.texts:
        x, mask = model.embed(ids), padding_mask(ids)
        attention = model.layers[0].attention
        weights = attention(x, x, x, mask, need_weights=True)[1]
        mixed = merge_heads(weights @ split_heads(attention.value(x), N_HEADS))
        total += mixed[ids != 0].sum(dim=0)
        n += int((ids != 0).sum())
    torch.testing.assert_close(mean_outputs(model)[0], total / n, atol=1e-5, rtol=0)


def test_the_control_leaves_the_last_layer_to_the_end(model, tiny, monkeypatch, tmp_path):
    monkeypatch.setattr(head_pruning, "ORDERS", tmp_path / "orders.json")
    monkeypatch.setattr(head_pruning, "SOME", (0,))
    (tmp_path / "orders.json").write_text(json.dumps({LATE: HEADS}))
    first, second = (take_out_more(LATE, seed, keep_mean=False)["heads"] for seed in (0, 1))
    assert {layer for layer, _ in first[60:]} == {N_LAYERS - 1}
    assert sorted(map(tuple, first)) == HEADS
    assert first[:60] != second[:60]


def test_heads_are_ordered_from_the_one_that_is_missed_least():
    whole = {"first": 90.0, "surprise": 0.5}
    alone = [
        {
            "layer": layer,
            "whole": whole,
            "heads": [{"first": 90.0 - h, "surprise": 0.5 + h, "turned": h} for h in range(12)],
        }
        for layer in range(6)
    ]
    alone[3]["heads"][7] = {"first": 95.0, "surprise": 0.6, "turned": 6.5}  # finds more, is less sure
    importance = [[float((layer, head) != (1, 1)) for head in range(12)] for layer in range(6)]
    found = orders(alone, importance)
    assert found["questions"][0] == (3, 7)
    assert found["surprise"][6] == (3, 7)  # after six heads that change nothing
    assert found["turned"].index((3, 7)) == 6 * 7
    assert found["gradient"][0] == (1, 1)
    assert found["most important first"] == found["surprise"][::-1]
    assert all(sorted(order) == HEADS for order in found.values())
