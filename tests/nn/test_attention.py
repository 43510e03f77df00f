"""`bertlab.nn.attention` against the reference, forward and backward, and against PyTorch's own attention."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import MultiHeadAttention, SelfAttention
from bertlab.nn.attention import multi_head_attention, scaled_dot_product_attention, self_attention
from bertlab.nn.masking import causal_mask
from tests.inputs import arguments_of
from tests.nn.parity import check

CONCEPTS = (
    "attend",
    "dot_scores",
    "general_scores",
    "additive_scores",
    "concat_scores",
    "scaled_dot_product_attention",
    "self_attention",
    "split_heads",
    "merge_heads",
    "multi_head_attention",
)
DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available() + ["mps"] * torch.backends.mps.is_available()
Masks = pytest.mark.parametrize("kind", ["none", "padding", "causal", "both", "random"])


@pytest.mark.parametrize("concept", CONCEPTS)
@settings(max_examples=40)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(concept: str, data: st.DataObject) -> None:
    check(concept, data.draw(arguments_of(concept)))


def some_mask(kind: str, B: int, Tq: int, Tk: int) -> torch.Tensor | None:
    """A mask that broadcasts to (B, H, Tq, Tk) and leaves each query at least key 0."""
    padding = torch.arange(Tk) < torch.randint(1, Tk + 1, (B, 1))  # (B, Tk)
    order = torch.ones(Tq, Tk, dtype=torch.bool).tril()
    random = torch.rand(B, 1, Tq, Tk) < 0.5
    random[..., 0] = True
    masks = {"none": None, "padding": padding[:, None, None], "causal": order, "random": random}
    return masks[kind] if kind in masks else padding[:, None, None] & order


def pair(d_model: int, n_heads: int) -> tuple[MultiHeadAttention, torch.nn.MultiheadAttention]:
    """Ours and PyTorch's layer with the same weights, float64."""
    ours = MultiHeadAttention(d_model, n_heads).double()
    theirs = torch.nn.MultiheadAttention(d_model, n_heads, batch_first=True).double()
    torch.nn.init.normal_(theirs.in_proj_bias)
    torch.nn.init.normal_(theirs.out_proj.bias)
    weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    with torch.no_grad():
        for layer, weight, bias in zip((ours.query, ours.key, ours.value), weights, biases, strict=True):
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
        ours.output.load_state_dict(theirs.out_proj.state_dict())
    return ours, theirs


@Masks
@pytest.mark.parametrize("need_weights", [True, False])
def test_multi_head_attention_is_that_of_torch_with_its_mask_turned_round(
    kind: str, need_weights: bool
) -> None:
    B, Tq, Tk, D, H = 3, 4, 5, 12, 3
    ours, theirs = pair(D, H)
    query, key, value = (torch.randn(B, T, D, dtype=torch.float64, requires_grad=True) for T in (Tq, Tk, Tk))
    mask = some_mask(kind, B, Tq, Tk)
    output, weights = ours(query, key, value, mask, need_weights=need_weights)
    hide = None if mask is None else ~mask.expand(B, H, Tq, Tk).flatten(0, 1)  # theirs: True = hidden
    expected, shares = theirs(query, key, value, attn_mask=hide, average_attn_weights=False)
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-10)
    if need_weights:
        torch.testing.assert_close(weights, shares, rtol=0, atol=1e-10)
    else:
        assert weights is None
    direction = torch.randn_like(output)
    found = torch.autograd.grad(output, (query, key, value), direction)
    for one, other in zip(found, torch.autograd.grad(expected, (query, key, value), direction), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


def test_a_padding_mask_is_the_opposite_of_torchs_key_padding_mask() -> None:
    ours, theirs = pair(8, 2)
    x = torch.randn(2, 4, 8, dtype=torch.float64)
    padding = torch.tensor([[False, False, True, True], [False] * 4])  # theirs: True = ignore
    expected, _ = theirs(x, x, x, key_padding_mask=padding)
    output, _ = ours(x, x, x, ~padding[:, None, None])
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-10)


@Masks
def test_scaled_dot_product_attention_is_that_of_torch_with_the_same_mask(kind: str) -> None:
    q, k, v = (torch.randn(2, 3, T, 4, dtype=torch.float64) for T in (5, 6, 6))
    mask = some_mask(kind, 2, 5, 6)
    output, _ = scaled_dot_product_attention(q, k, v, mask)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64], ids=str)
def test_with_and_without_weights_agree_also_on_rows_that_see_nothing(
    dtype: torch.dtype, device: str
) -> None:
    if device == "mps" and dtype == torch.float64:
        pytest.skip("MPS has no float64")
    layer = MultiHeadAttention(8, 2).to(device, dtype)
    x = torch.randn(3, 5, 8).to(device, dtype)
    mask = torch.rand(3, 2, 5, 5).to(device) < 0.4
    mask[1, :, 2] = False
    mask[2] = False
    found = []
    for need_weights in (True, False):
        x = x.detach().requires_grad_()
        layer.zero_grad()
        output, _ = layer(x, x, x, mask, need_weights=need_weights)
        output.square().sum().backward()
        found.append([output, x.grad, *(p.grad for p in layer.parameters())])
    tolerance = {torch.float64: 1e-10, torch.float32: 1e-5, torch.float16: 5e-2, torch.bfloat16: 3e-1}[dtype]
    for one, other in zip(*found, strict=True):
        assert one.isfinite().all()
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)
    for output, *_ in found:
        assert (output[2] == layer.output.bias).all()  # nothing came in


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 3), (2, 2, 1, 3), (1, 3, 3, 3)])
def test_a_mask_that_does_not_fit_is_refused_with_and_without_weights(
    shape: tuple[int, ...], need_weights: bool
) -> None:
    x = torch.randn(2, 3, 8)
    if shape == (2, 2, 1, 3):  # one row for each head fits
        MultiHeadAttention(8, 2)(x, x, x, torch.ones(shape, dtype=torch.bool), need_weights=need_weights)
        return
    with pytest.raises(ValueError, match=r"mask of shape"):
        MultiHeadAttention(8, 2)(x, x, x, torch.ones(shape, dtype=torch.bool), need_weights=need_weights)


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_float_mask_is_refused_with_and_without_weights(need_weights: bool) -> None:
    x = torch.randn(2, 3, 8)
    with pytest.raises(ValueError, match=r"float32.*mask != 0"):
        MultiHeadAttention(8, 2)(x, x, x, torch.ones(3, 3), need_weights=need_weights)


def test_the_module_is_the_function_with_its_own_parameters() -> None:
    layer, x, mask = MultiHeadAttention(8, 4), torch.randn(2, 5, 8), causal_mask(5)
    ours, weights = layer(x, x, x, mask, need_weights=True)
    expected, shares = multi_head_attention(x, x, x, layer.state_dict(), 4, mask)
    torch.testing.assert_close(ours, expected)
    torch.testing.assert_close(weights, shares)


def test_self_attention_is_the_function_with_its_own_parameters() -> None:
    layer, x, mask = SelfAttention(8, 3), torch.randn(2, 5, 8), causal_mask(5)
    output, weights = layer(x, mask)
    expected, shares = self_attention(x, layer.query.weight, layer.key.weight, layer.value.weight, mask)
    torch.testing.assert_close((output, weights), (expected, shares))
    assert output.shape == (2, 5, 3)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((512, 7), "512.*7 heads"),
        ((512, 0), "512.*0 heads"),
        ((8, 2, 1.0), r"1\.0.*\[0, 1\)"),
        ((8, 2, -0.1), r"-0\.1.*\[0, 1\)"),
    ],
)
def test_a_layer_that_cannot_be_is_refused(arguments: tuple[float, ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        MultiHeadAttention(*arguments)


def test_gradients_of_gradients_agree_with_autograds_own_check() -> None:
    q, k, v = (torch.randn(1, 3, 2, dtype=torch.float64, requires_grad=True) for _ in range(3))
    mask = torch.tensor([[True, False, False], [False, False, False], [True, True, True]])
    assert torch.autograd.gradcheck(lambda *qkv: scaled_dot_product_attention(*qkv, mask)[0], (q, k, v))
