"""Each check of notebook 03 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.classroom.multi_head import check_multi_head, check_neighbours, check_prune, check_split
from bertlab.reference.functional import softmax


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


def split(x, n_heads):
    return x.reshape(len(x), n_heads, -1).swapaxes(0, 1)


SPLIT = {
    "bring the heads to the front": lambda x, h: x.reshape(len(x), h, -1),
    "cuts through the words": lambda x, h: x.reshape(h, len(x), -1),
    "like cards": lambda x, h: x.reshape(len(x), -1, h).transpose(2, 0, 1),
    "expected (2, 3, 3)": lambda x, h: split(x, h)[0],
    "in other places": lambda x, h: split(x, h)[::-1],
}


@pytest.mark.parametrize("sentence", SPLIT)
def test_exercise_1_names_the_mistake(sentence, capsys):
    assert sentence in said(check_split, SPLIT[sentence], capsys)


def multi_head(x, w_query, w_key, w_value, w_output, n_heads, scale=None, axis=-1, join=None):
    q, k, v = (split(x @ w, n_heads) for w in (w_query, w_key, w_value))
    weights = softmax(q @ k.swapaxes(1, 2) / np.sqrt(scale or q.shape[-1]), axis=axis)
    mixed = weights @ v
    joined = mixed.swapaxes(0, 1).reshape(len(x), -1) if join is None else join(mixed)
    return joined @ w_output


def of_slices(x, w_query, w_key, w_value, w_output, n_heads):
    K = x.shape[1] // n_heads
    parts = [slice(K * h, K * h + K) for h in range(n_heads)]
    heads = []
    for part in parts:
        q, k, v = (x[:, part] @ w[part, part] for w in (w_query, w_key, w_value))
        heads.append(softmax(q @ k.T / np.sqrt(K)) @ v)
    return np.hstack(heads) @ w_output


MULTI_HEAD = {
    "expected (5, 6)": lambda *args: multi_head(*args)[0],
    "multiply by w_output": lambda *args: multi_head(*args[:4], np.eye(6), args[5]),
    "by the root of D": lambda *args: multi_head(*args, scale=6),
    "you did not divide": lambda *args: multi_head(*args, scale=1),
    "softmax over the queries": lambda *args: multi_head(*args, axis=-2),
    "one head of width D": lambda *args: multi_head(*args[:5], 1),
    "before the projection": of_slices,
    "mixes up the words": lambda *args: multi_head(*args, join=lambda mixed: mixed.reshape(5, 6)),
    "w_output is transposed": lambda *args: multi_head(*args[:4], args[4].T, args[5]),
    "you added the heads up": lambda *args: multi_head(
        *args, join=lambda mixed: np.tile(mixed.sum(axis=0), 2)
    ),
    "compare head by head": lambda *args: 2 * multi_head(*args),
    "fixed in your code": lambda *args: multi_head(*args[:5], 2),
}


@pytest.mark.parametrize("sentence", MULTI_HEAD)
def test_exercise_2_names_the_mistake(sentence, capsys):
    assert sentence in said(check_multi_head, MULTI_HEAD[sentence], capsys)


def without(w_query, w_key, w_value, w_output, n_heads, head):
    K = w_query.shape[1] // n_heads
    gone = np.arange(K * head, K * head + K)
    projections = [np.delete(w, gone, axis=1) for w in (w_query, w_key, w_value)]
    return (*projections, np.delete(w_output, gone, axis=0))


def silenced(w_query, w_key, w_value, w_output, n_heads, head):
    w_output[2 * head : 2 * head + 2] = 0
    return w_query, w_key, w_value, w_output


def rows_taken(q, k, v, o, n_heads, head):
    gone = slice(2 * head, 2 * head + 2)
    return (*(np.delete(w, gone, axis=0) for w in (q, k, v)), np.delete(o, gone, axis=0))


PRUNE = {
    "you took rows out": rows_taken,
    "return four matrices": lambda *args: without(*args)[0],
    "take the numbers out": silenced,
    "columns out of w_output": lambda q, k, v, o, n, h: (*without(q, k, v, o, n, h)[:3], o[:, :4]),
    "the shapes are": lambda *args: (*without(*args)[:3], args[3]),
    "you took out head 0": lambda *args: without(*args[:5], args[5] - 1),
    "are the same": lambda *args: (*without(*args)[:3], without(*args[:5], 0)[3]),
}


@pytest.mark.parametrize("sentence", PRUNE)
def test_exercise_3_names_the_mistake(sentence, capsys):
    assert sentence in said(check_prune, PRUNE[sentence], capsys)


def neighbours(n_places, n_words, length=30.0, steps=(-1, 1), order=(0, 1)):
    T, V = n_places, n_words
    no_words, no_places = np.zeros((V, T)), np.zeros((T, V))
    w_query = np.vstack([length * np.eye(T), no_words])
    keys = [np.vstack([np.eye(T, k=-step), no_words]) for step in steps]  # the key of place p says p - step
    w_value = np.vstack([no_places, np.eye(V)])
    w_output = np.eye(2 * V).reshape(2, V, 2 * V)[list(order)].reshape(2 * V, 2 * V)
    return np.hstack([w_query] * 2), np.hstack(keys), np.hstack([w_value] * 2), w_output


NEIGHBOURS = {
    "return four matrices": lambda *args: neighbours(*args)[0],
    "w_query has shape": lambda *args: (neighbours(*args)[0][:, 1:], *neighbours(*args)[1:]),
    "equally wide": lambda *args: (neighbours(*args)[0][:, 2:], *neighbours(*args)[1:]),
    "w_output has shape": lambda *args: (*neighbours(*args)[:3], np.eye(3)),
    "long enough for the softmax": lambda *args: neighbours(*args, length=1.0),
    "only the left neighbour": lambda *args: neighbours(*args, steps=(-1, -1)),
    "only the right neighbour": lambda *args: neighbours(*args, steps=(1, 1)),
    "left and right are swapped": lambda *args: neighbours(*args, order=(1, 0)),
    "another word comes out": lambda *args: (*neighbours(*args)[:3], -neighbours(*args)[3]),
}


@pytest.mark.parametrize("sentence", NEIGHBOURS)
def test_exercise_4_names_the_mistake(sentence, capsys):
    assert sentence in said(check_neighbours, NEIGHBOURS[sentence], capsys)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_split, split),
        (check_multi_head, multi_head),
        (check_prune, without),
        (check_neighbours, neighbours),
    ],
)
def test_a_right_answer_is_called_right(check, answer, capsys):
    assert said(check, answer, capsys).startswith("✓")


@pytest.mark.parametrize("check", [check_split, check_multi_head, check_prune, check_neighbours])
def test_a_stub_is_not_tried_yet(check, capsys):
    assert "not tried yet" in said(check, lambda *args: ..., capsys)
