"""Converted masks, where they are meant to go: into PyTorch's own layers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab.nn import MultiHeadAttention
from bertlab.nn.masking import (
    causal_mask,
    combine_masks,
    from_additive_mask,
    from_hidden_mask,
    padding_mask,
    to_additive_mask,
    to_hidden_mask,
)
from tests.nn.theirs import copy_attention, some_weights
from tests.wing import NN, REFERENCE

IDS = torch.tensor([[5, 6, 7, 0], [5, 6, 7, 8], [5, 0, 0, 0]])


def pair() -> tuple[MultiHeadAttention, torch.nn.MultiheadAttention]:
    ours, theirs = some_weights(MultiHeadAttention(8, 2)), torch.nn.MultiheadAttention(8, 2, batch_first=True)
    copy_attention(ours, theirs.double())
    return ours, theirs


def test_a_padding_mask_becomes_torchs_key_padding_mask_and_comes_back() -> None:
    (ours, theirs), x, mask = pair(), torch.randn(3, 4, 8).double(), padding_mask(IDS)
    expected, _ = theirs(x, x, x, key_padding_mask=to_hidden_mask(mask)[:, 0, 0])
    torch.testing.assert_close(ours(x, x, x, mask)[0], expected, rtol=0, atol=1e-10)
    assert torch.equal(from_hidden_mask(to_hidden_mask(mask)), mask)


@pytest.mark.parametrize("finite", [True, False])
def test_an_additive_mask_goes_to_torchs_attn_mask(finite: bool) -> None:
    (ours, theirs), x = pair(), torch.randn(3, 4, 8).double()
    mask = combine_masks(padding_mask(IDS), causal_mask(4))
    additive = to_additive_mask(mask, torch.float64, finite)
    expected, _ = theirs(x, x, x, attn_mask=additive.expand(3, 2, 4, 4).flatten(0, 1))
    torch.testing.assert_close(ours(x, x, x, mask)[0], expected, rtol=0, atol=1e-10)


def test_the_causal_mask_of_torch_is_ours_when_it_comes_back() -> None:
    theirs = torch.nn.Transformer.generate_square_subsequent_mask(5)
    assert torch.equal(from_additive_mask(theirs), causal_mask(5))
    assert torch.equal(to_additive_mask(causal_mask(5)), theirs)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_the_lowest_number_is_that_of_the_dtype(dtype: torch.dtype) -> None:
    mask = torch.tensor([True, False])
    for finite, lowest in ((True, torch.finfo(dtype).min), (False, float("-inf"))):
        additive = to_additive_mask(mask, dtype, finite)
        assert additive.dtype == dtype
        assert additive.tolist() == [0.0, lowest]
        assert torch.equal(from_additive_mask(additive), mask)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_berts_minus_10000_hides_also_where_it_is_rounded(dtype: torch.dtype) -> None:
    assert from_additive_mask(torch.tensor([0.0, -10000.0], dtype=dtype)).tolist() == [True, False]


def test_both_wings_make_the_same_masks() -> None:
    mask = np.array([[True, False], [True, True]])
    for function in ("to_hidden_mask", "from_hidden_mask", "combine_masks"):
        np.testing.assert_array_equal(getattr(NN, function)(mask), getattr(REFERENCE, function)(mask))
    for finite in (True, False):
        np.testing.assert_array_equal(
            NN.to_additive_mask(mask, torch.float64, finite), REFERENCE.to_additive_mask(mask, finite=finite)
        )


def test_a_mask_stays_on_its_device() -> None:
    mask = torch.ones(2, dtype=torch.bool, device="meta")
    assert to_additive_mask(mask).device.type == to_hidden_mask(mask).device.type == "meta"
