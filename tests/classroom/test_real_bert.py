"""Each check of notebook 16 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.classroom.real_bert import check_looking_back, check_mean, check_other_weights, check_search


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


def mean(states, mask):
    real = mask[..., None]
    return (states * real).sum(axis=1) / np.maximum(real.sum(axis=1), 1)


def total(states, mask):
    return (states * mask[..., None]).sum(axis=1)


MEAN = {
    "padding is averaged in": lambda states, mask: states.mean(axis=1),
    "the states of [CLS]": lambda states, mask: states[:, 0],
    "these are sums": total,
    "you divided by T": lambda states, mask: total(states, mask) / states.shape[1],
    "of all texts together": lambda states, mask: total(states, mask) / mask.sum(),
    "expected (3, 4)": lambda states, mask: mean(states, mask)[0],
    "brought to length 1": lambda states, mask: (
        mean(states, mask) / np.linalg.norm(mean(states, mask), axis=1, keepdims=True)
    ),
    "sum the real states": lambda states, mask: np.where(mask[..., None], states, -9).max(axis=1),
    "gives NaN": lambda states, mask: total(states, mask) / mask.sum(axis=1, keepdims=True),
}


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("sentence", MEAN)
def test_exercise_1_names_the_mistake(sentence, capsys):
    assert sentence in said(check_mean, MEAN[sentence], capsys)


def test_D36_a_mean_over_no_piece_may_be_zeros(capsys):
    assert said(check_mean, mean, capsys).startswith("✓")
    assert (mean(np.ones((1, 2, 3)), np.zeros((1, 2), dtype=bool)) == 0).all()


def diagonal(weights, step):
    return np.diagonal(weights, step, axis1=1, axis2=2)


LOOKING_BACK = {
    "the token after": lambda w: diagonal(w, 1).mean(axis=1),
    "the token itself": lambda w: diagonal(w, 0).mean(axis=1),
    "you divided by T": lambda w: diagonal(w, -1).sum(axis=1) / w.shape[1],
    "a sum over the queries": lambda w: diagonal(w, -1).sum(axis=1),
    "one number for all heads": lambda w: diagonal(w, -1).mean(),
    "how often": lambda w: (w.argmax(axis=2)[:, 1:] == np.arange(w.shape[1] - 1)).mean(axis=1),
    "the first token": lambda w: w[:, 1:, 0].mean(axis=1),
    "expected (3,)": lambda w: diagonal(w, -1),
    "takes an offset": lambda w: diagonal(w, -2).mean(axis=1),
}


@pytest.mark.parametrize("sentence", LOOKING_BACK)
def test_exercise_2_names_the_mistake(sentence, capsys):
    assert sentence in said(check_looking_back, LOOKING_BACK[sentence], capsys)


def cosines(query, texts):
    return texts @ query / (np.linalg.norm(texts, axis=1) * np.linalg.norm(query))


def search(query, texts, k):
    return np.argsort(-cosines(query, texts))[:k]


SEARCH = {
    "the cosines themselves": lambda q, x, k: np.sort(cosines(q, x))[::-1][:k],
    "long vectors win": lambda q, x, k: np.argsort(-(x @ q))[:k],
    "you ranked by distance": lambda q, x, k: np.argsort(np.linalg.norm(x - q, axis=1))[:k],
    "these are the farthest": lambda q, x, k: np.argsort(cosines(q, x))[:k],
    "the nearest comes last": lambda q, x, k: search(q, x, k)[::-1],
    "an answer of shape (6,)": lambda q, x, k: np.argsort(-cosines(q, x)),
    "in another order": lambda q, x, k: np.roll(search(q, x, k), 1),
    "you gave [0, 1, 2]": lambda q, x, k: np.arange(k),
    "fixed in your code": lambda q, x, k: search(q, x, 3),
}


@pytest.mark.parametrize("sentence", SEARCH)
def test_exercise_3_names_the_mistake(sentence, capsys):
    assert sentence in said(check_search, SEARCH[sentence], capsys)


def other_weights(weights, values, keep_sum=True, far=1.0):
    fixed = np.column_stack([values, np.ones(len(values))]) if keep_sum else values
    null = np.linalg.svd(fixed.T)[2][np.linalg.matrix_rank(fixed) :]  # directions that change nothing
    direction = max((row if row.max() < -row.min() else -row for row in null), key=lambda d: np.abs(d).sum())
    down = direction < 0
    return weights + far * direction * (weights[down] / -direction[down]).min()


OTHER_WEIGHTS = {
    "give as many": lambda w, v: other_weights(w, v)[:-1],
    "weights that came in": lambda w, v: w,
    "keeps the sum": lambda w, v: other_weights(w, v, keep_sum=False),
    "share out 1": lambda w, v: 2 * w,
    "the output moves": lambda w, v: np.full(len(w), 1 / len(w)),
    "no softmax gives that": lambda w, v: other_weights(w, v, far=3.0),
    "of the weight has moved": lambda w, v: other_weights(w, v, far=0.001),
}


@pytest.mark.parametrize("sentence", OTHER_WEIGHTS)
def test_exercise_4_names_the_mistake(sentence, capsys):
    assert sentence in said(check_other_weights, OTHER_WEIGHTS[sentence], capsys)


RIGHT = [
    (check_mean, mean),
    (check_looking_back, lambda w: diagonal(w, -1).mean(axis=1)),
    (check_search, search),
    (check_other_weights, other_weights),
]


@pytest.mark.parametrize(("check", "answer"), RIGHT)
def test_a_right_answer_is_called_right(check, answer, capsys):
    assert said(check, answer, capsys).startswith("✓")


@pytest.mark.parametrize("check", [check for check, _ in RIGHT])
def test_a_stub_is_not_tried_yet(check, capsys):
    assert "not tried yet" in said(check, lambda *args: ..., capsys)
