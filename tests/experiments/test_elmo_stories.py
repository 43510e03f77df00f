"""The exam asks where both optima are known; nobody is better; a model that knows nothing is far behind."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import elmo_stories
from bertlab.nn import ELMoConfig, ELMoForPreTraining
from elmo_stories import SIZES, bounds, exam, guesses, measure, train_and_test, vocabulary


@pytest.fixture(scope="module", autouse=True)
def small():
    before = elmo_stories.ASKED, elmo_stories.STORIES
    elmo_stories.ASKED, elmo_stories.STORIES = 20, 60
    exam.cache_clear()
    yield
    elmo_stories.ASKED, elmo_stories.STORIES = before
    exam.cache_clear()


def test_the_row_of_a_story_holds_the_word_where_the_exam_asks():
    asked = exam()
    assert len(asked.answers) == 3 * 20
    assert (asked.batch.ids[asked.rows, asked.places] == asked.answers).all()
    assert not set(asked.answers.tolist()) & vocabulary().special_ids


def test_both_sides_know_more_than_the_left_one():
    found = bounds()
    assert found["both"]["accuracy"] > found["left"]["accuracy"]
    assert found["both"]["loss"] < found["left"]["loss"]


def test_one_who_says_the_exact_chances_scores_the_bound(monkeypatch):
    asked, V = exam(), len(vocabulary())
    exact = np.full((len(asked.answers), V), 1e-9)
    exact[np.arange(len(exact)), asked.answers] = asked.true["left"]
    monkeypatch.setattr(elmo_stories, "guesses", lambda model, alone: {"forward": np.log(exact)})
    assert measure(None, None)["forward_loss"] == pytest.approx(bounds()["left"]["loss"], abs=1e-3)


def test_a_guess_is_made_without_the_word():
    torch.manual_seed(0)
    model = ELMoForPreTraining(ELMoConfig(vocab_size=len(vocabulary()), **SIZES)).eval()
    alone = np.full(len(vocabulary()), -np.log(len(vocabulary())))
    before = guesses(model, alone)
    asked = exam()
    ids = asked.batch.ids.copy()
    ids[asked.rows[::3], asked.places[::3]] = vocabulary().ids["the"]  # of each story one word
    changed = asked._replace(batch=type(asked.batch)(ids, asked.batch.segments, asked.batch.mask))
    elmo_stories.exam = lambda: changed
    try:
        after = guesses(model, alone)
    finally:
        elmo_stories.exam = exam
    for direction in ("forward", "backward", "both"):
        np.testing.assert_allclose(before[direction][::3], after[direction][::3], atol=1e-5)


def test_a_short_training_learns(tmp_path, monkeypatch):
    rows = train_and_test({"steps": 24, "seed": 0}, tmp_path / "arm")["curve"]
    assert [row["step"] for row in rows] == list(range(3, 25, 3))
    assert rows[-1]["both_loss"] < rows[0]["both_loss"]
