"""New words are told apart from those met; a neighbour is another sentence; chance is counted."""

from __future__ import annotations

import numpy as np
import torch

import elmo_layers
from bertlab.nn import ELMo, ELMoConfig
from elmo_layers import model_of, nearest, nearest_of, parts_of_speech, same


def some_elmo() -> ELMo:
    torch.manual_seed(0)
    sizes = {"d_model": 16, "d_memory": 16, "d_character": 8, "filters": ((1, 8), (3, 16)), "n_highway": 1}
    return ELMo(ELMoConfig(vocab_size=9, dropout=0.0, **sizes)).eval()


def test_nobody_is_a_neighbour_of_itself_and_length_does_not_count():
    x = np.array([[1.0, 0], [9, 0.1], [0, 1], [-0.1, 2]])
    assert nearest(x).tolist() == [1, 0, 3, 2]


def test_chance_is_how_often_dealt_labels_agree_as_often():
    labels = np.array(["a"] * 6 + ["b"] * 6)
    knows = np.array([1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10])
    crosses = (np.arange(12) + 6) % 12
    assert same(labels, knows)["right"] == 12
    assert same(labels, knows)["p"] < 0.05
    assert same(labels, crosses) == {"right": 0, "p": 1.0}


def test_layer_zero_cannot_tell_the_sentences_of_a_word_apart():
    kinds = {"theatre": ["The play was long.", "A play opened."], "game": ["They play here.", "Teams play."]}
    found = nearest_of(some_elmo(), "play", kinds)
    assert found["n"] == len(found["neighbours"]) == 4
    assert len(found["sense"]) == len(found["speech"]) == 3
    assert "speech" not in nearest_of(some_elmo(), "spring", {"a": ["A spring."], "b": ["The spring ran."]})


def test_words_met_and_new_are_counted_apart(monkeypatch):
    for name, n in (("STORIES", 12), ("LEARNT", 150), ("ASKED", 150)):
        monkeypatch.setattr(elmo_layers, name, n)
    monkeypatch.setattr(elmo_layers.parts_of_speech, "__defaults__", None)
    found = parts_of_speech(some_elmo(), 0)
    n = found["n"]
    assert n["met"] + n["new"] == n["all"] == 150
    for what in ("right", "by_lot"):
        met, new, every = (np.array(found[what][part]) for part in ("met", "new", "all"))
        np.testing.assert_allclose((met * n["met"] + new * n["new"]) / 150, every, atol=1e-3)
    assert found["memory"]["met"] > 0.8


def test_new_weights_are_other_ones_for_each_seed(monkeypatch):
    from bertlab.nn import ELMoForPreTraining

    trained = ELMoForPreTraining(some_elmo().config)
    monkeypatch.setattr(elmo_layers, "load_elmo", lambda name: (trained, None))
    assert model_of({"weights": "trained"}) is trained.elmo
    one, same_seed, other = (model_of({"weights": "new", "seed": s}) for s in (1, 1, 2))
    states = [m.state_dict()["embeddings.characters.weight"] for m in (one, same_seed, other)]
    assert torch.equal(states[0], states[1])
    assert not torch.equal(states[0], states[2])
