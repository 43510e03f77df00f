"""Every arm is asked for what it may know, and for nothing else; all have one size and read one text."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from _arms import WINDOW, TwoSidedArm, joined
from _arms_made import Size, World, make, parameters
from _arms_training import Feed, curve_of, plan, speeds, train

from bertlab.datasets.documents import Document
from bertlab.text import SPECIAL, WordPiece, tokenise

LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOCAB = WordPiece([*SPECIAL, *LETTERS])
ARMS = ("CBOW", "ELMo", "GPT", "two GPTs", "BERT", "BERT, no pairs")
SIDES = {"CBOW": "around", "GPT": "left"}  # of others both


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(3)
    documents = [
        Document([" ".join(rng.choice([*LETTERS], 8)) for _ in range(20)], "letters") for _ in range(40)
    ]
    return World(VOCAB, tokenise(documents, VOCAB), Size(16, 2, 4, 32), 8, pairs=True)


@pytest.fixture(scope="module")
def text():
    ids = np.random.default_rng(0).integers(5, len(VOCAB), (2, 20))
    ids[:, 0], ids[:, -1] = VOCAB.cls_id, VOCAB.sep_id
    return torch.from_numpy(ids)


@pytest.mark.parametrize("name", ARMS)
def test_all_arms_have_the_parameters_of_bert(world, name):
    wide = world._replace(size=Size(64, 2, 4, 64))  # where a step of a width is little
    ours, theirs = (parameters(make(one, wide, 0)) for one in (name, "BERT"))
    assert ours == pytest.approx(theirs, rel=0.05)


def test_two_whole_gpts_have_more(world):
    whole, shared = (make(one, world, 0) for one in ("two GPTs, each whole", "two GPTs"))
    one = make("GPT", world, 0)
    table = one.model.embeddings.token.weight.numel() + one.model.embeddings.position.weight.numel()
    assert parameters(whole) == 2 * parameters(one) - table
    assert parameters(shared) < parameters(whole)


@pytest.mark.parametrize("name", ARMS)
def test_what_stands_at_the_place_is_not_looked_at_and_what_is_around_is(world, text, name):
    arm, column = make(name, world, 1).double().eval(), 9
    if name == "CBOW":
        torch.nn.init.normal_(arm.model.output.weight)
    at = torch.tensor([column])
    before = arm.log_p(text, at)
    assert before.exp().sum(1).item() == pytest.approx(1, abs=1e-9)
    told = set()
    for other in range(1, 19):
        changed = text.clone()
        changed[0, other] = 5 + (changed[0, other] - 4) % 26
        if not torch.allclose(arm.log_p(changed, at), before, atol=1e-11, rtol=0):
            told.add(other)
    expected = {other for other in range(1, 19) if other != column}
    if SIDES.get(name) == "left":
        expected = {other for other in expected if other < column}
    if SIDES.get(name) == "around":
        expected = {other for other in expected if abs(other - column) <= WINDOW}
    assert told == expected


@pytest.mark.parametrize("name", ["ELMo", "two GPTs"])
def test_one_reader_sees_the_left_and_the_other_the_right(world, text, name):
    arm = make(name, world, 1).double().eval()
    assert isinstance(arm, TwoSidedArm)
    at, changed = torch.tensor([9]), text.clone()
    changed[0, 12] = 5 + (changed[0, 12] - 4) % 26
    left, right = zip(arm.opinions(text, at), arm.opinions(changed, at), strict=True)
    assert torch.allclose(*left, atol=1e-11, rtol=0)
    assert not torch.allclose(*right, atol=1e-11, rtol=0)


def test_padding_changes_no_answer(world, text):
    longer = torch.nn.functional.pad(text, (0, 6))
    for name in ARMS:
        arm = make(name, world, 1).eval()
        ours, theirs = (arm.log_p(ids, torch.tensor([7, ids.shape[1] + 9])) for ids in (text, longer))
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_opinions_that_know_nothing_are_how_frequent_pieces_are():
    alone = torch.tensor([0.7, 0.2, 0.1]).log()
    torch.testing.assert_close(joined(alone.expand(2, 1, 3), alone), alone[None])


def test_running_text_is_the_same_for_all_and_pairs_are_bert_s_alone(world):
    feeds = {name: Feed(name, world, 5) for name in ARMS}
    for number in (0, 3, 90):
        read = {name: feed(number) for name, feed in feeds.items()}
        text = read["GPT"].tensors[0]
        for name in ("CBOW", "ELMo", "two GPTs"):
            assert torch.equal(read[name].tensors[0], text)
        hidden, _, positions, labels, _, mask = read["BERT, no pairs"].tensors
        shown = hidden.clone()
        shown.view(-1)[positions] = labels
        assert torch.equal(shown, text)
        tokens, rows = int(mask.sum()), len(mask)
        asked = {name: one.targets for name, one in read.items()}
        assert asked["GPT"] == tokens - rows
        assert asked["ELMo"] == asked["two GPTs"] == 2 * (tokens - rows)
        assert asked["CBOW"] == tokens - 2 * rows
        assert asked["BERT, no pairs"] == len(labels)
        assert read["BERT"].tensors[1].max() == 1, "segments of a pair"


def test_what_is_asked_for_is_what_the_loss_is_a_mean_of(world):
    for name in ("CBOW", "ELMo", "GPT", "two GPTs"):
        arm, read = make(name, world, 0), Feed(name, world, 0)(0)
        even = {"CBOW": 1, "GPT": 1}.get(name, 2)
        assert arm.loss(*read.tensors).item() == pytest.approx(even * math.log(len(VOCAB)), rel=0.2)


@pytest.mark.parametrize("name", ARMS)
def test_an_arm_learns_a_rule(world, name, tmp_path):
    texts = [" ".join(12 * letter) for letter in "abcd"]  # whatever is read tells what is missing
    easy = world._replace(corpus=tokenise([Document([one, one], "rule") for one in texts * 20], VOCAB))
    arm, asked = make(name, easy, 0), torch.tensor([[2, *VOCAB.encode(texts[1]).ids, 3]])

    def watch(one):
        return {"loss": -one.log_p(asked, torch.tensor([6]))[0, asked[0, 6]].item()}

    curve = train(arm, Feed(name, easy, 0), 200 if name == "BERT" else 80, 2e-2, tmp_path / "run", watch)
    most = 0.95 if name == "BERT" else 0.7  # half of what follows is from elsewhere
    assert curve[-1]["loss"] < most * math.log(4), "more than which letters there are"
    assert curve[-1]["tokens"] > curve[0]["tokens"]
    assert not arm.training


def test_a_curve_adds_up_what_was_read():
    one = {"seconds": 1.0, "rate": 1.0, "norm": 1.0, "loss": 2.0, "n_tokens": 10.0, "n_targets": 3.0}
    rows = [{"step": step, **one} for step in (5, 10)]
    assert curve_of(rows)[1] == {"step": 10, "loss": 2.0, "tokens": 20, "targets": 6}


def test_budgets_are_tokens_or_the_seconds_of_the_slowest():
    speed = {"slow": {"step": 2.0, "tokens_a_step": 100.0}, "fast": {"step": 0.5, "tokens_a_step": 80.0}}
    steps = plan(speed, 1000)
    assert steps["same tokens"] == {"slow": 10, "fast": 12}
    assert steps["same seconds"] == {"slow": 10, "fast": 40}


def test_speeds_are_taken_of_all(world):
    found = speeds(("CBOW", "BERT"), world, rounds=1)
    assert all(value > 0 for row in found.values() for value in row.values())
    assert found["BERT"]["token"] == pytest.approx(found["BERT"]["step"] / found["BERT"]["tokens_a_step"])
