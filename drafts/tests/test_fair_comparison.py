"""The fair comparison from end to end, in small: a text of a few words, tasks with rules, a few steps."""

from __future__ import annotations

import json
from functools import partial

import _arm_tasks
import _fair_probes
import _fair_summary
import _fair_text
import fair_comparison as script
import numpy as np
import pytest
import torch
from _arms_made import Size, World

import _comparison
from _homographs import Sentence
from bertlab.datasets.documents import Document
from bertlab.text import tokenise
from tests.experiments.small_tasks import KINDS, small_parts
from tests.tasks.learnable import FILLERS, TOKENIZER

KINDS["sentence-polarity"] = "text"
SIZE = Size(16, 2, 2, 32)
STEPS = {
    "same tokens": dict.fromkeys(script.ARMS, 2),
    "same seconds": dict.fromkeys(script.ARMS, 3) | {"ELMo": 2},
}


def documents(n, seed):
    rng, plain = np.random.default_rng(seed), [word for word in FILLERS if word[0] != "#"]
    return [
        Document([" ".join(rng.choice(plain, 9)) for _ in range(12)], source)
        for source in ("books", "notes")
        for _ in range(n)
    ]


def sentences(n, seed):
    rng, cat = np.random.default_rng(seed), TOKENIZER.ids["cat"]
    some = []
    for k in range(n):
        ids = [2, *rng.integers(5, 12, 6).tolist(), 3]
        ids[3] = cat
        some.append(Sentence("cat", "ab"[k % 2], ids, slice(3, 4)))
    return some


@pytest.fixture(scope="module")
def small():
    """All modules read small things instead of real ones."""
    world = World(TOKENIZER, tokenise(documents(12, 0), TOKENIZER), SIZE, 4, pairs=True)
    held_out = {name: documents(4, seed) for seed, name in enumerate(_fair_text.SETS, 1)}
    homographs = {
        kind: {"train": sentences(20, 0), "test": sentences(8, 1)} for kind in ("syntax", "meaning")
    }
    pairs = {"order": [("the cat sat", "cat the sat"), ("a dog ran away", "a ran dog away")] * 3}
    stand_ins = {
        "vocabulary": lambda fast=False: TOKENIZER,
        "world": lambda: world,
        "SIZE": SIZE,
        "held_out_documents": lambda: held_out,
        "homographs": lambda: homographs,
        "pairs": lambda: pairs,
        "parts_of": small_parts,
        "groups_of": lambda name: None,
        "ASKED": {True: (6, 2), False: (4, 2)},
        "TOP_STEPS": 2,
        "EPOCHS": dict.fromkeys(script.TASKS, 1),
        "SHORTEST": 8,
        "TASKS": ("nli-wikipedia", "wikigold"),
        "interval": partial(_comparison.interval, draws=100),
        "difference": partial(_comparison.difference, draws=100),
    }
    with pytest.MonkeyPatch.context() as patch:
        for module in (script, _fair_text, _fair_probes, _fair_summary, _arm_tasks):
            for name, value in stand_ins.items():
                if hasattr(module, name):
                    patch.setattr(module, name, value)
        _fair_text.blanks.cache_clear()
        _arm_tasks.task_of.cache_clear()
        yield
    _fair_text.blanks.cache_clear()
    _arm_tasks.task_of.cache_clear()


@pytest.fixture(scope="module")
def measured(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")

    def measure(run, arms):
        return [
            {**arm, "seconds": 1.0, **run(arm, folder / f"{run.__name__}{i}")} for i, arm in enumerate(arms)
        ]

    trainings = measure(script.learn, script.runs(STEPS, dict.fromkeys(script.ARMS, 1e-3), 2))
    tested = measure(script.test, script.tests(trainings))
    same = STEPS["same seconds"]
    tries = measure(script.use, script.uses(same, 1, None))
    used = measure(script.use, script.uses(same, 1, script.tuning_of(tries)))
    return trainings, tested, used, folder


@pytest.fixture(scope="module")
def record(measured):
    trainings, tested, used, _ = measured
    _, counted = script.ASKED, {"words": tested[0]["words"], "grammar": tested[0]["grammar"]}
    plain = {task: {name: plain_each(task) for name in {_fair_summary.PLAIN[task]}} for task in script.TASKS}
    clocked = [{"part": "speeds", "speeds": {}}, {"part": "counting", **counted}]
    clocked += [{"part": task, "plain": rows} for task, rows in plain.items()]
    return _fair_summary.results_of(clocked, [], trainings, tested, used, STEPS)


def plain_each(task):
    n = len(small_parts(task)[0]["test"])
    return {"test": {}, "each": [[1.0, 1.0]] * n}


def test_nothing_is_trained_twice_and_everything_with_all_seeds(measured):
    kinds = [(row["arm"], row["steps"], row["seed"]) for row in measured[0]]
    assert len(kinds) == len(set(kinds)) == 2 * (2 * len(script.ARMS) - 1)  # ELMo's two trainings are one
    assert {(row["arm"], 0) for row in measured[1] if not row["steps"]} == {(name, 0) for name in script.ARMS}


def test_weights_that_are_loaded_are_those_that_were_trained(measured):
    row = next(row for row in measured[0] if row["arm"] == "BERT")
    again = script.trained(row, measured[3] / "x").state_dict()
    kept = torch.load(script.weights_file(row, measured[3]), weights_only=True)
    new = script.trained({**row, "steps": 0}, measured[3] / "x").state_dict()
    assert all(torch.equal(again[key], kept[key]) for key in kept)
    assert any(not torch.equal(new[key], kept[key]) for key in kept)
    with pytest.raises(FileNotFoundError, match="is gone"):
        script.trained({**row, "steps": 99}, measured[3] / "x")


def test_a_record_has_every_measure_of_every_arm_and_is_small(record):
    for budget in ("untrained", *STEPS):
        scores = record[budget]["scores"]
        assert {"loss of books", "accuracy of wikitext-2", "grammar", "syntax", "meaning"} <= scores.keys()
        for of_arms in scores.values():
            assert list(of_arms) == list(script.ARMS)
        assert bool(record[budget]["compared"]) is (budget in STEPS)
    for task in script.TASKS:
        for way in ("frozen", "fine-tuned"):
            assert list(record["tasks"][task][way]["trained"]) == list(script.ARMS)
            assert len(record["tasks"][task][way]["compared"]) == len(_fair_summary.COMPARED) + len(
                script.ARMS
            )
    assert "each" not in json.dumps(record).replace("each whole", "")
    assert len(json.dumps(record)) * 1.5 < 300_000


def test_an_arm_is_compared_with_itself_before_training_and_its_use_has_a_price(record):
    for task in script.TASKS:
        for way in ("frozen", "fine-tuned"):
            own = record["tasks"][task][way]
            for name in script.ARMS:
                gap = own["trained"][name]["mean"] - own["untrained"][name]["mean"]
                assert own["learnt"][name]["difference"] == pytest.approx(gap, abs=2e-4)
                assert own["seconds"][name] == 1.0


def test_two_readers_are_asked_in_all_their_ways(record):
    for name in ("ELMo", "two GPTs"):
        row = record["same tokens"]["rest"][name][0]
        assert {
            "plain",
            "weights",
            "top",
            "left alone",
            "right alone",
            "grammar, both likelihoods",
        } <= row.keys()


def test_documents_for_choosing_are_never_tested(small):
    chosen, tested = (_fair_text.blanks("books", testing, 3, 2).texts for testing in (False, True))
    rows = {tuple(row) for row in tested.tolist()}
    assert not any(tuple(row) in rows for row in chosen.tolist())


def test_a_blank_asks_for_what_stands_there_and_n_grams_never_see_it(small):
    asked = _fair_text.blanks("books", True, 5, 2)
    assert torch.equal(asked.texts.flatten()[asked.positions], asked.answers)
    for question, answers in _fair_text.as_exam(asked):
        shown = question.ids.reshape(-1)[question.positions]
        assert (shown == TOKENIZER.mask_id).all()
        assert (question.ids == TOKENIZER.mask_id).sum() == len(answers.pieces)


def test_questions_that_are_put_together_stay_the_same(small):
    some = [_fair_text.blanks(name, False, 3, 2) for name in _fair_text.SETS]
    both = _fair_text.together(some)
    assert torch.equal(both.texts.flatten()[both.positions], torch.cat([one.answers for one in some]))


def test_counting_answers_everything(small):
    found = _fair_text.counting(script.ASKED)
    for row in found.values():
        assert {"unigram", "from the left", "from the right", "left times right"} <= row.keys()
        assert row["unigram"]["loss"] == pytest.approx(np.log(9), rel=0.15)


def test_a_pair_becomes_both_texts_their_distance_and_their_product():
    means = torch.tensor([[1.0], [4.0], [2.0], [2.0]])
    assert _arm_tasks.beside(means, 2).tolist() == [[1, 4, 3, 4], [2, 2, 0, 4]]
    assert _arm_tasks.beside(means, 4).tolist() == means.tolist()


def test_fine_tuning_leaves_the_arm_as_it_is_and_learns(small, measured):
    row = next(row for row in measured[0] if row["arm"] == "BERT")
    arm = script.trained(row, measured[3] / "x")
    before = {key: value.clone() for key, value in arm.state_dict().items()}
    task = _arm_tasks.task_of("wikigold", TOKENIZER, SIZE.length)
    found = _arm_tasks.fine_tuned(arm, task, 1e-2, 0)
    assert all(torch.equal(value, before[key]) for key, value in arm.state_dict().items())
    assert len(found["each"]) == len(task.texts["test"])
