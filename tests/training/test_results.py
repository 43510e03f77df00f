"""Claims about the record of an experiment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertlab.training import load_result, run_arms, save_result


def double(arm: dict, path: Path) -> dict:
    with path.with_suffix(".log").open("a") as log:
        log.write("measured\n")
    return {"twice": 2 * arm["n"]}


def test_every_arm_is_measured_once_and_comes_back_in_order(tmp_path):
    arms = [{"n": 3}, {"n": 1}]
    rows = run_arms("trial", arms, double, workers=2, runs=tmp_path)
    assert [(row["n"], row["twice"]) for row in rows] == [(3, 6), (1, 2)]
    assert all(row["seconds"] >= 0 for row in rows)
    again = run_arms("trial", [*arms, {"n": 5}], double, workers=2, runs=tmp_path)
    assert again[:2] == rows
    assert again[2]["twice"] == 10
    assert (tmp_path / "trial" / "n=3.log").read_text() == "measured\n"  # not measured a second time


def test_arms_that_differ_behind_a_point_have_files_of_their_own(tmp_path):
    rows = run_arms("trial", [{"n": 0.25}, {"n": 0.5}], double, workers=1, runs=tmp_path)
    assert [row["twice"] for row in rows] == [0.5, 1.0]
    assert len(list((tmp_path / "trial").glob("*.log"))) == 2


def test_a_record_says_how_to_make_it_again(tmp_path):
    path = save_result("trial", "How many?", {"arms": [1, 2]}, seconds=90, folder=tmp_path)
    record = json.loads(path.read_text())
    assert record == load_result("trial", folder=tmp_path)
    assert record["command"] == "make results-trial"
    assert record["cost_core_minutes"] == 1.5
    assert {"torch", "numpy", "python"} <= record["versions"].keys()


def test_a_result_that_was_never_measured_names_its_command(tmp_path):
    with pytest.raises(FileNotFoundError, match="make results-trial"):
        load_result("trial", folder=tmp_path)
