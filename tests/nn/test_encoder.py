"""`bertlab.nn.encoder` against the reference, and against `torch.nn.TransformerEncoder`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import Encoder, EncoderLayer
from bertlab.nn.encoder import encoder
from tests.inputs import arguments_of
from tests.nn.parity import check, same
from tests.nn.theirs import as_attn_mask, copy_encoder_layer, some_mask, some_weights, their_encoder
from tests.wing import REFERENCE, to_numpy

Masks = pytest.mark.parametrize("kind", ["none", "padding", "causal", "both", "random"])
DTYPES = [torch.float32, torch.bfloat16, torch.float16]


@pytest.mark.parametrize(
    "concept", ["attention_sublayer", "feed_forward_sublayer", "encoder_layer", "encoder"]
)
@settings(max_examples=15)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(concept: str, data: st.DataObject) -> None:
    check(concept, data.draw(arguments_of(concept)))


@st.composite
def stacks(draw: st.DrawFn) -> tuple[tuple[int, int, int, int], dict[str, Any]]:
    """Sizes (L, H, K, F) and options of a stack."""
    sizes = (
        draw(st.integers(1, 3)),
        draw(st.integers(1, 4)),
        draw(st.integers(1, 5)),
        draw(st.integers(1, 9)),
    )
    options = {
        "norm_first": draw(st.booleans()),
        "activation": draw(st.sampled_from(["relu", "gelu"])),
        "eps": draw(st.sampled_from([1e-5, 0.1])),
    }
    return sizes, options


@settings(max_examples=25)
@given(
    stack=stacks(),
    kind=st.sampled_from(["none", "padding", "causal", "both", "random"]),
    B=st.integers(1, 3),
    T=st.integers(1, 6),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_stack_is_that_of_torch_and_that_of_the_reference(
    stack: Any, kind: str, B: int, T: int, seed: int
) -> None:
    torch.manual_seed(seed)
    (L, H, K, F), options = stack
    ours = some_weights(Encoder(L, H * K, H, F, **options))
    theirs = their_encoder(ours, H, options)
    x = torch.randn(B, T, H * K, dtype=torch.float64, requires_grad=True)
    mask = some_mask(kind, B, H, T, T)

    output, weights = ours(x, mask, need_weights=True)
    fused, nothing = ours(x, mask)
    expected = theirs(x, mask=as_attn_mask(mask, B, H, T, T))
    assert nothing is None
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-10)
    torch.testing.assert_close(fused, expected, rtol=0, atol=1e-10)
    by_hand, shares = REFERENCE.encoder(
        to_numpy(x),
        {name: to_numpy(value) for name, value in ours.state_dict().items()},
        H,
        None if mask is None else to_numpy(mask),
        *options.values(),
    )
    same(to_numpy(output), by_hand, 1e-10)
    same(to_numpy(weights), shares, 1e-10)

    direction = torch.randn_like(output)
    (d_theirs,) = torch.autograd.grad(expected, x, direction)
    for found in (output, fused):
        (d_ours,) = torch.autograd.grad(found, x, direction)
        torch.testing.assert_close(d_ours, d_theirs, rtol=1e-9, atol=1e-9)


@Masks
@pytest.mark.parametrize("norm_first", [False, True], ids=["post-LN", "pre-LN"])
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
def test_a_layer_is_that_of_torch_also_on_its_fast_path(kind: str, norm_first: bool, training: bool) -> None:
    B, T, D, H = 3, 5, 12, 3
    ours = some_weights(EncoderLayer(D, H, 20, norm_first=norm_first)).train(training)
    theirs = torch.nn.TransformerEncoderLayer(D, H, 20, 0.0, batch_first=True, norm_first=norm_first)
    copy_encoder_layer(ours, theirs.double().train(training))
    x, mask = torch.randn(B, T, D, dtype=torch.float64), some_mask(kind, B, H, T, T)
    with torch.set_grad_enabled(training):
        output, _ = ours(x, mask)
        expected = theirs(x, as_attn_mask(mask, B, H, T, T))
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-10)


def test_padding_is_the_opposite_of_torchs_key_padding_mask() -> None:
    ours = some_weights(Encoder(2, 8, 2, 12))
    x, hidden = torch.randn(2, 4, 8).double(), torch.tensor([[False, False, True, True], [False] * 4])
    expected = their_encoder(ours, 2, {})(x, src_key_padding_mask=hidden)
    output, _ = ours(x, ~hidden[:, None, None])
    torch.testing.assert_close(output[~hidden], expected[~hidden], rtol=0, atol=1e-10)


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-LN", "pre-LN"])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_that_see_nothing_stay_finite_in_every_dtype(
    dtype: torch.dtype, need_weights: bool, norm_first: bool
) -> None:
    stack = Encoder(2, 8, 2, 16, norm_first=norm_first).to(dtype)
    x = torch.randn(3, 5, 8).to(dtype).requires_grad_()
    mask = torch.rand(3, 2, 5, 5) < 0.4
    mask[1, :, 2] = False
    mask[2] = False
    output, weights = stack(x, mask, need_weights)
    output.square().sum().backward()
    assert output.dtype == dtype
    assert output.isfinite().all()
    assert all(t.grad is not None and t.grad.isfinite().all() for t in (x, *stack.parameters()))
    if need_weights:
        assert all((w[~mask] == 0).all() for w in weights)
        assert all((w.float().sum(-1)[~mask.any(-1)] == 0).all() for w in weights)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("norm_first", [False, True], ids=["post-LN", "pre-LN"])
def test_padding_changes_no_output_by_more_than_1e_6(dtype: torch.dtype, norm_first: bool) -> None:
    stack = Encoder(3, 16, 4, 32, norm_first=norm_first).to(dtype).eval()
    x, mask = torch.randn(2, 9, 16, dtype=dtype), torch.arange(9) < torch.tensor([[4], [9]])
    alone, _ = stack(x[:1, :4])
    padded, _ = stack(x, mask[:, None, None])
    torch.testing.assert_close(padded[:1, :4], alone, rtol=0, atol=1e-6)


def test_the_stack_is_the_function_with_its_own_parameters() -> None:
    options = {"norm_first": True, "activation": "gelu_tanh", "eps": 0.1}
    stack, x = some_weights(Encoder(2, 8, 4, 12, **options)), torch.randn(2, 5, 8).double()
    expected = encoder(x, stack.state_dict(), 4, None, *options.values())
    torch.testing.assert_close(stack(x, need_weights=True), expected)


def test_weights_are_made_on_request_only_and_fused_attention_works_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []
    fused = torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        torch.nn.functional,
        "scaled_dot_product_attention",
        lambda *args, **options: calls.append(1) or fused(*args, **options),
    )
    stack, x = Encoder(3, 8, 2, 12), torch.randn(2, 5, 8)
    _, weights = stack(x)
    assert weights is None
    assert len(calls) == 3
    _, weights = stack(x, need_weights=True)
    assert [w.shape for w in weights] == [(2, 2, 5, 5)] * 3
    assert len(calls) == 3


OPTIONS = [
    {"dropout": 0.5},
    {"attention_dropout": 0.5},
    {"activation": "gelu"},
    {"norm_first": True},
    {"eps": 1.0},
]


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: next(iter(option)))
def test_each_option_reaches_every_layer(option: dict[str, Any]) -> None:
    plain, other = Encoder(2, 8, 2, 12), Encoder(2, 8, 2, 12, **option)
    other.load_state_dict(plain.state_dict(), strict=False)
    x = torch.randn(2, 5, 8)
    for one, changed in zip(plain.layers, other.layers, strict=True):
        assert not torch.allclose(one(x)[0], changed(x)[0])


def test_no_two_layers_begin_with_the_same_weights() -> None:
    first, second = (layer.feed_forward.inner.weight for layer in Encoder(2, 8, 2, 12).layers)
    assert not torch.equal(first, second)


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ((0, 8, 2, 16), {}, "n_layers=0"),
        ((2, 8, 3, 16), {}, "d_model=8 does not split into 3 heads"),
        ((2, 8, 2, 16), {"dropout": 1.0}, r"dropout=1.0.*\[0, 1\)"),
        ((2, 8, 2, 16), {"attention_dropout": -0.1}, r"dropout=-0.1.*\[0, 1\)"),
        ((2, 8, 2, 16), {"activation": "swish"}, "'swish'"),
    ],
)
def test_a_stack_that_cannot_be_is_refused(arguments: Any, options: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Encoder(*arguments, **options)
