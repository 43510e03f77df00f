"""Each arm of the ablations changes what exists, and really changes it."""

from __future__ import annotations

import pytest

from _small_bert import CHOICES, make
from bert_ablations import CHANGES, HEADLINES, SEEDS
from bertlab.nn import BertForPreTraining
from bertlab.text import SPECIAL, WordPiece
from bertlab.training import load_result

RECORD = load_result("bert_ablations")
VOCAB = WordPiece([*SPECIAL, *"abcdefghijklmnopqrstuvwxyz"])


@pytest.mark.parametrize("change", CHANGES)
def test_an_arm_changes_what_exists_and_really_changes_it(change):
    changes = CHANGES[change]
    assert changes.keys() <= CHOICES.keys()
    assert all(CHOICES[key] != value for key, value in changes.items())
    model = make(CHOICES | changes, VOCAB, 0)
    assert isinstance(model, BertForPreTraining)


def arms(change):
    return [arm for arm in RECORD["arms"] if arm["change"] == change]


def test_what_is_claimed_has_all_seeds_and_the_rest_one():
    for change in CHANGES:
        assert [arm["seed"] for arm in arms(change)] == list(SEEDS if change in HEADLINES else SEEDS[:1])


def test_all_were_asked_the_same():
    asked = {(arm["books"]["hidden"]["targets"], arm["homographs"]["majority"]) for arm in RECORD["arms"]}
    assert len(asked) == 1


def test_with_mask_always_a_word_that_is_read_is_not_said():
    for arm in arms("always [MASK]"):
        assert arm["books"]["shown"]["accuracy"] < 0.3
    for arm in arms("usual"):
        assert arm["books"]["shown"]["accuracy"] > 0.8


def test_heads_that_look_have_left_the_plateau_when_others_stand():
    for arm in arms("usual") + arms("2 of 4 heads look beside"):
        assert arm["curve"][3]["held_out_hidden"] > 0.15
    for change in ("first weights as published", "positions begin as sinusoids", "room for sinusoids"):
        for arm in arms(change):
            assert arm["curve"][3]["held_out_hidden"] < 0.1


def test_seconds_are_those_of_the_training_and_grow():
    for arm in RECORD["arms"]:
        seconds = [row["core_seconds"] for row in arm["curve"]]
        assert seconds == sorted(seconds)
        assert seconds[-1] < arm["seconds"]
