"""Checks for the exercises of notebook 06, masking. True = may be attended to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.autograd.functional import jacobian

from bertlab.classroom.checks import close, exercise, expect
from bertlab.nn.masking import causal_mask, masked_softmax

REAL = np.array([True, True, True, False])  # three words, and padding
CAUSAL = np.tril(np.ones((4, 4), dtype=bool))


@exercise("Exercise 1 (by hand)")
def check_mask(mask: Sequence[Sequence[bool]]) -> None:
    """Check the (4, 4) mask of a decoder that reads three words and one padding."""
    answer = np.asarray(mask)
    expect(answer.shape == (4, 4), f"your mask has shape {answer.shape}, not (4, 4): a row for each query")
    expect(
        bool(np.isin(answer, [0, 1]).all()), "write 1 where a query may look, 0 where not, and nothing else"
    )
    answer, wanted = answer.astype(bool), CAUSAL & REAL
    mistakes = [
        (~wanted, "your mask is right in the other convention: here 1 means *may be looked at*"),
        (CAUSAL, "padding is not hidden yet: its column must be 0 in every row"),
        (np.broadcast_to(REAL, (4, 4)), "the future is not hidden yet: a query looks no further than itself"),
        (CAUSAL.T & REAL, "rows and columns are swapped: query 0, the first row, has nothing before it"),
        (CAUSAL.T, "rows and columns are swapped, and padding is not hidden: a row belongs to a query"),
        (
            np.tril(CAUSAL, -1) & REAL,
            "a query may look at itself, too: the diagonal belongs to what is allowed",
        ),
        (
            CAUSAL & REAL[:, None],
            "you hid everything *from* padding, a row; what is asked for hides padding, its column",
        ),
    ]
    for wrong, sentence in mistakes:
        expect(not np.array_equal(answer, wrong), sentence)
    row, column = np.argwhere(answer != wanted)[0] if (answer != wanted).any() else (0, 0)
    expect(
        bool((answer == wanted).all()),
        f"query {row} and key {column}: is the key a word, and does it stand no later than the query?",
    )


@exercise("Exercise 2 (a softmax that hides)")
def check_weights(weights_of: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Check a function of scores (..., Tq, Tk) and a mask of ours that returns the weights."""
    generator = torch.Generator().manual_seed(0)
    scores, mask = torch.randn(2, 4, 4, generator=generator), causal_mask(4)
    answer, wanted = weights_of(scores.clone(), mask), masked_softmax(scores, mask)
    expect(
        answer.shape == scores.shape,
        f"the weights have shape {tuple(answer.shape)}, expected {tuple(scores.shape)}",
    )
    mistakes = [
        (masked_softmax(scores, ~mask), "you hid what may be looked at: `mask` is True where one *may* look"),
        (
            torch.softmax(scores, -1) * mask,
            "hidden weights are 0, but the rest does not sum to 1: hide before",
        ),
        (torch.softmax(scores * mask, -1), "a score of 0 is no wall: e⁰ = 1. What has the exponential 0?"),
        (torch.softmax(scores.masked_fill(~mask, -torch.inf), -2), "your columns sum to 1: the rows must"),
        (torch.softmax(scores, -1), "nothing is hidden: the mask changes nothing"),
    ]
    for wrong, sentence in mistakes:
        expect(not close(answer, wrong.nan_to_num()), sentence)
    hidden = answer[..., ~mask]
    expect(
        bool((hidden == 0).all()),
        f"a hidden key still weighs {hidden.abs().max():.1g}: it must be exactly 0",
    )
    expect(close(answer, wanted), "hidden keys weigh 0, but the others are off: softmax over what is left")
    high = weights_of(torch.tensor([[1000.0, 1000.0]]), torch.tensor([[True, True]]))
    expect(close(high, [[0.5, 0.5]]), "scores of 1000 overflow: take the largest off, or use torch.softmax")
    _check_empty_row(weights_of)
    _check_half(weights_of)


def _check_empty_row(weights_of: Callable[[Tensor, Tensor], Tensor]) -> None:
    """A query with nothing to look at gets zeros, and finite gradients."""
    scores = torch.tensor([[1.0, 2.0], [3.0, 1.0]], requires_grad=True)
    mask = torch.tensor([[True, True], [False, False]])
    answer = weights_of(scores, mask)
    row = answer[1].detach()
    expect(not bool(row.isnan().any()), "a row with nothing left is NaN (0/0): it must be all zeros")
    expect(
        not close(row, [0.5, 0.5]),
        "a row with nothing left shares out 1 among hidden keys: one more step must set it to 0",
    )
    expect(
        not close(row, torch.softmax(scores.detach()[1], -1)),
        "a row with nothing left looks as if nothing were hidden: what you added drowned no difference",
    )
    expect(close(row, [0.0, 0.0]), f"a row with nothing left is {row.tolist()}: it must be all zeros")
    expect(
        answer.requires_grad,
        "the weights carry no gradient: stay in torch, so that training can pass through",
    )
    (gradient,) = torch.autograd.grad(answer.square().sum(), scores)
    expect(
        bool(gradient.isfinite().all()),
        "the weights are right, their gradient is NaN: mending NaN afterwards does not mend the way back",
    )


def _check_half(weights_of: Callable[[Tensor, Tensor], Tensor]) -> None:
    """The same in float16, whose largest number is 65,504."""
    scores, mask = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float16), torch.tensor([[True, True, False]])
    try:
        answer = weights_of(scores, mask)
    except RuntimeError as error:
        expect("overflow" not in str(error), "your number does not fit into float16: ask torch.finfo(dtype)")
        raise
    expect(answer.dtype == torch.float16, f"float16 went in, {answer.dtype} came out: keep the dtype")
    expect(close(answer, [[0.2689, 0.7311, 0.0]], 2e-3), "in float16 the weights are off")


@exercise("Exercise 3 (who sees whom)")
def check_sees(sees: Callable[[Callable[[Tensor], Tensor], Tensor], Tensor]) -> None:
    """Check a function of f, which maps (T, D) to (T, D'), and x (T, D): a (T, T) bool answer."""
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    lower, upper = causal_mask(4), causal_mask(4).mT
    answer = torch.as_tensor(sees(mixer(lower), x.clone()))
    expect(
        answer.shape == (4, 4), f"your answer has shape {tuple(answer.shape)}, expected (4, 4): output, input"
    )
    expect(answer.dtype == torch.bool, f"your answer has dtype {answer.dtype}: compare with 0 for yes and no")
    expect(not torch.equal(answer, upper), "rows and columns are swapped: row t belongs to *output* t")
    expect(not torch.equal(answer, ~lower), "yes and no are swapped: True where the derivative is not 0")
    expect(torch.equal(answer, lower), "a causal mixture was not found out: output t sees inputs 0 to t")
    expect(
        torch.equal(torch.as_tensor(sees(mixer(upper), x.clone())), upper),
        "you found a causal mask where there is the opposite: look at the function, do not assume",
    )

    def balanced(x: Tensor) -> Tensor:  # the numbers of a position sum to 0, as behind a LayerNorm
        mixed = mixer(lower)(x)
        return torch.cat([mixed, -mixed], dim=-1)

    expect(
        torch.equal(torch.as_tensor(sees(balanced, x.clone())), lower),
        "an output whose numbers always sum to 0 fools you: do not sum them before you differentiate",
    )
    faint = lower.float() + 1e-9 * upper.float()
    expect(
        bool(torch.as_tensor(sees(mixer(faint), x.clone())).all()),
        "a faint leak (1e-9) went unseen: a closed mask gives exactly 0, so ask for exactly that",
    )


@exercise("Exercise 3 (what it misses)")
def check_unseen(leak: Callable[[Tensor], Tensor]) -> None:
    """Check a function (T, D) -> (T, D') whose output 0 depends on input 1 although the Jacobian is zero."""
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    answer = torch.as_tensor(leak(x.clone()))
    expect(
        answer.dim() == 2 and len(answer) == 4,
        f"your function made {tuple(answer.shape)} of (4, 3): it must give a row for each row of x",
    )
    moves = 10 * torch.randn(20, 3, generator=torch.Generator().manual_seed(1))
    moved = [torch.cat([x[:1], x[1:2] + move, x[2:]]) for move in moves]
    expect(
        any(not torch.equal(leak(other)[0], answer[0]) for other in moved),
        "output 0 stays as it is when input 1 changes: that is no leak, so there is nothing to miss",
    )
    found = jacobian(leak, x)[0, :, 1]
    expect(
        not bool(found.any()),
        "the Jacobian sees this leak: send it through something without a derivative, or with one of 0",
    )


def mixer(weights: Tensor) -> Callable[[Tensor], Tensor]:
    """Make a function that mixes the rows of x (T, D) by weights (T, T), and bends what comes out."""

    def mix(x: Tensor) -> Tensor:
        return torch.sinh(weights.to(x.dtype) @ x)

    return mix
