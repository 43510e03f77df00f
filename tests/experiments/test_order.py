"""The two tasks of the experiments on positions ask for order, and for nothing that gives it away."""

from __future__ import annotations

import math

import pytest
import torch

from _order import ASK, DOG, HIDDEN, MAN, TASKS, Reader, batch_loss, mean_of, right_by_position


def drawn(task, n=8, length=6, seed=0):
    return TASKS[task](n, length, torch.Generator().manual_seed(seed))


def test_each_word_is_asked_for_the_one_before_but_the_first():
    ids, targets = drawn("word before")
    assert torch.equal(targets[:, 1:], ids[:, :-1])
    assert (targets[:, 0] == HIDDEN).all()


@pytest.mark.parametrize("length", [3, 6, 40])
def test_a_sentence_has_one_dog_one_man_and_the_question_last(length):
    ids, targets = drawn("who bites", n=50, length=length)
    assert ((ids == DOG).sum(dim=1) == 1).all()
    assert ((ids == MAN).sum(dim=1) == 1).all()
    assert (ids[:, -1] == ASK).all()
    assert (targets[:, :-1] == HIDDEN).all()
    first = torch.where((ids == DOG).int().argmax(dim=1) < (ids == MAN).int().argmax(dim=1), DOG, MAN)
    assert torch.equal(targets[:, -1], first)


def test_sentences_come_in_pairs_that_a_bag_of_words_cannot_tell_apart():
    ids, targets = drawn("who bites", n=20)
    assert torch.equal(ids[::2].sort(dim=1).values, ids[1::2].sort(dim=1).values)
    assert (targets[::2, -1] != targets[1::2, -1]).all()


def test_only_a_reader_without_positions_and_mask_sees_a_bag_of_words():
    torch.manual_seed(0)
    ids, order = drawn("word before")[0], torch.tensor([3, 1, 0, 2, 4, 5])
    for kind in (("none", "none"), ("none", "causal"), ("sinusoidal", "none"), ("learned", "none")):
        model = Reader(*kind, max_length=6)
        gap = (model(ids[:, order]) - model(ids)[:, order]).abs().max()
        assert (gap < 1e-5) == (kind == ("none", "none"))


def test_a_step_draws_the_same_sentences_whenever_it_comes_and_other_steps_others():
    torch.manual_seed(0)
    model = Reader("learned", "none", max_length=9)
    loss = batch_loss(model, TASKS["word before"], seed=3, lengths=(3, 9))
    assert loss(5).item() == loss(5).item() != loss(6).item()


def test_places_that_do_not_count_are_left_out_of_the_mean():
    torch.manual_seed(0)
    shares = right_by_position(Reader("none", "none", 8), TASKS["who bites"], length=8, n=40)
    assert [math.isnan(share) for share in shares] == [True] * 7 + [False]
    assert mean_of([math.nan, 0.5, 1.0]) == 0.75
