"""A card says what was measured, and claims a victory only where the intervals part."""

from __future__ import annotations

import pytest

from _bert_card import card
from bert_checkpoints import PLANS
from bertlab.nn import BertConfig
from bertlab.training import load_result
from bertlab.training.pretrain_config import PretrainConfig

SETS = ("books", "wikitext-2")


def share(value: float) -> dict:
    return {
        "loss": 3.0,
        "accuracy": value,
        "accuracy_interval": [value - 0.01, value + 0.01],
        "top5": 0.6,
        "top5_interval": [0.59, 0.61],
    }


def record(accuracy: float) -> dict:
    config = PretrainConfig(shards=("s",), vocab="v.txt", out="o", model="mini", steps=800, warmup=50)
    examined = {
        one: {"as trained": share(0.4), "hidden": share(accuracy), "next_sentence": share(0.5)}
        for one in SETS
    }
    untrained = {one: {"hidden": share(0.001)} for one in SETS}
    curve = [
        {"step": 100 * i, "tokens": 10**6 * i, "masked_lm": 9.0 - i, "next_sentence": 0.69}
        for i in range(1, 9)
    ]
    return {
        "config": config.as_json(),
        "sizes": vars(BertConfig.mini(vocab_size=8192)),
        "parameters": 5_529_090,
        "text": {"tokens": 6_800_000},
        "hours": 2.5,
        "curve": curve,
        "shipped": examined,
        "untrained": untrained,
    }


@pytest.mark.parametrize("name", PLANS)
def test_a_card_holds_the_numbers(name):
    text = card(name, record(0.35), load_result("masked_ngrams")[PLANS[name].vocabulary]["guesses"])
    assert "{" not in text.replace("{name}", "")
    for told in (name, "5,529,090", "35.0 ± 1.0 %", "| 8.0 | 1.00 | 0.690 |", "| 1.0 | 8.00 |", "2.5 hours"):
        assert told in text, told


def test_what_is_not_better_is_not_said_to_be():
    counted = load_result("masked_ngrams")["trained"]["guesses"]
    best = counted["books"]["hidden"]["and repeated"]["accuracy"]
    for accuracy, words in (
        (best + 0.1, "beats"),
        (best - 0.1, "does not reach"),
        (best, "cannot be told apart"),
    ):
        text = card("bert-mini", record(accuracy), counted)
        assert f"In books it {words}" in text or f"In books it and the n-grams {words}" in text
