"""Glue: weights find whom to believe, and a trained top learns what no product of opinions can say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from _arms import joined
from _arms_made import Size, World, make
from _arms_training import Feed
from _glue import START, inner_positions, trained_top, weighted, weights_of

from bertlab.datasets.documents import Document
from bertlab.text import SPECIAL, WordPiece, tokenise

VOCAB = WordPiece([*SPECIAL, *"abcd"])


def test_a_reader_that_says_nothing_true_is_not_believed():
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(2, 4000, 6, generator=generator)
    opinions, alone = scores.log_softmax(-1), torch.full((6,), -np.log(6.0), dtype=torch.float32)
    truth = torch.multinomial(opinions[0].exp(), 1, generator=generator)[:, 0]  # as the left says
    left, right, _ = weights_of(opinions, alone, truth)
    assert left == pytest.approx(1, abs=0.1)
    assert right == pytest.approx(0, abs=0.1)
    by_chances = weights_of(opinions, alone, opinions[0].exp())
    assert by_chances[:2] == pytest.approx((1, 0), abs=0.02)


def test_the_first_weights_are_the_plain_product():
    opinions, alone = torch.randn(2, 3, 5).log_softmax(-1), torch.randn(5).log_softmax(-1)
    torch.testing.assert_close(weighted(opinions, alone, START), joined(opinions, alone))


def test_marks_and_padding_are_not_asked_for():
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    assert inner_positions(mask).tolist() == [1, 2, 3, 6]


@pytest.mark.parametrize("name", ["ELMo", "two GPTs"])
def test_a_top_learns_and_leaves_the_readers_as_they_are(name):
    rng = np.random.default_rng(0)
    # the middle is a if both neighbours are the same, else b: neither side alone says anything about it
    sentences = [f"{x} {'a' if x == y else 'b'} {y}" for x, y in rng.choice(["c", "d"], (400, 2))]
    corpus = tokenise([Document([one], "rule") for one in sentences], VOCAB)
    world = World(VOCAB, corpus, Size(16, 1, 4, 8), 16, pairs=False)
    arm = make(name, world, 0)
    before = {key: value.clone() for key, value in arm.state_dict().items()}
    top = trained_top(arm, Feed(name, world, 0), 400, 2e-2, seed=0)
    assert all(torch.equal(value, before[key]) for key, value in arm.state_dict().items())
    asked = torch.tensor([[2, VOCAB.ids[x], 5, VOCAB.ids[y], 3] for x in "cd" for y in "cd"])
    said = top.log_p(asked, torch.arange(4) * 5 + 2).argmax(1).tolist()
    assert said == [VOCAB.ids[piece] for piece in "abba"]
