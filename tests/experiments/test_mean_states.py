"""The mean of a text is that of its own pieces, whatever it is read beside; the regression learns a rule."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import _fine_tuned
import _mean_states
from _fine_tuned import head_of, task_of
from _mean_states import STRENGTHS, mean_states, regression
from bertlab.nn import BertModel
from bertlab.tasks.reading import trunk_read_once
from tests.experiments.small_tasks import small_encoder, stand_in


@pytest.fixture(autouse=True)
def small(monkeypatch):
    stand_in(monkeypatch, _fine_tuned)
    monkeypatch.setattr(_mean_states, "BATCH", 7)  # several batches, the last one not full


@pytest.mark.parametrize("name", ["sst2", "nli-wikipedia"])
def test_the_mean_is_that_of_each_input_read_alone(name):
    bert, tokenizer = small_encoder("any", 0)
    inputs = task_of(name, tokenizer).inputs["test"]
    assert len({len(one.ids) for one in inputs}) > 1
    found = mean_states(bert, inputs)
    for one, mean in zip(inputs, found, strict=True):
        ids, segments = (torch.from_numpy(part)[None] for part in (one.ids, one.segments))
        with torch.no_grad():
            alone = bert(ids, segments).states[0].mean(0)
        np.testing.assert_allclose(mean, alone, atol=0.02)  # bfloat16


def test_a_head_on_the_first_piece_need_not_read_again(monkeypatch):
    bert, tokenizer = small_encoder("any", 0)
    task, kept = task_of("nli-wikipedia", tokenizer), {}
    mean_states(bert, task.inputs["test"], kept)
    assert {said.shape for said in kept.values()} == {(1, bert.config.d_model)}
    model, read = head_of(task, bert), []
    usual = BertModel.forward
    monkeypatch.setattr(
        BertModel, "forward", lambda self, ids, *o: read.append(len(ids)) or usual(self, ids, *o)
    )
    with trunk_read_once(model, bf16=True):
        model.bert.kept = kept
        told = task.scores(model, "test")
        assert not read
        model.bert.kept = {}
        assert task.scores(model, "test") == told
        assert read


def test_a_rule_is_learnt_and_the_penalty_is_chosen_by_val_alone():
    rng = np.random.default_rng(0)
    y = {part: np.arange(40) % 2 for part in ("train", "val", "test")}
    x = {part: rng.normal(size=(40, 6)).astype(np.float32) for part in y}
    for part, right in y.items():
        x[part][:, 0] += 5 * right
    said, strength = regression(x, y)
    assert (said == y["test"]).mean() > 0.9
    assert strength in STRENGTHS
    shuffled = {**x, "test": x["test"][::-1]}
    assert (regression(shuffled, y)[0] == said[::-1]).all()
    assert regression(shuffled, {**y, "test": None})[1] == strength


def test_of_equals_the_strongest_penalty():
    y = {part: np.arange(8) % 2 for part in ("train", "val", "test")}
    x = {part: np.stack([right, -right], 1).astype(np.float32) for part, right in y.items()}
    assert regression(x, y)[1] == STRENGTHS[0]
