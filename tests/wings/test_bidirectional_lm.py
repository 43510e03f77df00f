"""Readers of both directions in both wings: what each may know, where layers are added, what padding does."""

from __future__ import annotations

import numpy as np
import pytest

from tests.inputs import CONCEPTS, Arguments, Sizes, examples_of
from tests.stacks import part
from tests.wing import Wing

exact, close = np.testing.assert_array_equal, np.testing.assert_allclose
WEIGHTS = ("w_input", "w_hidden", "b_input", "b_hidden", "w_project")


@examples_of("bidirectional_lm")
def test_each_direction_is_lstms_over_each_other_with_a_way_around_the_second(
    wing: Wing, arguments: Arguments
) -> None:
    x, params, mask = arguments
    found = wing.bidirectional_lm(*arguments)
    for side, reverse in (("forwards", False), ("backwards", True)):
        own = slice(x.shape[-1], None) if reverse else slice(x.shape[-1])
        real = np.ones(x.shape[:2], dtype=bool) if mask is None else mask
        layer = np.where(real[..., None], x, 0)
        close(found[0][..., own], layer, atol=1e-12)
        for i in range(2):
            weights = part(part(params, side), str(i))
            gates, w_project = [weights[name] for name in WEIGHTS[:4]], weights["w_project"]
            states, _ = wing.lstm(layer, mask, *gates, reverse=reverse, w_project=w_project)
            layer = states + layer if i else states
            close(found[i + 1][..., own], layer, atol=1e-12)


def some(rng: np.random.Generator) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Two rows of six vectors of width 2, and weights."""
    n = Sizes(B=2, Tq=6, Tk=1, H=1, K=4, D=3, A=1)
    x, params, _ = CONCEPTS["bidirectional_lm"](n, rng)
    return x, params


def test_no_state_from_the_left_knows_what_follows_nor_one_from_the_right_what_was_before(
    wing: Wing, rng: np.random.Generator
) -> None:
    x, params = some(rng)
    before, t, D = wing.bidirectional_lm(x, params), 3, x.shape[-1]
    x[:, t] += 1
    for old, new in zip(before[1:], wing.bidirectional_lm(x, params)[1:], strict=True):
        changed = np.abs(new - old) > 1e-9
        assert not changed[:, :t, :D].any()  # from the left: unchanged before t,
        assert changed[:, t:, :D].any(-1).all()  # changed from there on
        assert not changed[:, t + 1 :, D:].any()
        assert changed[:, : t + 1, D:].any(-1).all()


def test_D04_a_short_text_is_read_alike_alone_and_beside_a_longer_one(
    wing: Wing, rng: np.random.Generator
) -> None:
    x, params = some(rng)
    mask = np.array([[True] * 3 + [False] * 3, [True] * 6])
    alone = wing.bidirectional_lm(x[:1, :3], params)
    for order in ([0, 1], [1, 0]):
        together = wing.bidirectional_lm(x[order], params, mask[order])
        for short, long in zip(alone, together, strict=True):
            close(long[order.index(0), :3], short[0], atol=1e-10)
            assert (long[order.index(0), 3:] == 0).all()


def test_D04_what_stands_in_the_padding_changes_nothing_and_gets_no_gradient(
    wing: Wing, rng: np.random.Generator
) -> None:
    x, params = some(rng)
    mask = np.array([[True] * 3 + [False] * 3, [True] * 6])
    before = wing.bidirectional_lm(x, params, mask)
    d_x, _ = wing.bidirectional_lm_vjp(tuple(np.ones_like(layer) for layer in before), x, params, mask)
    assert (d_x[0, 3:] == 0).all()
    assert (d_x[0, :3] != 0).all()
    x[0, 3:] = 1e3
    for old, new in zip(before, wing.bidirectional_lm(x, params, mask), strict=True):
        exact(new, old)


def test_a_parameter_that_is_missing_or_left_over_is_named(wing: Wing, rng: np.random.Generator) -> None:
    x, params = some(rng)
    without = {name: value for name, value in params.items() if name != "backwards.1.w_project"}
    with pytest.raises(ValueError, match=r"lacks \['w_project'\]"):
        wing.bidirectional_lm(x, without)
    with pytest.raises(ValueError, match=r"\['sideways'\] left over"):
        wing.bidirectional_lm(x, params | {"sideways.0.w_input": np.ones(1)})
