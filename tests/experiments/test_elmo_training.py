"""Sampled, the softmax estimates the whole one; rare words are not asked for; evaluation asks among all."""

from __future__ import annotations

import pytest
import torch

from _elmo_text import Text, frequencies, known_words
from _elmo_training import asked_both_ways, sampled_surprise
from bertlab.datasets.documents import Document
from bertlab.nn import ELMoConfig, ELMoForPreTraining
from bertlab.nn.elmo import surprise
from bertlab.nn.losses import cross_entropy
from bertlab.tasks.spelled_words import SpelledELMo, whole_words
from bertlab.text import SPECIAL, tokenise

DOCUMENTS = [Document(["The dog saw the cat.", "The cat ran home."] * 5 + ["A zebra."], "notes")]


def some(n=6, width=4, words=9):
    torch.manual_seed(1)
    rows, table, bias = torch.randn(n, width), torch.randn(words, width), torch.randn(words)
    return rows, torch.arange(n) % words, table, bias, torch.rand(words).softmax(0)


def test_with_many_drawn_words_it_is_the_whole_softmax_and_so_are_its_gradients():
    rows, wanted, table, bias, chances = some()
    table.requires_grad_()
    sampled = sampled_surprise(rows, wanted, table, bias, chances, drawn=200_000)
    whole = cross_entropy(rows @ table.T + bias, wanted)
    assert sampled.item() == pytest.approx(whole.item(), rel=2e-2)
    theirs, ours = (torch.autograd.grad(one, table)[0] for one in (whole, sampled))
    torch.testing.assert_close(ours, theirs, atol=2e-2, rtol=0)


def test_the_estimate_of_the_other_exponentials_has_no_bias():
    rows, wanted, table, bias, chances = some()
    right = (rows * table[wanted]).sum(-1) + bias[wanted]
    whole = (rows @ table.T + bias).exp().sum(-1) - right.exp()
    sums = torch.zeros(len(rows))
    for _ in range(3000):
        one = sampled_surprise(rows[:1], wanted[:1], table, bias, chances, drawn=5)
        sums[0] += (one + right[0]).exp() - right[0].exp()
    assert sums[0].item() / 3000 == pytest.approx(whole[0].item(), rel=0.1)


def test_the_right_word_is_never_among_the_others():
    rows, _, table, bias, _ = some(n=1)
    sure = torch.zeros(9).index_fill(0, torch.tensor([3]), 1.0)  # always draws word 3
    assert sampled_surprise(rows, torch.tensor([3]), table, bias, sure, drawn=7).item() == 0


@pytest.fixture(scope="module")
def text() -> Text:
    words = whole_words(sentence for one in DOCUMENTS for sentence in one.sentences)
    return Text(words, known_words(DOCUMENTS, size=len(SPECIAL) + 7), tokenise(DOCUMENTS, words))


def some_elmo(text):
    torch.manual_seed(0)
    sizes = {"d_model": 8, "d_memory": 12, "d_character": 4, "filters": ((1, 4), (2, 8)), "n_highway": 1}
    return ELMoForPreTraining(ELMoConfig(vocab_size=len(text.known), dropout=0.0, **sizes))


def batch(text, *sentences):
    rows = [[text.words.cls_id, *text.words.encode(one).ids, text.words.sep_id] for one in sentences]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    return ids, ids != 0


def test_in_evaluation_the_loss_is_that_of_the_whole_softmax_over_known_words(text):
    model = some_elmo(text).eval()
    ids, mask = batch(text, "The zebra ran.", "The cat")
    joint, parts = asked_both_ways(model, text, frequencies(text))(ids, mask)
    numbers = torch.tensor(
        [
            [
                -100,
                *(text.known.ids.get(w, -100) for w in ("the", "zebra", "ran", ".")),
                -100,
            ],
            [-100, text.known.ids["the"], text.known.ids["cat"], -100, -100, -100],
        ]
    )
    states = SpelledELMo(model.elmo, text.words)(ids, mask).states
    wanted = surprise(states, numbers, model.table, model.output.bias, mask)
    torch.testing.assert_close(joint, wanted[0])
    assert parts == pytest.approx({"forward": wanted[1].item(), "backward": wanted[2].item()})


def test_in_training_it_is_an_estimate_of_the_same_loss(text):
    model = some_elmo(text)
    losses = asked_both_ways(model, text, frequencies(text), drawn=100_000)
    ids, mask = batch(text, "The zebra ran.", "The cat")
    sampled = losses(ids, mask)[0]
    model.eval()
    assert sampled.item() == pytest.approx(losses(ids, mask)[0].item(), rel=2e-2)
