"""The arithmetic of the explorers."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bertlab.viz.payload import (
    MOST_CELLS,
    as_array,
    cells,
    entropy,
    softmax_table,
    temperature_payload,
)

scores = st.lists(st.floats(-30, 30), min_size=2, max_size=6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_tensors_become_float64_arrays(dtype):
    tensor = torch.tensor([1, 2]).to(dtype)
    array = as_array(tensor.requires_grad_() if dtype.is_floating_point else tensor)
    assert array.dtype == np.float64
    assert array.tolist() == [1, 2]


@given(scores)
def test_entropy_is_that_of_the_definition_and_lies_between_certain_and_equal(values):
    p = softmax_table(values, [1.0])[0]
    bits = float(entropy(p))
    assert bits == pytest.approx(-sum(x * math.log2(x) for x in p if x > 0), abs=1e-9)
    assert 0 <= bits <= math.log2(len(values)) + 1e-9


def test_entropy_of_rows():
    np.testing.assert_allclose(entropy([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25] * 4]), [0, 1, 2])


@given(scores, st.floats(0.01, 100))
def test_a_temperature_divides_the_scores(values, temperature):
    powers = [math.exp((value - max(values)) / temperature) for value in values]
    np.testing.assert_allclose(
        softmax_table(values, [temperature])[0], np.array(powers) / sum(powers), atol=1e-12
    )


def test_claim_63_at_low_temperature_the_softmax_looks_one_up_at_high_it_takes_all():
    cold, hot = softmax_table([2.0, 1.0, -1.0], [1e-3, 1e6])
    np.testing.assert_allclose(cold, [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(hot, [1 / 3] * 3, atol=1e-5)


@pytest.mark.parametrize("temperature", [0.0, -1.0])
def test_a_temperature_that_is_not_above_zero_is_refused(temperature):
    with pytest.raises(ValueError, match="give a number above 0"):
        softmax_table([1.0, 2.0], [1.0, temperature])


def test_the_temperature_payload_agrees_with_the_table_and_knows_its_marks():
    places = [0.5, 1.0, 8.0]
    payload = temperature_payload([2.0, -1.0], ["a", "b"], places, {"÷ √64": 8.0})
    np.testing.assert_allclose(payload["probabilities"], softmax_table([2.0, -1.0], places), atol=5e-5)
    assert payload["marks"] == [["÷ √64", 2]]
    assert payload["scores"] == ["2", "−1"]
    assert payload["most"] == "1.00"
    assert json.loads(json.dumps(payload)) == payload


@pytest.mark.parametrize(
    ("labels", "marks", "said"),
    [
        (["a"], {}, "one label for each score"),
        (["a", "b"], {"eight": 8.0}, "'eight' at 8 is not on the slider"),
    ],
)
def test_a_slider_that_makes_no_sense_is_refused(labels, marks, said):
    with pytest.raises(ValueError, match=said):
        temperature_payload([2.0, -1.0], labels, [1.0], marks)


def test_cells_are_the_first_numbers_over_the_largest():
    vectors = np.arange(-20.0, 20).reshape(2, 20)
    drawn = np.array(cells(vectors))
    assert drawn.shape == (2, MOST_CELLS)
    np.testing.assert_allclose(drawn, vectors[:, :MOST_CELLS] / 20, atol=5e-4)
    assert cells(np.zeros((1, 2))) == [[0, 0]]
