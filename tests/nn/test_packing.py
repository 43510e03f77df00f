"""Claims about packing: without padding, BERT computes what it computes with it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import BertConfig, BertForPreTraining
from bertlab.nn.masking import causal_mask
from bertlab.nn.mixing import mix
from bertlab.nn.packing import Packing, partition

CONFIG = BertConfig(
    vocab_size=50,
    d_model=16,
    n_layers=2,
    n_heads=2,
    d_ff=32,
    max_positions=24,
    dropout=0,
    attention_dropout=0,
)
Lengths = st.lists(st.integers(1, 24), min_size=1, max_size=9)
DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


def real(lengths: list[int], device: str = "cpu") -> torch.Tensor:
    """(B, T) mask of a batch with these lengths."""
    return torch.arange(max(lengths), device=device) < torch.tensor(lengths, device=device)[:, None]


def batch(mask: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Ids, segments, positions, labels and next labels for `BertForPreTraining.loss`."""
    ids = torch.randint(5, 50, mask.shape).to(mask.device) * mask
    segments = (torch.arange(mask.shape[1], device=mask.device) > 3).long() * mask
    positions = mask.flatten().nonzero()[::3, 0]
    labels = torch.randint(5, 50, positions.shape).to(mask.device)
    return ids, segments, positions, labels, torch.arange(len(mask), device=mask.device) % 2


def losses_and_gradients(model: BertForPreTraining, mask: Packing | None, *given: torch.Tensor):
    model.zero_grad()
    losses = model.loss(*given, mask=mask)
    losses[0].backward()
    return [*losses, *(parameter.grad for parameter in model.parameters())]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("price", [0, 5, 10**6])
@settings(max_examples=15, deadline=None)
@given(lengths=Lengths)
def test_without_padding_the_loss_and_all_gradients_are_the_same(device, price, lengths):
    model = BertForPreTraining(CONFIG).double().to(device)
    mask = real(lengths, device)
    given = batch(mask)
    expected = losses_and_gradients(model, None, *given)
    found = losses_and_gradients(model, Packing(mask, price), *given)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10)


def test_every_layer_is_the_same_and_the_pooled_vectors_keep_the_order_of_the_batch():
    model, mask = BertForPreTraining(CONFIG).double().bert, real([3, 24, 9, 3, 10])
    ids, segments, *_ = batch(mask)
    packing = Packing(mask, price=5)
    packed, padded = model(ids, segments, packing), model(ids, segments)
    torch.testing.assert_close(packed.pooled, padded.pooled, rtol=0, atol=1e-10)
    for ours, theirs in zip(packed.layers, padded.layers, strict=True):
        torch.testing.assert_close(packing.unpack(ours)[mask], theirs[mask], rtol=0, atol=1e-10)


def test_sequences_in_one_row_do_not_see_each_other():
    model, mask = BertForPreTraining(CONFIG).bert, real([5, 5, 8])
    ids, segments, *_ = batch(mask)
    before = model(ids, segments, Packing(mask)).pooled
    ids[1] = ids[1].flip(0)
    after = model(ids, segments, Packing(mask)).pooled
    assert torch.equal(before[[0, 2]], after[[0, 2]])
    assert not torch.allclose(before[1], after[1])


@pytest.mark.parametrize("price", [0, 10**6])
@given(lengths=Lengths)
def test_causal_it_mixes_what_a_causal_mask_mixes(price, lengths):
    mask = real(lengths)
    q, k, v = torch.randn(3, *mask.shape, 2, 4, dtype=torch.float64)  # (B, T, H, K) each
    packing = Packing(mask, price, causal=True)
    assert packing.causal
    packed = packing.mix(*(packing.pack(x).transpose(1, 2) for x in (q, k, v)))  # (1, H, N, K)
    hidden = causal_mask(mask.shape[1])
    whole = mix(*(x.transpose(1, 2) for x in (q, k, v)), hidden).transpose(1, 2)  # (B, T, H, K)
    torch.testing.assert_close(packing.unpack(packed.transpose(1, 2))[mask], whole[mask], rtol=0, atol=1e-12)


def test_a_packing_is_causal_only_if_it_is_asked_to_be():
    assert not Packing(real([3, 5])).causal
    assert not Packing.where_it_pays(real([20, 2, 3, 2])).causal
    assert Packing.where_it_pays(real([20, 2, 3, 2]), causal=True).causal


@given(lengths=Lengths, price=st.integers(0, 50))
def test_what_is_packed_can_be_unpacked(lengths, price):
    mask = real(lengths)
    packing = Packing(mask, price)
    x = torch.randn(*mask.shape, 3)
    back = packing.unpack(packing.pack(x))
    assert torch.equal(back[mask], x[mask])
    positions = mask.flatten().nonzero()[:, 0]
    assert torch.equal(packing.pack(x)[0, packing.at(positions)], x[mask])
    assert torch.equal(packing.pack(x)[0, packing.first], x[:, 0])


@given(lengths=Lengths)
def test_at_no_price_for_groups_no_padding_is_left(lengths):
    assert len(Packing(real(lengths), price=0)) == sum(lengths)


@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=6), price=st.integers(0, 12))
def test_no_other_cut_into_groups_costs_less(lengths, price):
    lengths = sorted(lengths)

    def cost(cuts: list[int]) -> int:
        ends = zip([0, *cuts], [*cuts, len(lengths)], strict=True)
        return sum(price + (j - i) * lengths[j - 1] for i, j in ends)

    n = len(lengths)
    choices = [[i for i in range(1, n) if bits >> i & 1] for bits in range(0, 2**n, 2)]
    groups = partition(lengths, price)
    assert sum(number for number, _ in groups) == n
    assert sum(price + number * length for number, length in groups) == min(map(cost, choices))


def test_a_batch_with_hardly_any_padding_is_left_as_it_is():
    assert Packing.where_it_pays(real([20, 20, 20, 19])) is None
    assert len(Packing.where_it_pays(real([20, 2, 3, 2]))) < 80


def test_padding_before_a_token_is_refused():
    with pytest.raises(ValueError, match="padding stands before a token"):
        Packing(torch.tensor([[False, True]]))


def test_a_row_of_nothing_but_padding_is_refused():
    with pytest.raises(ValueError, match="row 1 is nothing but padding"):
        Packing(torch.tensor([[True, True], [False, False]]))


def test_a_label_at_padding_that_was_left_out_is_refused():
    packing = Packing(torch.tensor([[True, True], [True, False]]), price=0)
    with pytest.raises(ValueError, match="position 3 is padding"):
        packing.at(torch.tensor([0, 3]))


def test_weights_of_a_packed_batch_are_refused():
    model, mask = BertForPreTraining(CONFIG), real([3, 5])
    with pytest.raises(ValueError, match="without packing"):
        model(batch(mask)[0], mask=Packing(mask), need_weights=True)
