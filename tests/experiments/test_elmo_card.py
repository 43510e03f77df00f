"""The card holds the numbers, and claims a victory only where the interval leaves out zero."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from _elmo_card import card
from bertlab.nn import ELMoConfig
from elmo_mini import CONFIG, SIZES


def summary(loss):
    return {"loss": loss, "accuracy": 0.2, "accuracy_interval": [0.19, 0.21]}


def record(gap: float) -> dict:
    directions = ("forward", "backward", "both")
    of_set = {name: {d: summary(5.0) for d in directions} for name in ("elmo", "counting", "untrained")}
    of_set["elmo minus counting"] = {d: {"loss_interval": [gap - 0.1, gap + 0.1]} for d in directions}
    config = ELMoConfig(vocab_size=8192, **SIZES)
    return {
        "config": CONFIG.as_json(),
        "sizes": asdict(config),
        "parts": config.parts,
        "parameters": 4_000_000,
        "text": {"tokens": 6_000_000, "unknown": 0.061},
        "hours": 1.1,
        "curve": [
            {"step": i, "tokens": 700_000 * i, "forward": 9 - i, "backward": 8.5 - i} for i in range(1, 9)
        ],
        "held_out": {one: {"unknown": 0.08, **of_set} for one in ("books", "wikitext-2")},
    }


def test_the_card_holds_the_numbers():
    text = card(record(-0.5))
    assert "{" not in text
    for told in (
        *("4,000,000", "| 5.6 | 1.00 | 0.50 |", "148 | 20.0 ± 1.0 %", "1.1 hours", "0.9 passes"),
        *("6.1 %\nof the running", "8.0 %"),
    ):
        assert told in text, told


@pytest.mark.parametrize(("gap", "words"), [(-0.5, "less than"), (0.5, "more than"), (0, "cannot be told")])
def test_what_is_not_better_is_not_said_to_be(gap, words):
    text = card(record(gap))
    assert all((f in text) == (f == words) for f in ("less than", "more than", "cannot be told"))
