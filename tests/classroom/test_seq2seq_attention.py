"""Each check of notebook 01 calls a right answer right, and each likely mistake by its name."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.classroom.seq2seq_attention import check_additive, check_context, check_greedy, check_weights


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def good_context(state, states, real):
    return softmax(np.where(real, states @ state, -np.inf)) @ states


def good_greedy(step, start, state, limit):
    words, token = [], start
    while len(words) < limit:
        probabilities, state = step(token, state)
        token = max(probabilities, key=probabilities.get)
        if token == "<END>":
            break
        words.append(token)
    return words


def good_additive(state, states, w_query, w_key, v):
    return np.tanh(w_query @ state + states @ w_key.T) @ v


def without_feedback(step, start, state, limit):
    words = []
    for _ in range(limit):
        probabilities, state = step(start, state)
        word = max(probabilities, key=probabilities.get)
        if word == "<END>":
            break
        words.append(word)
    return words


def without_end(step, start, state, limit):
    words, token = [], start
    while True:
        probabilities, state = step(token, state)
        token = max(probabilities, key=probabilities.get)
        words.append(token)


def without_limit(step, start, state, limit):
    return good_greedy(step, start, state, 20)


def with_end(step, start, state, limit):
    words = good_greedy(step, start, state, limit)
    return [*words, "<END>"] if len(words) < limit else words


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_weights, [0.1, 0.3, 0.6]),
        (check_context, good_context),
        (check_greedy, good_greedy),
        (check_additive, good_additive),
    ],
)
def test_a_right_answer_is_called_right(check, answer, capsys):
    check(answer)
    assert capsys.readouterr().out.startswith("✓")


@pytest.mark.parametrize(
    ("check", "answer", "named"),
    [
        (check_weights, [0.5, 0.5], "2 weights"),
        (check_weights, list(np.log([1, 3, 6]) / np.log([1, 3, 6]).sum()), "shares of the scores"),
        (check_weights, [1, 3, 6], "divide each by their sum"),
        (check_weights, [0.1, 0.3, 0.5], "sum to 0.9"),
        (check_weights, [0.2, 0.3, 0.5], "exp(ln 3) is 3"),
        (check_context, lambda h, s, real: s[real].mean(axis=0), "plain mean"),
        (check_context, lambda h, s, real: (s @ h) @ s, "raw scores"),
        (check_context, lambda h, s, real: s[(s @ h).argmax()], "best state alone"),
        (check_context, lambda h, s, real: softmax(s @ h) @ s, "padding changed nothing"),
        (check_context, lambda h, s, real: softmax(np.where(real, s @ h, 0)) @ s, "exp(0) = 1"),
        (check_context, lambda h, s, real: np.where(real, softmax(s @ h), 0) @ s, "after the softmax"),
        (check_context, lambda h, s, real: softmax(s @ h)[:, None] * s, "shape (5, 3)"),
        (check_context, lambda h, s, real: softmax(s @ h / 2) @ s, "the context is off without padding"),
        (check_greedy, without_feedback, "feed the last word back"),
        (check_greedy, without_end, "does not end"),
        (check_greedy, without_limit, "stop at the limit"),
        (check_greedy, with_end, "<END> stands in the answer"),
        (check_additive, lambda h, s, wq, wk, v: (wq @ h + s @ wk.T) @ v, "tanh is missing"),
        (check_additive, lambda h, s, wq, wk, v: np.tanh((wq @ h + s @ wk.T) @ v), "tanh comes before v"),
        (check_additive, lambda h, s, wq, wk, v: (np.tanh(wq @ h) + np.tanh(s @ wk.T)) @ v, "add first"),
        (check_additive, lambda h, s, wq, wk, v: np.tanh(wk @ h + s @ wq.T) @ v, "scores are off"),
    ],
)
def test_a_likely_mistake_is_named(check, answer, named, capsys):
    check(answer)
    out = capsys.readouterr().out
    assert out.startswith("✗")
    assert named in out
