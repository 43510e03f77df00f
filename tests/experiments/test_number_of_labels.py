"""Few labels are few: none is used that the arm does not count."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import _fine_tuned
import number_of_labels
from _mean_states import mean_states
from number_of_labels import (
    DRAWS,
    EPOCHS,
    FROZEN,
    PLAIN,
    TUNED,
    counting_on_all,
    crossings,
    drawn,
    summary,
    train_and_test,
)
from tests.experiments.small_tasks import small_encoder, small_parts, stand_in

SIZES = {"train": 400, "val": 5, "test": 30}
EXAMPLES = small_parts("sst2", SIZES)[0]["train"]


@pytest.mark.parametrize("n", [10, 30, 100, 300])
def test_a_draw_has_as_many_of_each_class_and_a_fifth_is_for_choosing(n):
    train, choosing = drawn(EXAMPLES, n, seed=0)
    assert len(train) + len(choosing) == n
    assert len(choosing) == n // 5
    for some in (train, choosing):
        assert set(Counter(example.label for example in some).values()) == {len(some) // 2}
    assert len({id(one) for one in (*train, *choosing)}) == n


def test_a_smaller_draw_is_the_beginning_of_a_larger_one_and_seeds_differ():
    small, large = ({id(one) for part in drawn(EXAMPLES, n, 3) for one in part} for n in (30, 100))
    assert small < large
    assert {id(one) for part in drawn(EXAMPLES, 30, 4) for one in part} != small


@pytest.fixture
def small(monkeypatch):
    stand_in(monkeypatch, _fine_tuned, number_of_labels, sizes=SIZES)
    monkeypatch.setattr(number_of_labels, "chosen_rate", lambda model, task: 3e-3)
    for name, few in (("EPOCHS", {30: 2, 100: 2}), ("DRAWS", {30: 2, 100: 1})):
        monkeypatch.setattr(number_of_labels, name, few)


@pytest.mark.parametrize("way", [PLAIN, *TUNED])
def test_every_way_learns_from_few_labels(way, small, tmp_path):
    found = train_and_test({"way": way, "labels": 100, "seed": 0}, tmp_path)
    assert 0 <= found["accuracy"] <= 1
    assert way != PLAIN or found["accuracy"] > 0.9  # the rule is one of single words
    assert way == PLAIN or found["steps"] == 2 * 5


def test_a_frozen_trunk_learns_from_all_draws_at_once(small, tmp_path):
    way = next(iter(FROZEN))
    found = train_and_test({"way": way}, tmp_path)["all"]
    assert [(row["labels"], row["seed"]) for row in found] == [(30, 0), (30, 1), (100, 0)]
    assert found[-1]["accuracy"] > 0.75
    rows = summary([{"way": way, "all": found, "seconds": 1.0}], 0.5)["arms"]
    assert [row["accuracy"] for row in rows] == [row["accuracy"] for row in found]
    assert {(row["way"], "all" in row) for row in rows} == {(way, False)}


def test_of_what_was_read_each_draw_gets_its_own_texts(small, monkeypatch):
    given = []
    monkeypatch.setattr(
        number_of_labels, "regression", lambda x, y: given.append((x, y)) or (y["train"][:10], 1)
    )
    number_of_labels.by_mean("any")
    bert, tokenizer = small_encoder("any", 0)
    train, val = drawn(EXAMPLES, 30, 1)
    task = _fine_tuned.task_of("sst2", tokenizer, {"train": train, "val": val})
    x, y = given[1]
    for part in ("train", "val"):
        np.testing.assert_allclose(x[part], mean_states(bert, task.inputs[part]), atol=0.02)  # bfloat16
        assert y[part].tolist() == task.right[part].tolist()


def test_up_to_a_thousand_labels_all_have_about_as_many_steps():
    steps = {n: epochs * (n * 4 // 5 // (16 if n >= 100 else 8)) for n, epochs in EPOCHS.items()}
    assert all(100 <= steps[n] <= 150 for n in EPOCHS if n <= 1000)
    assert steps[3000] == 300


def test_a_crossing_is_the_first_size_at_the_goal_and_draws_without_all_sizes_are_left_out():
    right = {10: 0.5, 30: 0.8, 100: 0.7, 300: 0.9, 1000: 0.9, 3000: 0.9}
    rows = [
        {"way": "a", "labels": n, "seed": seed, "accuracy": value - 0.1 * seed}
        for n, value in right.items()
        for seed in range(DRAWS[n])
    ]
    assert crossings(rows, 0.8) == {"a": [30, 300, None]}


def test_counting_on_all_labels_uses_all_of_them(small, monkeypatch):
    used = []
    usual = number_of_labels.linear
    monkeypatch.setattr(
        number_of_labels, "linear", lambda view, *parts: used.append(parts) or usual(view, *parts)
    )
    assert 0.9 < counting_on_all() <= 1
    assert [len(some) for some in used[0][:3]] == [400, 5, 10]
