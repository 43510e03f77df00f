"""Probes ask of each layer what it says of single words, and of nothing else."""

from __future__ import annotations

import pytest

import _fine_tuned
import layer_probes
from layer_probes import every_word, measure, usual_types, words_of_entities
from tests.experiments.small_tasks import small_encoder, small_parts, stand_in


@pytest.fixture(autouse=True)
def small(monkeypatch):
    stand_in(monkeypatch, _fine_tuned, layer_probes, sizes={"train": 60, "val": 5, "test": 40})
    monkeypatch.setattr(layer_probes, "WORDS", 200)
    monkeypatch.setattr(layer_probes, "PLACES", 6)
    monkeypatch.setattr(layer_probes, "homographs", lambda bert, tokenizer: {"left_out": 0})


def test_words_come_with_their_states_types_and_places():
    bert, tokenizer = small_encoder("bert-6l", 0)
    sentences = small_parts("wikigold", {"train": 60})[0]["train"]
    found = every_word(bert, tokenizer, sentences, 5)
    assert found["states"].shape == (3, sum(len(one.words) for one in sentences[:5]), 32)
    first = sentences[0]
    n = len(first.words)
    assert found["words"][:n] == [word.lower() for word in first.words]
    assert found["types"][:n] == [label[2:] for label in first.labels]
    assert found["places"][: n + 1] == [*map(str, range(1, n + 1)), "1"]
    assert found["sentences"][: n + 1] == [*[0] * n, 1]


def test_what_enters_the_first_layer_knows_places_and_words_by_heart():
    found = words_of_entities(*small_encoder("bert-6l", 0))
    assert len(found["places"]) == len(found["selectivity"]) == 3
    assert {len(found[what]["seen"]) for what in ("types", "control")} == {3}
    assert found["places"][0] > 0.6  # of six; the position is added there, and 32 numbers hold much else
    assert found["types"]["seen"][0] > 0.9  # the type is that of the word, in these texts
    assert found["control"]["seen"][0] > 0.9  # as is any other label that a word has
    assert found["memory"]["all"] > 0.9
    assert 0.4 < found["most_frequent_type"]["all"] < 0.8
    assert found["n"]["unseen"] == 0
    assert found["types"]["unseen"] == [None] * 3
    assert found["n"]["seen"] == found["n"]["all"] < found["n"]["learnt"]


def test_words_that_no_name_had_are_told_apart(monkeypatch):
    parts, labels = small_parts("wikigold", {"train": 60, "val": 5, "test": 40})
    train = [one for one in parts["train"] if "Hartwell" not in one.words]
    monkeypatch.setattr(layer_probes, "parts_of", lambda name: ({**parts, "train": train}, labels))
    found = words_of_entities(*small_encoder("bert-6l", 0))
    assert found["n"]["unseen"] > 0
    assert found["n"]["seen"] + found["n"]["unseen"] == found["n"]["all"]
    assert found["memory"]["unseen"] == found["most_frequent_type"]["unseen"]
    assert found["memory"]["seen"] == 1.0
    for what in ("types", "control"):
        seen, unseen, every = (found[what][part][0] for part in ("seen", "unseen", "all"))
        assert min(seen, unseen) <= every <= max(seen, unseen)
    first = found["selectivity"][0]
    assert first["difference"] == pytest.approx(
        found["types"]["seen"][0] - found["control"]["seen"][0], abs=1e-3
    )
    assert first["interval"][0] <= first["difference"] <= first["interval"][1]


def test_memory_is_the_usual_type_of_a_word():
    assert usual_types(["a", "b", "a", "a", "b"], ["X", "Y", "Y", "Y", "X"]) == {"a": "Y", "b": "X"}


def test_an_arm_measures_everything(tmp_path):
    found = measure({"model": "bert-mini"}, tmp_path)
    assert {"types", "control", "places", "homographs"} <= found.keys()
