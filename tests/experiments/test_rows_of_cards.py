"""The task of the experiments on heads asks what it says, and its models are what they are called."""

from __future__ import annotations

import pytest
import torch

from _rows_of_cards import CARDS, LOOKUPS, NAMES, PLAYERS, Rows, best_of, draw, shares_right, train


@pytest.fixture(scope="module")
def rows():
    return draw(50, 4, torch.Generator().manual_seed(0))


def test_each_player_is_asked_for_the_cards_of_its_neighbours_and_of_the_friends_it_knows_by_name(rows):
    ids, where, wanted = rows
    assert ids.shape == (50, PLAYERS, 5)
    assert wanted.shape == (50, PLAYERS, len(LOOKUPS))
    for row, places, answers in zip(ids.tolist(), where.tolist(), wanted.tolist(), strict=True):
        names = [player[0] for player in row]
        assert len(set(names)) == PLAYERS
        assert max(names) < NAMES
        for i, (name, card, place, friend, other) in enumerate(row):
            assert (name, place) == (names[i], i)
            assert 0 <= card < CARDS
            at = [(i - 1) % PLAYERS, names.index(friend), (i + 1) % PLAYERS, names.index(other)]
            assert places[i] == at
            assert answers[i] == [row[j][1] for j in at]


def test_fewer_things_are_the_first_of_them():
    for things in (1, 2, 3):
        ids, where, wanted = draw(5, things, torch.Generator().manual_seed(1))
        assert ids.shape[-1] == 3 + things // 2
        assert where.shape == wanted.shape == (5, PLAYERS, things)


def test_two_of_the_answers_are_the_same_as_often_as_luck_has_it():
    _, _, wanted = draw(20_000, 2, torch.Generator().manual_seed(2))
    same = (wanted[..., 0] == wanted[..., 1]).float().mean().item()
    assert same == pytest.approx(1 / PLAYERS + (1 - 1 / PLAYERS) / CARDS, abs=0.005)


def test_heads_change_no_number_of_parameters_and_each_way_out_adds_what_it_says():
    def parameters(**settings):
        return sum(p.numel() for p in Rows(2, **settings).parameters())

    assert len({parameters(heads=heads) for heads in (1, 2, 8, 64)}) == 1
    one = parameters(heads=1)
    assert parameters(heads=1, layers=2) - one == 4 * 64 * 65
    assert parameters(heads=1, feed_forward=256) - one == 256 * 65 + 64 * 257
    assert parameters(heads=1, width=256) > 4 * one


def test_all_cards_must_be_right_for_a_player_to_count():
    ids, _, wanted = draw(200, 2, torch.Generator().manual_seed(3))

    class Half(Rows):
        def forward(self, ids):
            logits = torch.nn.functional.one_hot(wanted, CARDS).float()
            logits[:, ::2, 1] = 0  # every second player names card 0 for its friend
            return logits

    first, second, both = shares_right(Half(2, 1), ids, wanted)
    assert first == 1.0
    assert second == both == pytest.approx(0.5 + 0.5 / CARDS, abs=0.02)


def test_training_is_the_same_for_the_same_seed_and_stops_when_the_task_is_known():
    settings = {"seed": 0, "steps": 200, "things": 1, "heads": 1, "width": 32}
    run = train(3e-3, **settings)
    assert run == train(3e-3, **settings)
    assert run["accuracy"] > 0.99
    best = best_of((1e-9, 3e-3), **settings)
    assert best["rate"] == 3e-3
    assert best["accuracy_by_rate"][0] < 0.3 < best["accuracy"]
