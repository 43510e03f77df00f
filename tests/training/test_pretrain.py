"""Claims about pre-training: one loss however it is shared out, and nothing lost when it is interrupted."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bertlab.interop import load_bert, save_bert
from bertlab.training import pretrain as module
from bertlab.training.distributed import Team
from bertlab.training.pretrain import Objective, ShardedLoss, held_out_numbers, pretrain
from bertlab.training.pretrain_config import ConfigError
from bertlab.training.pretrain_data import Feed, held_out_batches, open_all
from bertlab.training.pretrain_start import begin_with
from bertlab.training.run_folder import FolderError, locked
from tests.training.pretraining import ROOT, command, kill, rows, same, start, toml, weights, world

CPU = torch.device("cpu")
KILLS = int(os.environ.get("BERTLAB_KILLS", "4"))  # 20 were tried: BERTLAB_KILLS=20 pytest -k random_moments


@pytest.fixture
def config(tmp_path):
    return world(tmp_path)


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Matrices of 16 rows gain nothing from two, and two wait for each other where a machine is busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    yield
    torch.set_num_threads(before)


def run(config, **changes):
    changed = replace(config, **changes)
    return pretrain(changed, CPU, load_bert, save_bert, say=lambda sentence: None)


def setup_feed(config, rank=0, n_ranks=1):
    model, tokenizer = begin_with(config, None, print)
    return model, Feed(config, open_all(config.shards, tokenizer), tokenizer, rank, n_ranks)


def test_the_loss_falls_and_the_model_is_saved_as_others_read_it(config):
    losses = run(config, steps=150, rate=1e-2, dropout=0.0)
    assert sum(losses[-20:]) < 0.95 * sum(losses[:20])
    model, tokenizer = load_bert(Path(config.out) / "model")
    assert same(model.state_dict(), weights(config.out))
    assert tokenizer.vocab[5:8] == ["a", "b", "c"]


def test_the_loss_of_a_step_is_that_of_the_whole_batch(config):
    config = replace(config, dropout=0.0)
    model, feed = setup_feed(config)
    loss = ShardedLoss(Objective(model), feed, Team(), config)
    batch = feed.make(3)[0]
    arrays = (batch.ids, batch.segments, batch.positions, batch.labels, batch.next_labels)
    expected, masked_lm, next_sentence = model.loss(*map(torch.from_numpy, arrays))
    assert loss.loss(3).item() == pytest.approx(expected.item(), abs=1e-6)
    assert loss.notes() == pytest.approx(
        {"masked_lm": masked_lm.item(), "next_sentence": next_sentence.item(), "n_tokens": batch.mask.sum()},
        abs=1e-6,
    )


def test_D33_a_batch_computed_in_parts_moves_the_weights_like_the_whole(config):
    whole = run(config, dropout=0.0)
    before = weights(config.out)
    _, feed = setup_feed(replace(config, micro_batch=2))
    assert len({len(part.labels) for part in feed.make(0)}) > 1  # else a mean of means would do
    parts = run(config, dropout=0.0, micro_batch=2, out=config.out + "-parts")
    assert parts == pytest.approx(whole, abs=1e-5)
    for name, value in weights(config.out + "-parts").items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=1e-5, msg=name)


@pytest.mark.parametrize(("n_ranks", "micro_batch"), [(1, 0), (1, 2), (2, 0), (4, 1), (2, 2)])
def test_processes_share_a_batch_without_overlap_and_without_a_gap(config, n_ranks, micro_batch):
    config = replace(config, micro_batch=micro_batch)
    _, alone = setup_feed(replace(config, micro_batch=0))
    feeds = [setup_feed(config, rank, n_ranks)[1] for rank in range(n_ranks)]
    for step in (0, 5):
        parts = [part for feed in feeds for part in feed.make(step)]
        texts = [tuple(ids[m]) for part in parts for ids, m in zip(part.ids, part.mask, strict=True)]
        whole = alone.make(step)[0]
        assert sorted(texts) == sorted(tuple(ids[m]) for ids, m in zip(whole.ids, whole.mask, strict=True))
    assert sorted(part for feed in feeds for part in feed.own) == list(range(feeds[0].n_parts))


def test_a_step_finds_its_batch_by_counting_those_of_each_epoch(config):
    _, feed = setup_feed(config)
    counts = [feed.examples.n_batches(epoch) for epoch in range(4)]
    assert len(set(counts)) > 1  # epochs differ
    expected = [(epoch, number) for epoch, n in enumerate(counts) for number in range(n)]
    _, fresh = setup_feed(config)
    assert [fresh.place(step) for step in range(len(expected))] == expected
    _, resumed = setup_feed(config)
    assert resumed.place(len(expected) - 1) == expected[-1]


def test_D35_no_two_steps_and_no_two_parts_draw_the_same_dropout(config):
    model, feed = setup_feed(replace(config, dropout=0.5, micro_batch=4))
    model.train()
    drawn = []

    def draw(*_):
        drawn.append(float(torch.rand(1, dtype=torch.float64)))
        return torch.zeros(()), torch.zeros(())

    loss = ShardedLoss(draw, feed, Team(), config)
    for number in range(8):
        loss.loss(number)
    assert len(set(drawn)) == 8
    torch.rand(3)  # whatever else has drawn
    loss.loss(2)
    assert drawn[8] == drawn[2]


@pytest.mark.parametrize("at", [0, 1, 9, 16, 23])
def test_D34_an_interrupted_pretraining_goes_on_to_the_same_bits(config, monkeypatch, at):
    """At any part of any step, first and last among them; dropout is on."""
    run(config, micro_batch=4, held_out=config.shards)
    calls, batch_loss = [], module.batch_loss

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == at + 1:
            raise KeyboardInterrupt
        return batch_loss(*arguments)

    broken = {"micro_batch": 4, "held_out": config.shards, "out": config.out + "-broken"}
    with monkeypatch.context() as patch:
        patch.setattr(module, "batch_loss", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(config, **broken)
    torch.manual_seed(99)
    run(config, **broken)
    assert same(weights(config.out), weights(broken["out"]))
    assert rows(config.out) == rows(broken["out"])


def saved_at(out):
    return (out / "run.pt").stat().st_mtime_ns if (out / "run.pt").exists() else 0


def wait_for(process, done, seconds=60):
    """Wait until something is done, or the process ended."""
    end = time.monotonic() + seconds
    while not done() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)


@pytest.mark.slow
@pytest.mark.timeout(60 * KILLS + 60)
def test_D34_killed_at_random_moments_the_weights_are_those_of_an_unbroken_run(config, tmp_path):
    config = replace(config, steps=50 * KILLS, save_every=1, report_every=7)
    file, out = toml(config, tmp_path / "run.toml"), Path(config.out)
    chance, unfinished, killed = random.Random(0), 0, 0
    for _ in range(KILLS):
        before = saved_at(out)
        process = start(file)
        wait_for(process, lambda stamp=before: saved_at(out) != stamp)
        time.sleep(chance.random() * 0.3)
        assert process.poll() is None, process.communicate()
        kill(process)
        killed += 1
        unfinished += len(list(out.glob(".run.pt.*.unfinished")))
    last = len(torch.load(out / "run.pt", weights_only=True)["losses"])
    assert last < config.steps  # all kills fell into the training
    resumed = run(config, save_every=500)
    unbroken = run(config, save_every=500, out=config.out + "-unbroken")
    print(f"{killed} kills, {unfinished} of them within a checkpoint, the last after step {last}")
    assert resumed == unbroken
    assert same(weights(out), weights(config.out + "-unbroken"))
    assert rows(out) == rows(config.out + "-unbroken")
    assert sorted(p.name for p in out.iterdir()) == [
        "config.json",
        "journal.jsonl",
        "lock",
        "model",
        "run.pt",
    ]


KILLED_WHILE_SAVING = """
import os, signal, sys, torch
from bertlab.__main__ import main
save, saves = torch.save, []
def half(state, path):
    saves.append(path)
    save(state, path)
    if len(saves) == 2:
        os.truncate(path, os.path.getsize(path) // 2)
        os.kill(os.getpid(), signal.SIGKILL)
torch.save = half
main(["pretrain", sys.argv[1]])
"""


def test_D34_a_kill_in_the_middle_of_a_checkpoint_leaves_the_one_before(config, tmp_path):
    file, out = toml(config, tmp_path / "run.toml"), Path(config.out)
    done = subprocess.run([sys.executable, "-c", KILLED_WHILE_SAVING, str(file)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(out.glob(".run.pt.*.unfinished"))) == 1
    assert len(torch.load(out / "run.pt", weights_only=True)["losses"]) == 4
    run(config)
    run(config, out=config.out + "-unbroken")
    assert same(weights(out), weights(config.out + "-unbroken"))
    assert not list(out.glob(".run.pt.*"))


@pytest.mark.slow
def test_several_processes_end_where_one_does_and_go_on_after_a_kill_to_the_same_bits(config, tmp_path):
    """Three: two numbers have one sum, three have as many as there are orders to add them in."""
    config = replace(config, dropout=0.0, batch_size=12, steps=60)
    counts = [len(setup_feed(config, rank, 3)[1].make(0)[0].labels) for rank in range(3)]
    assert len(set(counts)) > 1  # a mean of the processes' means would be another loss
    alone = run(config)
    unbroken, broken = config.out + "-two", config.out + "-killed"
    config, whole = replace(config, micro_batch=2), weights(config.out)  # each process has two parts
    file = toml(config, tmp_path / "two.toml", out=unbroken)
    done = subprocess.run(command(file, 3), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("3 process(es)") == 1  # one process speaks
    two = torch.load(Path(unbroken) / "run.pt", weights_only=True)["losses"]
    assert two == pytest.approx(alone, abs=1e-5)
    for name, value in weights(unbroken).items():
        torch.testing.assert_close(value, whole[name], rtol=0, atol=1e-5, msg=name)

    file = toml(config, tmp_path / "killed.toml", out=broken)
    process = start(file, 3)
    wait_for(process, (Path(broken) / "run.pt").exists)
    kill(process)
    assert len(torch.load(Path(broken) / "run.pt", weights_only=True)["losses"]) < config.steps
    done = subprocess.run(command(file, 3), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert same(weights(unbroken), weights(broken))


@pytest.mark.slow
def test_all_processes_stop_at_a_loss_that_is_not_finite(config, tmp_path):
    file = toml(config, tmp_path / "run.toml", rate=1e38, clip=1e38, warmup=0.0)
    began = time.monotonic()
    done = subprocess.run(command(file, 2), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stderr.count("bertlab: step 2: the loss is nan: lower the learning rate") == 2
    assert time.monotonic() - began < 60  # none waits for the other


def test_a_loss_that_is_not_finite_stops_the_run_and_names_the_step(config):
    with pytest.raises(FloatingPointError, match=r"step 2: .* is nan: lower the learning rate"):
        run(config, rate=1e38, clip=1e38, warmup=0.0)
    assert not (Path(config.out) / "model").exists()


def test_a_folder_of_another_run_is_refused_with_the_key_that_differs(config):
    run(config, steps=3)
    with pytest.raises(FolderError, match=r"holds a run with steps = 3, now it is 12: put that back"):
        run(config)
    before = weights(config.out)
    run(config, steps=3, report_every=1, save_every=1)  # no weight depends on these
    assert same(before, weights(config.out))


def test_a_run_goes_on_when_a_later_version_knows_more_keys(config):
    run(config, steps=3)
    record = Path(config.out) / "config.json"
    known = json.loads(record.read_text())
    record.write_text(json.dumps({key: value for key, value in known.items() if key != "bf16"}))
    run(config, steps=3)
    record.write_text(json.dumps({key: value for key, value in known.items() if key != "bf16"}))
    with pytest.raises(FolderError, match="bf16 = false, now it is true"):
        run(config, steps=3, bf16=True)


def test_a_folder_with_other_files_is_refused_and_they_stay(config):
    Path(config.out).mkdir()
    thesis = Path(config.out) / "thesis.txt"
    thesis.write_text("years of work")
    with pytest.raises(FolderError, match=r"holds 'thesis.txt' and no run"):
        run(config)
    assert thesis.read_text() == "years of work"


def test_two_trainings_cannot_write_into_one_folder(config):
    with locked(Path(config.out)), pytest.raises(FolderError, match="another process trains in"):
        run(config)


def test_a_batch_that_cannot_be_shared_is_refused(config):
    with pytest.raises(ConfigError, match=r"batch_size = 8 .* micro_batch = 3 .*multiple of 3"):
        run(config, micro_batch=3)


def test_held_out_numbers_are_those_of_a_count_by_hand(config):
    config = replace(config, held_out=config.shards, held_out_batches=3, batch_size=4)
    model, tokenizer = begin_with(config, None, print)
    model.eval()
    batches = held_out_batches(config, tokenizer)
    losses, hits, five, right = [], [], [], []
    for batch in batches:
        output = model(torch.from_numpy(batch.ids), torch.from_numpy(batch.segments))
        logits = output.logits.flatten(0, 1)[batch.positions].detach().double().numpy()  # (M, V)
        for row, label in zip(logits, batch.labels, strict=True):
            losses.append(np.log(np.exp(row).sum()) - row[label])
            hits.append(row.argmax() == label)
            five.append(label in np.argsort(-row)[:5])
        right += (output.next_logits.argmax(-1).numpy() == batch.next_labels).tolist()
    expected = {"masked_lm": losses, "accuracy": hits, "top5": five, "next_sentence": right}
    with torch.no_grad():
        found = held_out_numbers(model, batches, Team())
    assert found == pytest.approx({f"held_out_{k}": np.mean(v) for k, v in expected.items()}, abs=1e-6)
    shares = [held_out_batches(config, tokenizer, rank, 2) for rank in (0, 1)]
    assert [len(share) for share in shares] == [2, 1]


def test_without_next_sentence_there_is_no_second_head_and_no_pooler(config):
    run(config, next_sentence=False, held_out=config.shards)
    assert not [name for name in weights(config.out) if "pooler" in name or "next_sentence" in name]
    assert all("next_sentence" not in row and "held_out_next_sentence" not in row for row in rows(config.out))


def test_bf16_and_other_choices_change_what_is_learnt(config):
    plain = run(config, steps=3)
    for n, change in enumerate(
        [{"bf16": True}, {"seed": 1}, {"dropout": 0.3}, {"mask_rate": 0.4}, {"mask_shares": (1.0, 0.0, 0.0)},
         {"rate": 2e-3}, {"clip": 0.1}, {"max_length": 16}, {"warmup": 2.0}, {"weight_decay": 30.0}]
    ):  # fmt: skip
        changed = run(config, steps=3, out=f"{config.out}-{n}", **change)
        assert changed != plain, change
        assert changed == pytest.approx(plain, abs=0.7), change
