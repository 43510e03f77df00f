"""The heads of fine-tuning against `transformers`: logits, losses and all gradients, padded or not."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bertlab.interop.bert_names import theirs
from bertlab.nn import BertConfig, BertModel
from bertlab.nn.losses import cross_entropy
from bertlab.nn.packing import Packing
from bertlab.tasks.heads import BertForClassification, BertForSpans, BertForTokens, Head
from bertlab.text.masked_lm import IGNORE_INDEX
from tests.nn.their_bert import SMALL, configs, inputs, their_config, with_some_weights

CLOSE = {"rtol": 1e-10, "atol": 1e-10}
N_LABELS = 3
THEIRS = {
    "classification": transformers.BertForSequenceClassification,
    "tokens": transformers.BertForTokenClassification,
    "spans": transformers.BertForQuestionAnswering,
}


def some_head(kind: str, config: BertConfig = SMALL, seed: int = 0) -> Head:
    torch.manual_seed(seed)
    if kind == "classification":
        model: Head = BertForClassification(BertModel(config), N_LABELS, dropout=0.0)
    elif kind == "tokens":
        model = BertForTokens(BertModel(config, pooler=False), N_LABELS, dropout=0.0)
    else:
        model = BertForSpans(BertModel(config, pooler=False))
    return with_some_weights(model).double()


def their_twin(kind: str, ours: Head) -> tuple[Any, dict[str, tuple[Tensor, Tensor]]]:
    """The same model of `transformers`, with a copy of the weights; and each parameter of ours beside it."""
    config = their_config(ours.bert.config, "eager")
    config.num_labels, config.classifier_dropout = (2 if kind == "spans" else N_LABELS), 0.0
    twin = THEIRS[kind](config).double().eval()
    their = {name.removeprefix("bert."): parameter for name, parameter in twin.named_parameters()}
    pairs = {name: (p, their[their_name(name)]) for name, p in ours.named_parameters()}
    assert len(pairs) == len(their)
    with torch.no_grad():
        for own, copy in pairs.values():
            copy.copy_(own)
    return twin, pairs


def their_name(name: str) -> str:
    return theirs(name) if name.startswith("bert.") else name.replace("spans.", "qa_outputs.")


def some_labels(kind: str, real: Tensor, generator: torch.Generator) -> Tensor:
    B = len(real)
    if kind == "classification":
        return torch.randint(N_LABELS, (B,), generator=generator)
    if kind == "spans":  # at real positions, in any order
        return (torch.rand(2, B, generator=generator) * real.sum(1)).long()
    labels = torch.randint(N_LABELS, real.shape, generator=generator)
    asked = real & (torch.rand(real.shape, generator=generator) < 0.6)
    asked[0, 0] = True  # their mean over nothing is NaN
    return labels.masked_fill(~asked, IGNORE_INDEX)


def their_answer(kind: str, twin: Any, batch: dict[str, Tensor], labels: Tensor, real: Tensor) -> Any:
    """Their logits, in the shape of ours, and their loss."""
    asked = {"input_ids": batch["ids"], "attention_mask": real.long(), "token_type_ids": batch["segments"]}
    if kind != "spans":
        found = twin(**asked, labels=labels)
        return found.logits, found.loss
    found = twin(**asked, start_positions=labels[0], end_positions=labels[1])
    logits = torch.stack([found.start_logits, found.end_logits])
    if real.all():
        return logits, found.loss
    # They ask for start and end in the padding too; we do not.
    logits = logits.masked_fill(~real, -torch.inf)
    return logits, sum(map(cross_entropy, logits, labels)) / 2


@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
@pytest.mark.parametrize("kind", THEIRS)
@settings(max_examples=15)
@given(data=st.data())
def test_logits_losses_and_all_gradients_are_those_of_transformers(
    kind: str, padded: bool, data: st.DataObject
) -> None:
    config = data.draw(configs())
    batch = data.draw(inputs(config))
    if not padded:
        batch["ids"] = batch["ids"].masked_fill(
            batch["ids"] == config.pad_id, (config.pad_id + 1) % config.vocab_size
        )
    real = batch["ids"] != config.pad_id
    labels = some_labels(kind, real, torch.Generator().manual_seed(data.draw(st.integers(0, 99))))
    ours = some_head(kind, config, data.draw(st.integers(0, 99)))
    twin, pairs = their_twin(kind, ours)
    logits, wanted = their_answer(kind, twin, batch, labels, real)
    wanted.backward()

    at = ... if kind == "classification" else (slice(None), real) if kind == "spans" else real
    for mask in (None, Packing(real, price=0)):
        found = ours(batch["ids"], batch["segments"], mask)
        torch.testing.assert_close(found[at], logits[at], **CLOSE)
        if kind == "spans":
            assert (found[:, ~real] == -torch.inf).all()
        ours.zero_grad()
        loss = ours.loss(labels, batch["ids"], batch["segments"], mask)
        torch.testing.assert_close(loss, wanted, **CLOSE)
        loss.backward()
        for name, (own, their) in pairs.items():
            error = (own.grad - their.grad).abs().max() / their.grad.abs().max().clamp(min=1)
            assert error < 1e-10, name


def test_a_trunk_without_pooler_gets_a_new_one_and_one_that_has_it_keeps_it() -> None:
    bare, whole = BertModel(SMALL, pooler=False), BertModel(SMALL)
    kept = whole.pooler
    assert BertForClassification(whole, 2).bert.pooler is kept
    model = BertForClassification(bare, 2)
    assert "bert.pooler.weight" in dict(model.named_parameters())
    assert 0.01 < float(model.bert.pooler.weight.detach().std()) < 0.03  # drawn as BERT's own
    assert not model.bert.pooler.bias.any()
    assert model(torch.tensor([[2, 7, 3]])).shape == (1, 2)
    for head in (some_head("tokens"), some_head("spans")):
        assert head.bert.pooler is None  # no weights that nothing trains


@pytest.mark.parametrize("kind", THEIRS)
def test_padding_changes_nothing_that_is_said_of_a_text(kind: str) -> None:
    model, ids = some_head(kind), torch.tensor([[2, 7, 8, 3]])
    padded = torch.tensor([[2, 7, 8, 3, 0, 0], [2, 4, 8, 9, 7, 3]])
    alone, together = model(ids), model(padded)
    if kind == "classification":
        own = together[:1]
    else:
        own = together[:1, :4] if kind == "tokens" else together[:, :1, :4]
    torch.testing.assert_close(own, alone, **CLOSE)


def test_the_loss_asks_no_more_than_the_labels_do() -> None:
    model, ids, segments = some_head("tokens"), torch.tensor([[2, 7, 8, 3]]), torch.tensor([[0] * 4])
    labels = torch.tensor([[IGNORE_INDEX, 1, IGNORE_INDEX, IGNORE_INDEX]])
    wanted = -model(ids)[0, 1].log_softmax(-1)[1]
    torch.testing.assert_close(model.loss(labels, ids, segments), wanted, **CLOSE)


@pytest.mark.parametrize("kind", ["classification", "tokens"])
def test_dropout_acts_in_training_before_the_layer_and_nowhere_else(kind: str) -> None:
    torch.manual_seed(0)
    build = BertForClassification if kind == "classification" else BertForTokens
    model, ids = build(BertModel(SMALL), 2, dropout=0.5), torch.tensor([[2, 7, 8, 3]])
    model.eval()
    assert torch.equal(model(ids), model(ids))
    model.train()  # the trunk of SMALL has no dropout
    assert not torch.equal(model(ids), model(ids))
    undropped = build(model.bert, 2, dropout=0.0).train()
    assert torch.equal(undropped(ids), undropped(ids))


@pytest.mark.parametrize("kind", THEIRS)
def test_the_second_text_is_told_from_the_first(kind: str) -> None:
    model, ids = some_head(kind), torch.tensor([[2, 7, 3, 8, 3]])
    one, two = torch.zeros_like(ids), torch.tensor([[0, 0, 0, 1, 1]])
    assert torch.equal(model(ids), model(ids, one))
    assert not torch.allclose(model(ids, one), model(ids, two))
