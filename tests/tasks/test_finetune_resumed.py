"""Claims about a fine-tuning that was cut off: it goes on as if it had not been, and its files are whole."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch

import bertlab.training.loop
from bertlab.tasks.finetune import BEST, FineTuning, fine_tune
from bertlab.training.journal import Journal, read_journal
from tests.tasks.learnable import made, parts_of, tiny

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = FineTuning(
    epochs=4, batch_size=8, rate=1e-3, layer_decay=0.8, bias_correction=False
)  # 3 steps each


class Killed(BaseException):
    """As if the process had ended: nothing is saved on the way out."""


class Peaked:
    """A task whose score depends on the weights alone, and is highest after the second epoch."""

    best_by = "accuracy"

    def __init__(self, stop=None, batch=None, epoch=None):
        self.task = made("text", parts_of("text", {"train": 26, "val": 10}))
        self.fingerprint = self.task.fingerprint
        self.stop, self.where = stop, {"batches": batch, "epochs": epoch}  # what is raised, and where
        self.done = {"batches": 0, "epochs": 0}

    def __len__(self):
        return len(self.task)

    def batch(self, model, rows):
        found = self.task.batch(model, rows)
        self.count("batches")
        return found

    def scores(self, model, part):
        self.count("epochs")
        return {"accuracy": score(model.state_dict()), "more": 0.5}

    def count(self, what):
        self.done[what] += 1
        if self.stop and self.where[what] == self.done[what] - 1:
            raise self.stop


def total(state):
    return float(sum(value.double().sum() for value in state.values()))


@cache
def highest():
    """Sum of the weights after the second epoch, on this machine."""
    task, sums = Peaked(), []
    task.scores = lambda model, part: sums.append(total(model.state_dict())) or {"accuracy": 0.0}
    fine_tune(tiny("text", dropout=0.1), task, SETTINGS)
    assert len(set(sums)) == SETTINGS.epochs
    return sums[1]


def score(state):
    return -abs(total(state) - highest())


def run(folder=None, seed=0, **stop):
    """Fine-tune a new model, whose first weights and chance are those of a seed."""
    highest()  # trains, so it must not be asked for the first time within another training
    model = tiny("text", seed, dropout=0.1)
    return model, fine_tune(model, Peaked(**stop), SETTINGS, folder)


def check_equal(one, other):
    (model, tuned), (wanted, wanted_tuned) = one, other
    assert tuned == wanted_tuned
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), wanted.parameters(), strict=True))


@pytest.fixture(scope="module")
def unbroken():
    model, tuned = run()
    assert (tuned.epoch, tuned.scores["accuracy"]) == (2, 0.0)  # neither the first nor the last
    return model, tuned


def check_whole(folder):
    """The best weights are whole, and those that got the scores beside them."""
    if (folder / BEST).exists():
        best = torch.load(folder / BEST, weights_only=True)
        assert best["scores"]["accuracy"] == score(best["state"])


def test_a_folder_changes_nothing(unbroken, tmp_path):
    check_equal(run(tmp_path), unbroken)
    check_whole(tmp_path)
    rows = read_journal(tmp_path / "journal.jsonl")
    assert [row["accuracy"] for row in rows] == [row["accuracy"] for row in unbroken[1].history]


@pytest.mark.parametrize(
    "where", [*({"batch": step} for step in (0, 1, 2, 3, 7, 11)), *({"epoch": i} for i in range(4))], ids=str
)
def test_an_interrupted_run_goes_on_as_if_it_had_not_been(where, unbroken, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, stop=KeyboardInterrupt, **where)
    check_whole(tmp_path)
    check_equal(run(tmp_path, seed=7), unbroken)  # whatever the first weights are now


@pytest.mark.parametrize(
    "where", [*({"batch": step} for step in (0, 2, 3, 4, 11)), *({"epoch": i} for i in range(4))], ids=str
)
def test_a_killed_run_goes_on_from_its_last_epoch(where, unbroken, tmp_path):
    with pytest.raises(Killed):
        run(tmp_path, stop=Killed, **where)
    check_whole(tmp_path)
    first_epoch = where.get("batch", 3) < 3 or where.get("epoch") == 0  # nothing was saved before
    check_equal(run(tmp_path, seed=0 if first_epoch else 7), unbroken)


@pytest.mark.parametrize("epoch", range(4))
@pytest.mark.parametrize("between", ["best weights and journal", "journal and checkpoint"])
def test_a_run_killed_between_two_of_its_files_goes_on(between, epoch, unbroken, tmp_path, monkeypatch):
    calls = []

    def killed(*args):
        calls.append(args)
        if len(calls) == epoch + 1:
            raise Killed
        return usual(*args)

    owner, name = Journal, "report"
    if between == "journal and checkpoint":
        owner, name = bertlab.training.loop, "save_checkpoint"
    usual = getattr(owner, name)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, killed)
        with pytest.raises(Killed):
            run(tmp_path)
    check_whole(tmp_path)
    check_equal(run(tmp_path, seed=7 if epoch else 0), unbroken)


KILLED = """
import os, signal, sys, torch
from pathlib import Path
from tests.tasks.test_finetune_resumed import BEST, run
torch.set_num_threads(int(sys.argv[2]))
usual, bests = torch.save, []

def killed(content, path):
    usual(content, path)
    bests.extend([path] if BEST in Path(path).name else [])
    if len(bests) == 2:
        os.truncate(path, 1000)
        os.kill(os.getpid(), signal.SIGKILL)

torch.save = killed
run(Path(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_process_killed_while_it_saves_the_best_weights_leaves_those_before(unbroken, tmp_path):
    found = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(torch.get_num_threads())],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert found.returncode == -9, found.stderr
    assert [path for path in tmp_path.iterdir() if path.name.endswith(".unfinished")]  # it was in the middle
    check_whole(tmp_path)
    assert (tmp_path / BEST).exists()
    check_equal(run(tmp_path, seed=7), unbroken)
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".unfinished")]


def test_a_finished_run_is_read_and_not_made_again(unbroken, tmp_path):
    run(tmp_path)
    check_equal(run(tmp_path, seed=7, stop=Killed, batch=0, epoch=0), unbroken)


def test_a_run_that_begins_anew_forgets_the_best_weights_of_before(unbroken, tmp_path):
    run(tmp_path, seed=3)
    best = torch.load(tmp_path / BEST, weights_only=True)
    torch.save({**best, "scores": {"accuracy": 1.0, "more": 0.5}}, tmp_path / BEST)
    (tmp_path / "run.pt").unlink()  # what the sentence on another model's checkpoint advises
    check_equal(run(tmp_path), unbroken)
    check_whole(tmp_path)


@pytest.mark.parametrize(("name", "value"), [("rate", 2e-3), ("seed", 1), ("frozen", True), ("epochs", 5)])
def test_a_folder_of_other_settings_is_refused(name, value, tmp_path):
    run(tmp_path)
    with pytest.raises(
        ValueError, match=f"holds a run with {name} = .*, now it is .*: put that back, or name"
    ):
        fine_tune(tiny("text"), Peaked(), replace(SETTINGS, **{name: value}), tmp_path)


def test_a_folder_of_other_data_or_of_another_task_is_refused(tmp_path):
    parts = parts_of("text", {"train": 26, "val": 10})
    settings = replace(SETTINGS, epochs=1)
    fine_tune(tiny("text"), made("text", parts), settings, tmp_path)
    reordered = made("text", parts | {"train": parts["train"][::-1]})
    with pytest.raises(ValueError, match="holds a run with data = "):
        fine_tune(tiny("text"), reordered, settings, tmp_path)
    other = made("entities", parts_of("entities", {"train": 26, "val": 10}))
    with pytest.raises(ValueError, match='task = "Classification", now it is "Entities"'):
        fine_tune(tiny("entities"), other, settings, tmp_path)


def test_a_folder_of_another_model_or_of_something_else_is_refused(tmp_path):
    run(tmp_path / "run")
    with pytest.raises(ValueError, match="another model"):
        fine_tune(tiny("text", n_layers=1), Peaked(), SETTINGS, tmp_path / "run")
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match=r"holds 'letter.txt'|holds 'run'"):
        run(tmp_path)
