"""A trunk that is not trained says what it always said, and reads each input once, whatever the epochs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import BertModel
from bertlab.nn.packing import Packing
from bertlab.tasks.batches import answers, tensors
from bertlab.tasks.features import FeatureTagger
from bertlab.tasks.finetune import FineTuning, fine_tune
from bertlab.tasks.reading import ReadOnce, trunk_fingerprint, trunk_read_once
from tests.tasks.learnable import KINDS, made, parts_of, tiny
from tests.tasks.test_batches import HEADS, some_head, some_inputs

FROZEN = FineTuning(epochs=4, batch_size=8, rate=1e-2, frozen=True)
SIZES = {"train": 26, "val": 10}


def inputs_of(kind, task):
    """All inputs that a training looks at, as bytes, each once."""
    if kind in ("text", "pair"):
        rows = [one for part in ("train", "val") for one in task.inputs[part]]
    elif kind == "entities":
        rows = [one.inputs for part in ("train", "val") for one in task.words[part]]
    else:
        windows = (window for part in ("train", "val") for one in task.asked[part] for window in one.windows)
        rows = [window.inputs for window in windows]
    return {one.ids.tobytes() + one.segments.tobytes() for one in rows}


@pytest.mark.parametrize("kind", HEADS)
@settings(max_examples=15)
@given(lengths=st.lists(st.integers(2, 12), min_size=1, max_size=9), pad=st.integers(0, 9))
def test_a_head_says_the_same_above_a_trunk_that_reads_once_whoever_stands_beside_it(kind, lengths, pad):
    model, inputs = some_head(kind, pad).eval(), some_inputs(lengths, pad)
    wanted = answers(model, inputs)
    with trunk_read_once(model):
        answers(model, inputs[::2], batch_size=2)  # so that some are known and some are new below
        for again in range(2):
            for one, said in zip(wanted, answers(model, inputs, batch_size=3 + again), strict=True):
                torch.testing.assert_close(torch.tensor(said), torch.tensor(one), rtol=0, atol=1e-5)
        assert model.bert.n_read == len({one.ids.tobytes() for one in inputs})


def test_a_packed_batch_and_a_padded_one_get_the_same_states():
    model, inputs = some_head("tokens").eval(), some_inputs([12, 3, 3, *[5] * 25])
    assert tensors(inputs, model)[2] is not None  # so that the trunk reads them packed, too
    ids, segments, _ = tensors(inputs, model)
    packing = Packing(ids != model.bert.config.pad_id, price=0)
    wanted = model.bert(ids, segments).states
    for first in (None, packing):
        once = ReadOnce(model.bert)
        once(ids, segments, first)
        torch.testing.assert_close(packing.unpack(once(ids, segments, packing).states)[0], wanted[0])
        torch.testing.assert_close(once(ids, segments).states[1, :3], wanted[1, :3])


def test_texts_that_differ_by_their_segments_alone_are_two():
    once = ReadOnce(some_head("tokens").bert)
    ids = torch.tensor([[2, 7, 8, 3]])
    one, other = once(ids).states, once(ids, torch.tensor([[0, 0, 1, 1]])).states
    assert once.n_read == 2
    assert not torch.allclose(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_each_input_is_read_once_whatever_the_epochs(kind, monkeypatch):
    task, model, read = made(kind, parts_of(kind, SIZES)), tiny(kind), []
    usual = BertModel.forward
    monkeypatch.setattr(
        BertModel, "forward", lambda self, ids, *others: read.append(len(ids)) or usual(self, ids, *others)
    )
    fine_tune(model, task, FROZEN)
    assert sum(read) <= len(inputs_of(kind, task))  # two of train are in no batch of an epoch, now and then
    assert sum(read) >= len(inputs_of(kind, task)) - 2


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_above_is_trained_as_if_the_trunk_had_been_computed_at_every_step(kind):
    task, found = made(kind, parts_of(kind, SIZES)), []
    for frozen in (True, False):
        model = tiny(kind)
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(frozen or not name.startswith(("bert.embeddings", "bert.encoder")))
        found.append(fine_tune(model, task, replace(FROZEN, frozen=frozen)))
    assert found[0].losses == pytest.approx(found[1].losses, abs=1e-5)
    assert found[0].losses[-1] != pytest.approx(found[0].losses[0], abs=1e-3)


def test_dropout_does_not_act_in_the_trunk_and_does_above_it():
    task = made("text", parts_of("text", SIZES))
    losses = {}
    for trunk, head in ((0.0, 0.0), (0.5, 0.0), (0.0, 0.5)):
        model = tiny("text", dropout=trunk)
        model.dropout.p = head
        losses[trunk, head] = fine_tune(model, task, FROZEN).losses
    assert losses[0.5, 0.0] == losses[0.0, 0.0]
    assert losses[0.0, 0.5] != losses[0.0, 0.0]


@pytest.mark.parametrize("kind", KINDS)
def test_in_bfloat16_the_trunk_reads_coarsely_and_what_is_above_has_32_bits(kind):
    task, found = made(kind, parts_of(kind, SIZES)), {}
    for bf16 in (False, True):
        found[bf16] = fine_tune(tiny(kind), task, replace(FROZEN, bf16=bf16, rate=1e-4)).losses
    assert found[True] == pytest.approx(found[False], rel=0.03)
    assert found[True] != found[False]
    ids = torch.tensor([[2, 7, 8, 3]])
    assert ReadOnce(tiny(kind).bert, bf16=True)(ids).states.dtype == torch.float32


def test_afterwards_the_trunk_is_in_its_place_whatever_happened():
    model = tiny("text")
    bert, names = model.bert, [name for name, _ in model.named_parameters()]
    above = [name for name in names if "pooler" in name or "classifier" in name]
    with trunk_read_once(model):
        assert [name for name, _ in model.named_parameters()] == above
    keeping = trunk_read_once(model)
    keeping.__enter__()
    with pytest.raises(ZeroDivisionError):
        keeping.gen.throw(ZeroDivisionError())
    assert model.bert is bert
    assert [name for name, _ in model.named_parameters()] == names


def test_a_model_without_a_trunk_is_refused():
    tagger = FeatureTagger("last", n_layers=4, d_model=8, n_labels=3, hidden=4)
    with pytest.raises(ValueError, match=r"FeatureTagger has no encoder to keep as it is: .* frozen=False"):
        fine_tune(tagger, made("text", parts_of("text", SIZES)), FROZEN)


def test_a_folder_goes_on_above_the_same_trunk_and_with_no_other(tmp_path):
    task = made("text", parts_of("text", SIZES))
    wanted = fine_tune(tiny("text"), task, FROZEN)
    assert fine_tune(tiny("text"), task, FROZEN, tmp_path) == wanted
    model = tiny("text")
    with torch.no_grad():
        model.classifier.weight += 1  # new weights of the head come from the folder
    assert fine_tune(model, task, FROZEN, tmp_path) == wanted
    assert torch.load(tmp_path / "best.pt", weights_only=True)["state"].keys() == {
        f"{part}.{kind}" for part in ("bert.pooler", "classifier") for kind in ("weight", "bias")
    }
    with pytest.raises(ValueError, match="holds a run with trunk = "):
        fine_tune(tiny("text", seed=1), task, FROZEN, tmp_path)


def test_a_fingerprint_is_that_of_the_trunk_alone():
    one, other, third = tiny("text"), tiny("text"), tiny("text", seed=1)
    with torch.no_grad():
        other.classifier.weight += 1
        other.bert.pooler.weight += 1
    assert trunk_fingerprint(one) == trunk_fingerprint(other) != trunk_fingerprint(third)
