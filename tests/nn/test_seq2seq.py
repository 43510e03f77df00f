"""Claims about the encoder-decoder: padding, masks, the shift, and the way of the context."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from bertlab.nn import Seq2Seq, Seq2SeqConfig
from bertlab.nn.functional import cross_entropy
from bertlab.nn.seq2seq import shift_right

CONFIG = Seq2SeqConfig(source_vocab=12, target_vocab=11, d_embedding=6, d_model=8)
KINDS = ("none", "additive", "dot", "general", "concat")
WITH_ATTENTION = KINDS[1:]


def build(**changes) -> Seq2Seq:
    torch.manual_seed(0)
    return Seq2Seq(replace(CONFIG, **changes)).double().eval()


@pytest.fixture(params=[("gru", False), ("gru", True), ("lstm", False), ("lstm", True)], ids=str)
def cell(request) -> dict:
    return {"cell": request.param[0], "bidirectional": request.param[1]}


SHORT = torch.tensor([[5, 6, 7, 1]])
TARGETS = torch.tensor([[3, 4, 5, 1]])


@pytest.mark.parametrize("kind", KINDS)
def test_D04_padding_a_source_changes_nothing(kind, cell):
    model = build(attention=kind, **cell)
    padded = torch.tensor([[5, 6, 7, 1, 0, 0], [8, 9, 10, 11, 3, 1]])
    alone, together = model(SHORT, TARGETS), model(padded, TARGETS.expand(2, -1))
    torch.testing.assert_close(together.logits[:1], alone.logits, rtol=0, atol=1e-12)
    if kind != "none":
        assert (together.weights[0, :, 4:] == 0).all()
        torch.testing.assert_close(together.weights[:1, :, :4], alone.weights, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_D04_the_order_of_the_batch_does_not_matter(kind, cell):
    model = build(attention=kind, **cell)
    source = torch.tensor([[5, 6, 1, 0, 0], [8, 9, 10, 3, 1], [7, 1, 0, 0, 0]])
    targets = torch.tensor([[3, 1, 0], [4, 5, 1], [6, 7, 1]])
    backwards = model(source.flip(0), targets.flip(0)).logits.flip(0)
    torch.testing.assert_close(model(source, targets).logits, backwards, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_D04_the_embedding_of_padding_is_never_read(kind, cell):
    model = build(attention=kind, **cell)
    source = torch.tensor([[5, 6, 7, 1, 0, 0], [8, 9, 10, 11, 3, 1]])
    before = model(source, TARGETS.expand(2, -1)).logits
    with torch.no_grad():
        model.encoder.embedding.weight[0] += 100.0
    torch.testing.assert_close(model(source, TARGETS.expand(2, -1)).logits, before, rtol=0, atol=0)


def test_D11_the_decoder_reads_the_start_token_and_then_what_came_before():
    labels = torch.tensor([[11, 12, 13, 2, 0]])
    assert shift_right(labels, start_id=1).tolist() == [[1, 11, 12, 13, 2]]
    assert (labels != 0).sum() == 4  # positions that count in the loss


@pytest.mark.parametrize("kind", KINDS)
def test_D11_no_position_sees_its_own_target_or_a_later_one(kind):
    model = build(attention=kind)
    targets = torch.tensor([[3, 4, 5, 6, 7, 1]])
    before = model(SHORT, targets).logits
    for t in range(targets.shape[1]):
        changed = targets.clone()
        changed[:, t:] = 9
        after = model(SHORT, changed).logits
        torch.testing.assert_close(after[:, : t + 1], before[:, : t + 1], rtol=0, atol=1e-12)
        if t + 1 < targets.shape[1]:
            assert (
                after[:, t + 1] - before[:, t + 1]
            ).abs().max() > 1e-3  # the change did reach the next one


@pytest.mark.parametrize("kind", KINDS)
def test_one_step_at_a_time_computes_the_same_as_all_at_once(kind, cell):
    model = build(attention=kind, **cell)
    whole = model(SHORT, TARGETS)
    memory = model.encoder(SHORT)
    state, rows = memory.state, []
    for token in shift_right(TARGETS, CONFIG.end_id).split(1, dim=1):
        step = model.decoder(token, state, memory)
        state = step.state
        rows.append(step.logits)
    torch.testing.assert_close(torch.cat(rows, dim=1), whole.logits, rtol=0, atol=1e-12)


def test_luong_scores_with_the_new_state_and_bahdanau_with_the_previous_one():
    for kind, index in (("concat", 1), ("additive", 0)):
        model = build(attention=kind)
        memory = model.encoder(SHORT)
        out = model.decoder(shift_right(TARGETS, 1), memory.state, memory)
        states = torch.cat(
            [memory.state[:, None], out.states], dim=1
        )  # (B, Tt + 1, D), the initial one first
        queries = states[:, index : index + TARGETS.shape[1]]
        torch.testing.assert_close(
            model.decoder.scorer(queries, memory.states), out.scores, rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("kind", WITH_ATTENTION)
def test_the_parts_that_are_returned_are_those_that_were_used(kind):
    model = build(attention=kind)
    memory = model.encoder(SHORT)
    out = model(SHORT, TARGETS)
    torch.testing.assert_close(out.scores.softmax(-1), out.weights)
    torch.testing.assert_close(out.weights @ memory.states, out.contexts)
    features = torch.tanh(model.decoder.combine(torch.cat([out.contexts, out.states], dim=-1)))
    torch.testing.assert_close(features, out.features)
    torch.testing.assert_close(model.decoder.output(features), out.logits)


def test_without_attention_only_the_last_state_reaches_the_decoder():
    model = build(attention="none")
    memory = model.encoder(SHORT)
    out = model.decoder(shift_right(TARGETS, 1), memory.state, memory._replace(states=memory.states + 100))
    torch.testing.assert_close(out.logits, model(SHORT, TARGETS).logits, rtol=0, atol=0)
    assert out.weights is None


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_gets_a_gradient(kind, cell):
    model = build(attention=kind, **cell)
    source = torch.tensor([[5, 6, 7, 1, 0], [8, 9, 10, 11, 1]])
    targets = torch.tensor([[3, 4, 1], [5, 1, 0]])
    cross_entropy(model(source, targets).logits, targets, ignore_index=0).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_D06_dropout_stops_in_evaluation():
    model = build(dropout=0.9)
    plain = build(dropout=0.0)
    assert torch.equal(model(SHORT, TARGETS).logits, model(SHORT, TARGETS).logits)
    assert torch.equal(model(SHORT, TARGETS).logits, plain(SHORT, TARGETS).logits)
    model.train()
    assert not torch.equal(model(SHORT, TARGETS).logits, model(SHORT, TARGETS).logits)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cell": "rnn"}, "'rnn'.*gru"),
        ({"attention": "soft"}, "'soft'.*additive"),
        ({"bidirectional": True, "d_model": 7}, "7.*even"),
        ({"dropout": 1.0}, r"1\.0.*\[0, 1\)"),
    ],
)
def test_a_config_that_makes_no_model_is_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        replace(CONFIG, **changes)


def test_an_id_outside_of_the_vocabulary_is_named():
    with pytest.raises(ValueError, match=r"12.*12 rows"):
        build()(torch.tensor([[5, 12]]), TARGETS)
    with pytest.raises(ValueError, match=r"11.*11 rows"):
        build()(SHORT, torch.tensor([[11, 1]]))
