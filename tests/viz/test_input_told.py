"""BERT's input in words."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bertlab.viz.input_told import STEP_NAMES, fixed, steps_of, told
from bertlab.viz.input_vectors import InputVectors
from tests.viz.test_input_vectors import IDS, given, layer_norm  # noqa: F401  (a fixture)


@pytest.fixture
def inputs(given):  # noqa: F811
    sums = InputVectors(**given).sums
    return InputVectors(**given, normed=layer_norm(sums, np.ones(16), 0.5))


def test_all_seven_steps_are_told_and_those_without_numbers_left_out(inputs, given):  # noqa: F811
    assert steps_of(inputs) == list(STEP_NAMES)
    assert len(told(inputs, 0)) == 7
    assert steps_of(InputVectors(**given | {"ids": None})) == [
        "tokens",
        "token",
        "segment",
        "position",
        "sum",
    ]


def test_every_step_has_the_numbers_of_the_token(inputs):
    formulas = dict(zip(STEP_NAMES, (formula for formula, _ in told(inputs, 4)), strict=True))
    assert formulas["tokens"] == "position 4 of 0 … 6: the"
    assert formulas["ids"] == "id(the) = 5"
    for step in ("token", "segment", "position", "norm"):
        vector = ", ".join(fixed(float(x)) for x in inputs.rows[step][4, :3])
        assert formulas[step].endswith(f" = ({vector}, …)"), step
    numbers = [float(x.replace("−", "-")) for x in re.findall(r"−?\d+\.\d+", formulas["sum"])]
    assert sum(numbers[:3]) == pytest.approx(numbers[3], abs=0.002)
    assert numbers[3] == pytest.approx(inputs.sums[4, 0], abs=0.001)


def test_the_words_say_what_is_shared_and_that_nothing_is_laid_end_to_end(inputs):
    texts = dict(zip(STEP_NAMES, (text for _, text in told(inputs, 4)), strict=True))
    assert (
        "Row 5 of the token table, 16 numbers: the same wherever “the” stands, here also at position 1"
        in texts["token"]
    )
    assert "All 3 tokens of sentence B get this same vector; those of A get another one" in texts["segment"]
    assert "Every input gets this same vector at position 4" in texts["position"]
    assert "not laid end to end: the sum has 16 numbers like each of them, not 3 × 16 = 48" in texts["sum"]
    mean, spread = fixed(float(inputs.sums[4].mean())), fixed(float(inputs.sums[4].std()))
    assert f"have mean {mean} and standard deviation {spread}" in texts["norm"]


def test_special_tokens_and_pieces_of_words_are_explained(given):  # noqa: F811
    tokens = ["[CLS]", "play", "##ing", "[SEP]", "[PAD]", "", "##"]
    inputs = InputVectors(**given | {"tokens": tokens, "ids": None})
    first = [told(inputs, i)[0].text for i in range(7)]
    assert "stands before every input" in first[0]
    assert "as a word or as the beginning of one" in first[1]
    assert "“##ing” goes on what stands before it" in first[2]
    assert "ends a sentence" in first[3]
    assert "is no word" in first[4]
    assert "“∅”" in first[5]
    assert "goes on" not in first[6]


def test_a_sentence_alone_has_no_other(given):  # noqa: F811
    vectors = np.repeat(given["segment_vectors"][:1], 7, axis=0)
    inputs = InputVectors(**given | {"segments": [0] * 7, "segment_vectors": vectors})
    segment = told(inputs, 0)[3].text
    assert "All 7 tokens of sentence A get this same vector." in segment
    assert "another" not in segment
