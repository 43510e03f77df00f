"""A homograph's readings are told by its neighbours, and its kind by the labels of the data set."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import _readings
from _homographs import Sentence
from _readings import depth, depths, homographs, layers_of, nouns, rows_around
from bertlab.datasets import DataUnavailable
from tests.experiments.small_tasks import small_encoder


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(_readings, "sentences", lambda vocab, split, most: of("cat", "dog")(vocab, split))
    monkeypatch.setattr(_readings, "nouns", of("mat"))
    monkeypatch.setattr(_readings, "told_by_syntax", lambda: {"cat"})


def of(*words):
    """Homographs of two readings; what stands before one says which it has."""

    def some(tokenizer, split):
        ids, n = tokenizer.ids, 30 if split == "train" else 10
        return [
            Sentence(
                word,
                f"{word}-{i % 3 == 0}",
                [2, ids["a" if i % 3 == 0 else "the"], ids[word], 3],
                slice(2, 3),
            )
            for word in words
            for i in range(n)
        ]

    return some


def test_a_state_is_that_of_the_word_in_each_layer():
    bert, _ = small_encoder("bert-6l", 0)
    found = [Sentence("w", "a", [2, 10, 11, 3], slice(1, 3)), Sentence("w", "b", [2, 9, 3], slice(1, 2))]
    states = layers_of(bert, found)
    with torch.no_grad():
        wanted = torch.stack(bert(torch.tensor([[2, 10, 11, 3]])).layers)[:, 0, 1:3].mean(1)
    np.testing.assert_allclose(states[:, 0], wanted, atol=1e-5)
    assert states.shape == (3, 2, 32)


def test_the_rows_around_are_those_of_all_pieces_but_the_word():
    bert, _ = small_encoder("bert-6l", 0)
    table = bert.embeddings.token.weight.detach()
    rows = rows_around(
        bert, [Sentence("w", "a", [2, 10, 11, 3], slice(1, 2)), Sentence("w", "b", [2, 9, 3], slice(1, 2))]
    )
    np.testing.assert_allclose(rows[0], table[[2, 11, 3]].mean(0), atol=1e-6)
    np.testing.assert_allclose(rows[1], table[[2, 3]].mean(0), atol=1e-6)


def test_a_reading_is_not_known_before_the_word_has_looked_at_its_neighbours(small):
    bert, tokenizer = small_encoder("bert-6l", 0)
    with torch.no_grad():
        for parameter in bert.encoder.parameters():  # else a new model hardly looks at neighbours
            parameter.mul_(10)
    found = homographs(bert, tokenizer)
    for kind, word in (("syntax", "cat"), ("meaning", "mat")):
        one = found[kind]
        assert one["n"] == 10
        assert one["accuracy"][0] == one["most_frequent"] == 0.6
        assert one["accuracy"][1] == 1.0
        assert one["around"] == 1.0  # the word before it says it
        assert one["words"][word].startswith("10 6 6 10 ")
        assert one["intervals"][1] == [1.0, 1.0]
    assert found["left_out"] == 1  # the dog
    assert found["depth"]["half"] == {
        "syntax": 0.5,
        "meaning": 0.5,
        "difference": 0.0,
        "interval": [0.0, 0.0],
    }


def test_a_depth_is_where_a_part_of_the_gain_is_reached():
    curves = np.array(
        [[0.5, 0.7, 0.9, 0.8], [0.5, 0.9, 0.9, 0.9], [0.5, 0.4, 0.3, 0.5], [0.5, 0.5, 0.5, 0.9]]
    )
    np.testing.assert_allclose(depth(curves, 0.5), [1, 0.5, np.nan, 2.5])
    np.testing.assert_allclose(depth(curves, 0.9), [1.8, 0.9, np.nan, 2.9])


def test_the_interval_of_depths_holds_what_words_agree_on_and_is_none_without_gain():
    early, late = np.array([[5], [9], [9], [9]]), np.array([[5], [5], [9], [9]])
    counts = {kind: np.full(8, 10.0) for kind in ("syntax", "meaning")}
    found = depths({"syntax": np.tile(early, 8), "meaning": np.tile(late, 8)}, counts)["half"]
    assert found == {"syntax": 0.5, "meaning": 1.5, "difference": 1.0, "interval": [1.0, 1.0]}
    mixed = np.concatenate([np.tile(early, 4), np.tile(late, 4)], 1)
    low, high = depths({"syntax": mixed, "meaning": np.roll(mixed, 4, 1)}, counts)["half"]["interval"]
    assert low < 0 < high
    flat = np.full((4, 8), 6)
    found = depths({"syntax": flat, "meaning": np.tile(late, 8)}, counts)["half"]
    assert found == {"syntax": None, "meaning": 1.5, "difference": None, "interval": [None, None]}


@pytest.mark.filterwarnings("ignore:coarsewsd-20 is for non-commercial use")
def test_nouns_come_in_bounded_number_and_are_drawn_once():
    try:
        found = nouns(small_encoder("bert-6l", 0)[1], "test")
    except DataUnavailable as reason:
        pytest.skip(str(reason))
    counts = {word: sum(one.word == word for one in found) for word in _readings.NOUNS}
    assert max(counts.values()) == counts["apple"] == 100
    assert found == nouns(small_encoder("bert-6l", 0)[1], "test")
