"""What the record of the n-grams says, and that it is about the exams that stand."""

from __future__ import annotations

import json

import pytest

from _bert_held_out import INPUTS, KINDS, SETS, exams, fingerprint
from _bert_vocabulary import NAMES, tokenizer
from bertlab.datasets import DataUnavailable
from bertlab.training.results import RESULTS

RECORD = json.loads((RESULTS / "masked_ngrams.json").read_text())
CASES = [(name, held_out, kind) for name in NAMES for held_out in SETS for kind in KINDS]


@pytest.mark.parametrize(("name", "held_out", "kind"), CASES)
def test_each_step_of_the_ladder_is_better_than_the_one_before(name, held_out, kind):
    found = RECORD[name]["guesses"][held_out][kind]
    models = [model for model in found if model != "sha256"]
    assert models == [
        "unigram",
        "from the left",
        "from both sides",
        "and around, weighted",
        "and repeated",
    ]
    losses = [found[model]["loss"] for model in models]
    assert losses == sorted(losses, reverse=True)
    assert {found[model]["inputs"] for model in models} <= {INPUTS, INPUTS - 1}


def test_little_was_taken_out_and_most_of_it_of_wikisplit():
    usual, strict = RECORD["overlap"]
    assert usual["documents"] == {"wikisplit with wikitext-2": 3}
    assert sum(strict["sentences_taken_out"].values()) < 150


@pytest.mark.parametrize("name", NAMES)
def test_the_exams_are_the_ones_that_were_measured(name):
    try:
        made = exams(tokenizer(name))
    except DataUnavailable as reason:
        pytest.skip(str(reason))
    for (held_out, kind), questions in made.items():
        assert fingerprint(questions) == RECORD[name]["guesses"][held_out][kind]["sha256"]
