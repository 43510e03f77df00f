"""`bertlab.nn.gpt` against the reference and against `transformers`, what it reads, and its cache."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import GPT
from bertlab.nn.gpt import gpt, gpt_embeddings
from bertlab.nn.language_model import language_model_loss, shift_left
from bertlab.nn.masking import causal_mask
from bertlab.nn.packing import Packing
from tests.inputs import arguments_of
from tests.nn.parity import check
from tests.nn.their_gpt import SMALL, configs, inputs, some_gpt, their_gradients, their_twin

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}
Orders = pytest.mark.parametrize("norm_first", [False, True], ids=["GPT-1", "GPT-2"])


@pytest.mark.parametrize("concept", ["gpt_embeddings", "gpt"])
@settings(max_examples=10)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(concept: str, data: st.DataObject) -> None:
    check(concept, data.draw(arguments_of(concept)))


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@settings(max_examples=6)
@given(data=st.data())
def test_states_weights_logits_loss_and_all_gradients_are_those_of_transformers(
    attention: str, dtype: torch.dtype, data: st.DataObject
) -> None:
    config = data.draw(configs())
    ours = some_gpt(config, data.draw(st.integers(0, 99))).to(dtype)
    twin, (ids, real) = their_twin(ours, attention), data.draw(inputs(config))
    close = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
    weighed = attention == "eager"

    labels = ids.masked_fill(~real, -100)  # they shift them themselves
    wanted = twin(
        ids, attention_mask=real.long(), labels=labels, output_hidden_states=True, output_attentions=weighed
    )
    found = ours(ids, need_weights=weighed)
    assert len(found.layers) == len(wanted.hidden_states) == config.n_layers + 1
    for state, their in zip(found.layers, wanted.hidden_states, strict=True):
        torch.testing.assert_close(state[real], their[real], **close)
    torch.testing.assert_close(found.logits[real], wanted.logits[real], **close)
    if weighed:
        for weights, their in zip(found.weights, wanted.attentions, strict=True):
            rows = real[:, None, :, None].expand_as(weights)
            torch.testing.assert_close(weights[rows], their[rows], **close)

    loss = ours.loss(ids, shift_left(ids, real))
    torch.testing.assert_close(loss.float(), wanted.loss, rtol=1e-5, atol=1e-5)  # always float32 there
    their_loss = F.cross_entropy(wanted.logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
    torch.testing.assert_close(loss, their_loss, **close)
    loss.backward()
    their_loss.backward()
    their_grads = their_gradients(twin, config)
    for name, parameter in ours.named_parameters():
        their = their_grads[name]
        error = (parameter.grad - their).abs().max() / their.abs().max().clamp(min=1)
        assert error < TOLERANCE[dtype], name


@settings(max_examples=12)
@given(data=st.data())
def test_the_module_is_the_function_with_its_own_parameters(data: st.DataObject) -> None:
    config = data.draw(configs())
    model, (ids, real) = some_gpt(config), data.draw(inputs(config))
    choices = (config.n_heads, config.norm_first, config.activation, config.eps)
    layers, weights = gpt(ids, model.state_dict(), *choices)
    found = model(ids, need_weights=True)
    torch.testing.assert_close(found.layers, layers, rtol=0, atol=1e-10)
    torch.testing.assert_close(found.weights, weights, rtol=0, atol=1e-10)
    embedded = gpt_embeddings(ids, model.embeddings.state_dict())
    torch.testing.assert_close(layers[0], embedded, rtol=0, atol=0)
    labels = shift_left(ids, real)
    loss = language_model_loss(ids, labels, model.state_dict(), *choices)
    torch.testing.assert_close(model.loss(ids, labels), loss, rtol=0, atol=1e-10)


@Orders
@settings(max_examples=6)
@given(data=st.data())
def test_packed_it_reads_and_learns_the_same(norm_first: bool, data: st.DataObject) -> None:
    model = some_gpt(replace(SMALL, norm_first=norm_first))
    ids, real = data.draw(inputs(model.config))
    packing = Packing(real, price=data.draw(st.sampled_from([0, 5, 10**6])), causal=True)
    packed, padded = model(ids, packing), model(ids)
    for one, other in zip(packed.layers, padded.layers, strict=True):
        torch.testing.assert_close(packing.unpack(one)[real], other[real], rtol=0, atol=1e-10)
    labels, grads = shift_left(ids, real), []
    for way in (None, packing):
        model.zero_grad()
        loss = model.loss(ids, labels, way)
        loss.backward()
        grads.append([loss, *(p.grad for p in model.parameters())])
    torch.testing.assert_close(grads[0], grads[1], rtol=0, atol=1e-10)


def test_a_packing_that_shows_the_future_is_refused() -> None:
    real = torch.tensor([[True, True], [True, False]])
    with pytest.raises(ValueError, match="shows what comes after: make it with causal=True"):
        some_gpt()(torch.ones(2, 2, dtype=torch.long), Packing(real))


@Orders
@settings(max_examples=8)
@given(
    chunks=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    rows=st.integers(1, 3),
    need_weights=st.booleans(),
)
def test_piece_by_piece_with_a_cache_it_reads_the_same(
    norm_first: bool, chunks: list[int], rows: int, need_weights: bool
) -> None:
    model = some_gpt(replace(SMALL, norm_first=norm_first))
    ids = torch.randint(0, 40, (rows, sum(chunks)))
    layers, weights = model.read(ids, need_weights=True)
    cache, start = model.new_cache(), 0
    for n in chunks:
        assert cache.length == start
        now = slice(start, start + n)
        some, looks = model.read(ids[:, now], need_weights=need_weights, cache=cache)
        for one, whole in zip(some, layers, strict=True):
            torch.testing.assert_close(one, whole[:, now], rtol=0, atol=1e-10)
        if need_weights:
            for one, whole in zip(looks, weights, strict=True):
                torch.testing.assert_close(one, whole[:, :, now, : now.stop], rtol=0, atol=1e-10)
        start += n


@Orders
def test_a_step_scores_what_comes_behind_the_text_so_far(norm_first: bool) -> None:
    model, cache = some_gpt(replace(SMALL, norm_first=norm_first)), None
    ids = torch.randint(0, 40, (2, 5))
    whole, cache = model(ids, need_weights=True), model.new_cache()
    for t in range(5):
        step = model.step(ids[:, t], cache, need_weights=t == 4)
        torch.testing.assert_close(step.logits, whole.logits[:, t], rtol=0, atol=1e-10)
    looks = torch.stack(whole.weights, dim=1)[:, :, :, 4]  # (N, L, H, T)
    torch.testing.assert_close(step.weights, looks, rtol=0, atol=1e-10)


@Orders
def test_D36_hidden_states_are_counted_from_the_embeddings(norm_first: bool) -> None:
    model, ids = some_gpt(replace(SMALL, n_layers=12, norm_first=norm_first)), torch.tensor([[2, 7, 8, 3]])
    found = model(ids)
    assert len(found.layers) == 13
    torch.testing.assert_close(found.layers[0], model.embeddings(ids))
    assert found.states is found.layers[12]
    (again, _) = model.encoder.layers[11](found.layers[-2], causal_mask(4))
    torch.testing.assert_close(model.encoder.norm(again) if norm_first else again, found.states)


@Orders
def test_D11_no_logit_is_made_of_what_comes_later(norm_first: bool) -> None:
    model, ids = some_gpt(replace(SMALL, norm_first=norm_first)), torch.tensor([[2, 7, 8, 9, 3]])
    x = model.embeddings(ids).detach().requires_grad_()
    for t in range(5):
        state, _ = model.encoder(x, causal_mask(5))
        (d_x,) = torch.autograd.grad(model.logits(state[0, t])[11], x)
        assert (d_x[0, : t + 1].abs().sum(-1) > 1e-6).all()
        assert (d_x[0, t + 1 :] == 0).all()


@pytest.mark.parametrize("need_weights", [False, True])
def test_padding_behind_a_text_changes_nothing_in_it(need_weights: bool) -> None:
    model = some_gpt()
    alone, padded = torch.tensor([[2, 7, 8]]), torch.tensor([[2, 7, 8, 0, 0], [2, 6, 7, 8, 9]])
    one, many = model(alone, need_weights=need_weights), model(padded, need_weights=need_weights)
    for state, wide in zip((*one.layers, one.logits), (*many.layers, many.logits), strict=True):
        torch.testing.assert_close(wide[:1, :3], state, rtol=0, atol=1e-12)


def test_the_vocabulary_is_scored_at_the_chosen_positions_alone() -> None:
    model, ids = some_gpt(), torch.tensor([[2, 7, 8], [3, 4, 5]])
    chosen = model(ids, positions=torch.tensor([4, 2])).logits
    whole = model(ids).logits
    torch.testing.assert_close(chosen, torch.stack([whole[1, 1], whole[0, 2]]), rtol=0, atol=1e-12)
    scored: list[int] = []
    model.logits = lambda states, real=model.logits: scored.append(states[..., 0].numel()) or real(states)
    model.loss(ids, torch.tensor([[7, -100, -100], [4, 5, -100]]))
    assert scored == [3]


def test_the_output_matrix_is_the_table_of_token_embeddings() -> None:
    model, ids = some_gpt(), torch.tensor([[2, 7, 8]])
    before = model(ids).logits
    model.embeddings.token.weight.data[39] += 1  # no token of the input
    changed = (before - model(ids).logits).abs().amax((0, 1)) > 1e-6
    assert changed.nonzero().tolist() == [[39]]


@Orders
def test_D06_dropout_stops_in_evaluation(norm_first: bool) -> None:
    config = replace(SMALL, norm_first=norm_first)
    model, plain = some_gpt(replace(config, dropout=0.9, attention_dropout=0.9)), some_gpt(config)
    ids = torch.tensor([[2, 7, 8, 3]])
    assert torch.equal(model(ids).states, model(ids).states)
    assert torch.equal(model(ids).states, plain(ids).states)
    model.train()
    assert not torch.equal(model(ids).states, model(ids).states)


@pytest.mark.parametrize("option", [{"dropout": 0.9}, {"attention_dropout": 0.9}], ids=str)
def test_each_dropout_reaches_its_places(option: dict[str, float]) -> None:
    model, ids = some_gpt(replace(SMALL, **option)).train(), torch.tensor([[2, 7, 8, 3]])
    embedded, again = model(ids).layers[0], model(ids).layers[0]
    assert torch.equal(embedded, again) == ("dropout" not in option)
    assert not torch.equal(model(ids).layers[1], model(ids).layers[1])


@Orders
def test_first_weights_have_the_deviations_of_the_papers(norm_first: bool) -> None:
    torch.manual_seed(0)
    sizes = {"vocab_size": 5000, "d_model": 64, "d_ff": 256, "n_layers": 8}
    for name, p in GPT(replace(SMALL, norm_first=norm_first, **sizes)).named_parameters():
        if p.dim() == 1:
            assert (p == (1 if name.endswith("norm.weight") else 0)).all(), name
        else:
            writes = name.endswith(("attention.output.weight", "feed_forward.outer.weight"))
            assert p.std().item() == pytest.approx(0.005 if norm_first and writes else 0.02, rel=0.1), name


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [([[2, 40, 3]], "40"), ([[2, -1, 3]], "-1"), ([[7] * 25], "25.*24|24.*25")],
)
def test_D08_input_that_has_no_row_gets_one_sentence(ids: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        some_gpt()(torch.tensor(ids))
    assert "\n" not in str(caught.value)


def test_D08_a_text_that_outgrows_the_table_step_by_step_is_refused_too() -> None:
    model = some_gpt()
    cache = model.new_cache()
    model.read(torch.full((1, 24), 7), cache=cache)
    with pytest.raises(ValueError, match=r"25.*24"):
        model.step(torch.tensor([7]), cache)
