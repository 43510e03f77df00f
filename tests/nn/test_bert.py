"""`bertlab.nn.bert` against the reference and against `transformers`, and what BERT reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import BertModel
from bertlab.nn.bert import bert, bert_embeddings, pool
from bertlab.nn.masking import padding_mask
from tests.inputs import arguments_of
from tests.nn.parity import check
from tests.nn.their_bert import SMALL, configs, inputs, pairs, their_twin, with_some_weights

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}


@pytest.mark.parametrize("concept", ["bert_embeddings", "pool", "bert"])
@settings(max_examples=15)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(concept: str, data: st.DataObject) -> None:
    check(concept, data.draw(arguments_of(concept)))


def some_bert(config: Any = SMALL, seed: int = 0, **options: Any) -> BertModel:
    torch.manual_seed(seed)
    return with_some_weights(BertModel(config, **options)).double()


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@settings(max_examples=15)
@given(data=st.data())
def test_states_weights_pooled_and_all_gradients_are_those_of_transformers(
    attention: str, dtype: torch.dtype, data: st.DataObject
) -> None:
    config = data.draw(configs())
    ours = some_bert(config, data.draw(st.integers(0, 99))).to(dtype)
    twin, batch = their_twin(ours, attention), data.draw(inputs(config))
    ids, segments, real = batch["ids"], batch["segments"], batch["ids"] != config.pad_id
    close = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}

    wanted = twin(
        ids, real.long(), segments, output_hidden_states=True, output_attentions=attention == "eager"
    )
    found = ours(ids, segments, need_weights=attention == "eager")
    assert len(found.layers) == len(wanted.hidden_states) == config.n_layers + 1
    for state, their in zip(found.layers, wanted.hidden_states, strict=True):
        torch.testing.assert_close(state[real], their[real], **close)
    torch.testing.assert_close(found.pooled, wanted.pooler_output, **close)
    if attention == "eager":
        for weights, their in zip(found.weights, wanted.attentions, strict=True):
            rows = real[:, None, :, None].expand_as(weights)
            torch.testing.assert_close(weights[rows], their[rows], **close)

    direction, of_pooled = torch.randn_like(found.states) * real[..., None], torch.randn_like(found.pooled)
    ((found.states * direction).sum() + (found.pooled * of_pooled).sum()).backward()
    ((wanted.last_hidden_state * direction).sum() + (wanted.pooler_output * of_pooled).sum()).backward()
    for name, (own, their) in pairs(ours, twin).items():
        error = (own.grad - their.grad).abs().max() / their.grad.abs().max().clamp(min=1)
        assert error < TOLERANCE[dtype], name


@settings(max_examples=25)
@given(data=st.data())
def test_the_module_is_the_function_with_its_own_parameters(data: st.DataObject) -> None:
    config = data.draw(configs())
    model, batch = some_bert(config), data.draw(inputs(config))
    ids, segments, mask = batch["ids"], batch["segments"], padding_mask(batch["ids"], config.pad_id)
    choices = (config.activation, config.eps)
    layers, pooled, weights = bert(ids, segments, model.state_dict(), config.n_heads, mask, *choices)
    found = model(ids, segments, need_weights=True)
    torch.testing.assert_close(found.layers, layers, rtol=0, atol=1e-10)
    torch.testing.assert_close(found.pooled, pooled, rtol=0, atol=1e-10)
    torch.testing.assert_close(found.weights, weights, rtol=0, atol=1e-10)
    embedded = bert_embeddings(ids, segments, model.embeddings.state_dict(), config.eps)
    torch.testing.assert_close(layers[0], embedded, rtol=0, atol=0)
    torch.testing.assert_close(pool(layers[-1], model.pooler.state_dict()), pooled, rtol=0, atol=0)


def test_D36_hidden_states_are_counted_from_the_embeddings() -> None:
    model = some_bert(replace(SMALL, n_layers=12))
    ids = torch.tensor([[2, 7, 8, 3]])
    found = model(ids)
    assert len(found.layers) == 13
    torch.testing.assert_close(found.layers[0], model.embeddings(ids, torch.zeros_like(ids)))
    assert found.states is found.layers[12] is found.layers[-1]
    (again,) = model.encoder.layers[11](found.layers[-2], None)[:1]
    torch.testing.assert_close(again, found.states)


def test_every_position_is_made_of_what_stands_before_and_after_it() -> None:
    model, ids = some_bert(), torch.tensor([[2, 7, 8, 9, 3]])
    x = model.embeddings(ids, torch.zeros_like(ids)).detach().requires_grad_()
    for t in range(5):
        state, _ = model.encoder(x)
        (d_x,) = torch.autograd.grad(state[0, t].sum() + state[0, t, 0], x)
        assert (d_x[0].abs().sum(-1) > 1e-6).all()


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_padding_changes_no_number_by_more_than_1e_6(dtype: torch.dtype, need_weights: bool) -> None:
    model = some_bert(replace(SMALL, pad_id=5)).to(dtype)
    alone, padded = (
        torch.tensor([[2, 7, 8, 3]]),
        torch.tensor([[2, 7, 8, 3, 5, 5, 5], [2, 6, 7, 8, 9, 10, 3]]),
    )
    one, many = model(alone, need_weights=need_weights), model(padded, need_weights=need_weights)
    for state, wide in zip(one.layers, many.layers, strict=True):
        torch.testing.assert_close(wide[:1, :4], state, rtol=0, atol=1e-6)
    torch.testing.assert_close(many.pooled[:1], one.pooled, rtol=0, atol=1e-6)
    if need_weights:
        assert all((weights[0, :, :, 4:] == 0).all() for weights in many.weights)


def test_a_mask_that_is_given_takes_the_place_of_padding() -> None:
    model, ids = some_bert(), torch.tensor([[2, 7, 8, 0]])
    everything = torch.ones(1, 1, 1, 4, dtype=torch.bool)
    assert not torch.allclose(model(ids).pooled, model(ids, mask=everything).pooled)
    given = model(ids, mask=padding_mask(ids))
    torch.testing.assert_close(given.pooled, model(ids).pooled, rtol=0, atol=0)


def test_segments_matter_and_are_all_the_first_if_not_given() -> None:
    model, ids = some_bert(), torch.tensor([[2, 7, 8, 3]])
    torch.testing.assert_close(model(ids).states, model(ids, torch.zeros_like(ids)).states, rtol=0, atol=0)
    assert not torch.allclose(model(ids).states, model(ids, torch.tensor([[0, 0, 1, 1]])).states)


def test_without_positions_the_order_would_not_matter_and_with_them_it_does() -> None:
    model, ids = some_bert(), torch.tensor([[2, 7, 8, 9, 3]])
    swapped = ids[:, [0, 3, 2, 1, 4]]
    assert not torch.allclose(model(ids).pooled, model(swapped).pooled)
    model.embeddings.position.weight.data.zero_()
    torch.testing.assert_close(model(ids).pooled, model(swapped).pooled)


def test_a_model_without_pooler_says_the_same_and_pools_nothing() -> None:
    whole, bare, ids = some_bert(), some_bert(pooler=False), torch.tensor([[2, 7, 8, 3]])
    bare.load_state_dict({n: p for n, p in whole.state_dict().items() if not n.startswith("pooler")})
    assert bare(ids).pooled is None
    torch.testing.assert_close(bare(ids).states, whole(ids).states, rtol=0, atol=0)


def test_D06_dropout_stops_in_evaluation() -> None:
    model = some_bert(replace(SMALL, dropout=0.9, attention_dropout=0.9))
    plain = some_bert()
    plain.load_state_dict(model.state_dict())
    ids = torch.tensor([[2, 7, 8, 3]])
    assert torch.equal(model(ids).states, model(ids).states)
    assert torch.equal(model(ids).states, plain(ids).states)
    model.train()
    assert not torch.equal(model(ids).states, model(ids).states)


@pytest.mark.parametrize("option", [{"dropout": 0.9}, {"attention_dropout": 0.9}], ids=str)
def test_each_dropout_reaches_its_places(option: dict[str, float]) -> None:
    model, ids = some_bert(replace(SMALL, **option)).train(), torch.tensor([[2, 7, 8, 3]])
    embedded, again = model(ids).layers[0], model(ids).layers[0]
    assert torch.equal(embedded, again) == ("dropout" not in option)
    assert not torch.equal(model(ids).layers[1], model(ids).layers[1])


def test_first_weights_have_a_deviation_of_0_02_cut_at_two_of_them() -> None:
    torch.manual_seed(0)
    model = BertModel(replace(SMALL, vocab_size=5000, d_model=64, d_ff=256))
    for name, p in model.named_parameters():
        if "norm" in name:
            assert (p == (1 if name.endswith("weight") else 0)).all(), name
        elif name.endswith("bias"):
            assert (p == 0).all(), name
        else:
            assert p.abs().max() <= 0.04, name
    table = model.embeddings.token.weight
    # A normal distribution cut at two deviations has 0.8796 of its deviation.
    assert table.std().item() == pytest.approx(0.02 * 0.8796, rel=0.01)
    assert table.mean().abs() < 1e-3


@pytest.mark.parametrize(
    ("ids", "segments", "sentence"),
    [
        ([[2, 100, 3]], [[0, 0, 0]], "100"),
        ([[2, -1, 3]], [[0, 0, 0]], "-1"),
        ([[2, 7, 3]], [[0, 2, 0]], "2"),
        ([[7] * 25], [[0] * 25], "25.*24|24.*25"),
    ],
)
def test_D08_input_that_has_no_row_gets_one_sentence(ids: Any, segments: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        some_bert()(torch.tensor(ids), torch.tensor(segments))
    assert "\n" not in str(caught.value)


def test_the_longest_input_is_read() -> None:
    assert some_bert()(torch.full((1, 24), 7)).states.shape == (1, 24, 16)
