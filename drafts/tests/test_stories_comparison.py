"""The comparison on stories from end to end, on a few of them: what is trained, parted, and kept."""

from __future__ import annotations

import json

import pytest
import stories_comparison as script
from _arms_made import Size

STEPS = {
    "same tokens": {"CBOW": 2, "ELMo": 2, "GPT": 2, "two GPTs": 2, "BERT": 2}
    | dict.fromkeys(script.BESIDE, 2)
}
STEPS["same seconds"] = STEPS["same tokens"] | {"GPT": 3}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"SIZE": Size(16, 1, 2, 128), "STORIES": 60, "BATCH": 8, "TOP_STEPS": 2}.items():
            patch.setattr(script, name, value)
        for name, value in {
            "ASKED": (6, 2, 1),
            "WATCHED": (4, 1, 2),
            "LEARNT": 100,
            "WITH_SENSES": 8,
        }.items():
            patch.setattr(script, name, value)
        script.world.cache_clear()
        rates = dict.fromkeys((*script.ARMS, *script.BESIDE), 1e-3)
        arms = script.runs(STEPS, rates, 2)
        folder = tmp_path_factory.mktemp("runs")
        found = [{**arm, **script.train_and_test(arm, folder / str(i))} for i, arm in enumerate(arms)]
        yield found, script.summary(found, STEPS)
    script.world.cache_clear()


def test_every_arm_has_both_budgets_and_all_seeds_and_no_training_is_done_twice(rows):
    kinds = [(row["arm"], row["steps"], row["seed"]) for row in rows[0]]
    assert len(set(kinds)) == len(kinds) == 2 * (len(script.ARMS) + 1 + len(script.BESIDE))
    assert kinds.count(("GPT", 3, 0)) == kinds.count(("GPT", 2, 1)) == 1


def test_what_is_lost_is_learning_and_context(rows):
    found = rows[1]
    best = found["optimum"]
    for budget in STEPS:
        for name, arm in found[budget]["arms"].items():
            assert arm["loss"] == pytest.approx(
                best["both"]["loss"] + arm["context"] + arm["learning"], abs=3e-4
            )
            assert arm["context"] >= 0
            assert len(arm["seeds"]) == 2
            assert arm["context"] == 0 or name in script.ALLOWED
    assert found["same tokens"]["arms"]["GPT"]["context"] > found["same tokens"]["arms"]["ELMo"]["context"]


def test_two_readers_are_judged_one_by_one_multiplied_and_with_a_top(rows):
    arms = rows[1]["same seconds"]["arms"]
    for name in ("ELMo", "two GPTs"):
        assert {"left alone", "right alone", "plain", "with_top"} <= arms[name].keys()
        assert arms[name]["left alone"]["learning"] > 0
    assert "with_top" not in rows[1]["same seconds"]["arms"]["two GPTs, each whole"]


def test_arms_beside_are_compared_with_those_that_they_vary(rows):
    of_seconds, of_tokens = (
        {(one["a"], one["b"]) for one in rows[1][budget]["compared"]}
        for budget in ("same seconds", "same tokens")
    )
    assert of_seconds - of_tokens == set(script.BESIDE.items())
    assert of_tokens == set(script.COMPARED)


def test_the_rate_with_the_least_loss_is_chosen_and_the_arms_beside_take_it():
    tries = [
        {"arm": name, "peak": peak, "curve": [{"loss": 9.0}, {"loss": abs(peak - 3e-3)}]}
        for name in script.ARMS
        for peak in script.RATES[name]
    ]
    rates = script.rates_of(tries)
    assert rates == dict.fromkeys((*script.ARMS, *script.BESIDE), 3e-3)


def test_a_record_of_three_seeds_is_small(rows):
    kept = [{name: value for name, value in row.items() if name != "each"} for row in rows[0]]
    assert len(json.dumps(kept)) * 3 / 2 < 200_000
