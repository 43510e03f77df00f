"""Claims about the benchmark of Word2Vec: both sides read the same words, and both are timed in turns."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gensim")
ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
RECORD = ROOT / "data" / "results" / "word_vectors.json"
PLANTED = f"""
import sys; sys.path.insert(0, {str(BENCHMARKS)!r})
import word_vectors as bench
corpus = bench.made_up_text(3000)
theirs = bench.Theirs(corpus)
sentences = bench.as_sentences(corpus)
assert sum(map(len, sentences)) == len(corpus)
assert [len(one) for one in sentences] == [b - a for a, b in zip(corpus.borders, corpus.borders[1:])]
vectors, seconds = theirs.train(bench.settings("cbow", 1), 1)
assert vectors.words == corpus.words and seconds > 0
theirs.sentences[0] = theirs.sentences[0][1:]
try:
    theirs.train(bench.settings("cbow", 1), 1)
except AssertionError as told:
    print("refused:", told)
"""


def run(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def test_other_words_on_one_side_are_refused():
    assert "refused: the two sides read different words" in run("-c", PLANTED)


def test_it_runs_through_on_a_text_of_no_use():
    found = json.loads(run(str(BENCHMARKS / "word_vectors.py"), "--quick", "--threads", "1"))
    assert set(found["models"]) == {"skip-gram", "cbow"}
    for model in found["models"].values():
        assert all(rate > 0 for rate in model["threads"]["1"]["words_a_second"].values())
        assert {*model["as many epochs"]} == {"ours", "gensim"}
        assert len(model["as much time"]) == 1


@pytest.mark.skipif(not RECORD.exists(), reason="`make bench` has not run here")
def test_by_the_record_who_is_faster_had_more_epochs_in_as_much_time():
    record = json.loads(RECORD.read_text())
    for model in record["models"].values():
        ratio = model["threads"][str(record["threads"])]["ratio"]
        ((faster, longer),) = model["as much time"].items()
        assert faster == ("ours" if ratio >= 1 else "gensim")
        assert longer["epochs"] >= model["as many epochs"][faster]["epochs"]
