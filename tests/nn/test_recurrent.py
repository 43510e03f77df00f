"""`bertlab.nn.recurrent` against the reference, forward and backward, and against PyTorch's packed layers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from bertlab.nn import GRU, LSTM
from bertlab.nn.recurrent import lstm
from tests.inputs import arguments_of
from tests.nn.parity import check

LAYERS = {"GRU": (GRU, torch.nn.GRU), "LSTM": (LSTM, torch.nn.LSTM)}
Layers = pytest.mark.parametrize("kind", LAYERS)
Directions = pytest.mark.parametrize("bidirectional", [False, True], ids=["ahead", "both"])
NAMES = {"w_input": "weight_ih", "w_hidden": "weight_hh", "b_input": "bias_ih", "b_hidden": "bias_hh"}


@pytest.mark.parametrize("concept", ["gru_cell", "lstm_cell", "gru", "lstm"])
@settings(max_examples=60)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(concept: str, data: st.DataObject) -> None:
    check(concept, data.draw(arguments_of(concept)))


def pair(kind: str, bidirectional: bool, d_input: int = 3, d_model: int = 4) -> tuple[Any, Any]:
    """Ours and PyTorch's layer with the same weights, float64."""
    our_class, their_class = LAYERS[kind]
    ours = our_class(d_input, d_model, bidirectional).double()
    theirs = their_class(d_input, d_model, batch_first=True, bidirectional=bidirectional).double()
    with torch.no_grad():
        for name, parameter in ours.named_parameters():
            parameter.copy_(getattr(theirs, their_name(name)))
    return ours, theirs


def their_name(name: str) -> str:
    direction, own = name.split(".")
    return f"{NAMES[own]}_l0" + ("_reverse" if direction == "backwards" else "")


def side_by_side(states: torch.Tensor) -> torch.Tensor:
    """(directions, B, D), as PyTorch gives last states, to (B, directions D)."""
    return torch.cat(list(states), dim=-1)


@Layers
@Directions
@pytest.mark.parametrize("with_first_state", [False, True], ids=["from zeros", "from a state"])
def test_padded_batches_read_as_torch_reads_packed_ones(
    kind: str, bidirectional: bool, with_first_state: bool
) -> None:
    ours, theirs = pair(kind, bidirectional)
    lengths = torch.tensor([3, 5, 1, 4])  # not sorted
    x = torch.randn(4, 5, 3, dtype=torch.float64, requires_grad=True)
    mask = torch.arange(5) < lengths[:, None]
    our_first, their_first = None, None
    if with_first_state:
        h, c = torch.randn(2, 2 if bidirectional else 1, 4, 4, dtype=torch.float64)  # each (directions, B, D)
        our_first = side_by_side(h) if kind == "GRU" else (side_by_side(h), side_by_side(c))
        their_first = h if kind == "GRU" else (h, c)

    states, last = ours(x, mask, our_first)
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    their_packed, their_last = theirs(packed, their_first)
    expected, _ = pad_packed_sequence(their_packed, batch_first=True)
    torch.testing.assert_close(states, expected, rtol=0, atol=1e-10)
    lasts = (last, their_last) if kind == "LSTM" else ((last,), (their_last,))
    for one, other in zip(*lasts, strict=True):
        torch.testing.assert_close(one, side_by_side(other), rtol=0, atol=1e-10)

    def backward(states: torch.Tensor, last: Any, layer: torch.nn.Module) -> dict[str, torch.Tensor]:
        loss = states.square().sum() + sum(part.sin().sum() for part in last)
        parameters = dict(layer.named_parameters()) | {"x": x}
        return dict(zip(parameters, torch.autograd.grad(loss, parameters.values()), strict=True))

    found, wanted = backward(states, lasts[0], ours), backward(expected, lasts[1], theirs)
    for name, gradient in found.items():
        torch.testing.assert_close(
            gradient, wanted[name if name == "x" else their_name(name)], rtol=0, atol=1e-9
        )


@settings(max_examples=30)
@given(data=st.data())
def test_a_projected_lstm_is_torchs_with_proj_size(data: st.DataObject) -> None:
    B, T, d_input, d_state, more = (data.draw(st.integers(1, 4)) for _ in range(5))
    d_memory = d_state + more  # PyTorch wants the projection to be narrower
    theirs = torch.nn.LSTM(
        d_input, d_memory, batch_first=True, bidirectional=True, proj_size=d_state
    ).double()
    lengths = torch.tensor(data.draw(st.lists(st.integers(1, T), min_size=B, max_size=B)))
    x = torch.randn(B, int(lengths.max()), d_input, dtype=torch.float64, requires_grad=True)
    mask = torch.arange(x.shape[1]) < lengths[:, None]
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    their_packed, (h, c) = theirs(packed)
    expected, _ = pad_packed_sequence(their_packed, batch_first=True)
    found = []
    for i, direction in enumerate(("", "_reverse")):
        names = [f"{name}_l0{direction}" for name in (*NAMES.values(), "weight_hr")]
        *gates, w_project = (getattr(theirs, name) for name in names)
        states, last = lstm(x, mask, *gates, reverse=bool(direction), w_project=w_project)
        found.append(states)
        torch.testing.assert_close(last, (h[i], c[i]), rtol=0, atol=1e-10)
    torch.testing.assert_close(torch.cat(found, dim=-1), expected, rtol=0, atol=1e-10)

    sources, weights = [x, *theirs.parameters()], torch.randn_like(expected)
    ours = torch.autograd.grad((torch.cat(found, dim=-1) * weights).sum(), sources)
    for one, other in zip(ours, torch.autograd.grad((expected * weights).sum(), sources), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


@Layers
@Directions
def test_without_a_mask_all_positions_are_read(kind: str, bidirectional: bool) -> None:
    ours, theirs = pair(kind, bidirectional)
    x = torch.randn(2, 4, 3, dtype=torch.float64)
    torch.testing.assert_close(ours(x)[0], theirs(x)[0], rtol=0, atol=1e-10)
    everything = torch.ones(2, 4, dtype=torch.bool)
    torch.testing.assert_close(ours(x, everything)[0], ours(x)[0], rtol=0, atol=0)


@Layers
@Directions
def test_the_order_of_a_batch_changes_nothing_but_the_order(kind: str, bidirectional: bool) -> None:
    ours, _ = pair(kind, bidirectional)
    x, mask = torch.randn(3, 4, 3, dtype=torch.float64), torch.arange(4) < torch.tensor([[2], [4], [3]])
    turned = ours(x.flip(0), mask.flip(0))
    for one, other in zip(leaves(turned), leaves(ours(x, mask)), strict=True):
        torch.testing.assert_close(one.flip(0), other, rtol=0, atol=1e-12)


def leaves(result: Any) -> list[torch.Tensor]:
    """States and all last states."""
    return (
        [result] if isinstance(result, torch.Tensor) else [leaf for part in result for leaf in leaves(part)]
    )


@Layers
def test_new_weights_are_drawn_as_torch_draws_them(kind: str) -> None:
    ours, _ = LAYERS[kind]
    layer = ours(50, 25)
    for parameter in layer.parameters():
        assert parameter.abs().max() <= 1 / 5  # uniform in ±1/√D
        assert parameter.abs().max() > 0.9 / 5
        assert parameter.std().item() == pytest.approx(0.2 / 3**0.5, rel=0.2)


@Layers
@Directions
def test_the_number_of_parameters_is_that_of_torch(kind: str, bidirectional: bool) -> None:
    ours, theirs = pair(kind, bidirectional)
    count = [sum(p.numel() for p in layer.parameters()) for layer in (ours, theirs)]
    assert count[0] == count[1]
