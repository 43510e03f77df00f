"""Decoding step by step with kept keys and values, against the whole pass."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bertlab.nn import Decoder
from bertlab.nn.cache import DecoderCache
from bertlab.nn.masking import causal_mask
from tests.nn.test_encoder import stacks
from tests.nn.theirs import some_mask, some_weights

L, D, H = 2, 8, 2


def some_decoder(norm_first: bool = False) -> Decoder:
    return some_weights(Decoder(L, D, H, 12, norm_first=norm_first))


def some_input(*shape: int) -> Tensor:
    return torch.randn(*shape, D, dtype=torch.float64)


@settings(max_examples=25)
@given(
    stack=stacks(),
    chunks=st.lists(st.integers(1, 3), min_size=1, max_size=5),
    kind=st.sampled_from(["none", "padding"]),
    sizes=st.tuples(st.integers(1, 3), st.integers(1, 5)),
    need_weights=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_step_by_step_is_the_whole_pass(
    stack: Any, chunks: list[int], kind: str, sizes: tuple[int, int], need_weights: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    (n_layers, n_heads, K, F), options = stack
    (B, Tk), Tq = sizes, sum(chunks)
    decoder = some_weights(Decoder(n_layers, n_heads * K, n_heads, F, **options))
    x, memory = (torch.randn(B, T, n_heads * K, dtype=torch.float64) for T in (Tq, Tk))
    mask, memory_mask = causal_mask(Tq), some_mask(kind, B, n_heads, Tq, Tk)
    whole, own, cross = decoder(x, memory, mask, memory_mask, need_weights)
    cache, start = decoder.new_cache(), 0
    for n in chunks:
        assert cache.length == start
        now = slice(start, start + n)
        step = decoder(
            x[:, now], memory, mask[now, : now.stop], memory_mask, need_weights=need_weights, cache=cache
        )
        torch.testing.assert_close(step[0], whole[:, now], rtol=0, atol=1e-10)
        if need_weights:
            for i in range(n_layers):
                torch.testing.assert_close(step[1][i], own[i][:, :, now, : now.stop], rtol=0, atol=1e-10)
                torch.testing.assert_close(step[2][i], cross[i][:, :, now], rtol=0, atol=1e-10)
        start += n


def test_one_new_position_needs_no_mask() -> None:
    decoder, x, memory = some_decoder(), some_input(2, 4), some_input(2, 3)
    whole, *_ = decoder(x, memory, causal_mask(4))
    cache = decoder.new_cache()
    for t in range(4):
        step, *_ = decoder(x[:, t : t + 1], memory, cache=cache)
        torch.testing.assert_close(step, whole[:, t : t + 1], rtol=0, atol=1e-10)
    assert cache.length == 4


def test_the_memory_is_read_at_the_first_step_only() -> None:
    decoder, x, memory = some_decoder(), some_input(2, 3), some_input(2, 5)
    whole, *_ = decoder(x, memory, causal_mask(3))
    cache = decoder.new_cache()
    calls: list[int] = []
    for layer in decoder.layers:
        layer.cross_attention.key.register_forward_hook(lambda *_: calls.append(1))
    for t in range(3):
        step, *_ = decoder(x[:, t : t + 1], memory if t == 0 else torch.full_like(memory, 9.0), cache=cache)
        torch.testing.assert_close(step, whole[:, t : t + 1], rtol=0, atol=1e-10)
    assert len(calls) == L


@pytest.mark.parametrize("rows", [[1, 0, 2], [2, 2, 0, 1, 2], [1]])
def test_selected_rows_go_on_as_if_they_had_been_alone(rows: list[int]) -> None:
    decoder, x, memory = some_decoder(), some_input(3, 2), some_input(3, 5)
    memory_mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]]).bool()[:, None, None]
    cache = decoder.new_cache()
    decoder(x, memory, causal_mask(2), memory_mask, cache=cache)
    cache.select(torch.tensor(rows))
    new = some_input(len(rows), 1)
    step, *_ = decoder(new, memory[rows], None, memory_mask[rows], cache=cache)
    whole, *_ = decoder(torch.cat([x[rows], new], 1), memory[rows], causal_mask(3), memory_mask[rows])
    torch.testing.assert_close(step, whole[:, 2:], rtol=0, atol=1e-10)


def test_rows_are_selected_by_true_and_false_too() -> None:
    decoder, x, memory = some_decoder(), some_input(3, 2), some_input(3, 5)
    cache = decoder.new_cache()
    decoder(x, memory, causal_mask(2), cache=cache)
    going_on = torch.tensor([True, False, True])
    cache.select(going_on)
    new = some_input(2, 1)
    step, *_ = decoder(new, memory[going_on], cache=cache)
    whole, *_ = decoder(torch.cat([x[going_on], new], 1), memory[going_on], causal_mask(3))
    torch.testing.assert_close(step, whole[:, 2:], rtol=0, atol=1e-10)


def test_two_caches_know_nothing_of_each_other() -> None:
    decoder, x, memory = some_decoder(), some_input(1, 2), some_input(1, 3)
    first, second = decoder.new_cache(), decoder.new_cache()
    decoder(x, memory, causal_mask(2), cache=first)
    assert (first.length, second.length) == (2, 0)
    fresh, *_ = decoder(x[:, :1], memory, cache=second)
    alone, *_ = decoder(x[:, :1], memory)
    torch.testing.assert_close(fresh, alone, rtol=0, atol=1e-10)


def test_an_empty_cache_has_nothing_to_select() -> None:
    cache = DecoderCache(2)
    cache.select(torch.tensor([0, 0]))
    assert cache.length == 0


def test_rows_that_the_cache_does_not_hold_are_refused() -> None:
    decoder, x, memory = some_decoder(), some_input(3, 1), some_input(3, 5)
    cache = decoder.new_cache()
    decoder(x, memory, cache=cache)
    with pytest.raises(ValueError, match="holds 3 rows and 2 come in"):
        decoder(x[:2], memory[:2], cache=cache)


def test_a_mask_without_the_cached_positions_is_refused() -> None:
    decoder, x, memory = some_decoder(), some_input(1, 2), some_input(1, 5)
    cache = decoder.new_cache()
    decoder(x, memory, causal_mask(2), cache=cache)
    with pytest.raises(ValueError, match=r"\(2, 2\).*\(1, 2, 2, 4\)"):
        decoder(x, memory, causal_mask(2), cache=cache)
