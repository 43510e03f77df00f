"""Cold and warm differ in how they begin, and in nothing else."""

from __future__ import annotations

from _small_bert import CHOICES, LENGTH
from bertlab.training import load_result
from cold_and_warm import BEGINNINGS, CHOSEN, RATES, SEEDS, STEPS

RECORD = load_result("cold_and_warm")


def ends(beginning, peak):
    return {
        arm["seed"]: arm["curve"][-1]["held_out_hidden"]
        for arm in RECORD["arms"]
        if (arm["beginning"], arm["peak"]) == (beginning, peak)
    }


def test_beginnings_change_what_exists():
    for beginning in BEGINNINGS.values():
        assert beginning.keys() <= CHOICES.keys()


def test_all_read_the_same_and_are_asked_the_same():
    for seed in SEEDS:
        arms = [arm for arm in RECORD["arms"] if arm["seed"] == seed]
        assert len({tuple(row["n_tokens"] for row in arm["curve"]) for arm in arms}) == 1
        assert len({arm["books"]["hidden"]["targets"] for arm in arms}) == 1
        assert all(arm["curve"][-1]["step"] == STEPS for arm in arms)


def test_the_models_differ_only_in_places_that_are_not_read():
    parameters = {arm["beginning"]: arm["parameters"] for arm in RECORD["arms"]}
    assert parameters["cold"] == parameters["cold, looking beside"]
    assert parameters["warm"] - parameters["cold"] == (512 - LENGTH) * 384


def test_each_has_both_rates_and_the_chosen_ones_all_seeds():
    for beginning in BEGINNINGS:
        for peak in RATES:
            seeds = SEEDS if CHOSEN.get(beginning) == peak else SEEDS[:1]
            assert sorted(ends(beginning, peak)) == list(seeds)


def test_the_chosen_rate_is_not_clearly_worse_and_every_warm_seed_is_ahead():
    for beginning, peak in CHOSEN.items():
        assert all(ends(beginning, peak)[0] > ends(beginning, other)[0] - 0.005 for other in RATES)
    cold = [end for beginning in BEGINNINGS if beginning != "warm" for end in ends(beginning, 3e-4).values()]
    assert min(ends("warm", 3e-4).values()) > 1.5 * max(cold)
