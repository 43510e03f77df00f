"""A translation is checked before it is shown, and told in seven steps with its own numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from bertlab.viz.style import number
from bertlab.viz.trace import STEP_NAMES, decoding_payload, told


def test_tensors_are_taken_and_kept_as_arrays(make_trace):
    plain = make_trace()
    trace = make_trace(states=torch.tensor(plain.states, requires_grad=True))
    np.testing.assert_array_equal(trace.states, plain.states)


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"states": np.ones((1, 4, 5))}, r"states has shape \(1, 4, 5\) .* no batch"),
        ({"scores": np.ones((4, 3))}, r"scores has shape \(4, 3\) but should have \(4, 4\)"),
        ({"combined": np.ones((3, 5))}, r"should have \(4, any\)"),
        ({"initial_state": np.ones((1, 5))}, "give one vector"),
        ({"top_words": []}, "0 top_words"),
        ({"contexts": np.zeros((4, 5))}, "differ from weights @ encoder_states"),
    ],
)
def test_what_does_not_fit_together_is_refused_in_one_sentence(make_trace, others, said):
    with pytest.raises(ValueError, match=said):
        make_trace(**others)


def test_the_first_input_is_the_start_token_and_then_the_word_before(make_trace):
    trace = make_trace(start="<go>")
    assert [trace.fed(i) for i in range(4)] == ["<go>", "zwei", "hundert", "vier"]


def test_the_seven_steps_are_told_with_the_numbers_of_the_trace(make_trace):
    trace = make_trace()
    steps = told(trace, 1)
    assert tuple(step.name for step in steps) == STEP_NAMES
    best = int(trace.scores[1].argmax())
    assert steps[0].formula == "x₂ = embedding(zwei)"
    assert "s₁" in steps[0].text
    assert number(trace.scores[1, best]) in steps[2].formula
    assert trace.source_tokens[best] in steps[2].text
    assert f"{trace.weights[1].max():.2f}" in steps[3].formula
    assert f"{trace.weights[1, best]:.2f}·h{'₁₂₃₄'[best]}" in steps[4].formula
    assert steps[6].formula == "P(hundert) = 75.0 %"


def test_the_first_word_starts_from_what_the_encoder_handed_over(make_trace):
    first = told(make_trace(), 0)[0]
    assert first.formula == "x₁ = embedding(<s>)"
    assert "s₀, handed over by the encoder" in first.text


def test_the_terms_of_a_context_add_up_as_far_as_they_are_told(make_trace):
    trace = make_trace(source=("a", "b"), target=("c",))
    formula = told(trace, 0)[4].formula
    assert formula == f"C₁ = Σ aᵢ·hᵢ = {trace.weights[0, 0]:.2f}·h₁ + {trace.weights[0, 1]:.2f}·h₂"


def test_the_payload_is_ready_for_json_and_complete(make_trace):
    trace = make_trace(d_model=20)
    payload = decoding_payload(trace)
    assert json.loads(json.dumps(payload)) == json.loads(json.dumps(payload, default=list))
    assert payload["inputs"] == ["<s>", "zwei", "hundert", "vier"]
    assert len(payload["told"]) == 4
    assert all(len(steps) == 7 for steps in payload["told"])
    np.testing.assert_allclose(payload["weights"], trace.weights, atol=5e-5)
    assert "first 12 numbers of each vector of up to 20" in payload["note"]
    assert "first" not in decoding_payload(make_trace())["note"]
    states = np.array([payload["initial"], *payload["states"]])
    expected = np.vstack([trace.initial_state, trace.states])[:, :12]
    np.testing.assert_allclose(states, expected / np.abs(expected).max(), atol=1e-3)


def test_D38_tokens_leave_python_as_they_are(make_trace):
    payload = decoding_payload(make_trace(source=("<img src=x>",), target=("a<b&c",)))
    assert payload["source"] == ["<img src=x>"]
    assert payload["target"] == ["a<b&c"]
