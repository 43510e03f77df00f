"""Each arm of the ablation changes one thing, and its size by what that thing weighs."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from bertlab.nn import Transformer
from transformer_ablations import BASE, CHANGES, config_of


@pytest.mark.parametrize("change", CHANGES)
def test_an_arm_changes_one_thing_at_most(change):
    ours, base = asdict(config_of(change)), asdict(BASE)
    assert {name for name in base if ours[name] != base[name]} == set(CHANGES[change])
    assert len(CHANGES[change]) <= 1


def test_only_layers_and_learned_positions_weigh_anything():
    sizes = {change: config_of(change).n_parameters for change in CHANGES}
    base = sizes.pop("base")
    heavier = {change for change, size in sizes.items() if size != base}
    assert heavier == {"1 layer", "4 layers", "learned positions"}
    assert sizes["learned positions"] - base == 2 * 256 * 128
    assert sizes["4 layers"] - base == 2 * (base - sizes["1 layer"])
    assert sum(p.numel() for p in Transformer(config_of("1 head")).parameters()) == base
