"""The task of the experiments on residuals and norms, and the norms that take LayerNorm's place."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from _digit_reader import DIGITS, LONGEST, WORDS, DigitReader, batch_loss, draw, held_out_numbers
from bertlab.datasets.numbers import is_held_out, pieces
from norm_kinds import drift, inputs_of_sublayers, set_norms
from residual_and_norm import GRID, WAYS, WiredReader


def test_the_digits_are_those_of_the_number_that_the_words_spell():
    ids, digits = draw(np.random.default_rng(0), 50)
    for row, wanted in zip(ids.tolist(), digits.tolist(), strict=True):
        number = int("".join(map(str, wanted)))
        assert [WORDS.words[i] for i in row if i] == pieces(number, "en")
        assert len(row) == LONGEST
        assert row[-1] == WORDS.pad_id


def test_every_held_out_number_is_tested_once_and_none_is_trained():
    ids, digits = held_out_numbers()
    values = digits @ torch.tensor([100, 10, 1])
    assert sorted(values.tolist()) == np.flatnonzero(is_held_out(np.arange(1000))).tolist()
    _, trained = draw(np.random.default_rng(1), 2000)
    assert not set(values.tolist()) & set((trained @ torch.tensor([100, 10, 1])).tolist())
    assert len(ids) == len(digits)


def test_a_step_draws_the_same_numbers_whenever_it_comes():
    torch.manual_seed(0)
    loss = batch_loss(DigitReader(1, norm_first=False), seed=3, batch=8)
    assert loss(5).item() == loss(5).item() != loss(6).item()


def test_xavier_begins_with_larger_matrices_and_leaves_gains_alone():
    torch.manual_seed(0)
    small, large = (DigitReader(1, False, init).encoder.layers[0] for init in ("pytorch", "xavier"))
    assert large.attention.query.weight.std() > 1.5 * small.attention.query.weight.std()
    assert (large.attention_residual.norm.weight == 1).all()


def normed(kind: str) -> DigitReader:
    torch.manual_seed(0)
    model = DigitReader(2, norm_first=True)
    set_norms(model, kind)
    return model


def moved_by_padding(kind: str, training: bool) -> bool:
    model, (ids, _) = normed(kind).train(training), draw(np.random.default_rng(0), 8)
    with torch.no_grad():
        plain = model(ids)
        wide = model(torch.nn.functional.pad(ids, (0, 9)))
    asked = ids[:, :DIGITS] != 0  # where a word stands
    return not torch.allclose(plain[asked], wide[asked], atol=1e-5)


@pytest.mark.parametrize("kind", ["layer", "none", "batch, no padding"])
def test_more_padding_moves_nothing_where_it_is_not_counted(kind):
    assert not moved_by_padding(kind, training=True)


def test_batch_norm_counts_padding_in_training_and_not_in_use():
    assert moved_by_padding("batch", training=True)
    assert not moved_by_padding("batch", training=False)


def test_batch_norm_gives_every_feature_mean_0_and_variance_1_over_the_words():
    ids, _ = draw(np.random.default_rng(0), 32)
    seen = inputs_of_sublayers(normed("batch, no padding"), ids)  # (L, N, D)
    assert seen.mean(dim=1).abs().max() < 1e-5
    assert (seen.var(dim=1, unbiased=False) - 1).abs().max() < 1e-2


def test_a_norm_that_is_shaken_drifts_without_any_step_and_others_do_not():
    ids, _ = draw(np.random.default_rng(0), 32)
    for kind, least, most in (
        ("layer", 0, 0),
        ("layer, shaken a little", 0.02, 0.5),
        ("layer, shaken", 0.3, 5),
    ):
        model = normed(kind)
        before = inputs_of_sublayers(model, ids)
        torch.randn(1)  # a step draws numbers, too
        assert least <= drift(before, inputs_of_sublayers(model, ids)) <= most


@pytest.mark.parametrize(("way", "norm_first"), [("post-LN", False), ("pre-LN", True)])
def test_wired_by_hand_the_two_ways_of_the_library_are_the_library(way, norm_first):
    ids, _ = draw(np.random.default_rng(0), 8)
    torch.manual_seed(0)
    wired = WiredReader(3, way, "xavier").double()
    ours = DigitReader(3, norm_first).double()
    weights = dict(wired.state_dict())
    last = {name: weights.pop(f"last_norm.{name}") for name in ("weight", "bias")}
    if norm_first:  # the library's stack has the last norm inside
        weights |= {f"encoder.norm.{name}": value for name, value in last.items()}
    ours.load_state_dict(weights)
    tolerance = 0 if norm_first else 1e-4  # post-LN ends in a norm already: a second one finds little to do
    torch.testing.assert_close(wired(ids), ours(ids), atol=tolerance + 1e-10, rtol=0)


@pytest.mark.parametrize("way", WAYS)
def test_a_silent_sublayer_leaves_what_the_wiring_promises(way):
    x = torch.randn(2, 3, 8)
    found = WAYS[way](x, torch.zeros_like, lambda v: v + 1)  # a norm that can be seen
    wanted = {"post-LN": x + 1, "norm alone": torch.ones_like(x), "nothing": torch.zeros_like(x)}
    torch.testing.assert_close(found, wanted.get(way, x))


def test_the_grid_has_both_ways_with_a_residual_at_every_depth_and_all_ways_at_six():
    assert {n for n, _, ways in GRID if {"residual alone", "pre-LN"} <= set(ways)} == {2, 6, 12}
    assert [(n, rate) for n, rate, ways in GRID if set(ways) == set(WAYS)] == [(6, 1e-2)]
