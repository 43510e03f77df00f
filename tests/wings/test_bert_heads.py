"""The heads of BERT's pre-training in both wings: what they read, and that the losses add up."""

from __future__ import annotations

import numpy as np
import pytest

from tests.inputs import Arguments, examples_of
from tests.stacks import part
from tests.wing import Wing

close = np.testing.assert_allclose


@examples_of("masked_lm_logits")
def test_a_logit_is_a_piece_s_own_embedding_times_what_the_position_says(
    wing: Wing, arguments: Arguments
) -> None:
    states, table, params, activation, eps = arguments
    logits = wing.masked_lm_logits(*arguments)
    assert logits.shape == (*states.shape[:-1], len(table))
    less = wing.masked_lm_logits(states, table[:1], {**params, "bias": params["bias"][:1]}, activation, eps)
    close(logits[..., :1], less, atol=1e-12)
    without = wing.masked_lm_logits(states, 0 * table, params, activation, eps)
    close(without, np.broadcast_to(params["bias"], logits.shape), atol=1e-12)


@examples_of("pretraining_loss")
def test_the_joint_loss_is_the_sum_of_the_means_of_both(wing: Wing, arguments: Arguments) -> None:
    ids, segments, positions, labels, next_labels, params, *choices = arguments
    joint, masked_lm, next_sentence = wing.pretraining_loss(*arguments)
    assert joint == pytest.approx(masked_lm + next_sentence)
    layers, pooled, _ = wing.bert(ids, segments, part(params, "bert"), *choices)
    states = layers[-1].reshape(-1, layers[-1].shape[-1])[positions]
    table = params["bert.embeddings.token.weight"]
    logits = wing.masked_lm_logits(states, table, part(params, "masked_lm"), *choices[2:])
    surprise = [-wing.log_softmax(row)[label] for row, label in zip(logits, labels, strict=True)]
    assert masked_lm == pytest.approx(np.mean(surprise))
    judged = wing.linear(pooled, params["next_sentence.weight"], params["next_sentence.bias"])
    surprise = [-wing.log_softmax(row)[label] for row, label in zip(judged, next_labels, strict=True)]
    assert next_sentence == pytest.approx(np.mean(surprise))


@examples_of("pretraining_loss")
def test_the_token_table_learns_from_pieces_that_are_no_input(wing: Wing, arguments: Arguments) -> None:
    ids, _, _, _, _, params, *_ = arguments
    gradient = wing.pretraining_loss_vjp(1.0, *arguments)["bert.embeddings.token.weight"]
    absent = np.setdiff1d(np.arange(len(gradient)), ids)
    if len(gradient) > 1 and params["bert.pooler.bias"].size > 1:
        assert all((gradient[i] != 0).any() for i in absent)
