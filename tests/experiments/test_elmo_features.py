"""Static vectors stand behind the layers; each input reads its own part; the classifier knows no order."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import _elmo_features
import elmo_features
from _elmo_features import INPUTS, Classifier, FeatureTexts, Inputs, static_beside, tagger
from bertlab.nn import ELMo, ELMoConfig
from bertlab.tasks.classification import Example
from bertlab.tasks.entities import TaggedSentence
from bertlab.tasks.finetune import FineTuning, fine_tune
from elmo_features import MOST, TASKS, label, plan, summary, train_and_test
from tests.experiments.small_tasks import small_parts

D, S = 4, 3


@pytest.fixture(autouse=True)
def few_vectors(monkeypatch):
    rows = torch.arange(12.0).view(4, S) + 1
    rows[-1] = 0
    monkeypatch.setattr(_elmo_features, "table", lambda: ({"the": 0, "cat": 1, "sat": 2}, rows))
    monkeypatch.setattr(elmo_features, "table", _elmo_features.table)


def test_static_vectors_are_looked_up_in_small_letters_and_unknown_words_get_zeros():
    sentence = TaggedSentence(("The", "Xanthippe", "sat"), ("O",) * 3)
    states = torch.randn(3, 3, D).half()
    (found,) = static_beside([sentence], [states])
    assert found.shape == (3, 3, D + S)
    assert torch.equal(found[..., :D], states)
    for layer in found:
        assert layer[:, D:].tolist() == [[1, 2, 3], [0, 0, 0], [7, 8, 9]]


def test_each_input_reads_its_own_part():
    said = torch.randn(3, 2, D + S)
    for name in INPUTS:
        inputs = Inputs(name, 2, D, S)
        assert inputs(said).shape == (2, inputs.width), name
    for i in range(3):
        assert torch.equal(Inputs(f"layer {i}", 2, D, S)(said), said[i, :, :D])
    assert torch.equal(Inputs("static", 2, D, S)(said), said[0, :, D:])
    both = Inputs("static + mix", 2, D, S)(said)
    torch.testing.assert_close(both, torch.cat([said[0, :, D:], said[..., :D].mean(0)], -1))


def test_only_a_mix_learns_shares_and_the_slow_one_the_same_function():
    assert Inputs("static", 2, D, S).learnt() == Inputs("layer 1", 2, D, S).learnt() == {}
    quick, slow = Inputs("static + mix", 2, D, S), Inputs("static + slow mix", 2, D, S)
    assert quick.learnt() == slow.learnt() == {"shares": [0.333] * 3, "gamma": 1.0}
    with torch.no_grad():
        for one in (quick, slow):
            one.layers.weights[0] = 0.1
    assert quick.learnt()["shares"][0] > slow.learnt()["shares"][0] > 0.333


def test_the_classifier_knows_no_order_and_no_padding():
    torch.manual_seed(0)
    model = Classifier(Inputs("static + mix", 2, D, S), 2).eval()
    short, long = torch.randn(3, 4, D + S), torch.randn(3, 9, D + S)
    alone = model([short])
    torch.testing.assert_close(model([short, long])[:1], alone)
    torch.testing.assert_close(model([short.flip(1)]), alone)


def test_a_text_classifier_is_asked_for_its_own_classes():
    states = {part: [torch.randn(3, 2, D + S) for _ in range(5)] for part in ("train", "val", "test")}
    task = FeatureTexts(states, {part: np.array([0, 1, 0, 1, 1]) for part in states})
    model = Classifier(Inputs("layer 2", 2, D, S), 2).eval()
    (right, some), n = task.batch(model, [1, 3])
    assert right.tolist() == [1, 1]
    assert n == len(some) == 2
    said = task.said(model, "val", at_once=2)
    assert task.scores(model, "val")["accuracy"] == np.mean(said == task.right["val"])


def small_elmo(arm) -> ELMo:
    torch.manual_seed(0)
    sizes = {"d_model": 8, "d_memory": 12, "d_character": 4, "filters": ((1, 4), (3, 8)), "n_highway": 1}
    return ELMo(ELMoConfig(vocab_size=9, dropout=0.0, **sizes)).eval()


def opinions(name):
    rng = np.random.default_rng(0)
    words = {"no": ["bad", "dull"], "yes": ["good", "fine"]}
    some = [Example(f"a {rng.choice(words[kind])} film", None, kind) for kind in ("no", "yes") * 40]
    return {"train": some[:40], "val": some[40:60], "test": some[60:]}, ("no", "yes")


@pytest.mark.parametrize("name", TASKS)
def test_an_arm_trains_with_all_seeds_and_tells_what_was_learnt(tmp_path, monkeypatch, name):
    data = small_parts("wikigold") if name == "names" else opinions(name)
    monkeypatch.setattr(elmo_features, "parts_of", lambda _: data)
    monkeypatch.setattr(elmo_features, "model_of", small_elmo)
    monkeypatch.setitem(elmo_features.SETTINGS, name, {"epochs": 2, "batch_size": 8, "rate": 5e-3})
    for cached in (elmo_features.examples, elmo_features.read_once):
        cached.cache_clear()
    row = train_and_test({"task": name, "weights": "trained", "input": "static + mix"}, tmp_path / "arm")
    assert len(row["seeds"]) == len(row["learnt"]) == len(row["each"]) == 3
    assert all(sum(one["shares"]) == pytest.approx(1, abs=0.01) for one in row["learnt"])
    for cached in (elmo_features.examples, elmo_features.read_once):
        cached.cache_clear()


def test_a_task_is_summed_up_with_all_its_pairs():
    scores = {one: 0.5 + i / 20 for i, one in enumerate(INPUTS)}
    rows = [
        arm | {"each": [[[float(i < 20 * scores[arm["input"]]), 1.0] for i in range(20)] for _ in range(3)]}
        for arm in plan()
    ]
    found = summary(rows, "names")
    assert found["means"]["static"] == 0.5
    pairs = {(one["a"], one["b"]): one for one in found["compared"]}
    assert pairs["mix", "static"]["difference"] == pytest.approx(0.2)
    assert pairs["static + mix", "static + mix, new weights"]["difference"] == 0
    assert {label(arm) for arm in plan()} == {*INPUTS, "static + mix, new weights"}


def test_opinions_are_drawn_once_and_parts_stay_apart(monkeypatch):
    every = {part: [f"{part} {i}" for i in range(4000)] for part in ("train", "val", "test")}
    monkeypatch.setattr(elmo_features, "parts_of", lambda name: (every, ("no", "yes")))
    elmo_features.examples.cache_clear()
    parts, _ = elmo_features.examples("opinions")
    assert {part: len(some) for part, some in parts.items()} == MOST
    elmo_features.examples.cache_clear()


def test_the_tagger_reads_its_inputs():
    model = tagger(Inputs("static", 2, D, S), n_labels=3, hidden=4)
    assert model([torch.randn(3, 5, D + S), torch.randn(3, 2, D + S)]).shape == (2, 5, 3)


def test_the_classifier_learns_what_a_state_tells():
    torch.manual_seed(0)
    right = {part: np.arange(60) % 2 for part in ("train", "val", "test")}
    states = {part: [torch.randn(3, 5, D + S).half() for _ in range(60)] for part in right}
    for part, some in states.items():
        for text, kind in zip(some, right[part], strict=True):
            text[2, 3, 0] = 4.0 if kind else -4.0  # layer 2 of one word knows it
    settings = FineTuning(epochs=8, batch_size=10, rate=1e-2)
    found = {}
    for name in ("layer 1", "layer 2", "mix"):
        task, model = FeatureTexts(states, right), Classifier(Inputs(name, 2, D, S), 2)
        fine_tune(model, task, settings)
        found[name] = task.scores(model, "test")["accuracy"]
        if name == "mix":
            assert np.argmax(model.choice.learnt()["shares"]) == 2
    assert found["layer 2"] > 0.9 > 0.75 > found["layer 1"]
    assert found["mix"] > 0.9
