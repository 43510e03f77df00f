"""A card says what was measured, and claims a victory only where the intervals part."""

from __future__ import annotations

import pytest

from _bert_card import card
from bert_checkpoints import PLANS
from bertlab.interop.checkpoint_folders import CHECKPOINTS
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


def kinds(better: float) -> dict:
    apart = {"accuracy_interval": [better - 0.01, better + 0.01]}
    row = {"bert": {**share(0.3), "targets": 1000}, "counting": share(0.3), "bert minus counting": apart}
    return {one: {"all": row, "pieces of cut words": row} for one in SETS}


@pytest.mark.parametrize("name", PLANS)
def test_a_card_holds_the_numbers(name):
    counted = load_result("masked_ngrams")[PLANS[name].vocabulary]["guesses"]
    text = card(name, record(0.35), counted, kinds(0.05))
    assert "{" not in text.replace("{name}", "")
    for told in (
        *(name, "5,529,090", "35.0 ± 1.0 %", "| 8.0 | 1.00 | 0.690 |", "| 1.0 | 8.00 |", "2.5 hours"),
        "| books, pieces of cut words | 1,000 | 30.0 % | 30.0 % | +4.0 to +6.0 |",
        "It has 5 % of BERT-base's parameters (110 million), and read here about 0.2 %",
    ):
        assert told in text, told


@pytest.mark.parametrize(
    ("better", "words"), [(0.05, "more blanks"), (-0.05, "fewer blanks"), (0, "cannot be told")]
)
def test_what_is_not_better_is_not_said_to_be(better, words):
    text = card("bert-mini", record(0.3), load_result("masked_ngrams")["trained"]["guesses"], kinds(better))
    assert all(
        (found in text) == (found == words) for found in ("more blanks", "fewer blanks", "cannot be told")
    )
    assert ("It is behind with pieces of cut words" in text) == (better < 0)


@pytest.mark.parametrize("name", PLANS)
def test_the_card_is_what_the_records_say(name):
    counted = load_result("masked_ngrams")[PLANS[name].vocabulary]["guesses"]
    text = card(name, load_result("bert_checkpoints")[name], counted, load_result("blanks_by_kind")[name])
    assert text == (CHECKPOINTS / name / "README.md").read_text(encoding="utf-8")
