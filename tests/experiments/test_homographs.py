"""The probe is a ridge regression that is fair: what it is asked about, it has not seen."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import _homographs
from _homographs import Sentence, probe, states_of, told_by_syntax
from bertlab.datasets import DataUnavailable


def test_a_state_is_the_mean_over_the_pieces_of_the_word():
    found = [
        Sentence("w", "a", [2, 10, 11, 3], slice(1, 3)),
        Sentence("w", "b", [2, 5, 20, 21, 22, 3], slice(2, 3)),
    ]
    states = states_of(found, lambda ids: ids[..., None].float())
    np.testing.assert_allclose(states[:, 0], [10.5, 20])


def test_a_model_that_knows_the_sense_gets_all_right_and_one_that_does_not_the_majority(monkeypatch):
    def made(vocab, split, most):
        n = 30 if split == "train" else 10
        return tuple(
            Sentence(word, f"{word}-{i % 3 == 0}", [2, 7 if i % 3 == 0 else 8, 9, 3], slice(2, 3))
            for word in ("lead", "bow")
            for i in range(n)
        )

    monkeypatch.setattr(_homographs, "sentences", made)

    def sees_the_neighbour(ids):
        return torch.stack([ids.float(), ids.roll(1, 1).float()], -1)

    def sees_itself(ids):
        return ids[..., None].float()

    knows, not_so = (probe(None, states, 64) for states in (sees_the_neighbour, sees_itself))
    assert knows["accuracy"] == 1.0
    assert not_so["accuracy"] == not_so["majority"] == knows["majority"] == 0.6


def test_readings_that_differ_in_part_of_speech_are_told_by_their_labels():
    try:
        found = told_by_syntax()
    except DataUnavailable as reason:
        pytest.skip(str(reason))
    assert {"abstract", "object", "live", "minute"} <= found
    assert not found & {"bass", "bow", "content", "read", "polish", "jesus"}
    assert len(found) == 131
