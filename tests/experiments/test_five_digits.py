"""What moves, what stays, what is drawn: the parts of `_five_digits`."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import _five_digits
from _five_digits import (
    DEPTH,
    MARKS,
    NEIGHBOUR,
    PARTS,
    REGRESSION,
    SCRATCH,
    Start,
    all_digits,
    batches,
    learn,
    new_network,
    part_of,
    rates_of,
    shuffled,
    some,
    sources_of,
    stages,
    try_out,
)


def test_parts_follow_the_order_of_the_images_and_share_none():
    ends = [PARTS[part] for part in ("train", "val", "test")]
    assert [first for first, _ in ends] == [0, *(end for _, end in ends[:-1])]
    assert ends[-1][1] == len(all_digits()[1])
    images, right = part_of("59", "val")
    assert images.shape[1:] == (8, 8)
    assert 0 <= images.min() < images.max() <= 1
    assert right.tolist() == [int(digit == 9) for digit in all_digits()[1][1000:1200] if digit in (5, 9)]


@pytest.mark.parametrize("five", ["56789", "02468"])
def test_the_five_and_the_rest_make_up_all_digits(five):
    rest = "".join(digit for digit in "0123456789" if digit not in five)
    assert len(part_of(five, "train")[1]) + len(part_of(rest, "train")[1]) == 1000


def test_few_labels_are_among_more_of_the_same_seed():
    images, right = part_of("56789", "train")
    seen = {labels: some(images, right, labels, 3) for labels in ("2", "10", "all")}
    assert seen["2"][1].bincount().tolist() == [2] * 5
    assert len(seen["all"][1]) == len(right)
    sets = {labels: {tuple(image.flatten().tolist()) for image in own} for labels, (own, _) in seen.items()}
    assert sets["2"] < sets["10"] < sets["all"]
    assert not torch.equal(some(images, right, "2", 4)[0], seen["2"][0])


def test_stages_compute_what_the_network_computes():
    model, images = new_network(0), torch.rand(6, 8, 8)
    assert len(stages(model)) == DEPTH + 1
    torch.testing.assert_close(stages(model)(images), model(images))


def test_batches_have_each_image_once_before_any_comes_again():
    drawn = batches(60, np.random.default_rng(0))
    first, second = (torch.cat([next(drawn) for _ in range(2)]) for _ in range(2))
    assert len(set(first.tolist())) == len(set(second.tolist())) == 50
    assert not torch.equal(first, second)
    assert len(next(batches(5, np.random.default_rng(0)))) == 5  # fewer than a batch: all of them


@pytest.mark.parametrize("n", range(DEPTH + 1))
def test_frozen_layers_stay_and_all_others_learn(n):
    model, images, right = new_network(0), torch.rand(10, 8, 8), torch.arange(10) % 5
    before = {name: value.clone() for name, value in model.state_dict().items()}
    learn(model, n, images, right, 1e-2, 0, 2)
    for i, layer in enumerate(model.LAYERS):
        assert torch.equal(getattr(model, layer).weight, before[f"{layer}.weight"]) == (i < n)


def test_what_is_read_once_is_what_would_be_read_each_time():
    curves = []
    for model in (new_network(0), new_network(0)):
        images, right = part_of("56789", "val")
        if curves:
            model.freeze(2)
            learn_on = 0
        else:
            learn_on = 2
        learn(model, learn_on, images, right, 3e-3, 0, 4)
        curves.append(model(images).detach())
    torch.testing.assert_close(*curves)


@pytest.mark.parametrize("n", [DEPTH - 1, DEPTH])
def test_what_a_linear_layer_gets_is_scaled_and_the_network_is_whole_again(n, monkeypatch):
    images, right = part_of("56789", "val")
    model, given = new_network(0), []
    model.conv1.weight.data *= 0.01  # hardly tells images apart
    stage = (model.hidden, model.output)[n - DEPTH + 1]
    stage.register_forward_pre_hook(lambda layer, inputs: given.append(inputs[0]))
    curve = learn(model, n, images, right, 3e-3, 0, MARKS[-1], (images, right))
    assert given[0].std() > 0.5
    assert float((model(images).argmax(1) == right).float().mean()) == pytest.approx(curve[-1], abs=0.011)
    assert curve[-1] > 0.7


def test_it_learns_and_the_curve_is_of_the_images_that_are_watched():
    images, right = part_of("56789", "train")
    watched = images[:200], right[:200]
    curve = learn(new_network(0), 0, images, right, 1e-2, 0, 64, watched)
    assert len(curve) == sum(mark <= 64 for mark in MARKS)
    assert curve[-1] > 0.85
    assert curve[0] < 0.5


@pytest.fixture(scope="module")
def sources():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_five_digits, "SOURCE_STEPS", {"A": 60, "lot": 60, "B": 60})
        return sources_of("56789", 0, {"A", "lot", "B", "new", "shuffled"})


def test_only_right_labels_tell_a_source_the_digits(sources):
    known = sources[1]
    assert min(known["A"][1], known["B"][1]) > 0.7
    assert max(known["lot"]) < 0.5


def test_labels_by_lot_are_the_same_labels(monkeypatch):
    seen = {}

    def note(model, n_frozen, images, right, *others):
        seen[len(seen)] = images, right

    monkeypatch.setattr(_five_digits, "learn", note)
    sources_of("56789", 0, {"A", "lot"})
    (images, right), (same, lot) = seen.values()
    assert torch.equal(images, same)
    assert torch.equal(right.bincount(), lot.bincount())
    assert (right == lot).float().mean() < 0.4


def test_shuffled_layers_have_the_same_numbers_elsewhere(sources):
    own, other = sources[0]["A"], shuffled(sources[0]["A"], 0)
    for layer in own.LAYERS[:DEPTH]:
        for kind in ("weight", "bias"):
            a, b = (getattr(getattr(model, layer), kind).detach().flatten() for model in (own, other))
            assert not torch.equal(a, b)
            assert torch.equal(a.sort().values, b.sort().values)


def test_sources_of_a_seed_begin_alike_and_unlike_the_network_that_takes_their_layers(monkeypatch):
    monkeypatch.setattr(_five_digits, "SOURCE_STEPS", {"A": 0, "lot": 0, "B": 0})
    found = sources_of("56789", 7, {"A", "lot", "B"})[0]
    weights = [model.conv2.weight for model in found.values()]
    assert all(torch.equal(weight, weights[0]) for weight in weights)
    assert not torch.equal(weights[0], new_network(7).conv2.weight)


def test_arms_of_a_seed_share_the_new_layers_and_the_images(monkeypatch, sources):
    seen = []
    monkeypatch.setattr(
        _five_digits, "learn", lambda model, n, images, *others: seen.append((model, n, images)) or []
    )
    for start in (SCRATCH, Start("A", 2, True), Start("A", 2), Start("B", DEPTH)):
        try_out(start, sources[0], "56789", "5", "val", 1e-2, 0)
    assert [n for _, n, _ in seen] == [0, 2, 0, 0]
    assert all(torch.equal(images, seen[0][2]) for _, _, images in seen)
    assert all(torch.equal(model.output.weight, seen[0][0].output.weight) for model, _, _ in seen)
    assert torch.equal(seen[1][0].conv2.weight, sources[0]["A"].conv2.weight)
    assert torch.equal(seen[1][0].conv3.weight, seen[0][0].conv3.weight)
    assert torch.equal(seen[3][0].hidden.weight, sources[0]["B"].hidden.weight)


@pytest.mark.parametrize("start", [REGRESSION, NEIGHBOUR])
def test_pixels_alone_know_most_digits(start):
    row = try_out(start, {}, "56789", "20", "test", rates_of(start)[-1], 0)
    assert len(row["hits"]) == len(part_of("56789", "test")[1])
    assert row["hits"].count("1") / len(row["hits"]) > 0.8
    assert row["curve"] == []


def test_a_head_alone_may_learn_faster():
    assert max(rates_of(Start("new", DEPTH, True))) > max(rates_of(Start("new", DEPTH - 1, True)))
    assert rates_of(Start("A", DEPTH)) == rates_of(SCRATCH)
