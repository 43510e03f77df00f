"""Each check of notebook 06 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab.classroom.masking import check_mask, check_sees, check_unseen, check_weights


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


RIGHT = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0]])
REAL = np.array([1, 1, 1, 0])
LOWER = np.tril(np.ones((4, 4), int))

MASKS = {
    "the other convention": 1 - RIGHT,
    "padding is not hidden yet": LOWER,
    "the future is not hidden": np.tile(REAL, (4, 1)),
    "rows and columns are swapped: query 0": LOWER.T * REAL,
    "rows and columns are swapped, and": LOWER.T,
    "the diagonal belongs": np.tril(LOWER, -1) * REAL,
    "hides padding, its column": LOWER * REAL[:, None],
    "a row for each query": RIGHT[:3],
    "and nothing else": RIGHT * -1e9,
    "query 2 and key 0": RIGHT * np.array([[1, 1, 1, 1], [1, 1, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1]]),
}


@pytest.mark.parametrize("sentence", MASKS)
def test_exercise_1_names_the_mistake(sentence, capsys):
    assert sentence in said(check_mask, MASKS[sentence].tolist(), capsys)


def weights_of(scores, mask):
    hidden = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return torch.softmax(hidden, dim=-1).masked_fill(~mask, 0)


def fill(value):
    return lambda s, m: torch.softmax(s.masked_fill(~m, value), -1)


def by_powers(scores, mask):
    powers = scores.exp() * mask
    return powers / powers.sum(-1, keepdim=True).clamp(min=1e-30)


def mended(scores, mask):
    added = torch.zeros_like(scores).masked_fill(~mask, -torch.inf)
    return torch.softmax(scores + added, -1).nan_to_num()


def forced(scores, mask):  # 1e-9 for each hidden key, so that no row is empty
    powers = scores.exp() * mask + 1e-9
    return powers / powers.sum(-1, keepdim=True)


WEIGHTS = {
    "you hid what may be looked at": lambda s, m: weights_of(s, ~m),
    "hide before": lambda s, m: torch.softmax(s, -1) * m,
    "a score of 0 is no wall": lambda s, m: torch.softmax(s * m, -1),
    "your columns sum to 1": lambda s, m: torch.softmax(s.masked_fill(~m, -torch.inf), -2).nan_to_num(),
    "nothing is hidden": lambda s, m: torch.softmax(s, -1),
    "it must be exactly 0": forced,
    "the others are off": lambda s, m: weights_of(2 * s, m),
    "overflow: take the largest off": by_powers,
    "is NaN (0/0)": fill(-torch.inf),
    "among hidden keys": fill(-1e9),
    "as if nothing were hidden": lambda s, m: torch.softmax(s - 1e4 * ~m, -1),
    "their gradient is NaN": mended,
    "carry no gradient": lambda s, m: weights_of(s.detach(), m),
    "does not fit into float16": lambda s, m: fill(-1e9)(s, m).masked_fill(~m, 0),
    "keep the dtype": lambda s, m: weights_of(s.float(), m),
    "expected (2, 4, 4)": lambda s, m: weights_of(s, m)[0],
    "must be all zeros": lambda s, m: weights_of(s, m) - (~m.any(-1, keepdim=True)).to(s.dtype),
}


@pytest.mark.parametrize("sentence", WEIGHTS)
def test_exercise_2_names_the_mistake(sentence, capsys):
    assert sentence in said(check_weights, WEIGHTS[sentence], capsys)


def jacobian(f, x):
    return torch.autograd.functional.jacobian(f, x)  # (T, D', T, D)


def sees(f, x):
    return (jacobian(f, x) != 0).any(dim=3).any(dim=1)


def by_sum(f, x):
    x.requires_grad_()
    return torch.stack([torch.autograd.grad(f(x)[t].sum(), x)[0].ne(0).any(-1) for t in range(len(x))])


SEES = {
    "row t belongs to *output* t": lambda f, x: sees(f, x).mT,
    "yes and no are swapped": lambda f, x: ~sees(f, x),
    "was not found out": lambda f, x: torch.ones(4, 4, dtype=torch.bool),
    "do not assume": lambda f, x: torch.ones(4, 4, dtype=torch.bool).tril(),
    "do not sum them": by_sum,
    "a faint leak": lambda f, x: (jacobian(f, x).abs() > 1e-6).any(dim=3).any(dim=1),
    "compare with 0": lambda f, x: sees(f, x).float(),
    "output, input": lambda f, x: jacobian(f, x) != 0,
}


@pytest.mark.parametrize("sentence", SEES)
def test_exercise_3_names_the_mistake(sentence, capsys):
    assert sentence in said(check_sees, SEES[sentence], capsys)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_mask, RIGHT.tolist()),
        (check_mask, (RIGHT == 1).tolist()),
        (check_weights, weights_of),
        (check_sees, sees),
    ],
)
def test_a_right_answer_is_called_right(check, answer, capsys):
    assert said(check, answer, capsys).startswith("✓")


def test_one_may_also_move_an_input_and_look_what_moves(capsys):
    def by_moving(f, x):
        x = x.double()
        found = torch.zeros(len(x), len(x), dtype=torch.bool)
        for i in range(len(x)):
            moved = x.clone()
            moved[i] += 1.0
            found[:, i] = (f(moved) != f(x)).any(-1)
        return found

    assert said(check_sees, by_moving, capsys).startswith("✓")


@pytest.mark.parametrize("check", [check_weights, check_sees])
def test_a_stub_is_not_tried_yet(check, capsys):
    assert "not tried yet" in said(check, lambda *args: ..., capsys)


def test_a_mask_that_is_not_written_is_not_tried_yet(capsys):
    assert "not tried yet" in said(check_mask, ..., capsys)


def through(carried):
    """Make a function that gives row 0 something of row 1."""

    def leak(x):
        return torch.cat([x[:1] + carried(x[1:2]), x[1:]])

    return leak


UNSEEN = {
    "detach": lambda row: row.detach(),
    "argmax": lambda row: row.argmax().float(),
    "a mask that adds": lambda row: torch.softmax(torch.cat([row[0, :1], row.new_tensor([5.0])]) * 1e4, 0)[0],
}


@pytest.mark.parametrize("name", UNSEEN)
def test_exercise_3_takes_every_leak_without_a_derivative(name, capsys):
    assert "right" in said(check_unseen, through(UNSEEN[name]), capsys)


SEEN = {
    "that is no leak": lambda x: x,
    "the Jacobian sees this leak": through(lambda row: 1e-9 * row),
    "a row for each row of x": lambda x: x[:2],
    "not tried yet": lambda x: ...,
}


@pytest.mark.parametrize("sentence", SEEN)
def test_exercise_3_names_what_is_no_unseen_leak(sentence, capsys):
    assert sentence in said(check_unseen, SEEN[sentence], capsys)
