"""The loss of a language model in both wings: what is asked where, and by which numbers it is scored."""

from __future__ import annotations

import numpy as np
import pytest

from tests.inputs import Arguments, examples_of
from tests.wing import Wing


@examples_of("language_model_loss")
def test_the_loss_is_the_mean_surprise_where_something_is_asked(wing: Wing, arguments: Arguments) -> None:
    ids, labels, params, *choices = arguments
    states = wing.gpt(ids, params, *choices)[0][-1]
    table = params["embeddings.token.weight"]
    surprise = [
        -wing.log_softmax(table @ states[b, t])[labels[b, t]]
        for b, t in np.ndindex(ids.shape)
        if labels[b, t] != -100
    ]
    assert wing.language_model_loss(*arguments) == pytest.approx(np.mean(surprise) if surprise else 0.0)


@examples_of("language_model_loss")
def test_the_token_table_learns_from_tokens_that_are_no_input(wing: Wing, arguments: Arguments) -> None:
    ids, labels, *_ = arguments
    gradient = wing.language_model_loss_vjp(1.0, *arguments)["embeddings.token.weight"]
    absent = np.setdiff1d(np.arange(len(gradient)), ids)
    asked = labels != -100
    if asked.any() and len(gradient) > 1:
        assert all((gradient[i] != 0).any() for i in absent)
    if not asked.any():
        assert (gradient == 0).all()


@examples_of("language_model_loss")
def test_D33_what_is_not_asked_has_no_say(wing: Wing, arguments: Arguments) -> None:
    ids, labels, params, *choices = arguments
    wider = np.concatenate([ids, ids[:, -1:]], axis=1)
    nothing = np.full_like(labels[:, :1], -100)
    asked = np.concatenate([labels, nothing], axis=1)
    assert wing.language_model_loss(wider, asked, params, *choices) == pytest.approx(
        wing.language_model_loss(*arguments), abs=1e-12
    )
