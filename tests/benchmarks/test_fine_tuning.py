"""Claims about the benchmark of fine-tuning: both sides train on the same, and come to the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers

from bertlab.tasks.heads import BertForClassification, BertForTokens
from bertlab.training import load_result
from tests.tasks.learnable import TOKENIZER, made, parts_of, tiny

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
KINDS = {"nli-wikipedia": "pair", "wikigold": "entities"}
HEADS = {
    "pair": (BertForClassification, transformers.BertForSequenceClassification),
    "entities": (BertForTokens, transformers.BertForTokenClassification),
}


@pytest.fixture(scope="module")
def benchmark():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        import fine_tuning

        yield fine_tuning


@pytest.fixture(scope="module")
def peers(benchmark):
    import _fine_tuning_peers

    return _fine_tuning_peers


def small(kind, n_batches=4):
    return made(kind, parts_of(kind, {"train": 16 * n_batches, "val": 2}))


@pytest.fixture(params=HEADS)
def kind(request):
    return request.param


@pytest.fixture
def folder(peers, kind, tmp_path):
    peers.save_first(tiny(kind).bert, TOKENIZER, small(kind), 0.0, tmp_path / "first")
    return tmp_path / "first"


def test_both_sides_see_the_same_batches(peers, kind, folder, monkeypatch):
    seen = {"ours": [], "theirs": []}
    ours, theirs = HEADS[kind]
    our_loss, their_forward = ours.loss, theirs.forward

    def our_look(self, labels, ids, segments, mask=None):
        seen["ours"].append((labels, ids, segments, ids != self.bert.config.pad_id))
        return our_loss(self, labels, ids, segments, mask)

    def their_look(self, input_ids, token_type_ids, attention_mask, labels):
        seen["theirs"].append((labels, input_ids, token_type_ids, attention_mask.bool()))
        return their_forward(
            self,
            input_ids=input_ids,
            token_type_ids=token_type_ids,
            attention_mask=attention_mask,
            labels=labels,
        )

    monkeypatch.setattr(ours, "loss", our_look)
    monkeypatch.setattr(theirs, "forward", their_look)
    looks = []
    for side in seen:
        peers.TRAIN[side](small(kind), folder, "float32", lambda: looks.append(len(looks)))
    assert len(seen["ours"]) == len(seen["theirs"]) == 4
    assert len(looks) == 2 * (4 + 1)  # before each batch, and behind the last
    for ours_saw, theirs_saw in zip(seen["ours"], seen["theirs"], strict=True):
        assert all(torch.equal(a, b) for a, b in zip(ours_saw, theirs_saw, strict=True))
        real = theirs_saw[-1]
        assert real.all(0).any()
        assert not real.all()  # unequally long


def test_without_dropout_both_sides_have_the_same_losses_and_come_to_the_same_weights(peers, kind, folder):
    found = peers.differences(small(kind), folder)["ours float32"]
    assert found["loss"] < 1e-5
    assert found["weights"] < 1e-3


def test_another_training_is_refused(peers, kind, folder, monkeypatch):
    usual = peers.their_batch

    def one_label_less(task, number):
        batch = usual(task, number)
        flat = batch["labels"].flatten()
        place = int((flat >= 0).nonzero()[0])
        flat[place] = 1 - flat[place].clamp(max=1)
        return batch | {"labels": flat.view(batch["labels"].shape)}

    monkeypatch.setattr(peers, "their_batch", one_label_less)
    with pytest.raises(AssertionError, match="apart from theirs"):
        peers.differences(small(kind), folder)


def test_a_summary_takes_ratios_within_rounds_and_the_epoch_from_all_of_them(benchmark):
    times = {}
    for who in benchmark.CONTENDERS:
        seconds = [2.0, 4.0, 9.0] if who.side == "theirs" else [1.0, 4.0, 3.0]
        times[str(who)] = [s * (1 if who.keeps else 2) for s in seconds]
    found = benchmark.summary(times, {"batches": 6, "pieces": 1600}, batches_of_epoch=60)
    equal = found["ratios"]["float32, all keep freed memory"]
    assert equal == {"median": 2.0, "range": [1.0, 3.0], "rounds": [2.0, 1.0, 3.0]}
    assert found["ratios"]["float32, none keeps freed memory"] == equal
    as_used = found["ratios"]["our command in float32, to theirs as used"]["median"]
    assert as_used == (4.0 if benchmark.KEEPS else 2.0)
    assert found["ms_a_batch"]["ours float32"] == round(8000 / 6, 1)
    assert found["seconds_an_epoch"]["theirs float32, freed memory given back"] == 300.0
    assert found["pieces_a_second"]["ours float32"] == 200


def test_sizes_are_those_of_the_batches_that_are_timed(peers, kind):
    task = small(kind)
    masks = [peers.their_batch(task, number)["attention_mask"] for number in (2, 3)]
    found = peers.sizes_of(task, skip=2)
    assert found["batches"] == 2
    assert found["pieces"] == sum(int(mask.sum()) for mask in masks)
    places = sum(mask.shape[0] * mask.shape[1] for mask in masks)
    assert found["share_of_padding"] == round(1 - found["pieces"] / places, 3)
    assert 0.05 < found["share_of_padding"] < 0.9


@pytest.mark.slow
def test_it_runs_through_in_small(benchmark, monkeypatch, capsys):
    def stand_in(name, tokenizer, n_batches):
        return small(KINDS[name], n_batches), 100

    monkeypatch.setattr(benchmark, "task_of", stand_in)
    monkeypatch.setattr(benchmark, "CASES", ("wikigold",))
    monkeypatch.setattr(benchmark, "load_bert", lambda *_: (tiny("entities").bert, TOKENIZER))
    benchmark.main(["--quick", "--threads", str(torch.get_num_threads())])
    found = json.loads(capsys.readouterr().out)["wikigold"]
    assert found["timed"]["batches"] == 6
    assert set(found["ms_a_batch"]) == {str(who) for who in benchmark.CONTENDERS}
    assert all(ms > 0 for ms in found["ms_a_batch"].values())
    assert all(len(told["rounds"]) == 1 for told in found["ratios"].values())
    losses = found["loss_of_last_round"]
    assert losses["ours float32"] == losses["ours float32, freed memory given back"]  # by one seed


@pytest.mark.parametrize(
    ("case", "floor"),
    [("wikigold", 1.5), ("nli-wikipedia", 1.4)],  # pairs are padded less; 1.5 was the aim in float32, too
)
def test_the_record_holds_what_the_course_promises(case, floor):
    found = load_result("fine_tuning")["cases"][case]
    apart = found["apart_from_theirs"]["ours float32"]
    assert apart["loss"] <= 1e-4
    assert apart["weights"] <= 1e-2
    assert found["ratios"]["our command in float32, to theirs as used"]["median"] >= floor
