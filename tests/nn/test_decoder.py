"""`bertlab.nn.decoder` against the reference, and against `torch.nn.TransformerDecoder`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import Decoder, DecoderLayer
from bertlab.nn.decoder import decoder
from bertlab.nn.masking import causal_mask
from tests.inputs import arguments_of
from tests.nn.parity import check, same
from tests.nn.test_encoder import DTYPES, OPTIONS, stacks
from tests.nn.theirs import as_attn_mask, copy_decoder_layer, some_mask, some_weights, their_decoder
from tests.wing import REFERENCE, to_numpy

KINDS = ["none", "padding", "causal", "both", "random"]
NormFirst = pytest.mark.parametrize("norm_first", [False, True], ids=["post-LN", "pre-LN"])


@pytest.mark.parametrize("concept", ["decoder_layer", "decoder"])
@settings(max_examples=15)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(concept: str, data: st.DataObject) -> None:
    check(concept, data.draw(arguments_of(concept)))


@settings(max_examples=25)
@given(
    stack=stacks(),
    kinds=st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)),
    sizes=st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 5)),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_stack_is_that_of_torch_and_that_of_the_reference(
    stack: Any, kinds: tuple[str, str], sizes: tuple[int, int, int], seed: int
) -> None:
    torch.manual_seed(seed)
    (L, H, K, F), options = stack
    B, Tq, Tk = sizes
    ours = some_weights(Decoder(L, H * K, H, F, **options))
    theirs = their_decoder(ours, H, options)
    x, memory = (torch.randn(B, T, H * K, dtype=torch.float64, requires_grad=True) for T in (Tq, Tk))
    mask, memory_mask = some_mask(kinds[0], B, H, Tq, Tq), some_mask(kinds[1], B, H, Tq, Tk)

    output, *weights = ours(x, memory, mask, memory_mask, need_weights=True)
    fused, *nothing = ours(x, memory, mask, memory_mask)
    hidden = as_attn_mask(mask, B, H, Tq, Tq), as_attn_mask(memory_mask, B, H, Tq, Tk)
    expected = theirs(x, memory, *hidden, tgt_is_causal=False, memory_is_causal=False)
    assert nothing == [None, None]
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-10)
    torch.testing.assert_close(fused, expected, rtol=0, atol=1e-10)
    by_hand, *shares = REFERENCE.decoder(
        to_numpy(x),
        to_numpy(memory),
        {name: to_numpy(value) for name, value in ours.state_dict().items()},
        H,
        None if mask is None else to_numpy(mask),
        None if memory_mask is None else to_numpy(memory_mask),
        *options.values(),
    )
    same(to_numpy(output), by_hand, 1e-10)
    same(to_numpy(tuple(weights)), tuple(shares), 1e-10)

    direction = torch.randn_like(output)
    gradients = torch.autograd.grad(expected, (x, memory), direction)
    for found in (output, fused):
        for one, other in zip(torch.autograd.grad(found, (x, memory), direction), gradients, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


@NormFirst
@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_that_of_torch(kind: str, norm_first: bool) -> None:
    B, Tq, Tk, D, H = 3, 4, 6, 12, 3
    ours = some_weights(DecoderLayer(D, H, 20, norm_first=norm_first, activation="gelu"))
    theirs = torch.nn.TransformerDecoderLayer(D, H, 20, 0.0, "gelu", batch_first=True, norm_first=norm_first)
    copy_decoder_layer(ours, theirs.double())
    x, memory = torch.randn(B, Tq, D).double(), torch.randn(B, Tk, D).double()
    mask, memory_mask = some_mask("causal", B, H, Tq, Tq), some_mask(kind, B, H, Tq, Tk)
    output, *_ = ours(x, memory, mask, memory_mask)
    expected = theirs(x, memory, as_attn_mask(mask, B, H, Tq, Tq), as_attn_mask(memory_mask, B, H, Tq, Tk))
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-10)


@NormFirst
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_no_output_has_a_gradient_to_an_input_that_comes_later(
    dtype: torch.dtype, need_weights: bool, norm_first: bool
) -> None:
    stack = Decoder(2, 16, 4, 32, norm_first=norm_first).to(dtype)
    x = torch.randn(2, 6, 16, dtype=dtype, requires_grad=True)
    memory = torch.randn(2, 5, 16, dtype=dtype)
    output, *_ = stack(x, memory, causal_mask(6), None, need_weights)
    for t in range(6):
        direction = torch.randn(2, 16, dtype=dtype)
        (d_x,) = torch.autograd.grad(output[:, t], x, direction, retain_graph=True)
        assert (d_x[:, t + 1 :] == 0).all()  # exactly
        assert (d_x[:, : t + 1].abs().amax(-1) > 0).all()


@NormFirst
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_padding_of_source_or_target_changes_no_output_by_more_than_1e_6(
    dtype: torch.dtype, norm_first: bool
) -> None:
    stack = Decoder(3, 16, 4, 32, norm_first=norm_first).to(dtype).eval()
    x, memory = torch.randn(2, 6, 16, dtype=dtype), torch.randn(2, 9, 16, dtype=dtype)
    alone, *_ = stack(x[:1, :3], memory[:1, :4], causal_mask(3))
    target, source = (torch.arange(T) < torch.tensor([[n], [T]]) for n, T in ((3, 6), (4, 9)))
    padded, *_ = stack(x, memory, target[:, None, None] & causal_mask(6), source[:, None, None])
    torch.testing.assert_close(padded[:1, :3], alone, rtol=0, atol=1e-6)


@NormFirst
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_that_see_nothing_stay_finite_in_every_dtype(
    dtype: torch.dtype, need_weights: bool, norm_first: bool
) -> None:
    stack = Decoder(2, 8, 2, 16, norm_first=norm_first).to(dtype)
    x, memory = (torch.randn(3, T, 8).to(dtype).requires_grad_() for T in (5, 4))
    mask, memory_mask = torch.rand(3, 2, 5, 5) < 0.4, torch.rand(3, 2, 5, 4) < 0.4
    mask[1, :, 2] = False
    memory_mask[1, :, 3], memory_mask[2] = False, False  # the last row: a source with no token at all
    output, own, cross = stack(x, memory, mask, memory_mask, need_weights)
    output.square().sum().backward()
    assert output.dtype == dtype
    assert output.isfinite().all()
    assert all(t.grad is not None and t.grad.isfinite().all() for t in (x, memory, *stack.parameters()))
    assert (memory.grad[2] == 0).all()
    if need_weights:
        assert all((w[~mask] == 0).all() for w in own)
        assert all((w[~memory_mask] == 0).all() for w in cross)


def test_the_stack_is_the_function_with_its_own_parameters() -> None:
    options = {"norm_first": True, "activation": "gelu_tanh", "eps": 0.1}
    stack = some_weights(Decoder(2, 8, 4, 12, **options))
    x, memory = torch.randn(2, 5, 8).double(), torch.randn(2, 3, 8).double()
    expected = decoder(x, memory, stack.state_dict(), 4, causal_mask(5), None, *options.values())
    torch.testing.assert_close(stack(x, memory, causal_mask(5), need_weights=True), expected)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: next(iter(option)))
def test_each_option_reaches_every_layer(option: dict[str, Any]) -> None:
    plain, other = Decoder(2, 8, 2, 12), Decoder(2, 8, 2, 12, **option)
    other.load_state_dict(plain.state_dict(), strict=False)
    x, memory = torch.randn(2, 5, 8), torch.randn(2, 3, 8)
    for one, changed in zip(plain.layers, other.layers, strict=True):
        assert not torch.allclose(one(x, memory)[0], changed(x, memory)[0])


@pytest.mark.parametrize("attention", ["self_attention", "cross_attention"])
def test_dropout_of_weights_is_that_of_both_attentions(attention: str) -> None:
    layer = DecoderLayer(8, 2, 12, attention_dropout=0.25)
    assert getattr(layer, attention).dropout == 0.25


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_memory_of_another_batch_is_refused_with_and_without_weights(need_weights: bool) -> None:
    stack, x, memory = Decoder(1, 8, 2, 12), torch.randn(3, 2, 8), torch.randn(1, 4, 8)
    with pytest.raises(ValueError, match=r"\b3\b.*\b1\b"):
        stack(x, memory, None, None, need_weights)


def test_no_stack_is_without_layers() -> None:
    with pytest.raises(ValueError, match="n_layers=0"):
        Decoder(0, 8, 2, 12)
