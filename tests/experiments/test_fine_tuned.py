"""What is kept of a test part is what was said: each example, kinds of mistakes, and mistakes themselves."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import _fine_tuned
from _comparison import each_of, score
from _fine_tuned import RECIPES, _kinds, head_of, judge, question_word, sentence_around, task_of
from bertlab.tasks.bio import Entity
from bertlab.tasks.squad import Answer, Question
from tests.experiments.small_tasks import small_encoder, small_parts, stand_in

MAIN = {"sst2": "accuracy", "nli-wikipedia": "accuracy", "wikigold": "f1", "wnut17": "f1", "xquad": "f1"}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    stand_in(monkeypatch, _fine_tuned)


def test_an_encoder_has_its_weights_or_new_ones_and_dropout_either_way(monkeypatch):
    loaded, _ = small_encoder("any", 5)
    monkeypatch.undo()
    monkeypatch.setattr(_fine_tuned, "load_bert", lambda name, kind: (loaded, None))
    kept, new, again, other = (
        _fine_tuned.encoder(*which)[0]
        for which in (("bert-mini", 0), ("random mini", 0), ("random mini", 0), ("random mini", 1))
    )
    assert all(torch.equal(a, b) for a, b in zip(kept.parameters(), loaded.parameters(), strict=True))
    assert torch.equal(new.embeddings.token.weight, again.embeddings.token.weight)
    assert not torch.equal(new.embeddings.token.weight, other.embeddings.token.weight)
    assert not torch.equal(new.embeddings.token.weight, kept.embeddings.token.weight)
    assert loaded.config.dropout == 0.0
    assert {bert.config.dropout for bert in (kept, new)} == {_fine_tuned.DROPOUT}


def judged(name, seed=0):
    bert, tokenizer = small_encoder("any", seed)
    task = task_of(name, tokenizer)
    model = head_of(task, bert)
    with torch.no_grad():
        for parameter in model.parameters():  # so that it says different things
            parameter.add_(0.3 * torch.randn_like(parameter))
    return judge(task, model.eval(), name), task, model


@pytest.mark.parametrize("name", RECIPES)
def test_what_each_example_brings_sums_to_the_score(name):
    found, _, _ = judged(name)
    assert score(each_of([found["each"]])) == pytest.approx(found["test"][MAIN[name]], abs=1e-4)
    assert len(found["each"]) == len(small_parts(name)[0]["test"])


@pytest.mark.parametrize("name", ["sst2", "nli-wikipedia"])
def test_of_texts_it_is_told_what_was_said_for_what_and_how_sure(name):
    found, task, model = judged(name)
    said = np.array(list(found["said"].values()))
    assert said.sum() == len(found["each"])
    assert np.trace(said) / said.sum() == pytest.approx(found["test"]["accuracy"], abs=1e-4)
    guesses = task.predict(model, task.inputs["test"])
    assert said.sum(0).tolist() == np.bincount(guesses, minlength=2).tolist()  # columns are what was said
    assert found["calibration"]["accuracy"] == found["test"]["accuracy"]
    texts = {example.text: example for example in small_parts(name)[0]["test"]}
    for mistake in found["mistakes"]:
        assert mistake["said"] != mistake["right"] == texts[mistake["text"]].label
        assert 0.5 <= mistake["sure"] <= 1
        assert ("text_b" in mistake) == (name == "nli-wikipedia")


def test_negations_are_found_as_the_reviews_write_them():
    assert _fine_tuned.NEGATIONS.search("they wo n't sit still")
    assert _fine_tuned.NEGATIONS.search("never dull")
    assert not _fine_tuned.NEGATIONS.search("a notable film about knots")


def test_kinds_of_mistakes_with_names():
    per, loc = Entity("PER", 0, 2), Entity("LOC", 3, 4)
    assert _kinds({per}, {Entity("LOC", 0, 2)}) == ["another type"]
    assert _kinds({per}, {Entity("PER", 0, 1)}) == ["another end or beginning"]
    assert _kinds({per}, {loc}) == ["not seen", "no name at all"]
    assert _kinds(set(), {loc}) == ["no name at all"]


def test_mistakes_with_names_are_those_that_were_made():
    found, task, model = judged("wikigold")
    gold, said = task.gold["test"], task.predict(model, task.words["test"])
    n_wrong = sum(list(a) != list(b) for a, b in zip(gold, said, strict=True))
    assert 0 < len(found["mistakes"]) <= min(2 * _fine_tuned.MISTAKES, n_wrong)
    assert all(one["right"] or one["said"] for one in found["mistakes"])


def test_questions_are_told_by_their_word_and_shown_with_what_is_around():
    asked = Question("q", "To whom, and in which year?", "x" * 200 + "Ivo" + "y" * 200, (Answer("Ivo", 200),))
    assert question_word(asked) == "who"
    assert sentence_around(asked, 5) == "…xxxxxIvoyyyyy…"
    found, _, _ = judged("xquad")
    assert sum(n for n, _ in found["kinds"].values()) == len(found["each"]) == len(found["exact"])


def test_some_examples_make_a_task_of_their_own():
    _, tokenizer = small_encoder("any", 0)
    parts, _ = small_parts("sst2")
    assert len(task_of("sst2", tokenizer, {"train": parts["train"][:5], "val": parts["val"]})) == 5
    assert len(task_of("sst2", tokenizer)) == len(parts["train"])
