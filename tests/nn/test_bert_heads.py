"""The heads of pre-training against the reference and `transformers`: logits, losses, all gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import BertConfig, BertForPreTraining
from bertlab.nn.bert_heads import at, masked_lm_logits, pretraining_loss
from bertlab.nn.functional import cross_entropy
from bertlab.nn.masking import padding_mask
from bertlab.nn.packing import Packing
from tests.inputs import arguments_of
from tests.nn.parity import check
from tests.nn.their_bert import (
    SMALL,
    configs,
    inputs,
    pairs,
    their_labels,
    their_twin,
    with_some_weights,
)

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}


@pytest.mark.parametrize("concept", ["masked_lm_logits", "pretraining_loss"])
@settings(max_examples=15)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(concept: str, data: st.DataObject) -> None:
    check(concept, data.draw(arguments_of(concept)))


def some_model(config: BertConfig = SMALL, seed: int = 0, **options: Any) -> BertForPreTraining:
    torch.manual_seed(seed)
    return with_some_weights(BertForPreTraining(config, **options)).double()


def some_batch() -> dict[str, torch.Tensor]:
    return {
        "ids": torch.tensor([[2, 7, 4, 3, 0], [2, 4, 8, 9, 3]]),
        "segments": torch.tensor([[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]]),
        "positions": torch.tensor([2, 6]),
        "labels": torch.tensor([11, 12]),
        "next_labels": torch.tensor([0, 1]),
    }


@pytest.mark.parametrize("next_sentence", [True, False])
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("attention", ["eager", "sdpa", "packed"])
@settings(max_examples=10)
@given(data=st.data())
def test_logits_losses_and_all_gradients_are_those_of_transformers(
    attention: str, dtype: torch.dtype, next_sentence: bool, data: st.DataObject
) -> None:
    config = data.draw(configs())
    ours = some_model(config, data.draw(st.integers(0, 99)), next_sentence=next_sentence).to(dtype)
    twin, batch = their_twin(ours, "sdpa" if attention == "packed" else attention), data.draw(inputs(config))
    real, labels = batch["ids"] != config.pad_id, their_labels(batch)
    close = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
    asked = {"input_ids": batch["ids"], "attention_mask": real.long(), "token_type_ids": batch["segments"]}
    if next_sentence:
        wanted = twin(**asked, labels=labels, next_sentence_label=batch["next_labels"])
        logits = wanted.prediction_logits
    else:
        wanted = twin(**asked, labels=labels)
        logits = wanted.logits

    found = ours(batch["ids"], batch["segments"])
    chosen = ours(batch["ids"], batch["segments"], positions=batch["positions"])
    torch.testing.assert_close(found.logits[real], logits[real], **close)
    torch.testing.assert_close(chosen.logits, logits.flatten(0, 1)[batch["positions"]], **close)
    packing = Packing(real, price=0) if attention == "packed" else None
    joint, masked_lm, next_one = ours.loss(**batch, mask=packing)
    torch.testing.assert_close(joint, wanted.loss, **close)
    their_masked_lm = cross_entropy(logits.flatten(0, 1), labels.flatten())
    torch.testing.assert_close(masked_lm, their_masked_lm, **close)
    if next_sentence:
        torch.testing.assert_close(found.next_logits, wanted.seq_relationship_logits, **close)
        of_next = cross_entropy(wanted.seq_relationship_logits, batch["next_labels"])
        torch.testing.assert_close(next_one, of_next, **close)
    else:
        assert found.next_logits is None
        assert (joint, next_one) == (masked_lm, 0)

    joint.backward()
    wanted.loss.backward()
    for name, (own, their) in pairs(ours, twin).items():
        error = (own.grad - their.grad).abs().max() / their.grad.abs().max().clamp(min=1)
        assert error < TOLERANCE[dtype], name


@settings(max_examples=15)
@given(data=st.data())
def test_the_module_is_the_function_with_its_own_parameters(data: st.DataObject) -> None:
    config = data.draw(configs())
    model, batch = some_model(config), data.draw(inputs(config))
    mask, choices = padding_mask(batch["ids"], config.pad_id), (config.activation, config.eps)
    by_function = pretraining_loss(**batch, params=model.state_dict(), n_heads=config.n_heads, mask=mask,
                                   activation=config.activation, eps=config.eps)  # fmt: skip
    torch.testing.assert_close(model.loss(**batch), by_function, rtol=0, atol=1e-10)
    output = model(batch["ids"], batch["segments"])
    table = model.bert.embeddings.token.weight
    logits = masked_lm_logits(output.bert.states, table, model.masked_lm.state_dict(), *choices)
    torch.testing.assert_close(output.logits, logits, rtol=0, atol=1e-10)


def test_at_takes_row_times_length_plus_column() -> None:
    states = torch.arange(24).view(2, 3, 4)
    assert torch.equal(at(states, torch.tensor([5, 1])), torch.stack([states[1, 2], states[0, 1]]))


def test_D32_the_output_matrix_is_the_table_of_token_embeddings() -> None:
    model, batch = some_model(), some_batch()
    assert not any("decoder" in name for name in model.state_dict())
    before = model(batch["ids"]).logits
    model.bert.embeddings.token.weight.data[99] += 1  # no piece of the input
    after = model(batch["ids"]).logits
    changed = (before - after).abs().amax((0, 1)) > 1e-6
    assert changed.nonzero().tolist() == [[99]]


def test_D26_the_first_column_of_the_second_head_means_that_b_follows() -> None:
    model, batch = some_model(), some_batch()
    model.next_sentence.bias.data = torch.tensor([50.0, -50.0]).double()
    follows = model.loss(**batch | {"next_labels": torch.tensor([0, 0])})[2]
    does_not = model.loss(**batch | {"next_labels": torch.tensor([1, 1])})[2]
    assert follows < 1e-9
    assert does_not > 10


def test_a_model_without_the_second_head_has_no_pooler_and_the_same_first_loss() -> None:
    whole, bare = some_model(), some_model(next_sentence=False)
    kept = {n: p for n, p in whole.state_dict().items() if "pooler" not in n and "next" not in n}
    bare.load_state_dict(kept)
    joint, masked_lm, next_one = bare.loss(**some_batch())
    assert joint == masked_lm
    assert next_one == 0
    torch.testing.assert_close(masked_lm, whole.loss(**some_batch())[1], rtol=0, atol=1e-12)


def test_what_is_at_padded_and_other_positions_does_not_count() -> None:
    model, batch = some_model(), some_batch()
    longer = {n: torch.nn.functional.pad(batch[n], (0, 3)) for n in ("ids", "segments")}
    rows, columns = batch["positions"] // 5, batch["positions"] % 5
    padded = model.loss(**batch | longer | {"positions": rows * 8 + columns})
    torch.testing.assert_close(padded, model.loss(**batch), rtol=0, atol=1e-6)


def test_dropout_stops_in_evaluation() -> None:
    model = some_model(replace(SMALL, dropout=0.5, attention_dropout=0.5))
    assert model.loss(**some_batch()) == model.loss(**some_batch())
    model.train()
    assert model.loss(**some_batch()) != model.loss(**some_batch())


def test_first_logits_are_near_even_and_biases_are_zero() -> None:
    torch.manual_seed(0)
    model = BertForPreTraining(SMALL)
    assert (model.masked_lm.bias == 0).all()
    assert (model.next_sentence.bias == 0).all()
    assert model.masked_lm.dense.weight.abs().max() <= 0.04
    assert model(some_batch()["ids"]).logits.softmax(-1).max() < 0.02


@pytest.mark.parametrize("without", ["dense.bias", "norm.weight", "bias"])
def test_a_head_that_lacks_a_parameter_is_refused(without: str) -> None:
    params = some_model().masked_lm.state_dict()
    del params[without]
    with pytest.raises(ValueError, match=without):
        masked_lm_logits(torch.ones(1, 16), torch.ones(100, 16), params)
