"""Glue: weights find whom to believe, and a trained top learns what no product of opinions can say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from _arms import PLAIN, TwoSidedArm
from _arms_made import Size, World, make
from _arms_training import Feed
from _glue import adjust, inner_positions, plain, trained_top, weights_of

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


def test_weights_are_fitted_to_what_is_asked_and_begin_with_bayes_rule():
    corpus = tokenise([Document(["a b c d"] * 9, "x")] * 9, VOCAB)
    arm = make("two GPTs", World(VOCAB, corpus, Size(16, 1, 4, 8), 4, pairs=False), 0)
    assert isinstance(arm, TwoSidedArm)
    ids, at = torch.tensor([[2, 5, 6, 7, 8, 3]] * 2), torch.tensor([2, 9])
    torch.testing.assert_close(arm.log_p(ids, at), plain(arm, ids, at))
    before = arm.log_p(ids, at)[torch.arange(2), ids.flatten()[at]].sum()
    adjust(arm, ids, at, ids.flatten()[at])
    assert arm.weights != PLAIN
    assert arm.log_p(ids, at)[torch.arange(2), ids.flatten()[at]].sum() > before
    adjust(
        make("GPT", World(VOCAB, corpus, Size(16, 1, 4, 8), 4, pairs=False), 0), ids, at, at
    )  # does nothing


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
