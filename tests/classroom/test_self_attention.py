"""Each check of notebook 02 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.classroom.self_attention import (
    check_order,
    check_self_attention,
    check_softmax_backward,
    check_weights,
)
from bertlab.reference.functional import softmax


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


WEIGHTS = {
    "put them through the softmax": lambda q, k: k @ q / 2,
    "you did not divide": lambda q, k: softmax(k @ q),
    "not by its root": lambda q, k: softmax(k @ q / 4),
    "divided after the softmax": lambda q, k: softmax(k @ q) / 2,
    "multiplied by the root": lambda q, k: softmax(k @ q * 2),
    "the number of keys": lambda q, k: softmax(k @ q / np.sqrt(len(k))),
    "one weight for each key": lambda q, k: softmax(k * q / 2),
    "shares out exactly 1": lambda q, k: np.exp(k @ q / 2),
    "they sum to 1 but are off": lambda q, k: softmax(-k @ q / 2),
}


@pytest.mark.parametrize("sentence", WEIGHTS)
def test_exercise_1_names_the_mistake(sentence, capsys):
    assert sentence in said(check_weights, WEIGHTS[sentence], capsys)


def attention(x, w_query, w_key, w_value):
    q, k, v = x @ w_query, x @ w_key, x @ w_value
    return softmax(q @ k.T / np.sqrt(k.shape[-1])) @ v


ATTENTION = {
    "these are the weights": lambda x, wq, wk, wv: softmax((x @ wq) @ (x @ wk).T / np.sqrt(wk.shape[1])),
    "raw scores": lambda x, wq, wk, wv: (x @ wq) @ (x @ wk).T / np.sqrt(wk.shape[1]) @ (x @ wv),
    "did not divide": lambda x, wq, wk, wv: softmax((x @ wq) @ (x @ wk).T) @ (x @ wv),
    "not by its root": lambda x, wq, wk, wv: softmax((x @ wq) @ (x @ wk).T / wk.shape[1]) @ (x @ wv),
    "by the root of D": lambda x, wq, wk, wv: softmax((x @ wq) @ (x @ wk).T / np.sqrt(len(wk))) @ (x @ wv),
    "your columns sum to 1": lambda x, wq, wk, wv: (
        softmax((x @ wq) @ (x @ wk).T / np.sqrt(wk.shape[1]), axis=0) @ (x @ wv)
    ),
    "queries and keys are swapped": lambda x, wq, wk, wv: attention(x, wk, wq, wv),
    "mixed the words themselves": lambda x, wq, wk, wv: (
        softmax((x @ wq) @ (x @ wk).T / np.sqrt(wk.shape[1])) @ x
    ),
    "mixed the keys": lambda x, wq, wk, wv: attention(x, wq, wk, wk),
    "two matrices do not fit": lambda x, wq, wk, wv: softmax((x @ wq) @ (x @ wk)) @ (x @ wv),
    "is not transposed": lambda x, wq, wk, wv: (
        attention(x, wq, wk, wv) if len(x) != 3 else softmax((x @ wq) @ (x @ wk) / np.sqrt(3)) @ (x @ wv)
    ),
    "the numbers are not": lambda x, wq, wk, wv: 2 * attention(x, wq, wk, wv),
    "expected (5, 3)": lambda x, wq, wk, wv: attention(x, wq, wk, wv)[0],
}


@pytest.mark.parametrize("sentence", ATTENTION)
def test_exercise_2_names_the_mistake(sentence, capsys):
    assert sentence in said(check_self_attention, ATTENTION[sentence], capsys)


def backward(d_weights, weights):
    return weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))


BACKWARD = {
    "each weight is treated alone": lambda d, w: w * (1 - w) * d,
    "subtract their part": lambda d, w: w * d,
    "summed over the queries": lambda d, w: w * (d - (w * d).sum(axis=0)),
    "the factor in front": lambda d, w: d - (w * d).sum(axis=-1, keepdims=True),
    "must be weighted too": lambda d, w: w * d - (w * d).sum(axis=-1, keepdims=True),
    "needs the weights": lambda d, w: w * (d - d.sum(axis=-1, keepdims=True)),
    "took the mean": lambda d, w: w * (d - (w * d).mean(axis=-1, keepdims=True)),
    "do not sum to 0": lambda d, w: d,
    "as they must": lambda d, w: 2 * backward(d, w),
    "that of the scores": lambda d, w: backward(d, w)[0],
}


@pytest.mark.parametrize("sentence", BACKWARD)
def test_exercise_3_names_the_mistake(sentence, capsys):
    assert sentence in said(check_softmax_backward, BACKWARD[sentence], capsys)


def numbered(x):
    places = np.arange(len(x))[:, None]
    return x + np.sin(places + np.arange(x.shape[1]))


ORDER = {
    "keep T and D": lambda x: np.hstack([x, np.arange(len(x))[:, None]]),
    "leave chance out": lambda x: x + np.random.default_rng().normal(size=x.shape),
    "unchanged": lambda x: x,
    "keep the words": lambda x: np.sin(np.arange(x.size).reshape(x.shape)),
    "merely swapped": lambda x: x + 1,
    "depend on the place": lambda x: x + np.sin(x),
    "count places from the beginning": lambda x: numbered(x[::-1])[::-1],
}


@pytest.mark.parametrize("sentence", ORDER)
def test_exercise_4_names_the_mistake(sentence, capsys):
    assert sentence in said(check_order, ORDER[sentence], capsys)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_weights, lambda q, k: softmax(k @ q / np.sqrt(len(q)))),
        (check_self_attention, attention),
        (check_softmax_backward, backward),
        (check_order, numbered),
        (check_order, lambda x: x + np.eye(*x.shape)),
    ],
)
def test_a_right_answer_is_called_right(check, answer, capsys):
    assert said(check, answer, capsys).startswith("✓")


@pytest.mark.parametrize("check", [check_weights, check_self_attention, check_softmax_backward, check_order])
def test_a_stub_is_not_tried_yet(check, capsys):
    assert "not tried yet" in said(check, lambda *args: ..., capsys)
