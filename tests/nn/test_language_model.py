"""`bertlab.nn.language_model` against the reference, and which token is asked for where."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn.language_model import language_model_loss, shift_left
from bertlab.nn.seq2seq import shift_right
from tests.inputs import arguments_of
from tests.nn.parity import check
from tests.nn.their_gpt import SMALL, some_gpt


@settings(max_examples=15)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(data: st.DataObject) -> None:
    check("language_model_loss", data.draw(arguments_of("language_model_loss")))


def test_D11_the_label_of_a_position_is_the_token_behind_it() -> None:
    ids = torch.tensor([[1, 11, 12, 13, 2, 0], [1, 11, 2, 0, 0, 0]])
    real = torch.tensor([[1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 0, 0]]).bool()
    asked = shift_left(ids, real)
    assert asked.tolist() == [[11, 12, 13, 2, -100, -100], [11, 2, -100, -100, -100, -100]]
    assert (asked[0] != -100).sum() == 4
    whole = shift_left(ids[:1, :5])
    assert whole.tolist() == [[11, 12, 13, 2, -100]]
    assert torch.equal(
        shift_right(whole[:, :4], start_id=1), ids[:1, :4]
    )  # the decoder's input, from its labels


def test_D11_a_model_that_saw_its_labels_would_be_told_from_one_that_does_not() -> None:
    """With the labels not shifted, a GPT is asked for what it reads; here the two losses differ."""
    model, ids = some_gpt(), torch.tensor([[2, 7, 8, 9, 3]])
    choices = (SMALL.n_heads, SMALL.norm_first, SMALL.activation, SMALL.eps)
    right = language_model_loss(ids, shift_left(ids), model.state_dict(), *choices)
    wrong = language_model_loss(ids, ids, model.state_dict(), *choices)
    surprise = -model(ids).logits[0, :4].log_softmax(-1)[range(4), ids[0, 1:]].mean()
    torch.testing.assert_close(right, surprise, rtol=0, atol=1e-12)
    assert abs(right - wrong) > 0.1


def test_D23_where_nothing_is_asked_the_loss_is_zero_with_finite_gradients() -> None:
    model, ids = some_gpt(), torch.tensor([[2, 7, 8]])
    loss = model.loss(ids, torch.full_like(ids, -100))
    loss.backward()
    assert loss == 0
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


def test_D33_the_loss_of_two_batches_is_joined_by_their_numbers_of_tokens() -> None:
    model = some_gpt()
    short, long = torch.tensor([[2, 7]]), torch.tensor([[5, 6, 7, 8]])
    losses = [model.loss(ids, shift_left(ids)) for ids in (short, long)]
    padded = torch.tensor([[2, 7, 0, 0], [5, 6, 7, 8]])
    real = torch.tensor([[1, 1, 0, 0], [1, 1, 1, 1]]).bool()
    together = model.loss(padded, shift_left(padded, real))
    torch.testing.assert_close(together, (losses[0] + 3 * losses[1]) / 4, rtol=0, atol=1e-12)
    assert abs(together - (losses[0] + losses[1]) / 2) > 1e-3


def test_in_bfloat16_the_loss_keeps_the_digits_of_float32() -> None:
    model, ids = some_gpt().float(), torch.tensor([[2, 7, 8, 9, 3]])
    exact = model.loss(ids, shift_left(ids))
    rounded = model.to(torch.bfloat16).loss(ids, shift_left(ids))
    assert rounded.dtype == torch.float32
    assert abs(rounded - exact) < 0.1 * exact
