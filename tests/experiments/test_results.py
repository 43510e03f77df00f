"""Claims about what the repository keeps of its experiments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sacrebleu

ROOT = Path(__file__).resolve().parents[2]
RESULTS = sorted((ROOT / "data" / "results").glob("*.json"))
SCRIPTS = sorted(
    (path for folder in ("experiments", "benchmarks") for path in (ROOT / folder).glob("[!_]*.py")),
    key=lambda path: path.stem,
)


def test_every_experiment_has_its_result_and_every_result_its_experiment():
    assert [path.stem for path in RESULTS] == [path.stem for path in SCRIPTS]


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_says_how_to_measure_it_again_and_what_it_costs(path):
    record = json.loads(path.read_text())
    is_benchmark = (ROOT / "benchmarks" / f"{path.stem}.py").exists()
    assert record["command"] == ("make bench" if is_benchmark else f"make results-{path.stem}")
    assert record["question"].endswith("?")
    assert record["cost_core_minutes"] >= 0
    assert {"python", "torch", "numpy"} <= record["versions"].keys()
    assert record["machine"]


def test_all_results_together_cost_less_than_twenty_hours_of_two_cores():
    assert sum(json.loads(path.read_text())["cost_core_minutes"] for path in RESULTS) <= 20 * 2 * 60


def score(hypothesis: str, reference: str, **settings) -> float:
    return sacrebleu.corpus_bleu([hypothesis], [[reference]], **settings).score


def test_D15_bleu_depends_on_tokenisation_and_case():
    hypothesis = "The red boat is leaving the old harbour ."
    reference = "The red boat is leaving the old harbour."
    assert score(hypothesis, reference) == pytest.approx(100)
    assert score(hypothesis, reference, tokenize="none") == pytest.approx(72.60, abs=0.01)
    assert score(hypothesis, hypothesis.lower()) == pytest.approx(86.33, abs=0.01)
    assert score(hypothesis, hypothesis.lower(), lowercase=True) == pytest.approx(100)


def test_D15_the_kept_scores_name_both():
    record = json.loads((ROOT / "data" / "results" / "seq2seq_multi30k.json").read_text())
    assert {"case:mixed", "tok:13a"} <= set(record["metric"].split("|"))
