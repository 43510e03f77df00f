"""Claims about fine-tuning: which weights move and how far, that the best epoch is kept, what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from bertlab.nn import BertConfig, BertModel
from bertlab.tasks.finetune import FineTuned, FineTuning, batch_rows, described, fine_tune, layer_factors
from bertlab.tasks.heads import BertForClassification, BertForTokens
from tests.tasks.learnable import KINDS, made, parts_of, tiny

SHORT = FineTuning(epochs=2, batch_size=8, rate=1e-3)
SIZES = {"train": 26, "val": 10}  # 3 steps an epoch, and two texts left over


def some_task(kind="text"):
    return made(kind, parts_of(kind, SIZES))


def weights(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def equal(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


class Scripted:
    """A task whose scores are told beforehand; remembers which weights got them."""

    best_by = "accuracy"

    def __init__(self, scores):
        self.task, self.told, self.seen = some_task(), iter(scores), []
        self.batch, self.fingerprint = self.task.batch, self.task.fingerprint

    def __len__(self):
        return len(self.task)

    def scores(self, model, part):
        assert part == "val"
        self.seen.append(weights(model))
        return {"accuracy": next(self.told), "epochs": float(len(self.seen))}


@pytest.mark.parametrize("kind", KINDS)
def test_one_seed_gives_one_result_bit_for_bit_and_another_seed_another(kind):
    task, found = some_task(kind), []
    for seed, before in ((0, 5), (0, 6), (1, 5)):
        model = tiny(kind, dropout=0.1)
        torch.manual_seed(before)  # whatever chance did until now
        tuned = fine_tune(model, task, replace(SHORT, seed=seed))
        found.append((weights(model), tuned))
    (one, tuned), (again, tuned_again), (other, _) = found
    assert tuned == tuned_again
    assert equal(one, again)
    assert not equal(one, other)


@pytest.mark.parametrize("in_folder", [False, True])
@pytest.mark.parametrize(
    ("scores", "best"), [([0.2, 0.9, 0.9, 0.4], 3), ([0.6, 0.5, 0.1, 0.3], 1), ([0.0, 0.0, 0.0, 0.1], 4)]
)
def test_the_best_epoch_is_kept_of_equals_the_last(scores, best, in_folder, tmp_path):
    task, model = Scripted(scores), tiny("text")
    tuned = fine_tune(model, task, replace(SHORT, epochs=4), tmp_path if in_folder else None)
    assert tuned.epoch == best
    assert tuned.scores == {"accuracy": scores[best - 1], "epochs": best}
    assert equal(weights(model), task.seen[best - 1])
    assert not model.training
    assert [row["accuracy"] for row in tuned.history] == scores
    for epoch, row in enumerate(tuned.history):
        assert row["loss"] == pytest.approx(sum(tuned.losses[3 * epoch : 3 * epoch + 3]) / 3)
    assert len(tuned.losses) == 12


@pytest.mark.parametrize("kind", KINDS)
def test_with_a_frozen_trunk_what_is_new_is_trained_alone(kind):
    model = tiny(kind)
    before = weights(model)
    fine_tune(model, some_task(kind), replace(SHORT, frozen=True))
    moved = {name for name, value in model.state_dict().items() if not torch.equal(value, before[name])}
    new = {"bert.pooler", "classifier"} if kind in ("text", "pair") else {"classifier"}
    new = {"spans"} if kind == "answers" else new
    assert moved == {f"{name}.{part}" for name in new for part in ("weight", "bias")}
    assert all(parameter.requires_grad for parameter in model.parameters())  # for the next training

    fine_tune(model, some_task(kind), SHORT)
    still = {name for name, value in model.state_dict().items() if torch.equal(value, before[name])}
    assert not still - {"bert.embeddings.position.weight", "bert.embeddings.segment.weight"}


def test_a_frozen_parameter_of_the_caller_stays_frozen():
    model = tiny("text")
    kept = model.bert.embeddings.token.weight.requires_grad_(False)
    before = kept.clone()
    fine_tune(model, some_task(), replace(SHORT, frozen=True))
    assert not kept.requires_grad
    fine_tune(model, some_task(), SHORT)
    assert torch.equal(kept, before)


def test_each_layer_learns_at_its_share_of_the_rate_of_the_one_above_it():
    """Adam's first step is as long as the rate for every weight whose gradient is more than ε."""
    model = tiny("text", n_layers=3)
    before = weights(model)
    settings = FineTuning(epochs=1, batch_size=26, rate=2e-3, warmup=0.0, weight_decay=0.0, layer_decay=0.5)
    fine_tune(model, some_task(), settings)

    def longest(beginning):
        after = model.state_dict()
        return max(float((after[n] - before[n]).abs().max()) for n in before if n.startswith(beginning))

    rate = 2e-3 / 2  # of the first step of one: the rate falls to 0 behind the last
    parts = ["bert.embeddings", *(f"bert.encoder.layers.{i}." for i in range(3)), "bert.pooler", "classifier"]
    shares = [longest(part) / rate for part in parts]
    assert shares == pytest.approx([1 / 8, 1 / 4, 1 / 2, 1, 1, 1], rel=0.01)


@pytest.mark.parametrize("pooler", [False, True])
def test_the_factors_of_a_model_of_six_layers(pooler):
    config = BertConfig(vocab_size=9, d_model=8, n_layers=6, n_heads=2, d_ff=8, max_positions=8)
    model = (BertForClassification if pooler else BertForTokens)(BertModel(config, pooler=pooler), 2)
    factor = layer_factors(model, decay=0.9)
    wanted = {"embeddings": 0.9**6, "pooler": 1.0} | {f"encoder.layers.{i}": 0.9 ** (5 - i) for i in range(6)}
    wanted = {f"bert.{part}.": share for part, share in wanted.items()} | {"classifier.": 1.0}
    for name, _ in model.named_parameters():
        (share,) = (share for part, share in wanted.items() if name.startswith(part))
        assert factor(name) == pytest.approx(share, rel=1e-12), name
    assert {layer_factors(model, 1.0)(name) for name, _ in model.named_parameters()} == {1.0}


CHANGES = {
    "epochs": 3,
    "batch_size": 4,
    "rate": 2e-3,
    "warmup": 0.5,
    "weight_decay": 0.5,
    "clip": 1e-6,
    "layer_decay": 0.7,
    "frozen": True,
    "bias_correction": False,
    "bf16": True,
    "seed": 5,
}


def test_every_setting_changes_the_weights():
    def trained(**changes):
        model = tiny("text")
        task = Scripted([0.1 * epoch for epoch in range(9)])  # keeps the last
        fine_tune(model, task, replace(SHORT, **changes))
        return weights(model)

    plain = trained()
    assert CHANGES.keys() == vars(SHORT).keys()
    assert [name for name, value in CHANGES.items() if equal(trained(**{name: value}), plain)] == []


def test_every_epoch_has_an_order_of_its_own_and_each_example_at_most_once():
    epochs = [
        [row for i in range(3) for row in batch_rows(26, 8, 3 * epoch + i, seed=4)] for epoch in range(5)
    ]
    for rows in epochs:
        assert len(rows) == len(set(rows)) == 24
        assert set(rows) <= set(range(26))
    assert len({tuple(rows) for rows in epochs}) == 5
    assert len({frozenset(rows) for rows in epochs}) > 1  # the ones left out are not always the same
    assert batch_rows(26, 8, 1, seed=4) != batch_rows(26, 8, 1, seed=5)


def test_a_step_trains_on_the_rows_of_its_batch():
    task, asked = some_task(), []
    batch = task.batch
    task.batch = lambda model, rows: asked.append(rows) or batch(model, rows)
    fine_tune(tiny("text"), task, SHORT)
    assert asked == [batch_rows(26, 8, number, seed=0) for number in range(6)]


@pytest.mark.parametrize(
    ("name", "value", "fix"),
    [
        ("epochs", 0, "1 or more"),
        ("batch_size", 0, "1 or more"),
        ("weight_decay", -0.1, "0 or more"),
        ("weight_decay", math.nan, "0 or more"),
        ("seed", -1, "0 or more"),
        ("rate", 0.0, "above 0"),
        ("rate", math.nan, "above 0"),
        ("clip", -1.0, "above 0"),
        ("warmup", 1.0, "from 0 to below 1"),
        ("warmup", -0.1, "from 0 to below 1"),
        ("layer_decay", 0.0, "above 0, at most 1"),
        ("layer_decay", 1.1, "above 0, at most 1"),
    ],
)
def test_a_setting_that_makes_no_training_is_refused(name, value, fix):
    with pytest.raises(ValueError, match=f"{name}={value}: choose .*{fix}"):
        FineTuning(**{name: value})


def test_fewer_examples_than_a_batch_has_are_refused():
    with pytest.raises(ValueError, match="batch_size=27 is more than the 26 inputs to train on: choose less"):
        fine_tune(tiny("text"), some_task(), replace(SHORT, batch_size=27))
    fine_tune(tiny("text"), some_task(), replace(SHORT, batch_size=26))


def test_a_loss_that_is_no_number_ends_the_training_at_its_step():
    model = tiny("text")
    with torch.no_grad():
        model.classifier.bias[0] = math.nan
    with pytest.raises(FloatingPointError, match=r"step 1: the loss .*nan"):
        fine_tune(model, some_task(), replace(SHORT, frozen=True))
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_a_record_keeps_the_scores_of_all_epochs_rounded():
    tuned = FineTuned({"f1": 0.51239}, 2, [{"loss": 1.23456, "f1": 0.5}, {"loss": 1.0, "f1": 0.51239}], [1.2])
    wanted = {"best_epoch": 2, "epochs": [{"loss": 1.2346, "f1": 0.5}, {"loss": 1.0, "f1": 0.5124}]}
    assert described(tuned) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_in_bfloat16_it_learns_the_same_and_keeps_its_weights_in_float32(kind):
    """The first losses agree to the 8 bits of bfloat16, and weights move by less than bfloat16 could hold."""
    found = {}
    for bf16 in (False, True):
        model = tiny(kind)
        task = made(kind, parts_of(kind, {"train": 64, "val": 16}))
        before = model.bert.embeddings.token.weight.clone()
        found[bf16] = fine_tune(model, task, FineTuning(epochs=1, batch_size=8, rate=1e-5, bf16=bf16)).losses
        moved = (model.bert.embeddings.token.weight - before).abs()
        assert model.bert.embeddings.token.weight.dtype == torch.float32
        assert 0 < moved[moved > 0].min() < 1e-4
    np.testing.assert_allclose(found[True], found[False], rtol=0.03)
    assert found[True] != found[False]
