"""Six choices of layers, beside the paper's six numbers, in the same order."""

from __future__ import annotations

import pytest
import torch

import _fine_tuned
import layer_choices
from _comparison import each_of, score
from bertlab.tasks.features import CHOICES, FeatureEntities, FeatureTagger, LayerChoice, word_states
from layer_choices import (
    LOWER,
    PAPER,
    QUICKLY,
    RATE,
    SEEDS,
    WIDE,
    QuickMix,
    longer,
    names_of_sentences,
    plan,
    quick_mixes,
    table,
    train_and_test,
)
from tests.experiments.small_tasks import small_encoder, small_parts, stand_in


def row(model, choice, val, rate=RATE, mix=1, seeds=SEEDS):
    """An arm of 20 sentences with two names in each, of which `val` - 0.1 are right."""
    right = round(20 * (val - 0.1))
    return {
        "model": model,
        "choice": choice,
        "rate": rate,
        "mix": mix,
        "seeds": [{"val": val, "test": round(val - 0.1, 4)} for _ in seeds],
        "each": [[[4.0 * (i < right), 4.0] for i in range(20)] for _ in seeds],
        "weights": [[0.25] * 4 for _ in seeds],
    }


def rows(model, scores):
    return [row(model, choice, val) for choice, val in zip(CHOICES, scores, strict=False)]


def test_the_numbers_of_the_paper_stand_by_their_choices():
    assert PAPER["embeddings"] == 91.0
    assert PAPER["last four side by side"] == max(PAPER.values()) == 96.1
    assert PAPER["last"] == 94.9


def test_the_order_is_compared_where_all_six_are_there():
    of_random = [row("random 6l", choice, val) for choice, val in (("embeddings", 0.1), ("last", 0.2))]
    found = table([*rows("a", [0.1, 0.5, 0.2, 0.6, 0.7, 0.4]), *of_random])
    assert found["a"]["order"]["test"]["kendall"] == 1.0
    assert found["a"]["order_of_seeds"] == [1.0] * len(SEEDS)
    assert found["a"]["means"]["last"] == {"val": 0.2, "test": 0.1}
    assert "order" not in found["random 6l"]


def test_choices_are_compared_sentence_by_sentence_and_val_says_which_is_best():
    found = table(rows("a", [0.1, 0.5, 0.2, 0.6, 0.7, 0.4]))["a"]
    pairs = {one["pair"]: one for one in found["compared"]}
    assert pairs["best and second best"]["b"] == "weighted sum of the last four"
    assert {one["a"] for name, one in pairs.items() if "best" in name} == {WIDE}
    assert pairs["best and last"]["difference"] == pytest.approx(0.5)
    low, high = pairs["best and last"]["interval"]
    assert 0.25 < low < 0.5 < high < 0.75
    assert pairs["best and last"]["p"] < 0.01
    assert found["intervals"]["embeddings"] == [0.0, 0.0]


def test_a_choice_that_is_best_is_not_compared_with_itself():
    found = table(rows("a", [0.1, 0.5, 0.9, 0.6, 0.7, 0.4]))["a"]
    assert "best and last" not in [one["pair"] for one in found["compared"]]


def test_val_chooses_the_rate_of_the_widest_input():
    six = rows("a", [0.1, 0.5, 0.2, 0.6, 0.7, 0.4])
    assert table([*six, row("a", WIDE, 0.8, LOWER)])["a"]["means"][WIDE]["val"] == 0.8
    found = table([*six, row("a", WIDE, 0.5, LOWER)])["a"]
    assert (found["rates"][WIDE], found["means"][WIDE]["val"]) == (RATE, 0.7)


def test_a_quick_mix_stands_beside_the_common_one_of_its_seed_and_counts_as_no_choice():
    mix = "weighted sum of all"
    six, quick = rows("a", [0.1, 0.5, 0.2, 0.6, 0.7, 0.4]), row("a", mix, 0.9, mix=QUICKLY, seeds=(0,))
    assert table([*six, quick]) == table(six)
    (found,) = quick_mixes([*six, quick])
    assert found["test"] == {"common": 0.3, "quick": 0.8}
    assert found["difference"] == pytest.approx(0.5)


def test_the_last_layer_trained_longer_is_compared_with_the_best_and_counts_as_no_choice():
    six, more = rows("a", [0.1, 0.5, 0.2, 0.6, 0.7, 0.4]), row("a", "last", 0.9) | {"epochs": 20}
    assert table([*six, more]) == table(six)
    assert quick_mixes([*six, more]) == []
    (found,) = longer([*six, more])
    assert (found["best"], found["epochs"]) == (WIDE, 20)
    assert found["difference"] == pytest.approx(-0.2)


def test_the_plan_has_its_controls_for_each_encoder():
    arms = plan()
    assert len(arms) == 22
    assert len({tuple(arm.items()) for arm in arms}) == 22
    assert [arm["choice"] for arm in arms if "epochs" in arm] == ["last", "last"]
    assert [arm["model"] for arm in arms if arm["mix"] != 1].count("bert-6l") == 2
    assert [arm["choice"] for arm in arms if arm["rate"] == LOWER] == [WIDE, WIDE]


def test_the_weights_of_a_quick_mix_move_so_many_times_as_far():
    torch.manual_seed(0)
    layers, wanted = torch.randn(5, 7, 8), torch.randn(7, 8)
    plain, quick = (kind("weighted sum of the last four", 4, 8) for kind in (LayerChoice, QuickMix))
    for mix in (plain, quick):
        torch.testing.assert_close(mix(layers), layers[1:].mean(0))  # all alike at first
        optimizer = torch.optim.Adam([mix.weights], lr=1e-2)
        ((mix(layers) - wanted) ** 2).sum().backward()
        optimizer.step()
    with torch.no_grad():
        plain.weights.mul_(QUICKLY)
    torch.testing.assert_close(quick(layers), plain(layers))


def test_names_of_sentences_sum_to_the_f1_of_the_task():
    bert, tokenizer = small_encoder("bert-6l", 0)
    parts, labels = small_parts("wikigold")
    states = {part: word_states(bert, tokenizer, some) for part, some in parts.items()}
    torch.manual_seed(0)
    tagger = FeatureTagger("last", 2, 32, len(labels), hidden=8).eval()
    with torch.no_grad():
        tagger.classifier.weight.mul_(20)  # so that it says many labels
    task = FeatureEntities(states, parts, labels)
    each = names_of_sentences(tagger, task)
    assert len(each) == len(parts["test"])
    assert score(each_of([each])) == pytest.approx(task.scores(tagger, "test")["f1"])
    assert 0 < sum(one[0] for one in each) < sum(one[1] for one in each)


@pytest.mark.parametrize(
    ("choice", "mix"), [("last", 1), ("weighted sum of all", 1), ("weighted sum of all", QUICKLY)]
)
def test_an_arm_reads_and_tags(choice, mix, monkeypatch, tmp_path):
    stand_in(monkeypatch, _fine_tuned, layer_choices, n_layers=4)
    for name, value in (("HIDDEN", 8), ("EPOCHS", 2), ("BATCH", 8), ("SEEDS", (0, 1))):
        monkeypatch.setattr(layer_choices, name, value)
    found = train_and_test({"model": "bert-6l", "choice": choice, "rate": RATE, "mix": mix}, tmp_path)
    n = 1 if mix == QUICKLY else 2
    assert len(found["seeds"]) == len(found["each"]) == n
    assert all(0 <= one["test"] <= 1 for one in found["seeds"])
    assert [len(w) for w in found["weights"]] == ([] if choice == "last" else [4] * n)
    assert all(sum(w) == pytest.approx(1, abs=0.01) for w in found["weights"])
