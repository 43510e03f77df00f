"""Each check of notebook 05 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab.classroom.layer_norm import BIAS, GAIN, X, check_backward, check_block, check_by_hand
from bertlab.reference.functional import layer_norm_vjp


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


C, RIGHT = X - 5, np.array([-1, 0, -1 / 3, 4])
BY_HAND = {
    "gain and bias are still missing": C / 3,
    "the bias is still missing": C / 3 * GAIN,
    "the gain comes first": (C / 3 + BIAS) * GAIN,
    "nothing is divided": GAIN * C + BIAS,
    "divide by its root": GAIN * C / 9 + BIAS,
    "divided the squares by 3": GAIN * C / C.std(ddof=1) + BIAS,
    "not taken off before": GAIN * X / 3 + BIAS,
    "RMSNorm": GAIN * X / np.sqrt((X**2).mean()) + BIAS,
    "feature 3": [*RIGHT[:3], 6],
    "one number for each": RIGHT[:3],
}


@pytest.mark.parametrize("sentence", BY_HAND)
def test_exercise_1_names_the_mistake(sentence, capsys):
    assert sentence in said(check_by_hand, list(BY_HAND[sentence]), capsys)


def block(x, a, f, m, n, norm_first):
    if norm_first:
        x = x + a(m(x))
        return x + f(n(x))
    x = m(x + a(x))
    return n(x + f(x))


def normed_stream(x, a, f, m, n, norm_first):
    if not norm_first:
        return block(x, a, f, m, n, False)
    x = m(x)
    x = n(x + a(x))
    return x + f(x)


def pre(wrong):
    """A mistake in pre-LN alone."""
    return lambda x, a, f, m, n, first: wrong(x, a, f, m, n) if first else block(x, a, f, m, n, False)


def forget(x, a, f, m, n, first):  # the attention's norm stands twice
    return block(x, a, f, m, m, first)


BLOCKS = {
    "that is pre-LN": lambda x, a, f, m, n, first: block(x, a, f, m, n, True),
    "that is post-LN": lambda x, a, f, m, n, first: block(x, a, f, m, n, False),
    "False: nothing is added": lambda x, a, f, m, n, first: n(f(m(a(x)))),
    "True: nothing is added": pre(lambda x, a, f, m, n: f(n(a(m(x))))),
    "normed what the sublayer found": lambda x, a, f, m, n, first: (x + m(a(x))) + n(f(x + m(a(x)))),
    "False: the second sum starts from x": lambda x, a, f, m, n, first: n(x + f(m(x + a(x)))),
    "True: the second sum starts from x": pre(lambda x, a, f, m, n: x + f(n(x + a(m(x))))),
    "False: both norms are the first": forget,
    "True: both norms are the first": pre(lambda x, a, f, m, n: forget(x, a, f, m, n, True)),
    "both norms are missing": lambda x, a, f, m, n, first: (x + a(x)) + f(x + a(x)),
    "False: the feed-forward network reads x": lambda x, a, f, m, n, first: n(m(x + a(x)) + f(x)),
    "True: the feed-forward network reads x": pre(lambda x, a, f, m, n: x + a(m(x)) + f(n(x))),
    "you added to the *normed* x": normed_stream,
    "the second norm is missing": pre(lambda x, a, f, m, n: x + a(m(x)) + f(x + a(m(x)))),
    "add to what was not normed": pre(lambda x, a, f, m, n: n(x + a(m(x))) + f(n(x + a(m(x))))),
    "write it down for one": lambda x, a, f, m, n, first: 2 * block(x, a, f, m, n, first),
    "your output (1, 4)": lambda x, a, f, m, n, first: block(x, a, f, m, n, first)[:1],
}


@pytest.mark.parametrize("sentence", BLOCKS)
def test_exercise_2_names_the_mistake(sentence, capsys):
    assert sentence in said(check_block, BLOCKS[sentence], capsys)


def parts(grad, x, eps):
    root = np.sqrt(x.var(-1, keepdims=True) + eps)
    normed = (x - x.mean(-1, keepdims=True)) / root
    return grad.mean(-1, keepdims=True), normed * (grad * normed).mean(-1, keepdims=True), root


def backward(grad, x, eps, shift=-1, stretch=-1, power=1):
    first, second, root = parts(grad, x, eps)
    return (grad + shift * first + stretch * second) / root**power


def over_positions(grad, x, eps):
    root = np.sqrt(x.var(-1, keepdims=True) + eps)
    normed = (x - x.mean(-1, keepdims=True)) / root
    return (grad - grad.mean(0) - normed * (grad * normed).mean(0)) / root


BACKWARD = {
    "no constants": lambda g, x, e: backward(g, x, e, 0, 0),
    "the stretch is not yet": lambda g, x, e: backward(g, x, e, -1, 0),
    "the shift is not yet": lambda g, x, e: backward(g, x, e, 0, -1),
    "division by the deviation is missing": lambda g, x, e: backward(g, x, e, power=0),
    "divide by the root": lambda g, x, e: backward(g, x, e, power=2),
    "stretch must be taken *off*": lambda g, x, e: backward(g, x, e, stretch=1),
    "shift must be taken *off*": lambda g, x, e: backward(g, x, e, shift=1),
    "eps is missing": lambda g, x, e: backward(g, x, 0.0),
    "run over the positions": over_positions,
    "the gradient is another": lambda g, x, e: 2 * backward(g, x, e),
    "your gradient (5,)": lambda g, x, e: backward(g, x, e)[0],
}


@pytest.mark.parametrize("sentence", BACKWARD)
def test_exercise_3_names_the_mistake(sentence, capsys):
    assert sentence in said(check_backward, BACKWARD[sentence], capsys)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_by_hand, RIGHT.round(2).tolist()),
        (check_block, block),
        (check_backward, backward),
        (check_backward, lambda g, x, e: layer_norm_vjp(g, x, np.ones(5), np.zeros(5), e)[0]),
        (check_block, lambda *args: block(*(torch.clone(args[0]), *args[1:]))),
    ],
)
def test_a_right_answer_passes(check, answer, capsys):
    assert "right." in said(check, answer, capsys)


@pytest.mark.parametrize("check", [check_by_hand, check_block, check_backward])
def test_a_stub_counts_as_not_tried(check, capsys):
    assert "not tried" in said(check, ..., capsys)
