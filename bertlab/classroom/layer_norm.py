"""Checks for the exercises of notebook 05, residual connections and LayerNorm."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from bertlab.classroom.checks import close, exercise, expect
from bertlab.reference.functional import layer_norm, layer_norm_vjp
from bertlab.reference.types import Floats

X = np.array([2.0, 4.0, 4.0, 10.0])  # mean 5, variance 9
GAIN, BIAS = np.array([1.0, 3.0, 1.0, 3.0]), np.array([0.0, 1.0, 0.0, -1.0])
Sublayer = Callable[[Tensor], Tensor]


@exercise("Exercise 1 (by hand)")
def check_by_hand(answer: Sequence[float]) -> None:
    """Check LayerNorm of one vector with gain and bias, four numbers."""
    given = np.asarray(answer, dtype=float)
    expect(given.shape == (4,), f"your answer has shape {given.shape}, not (4,): one number for each feature")
    centred = X - 5
    normed = centred / 3
    mistakes = [
        (normed, "that is the normed vector; gain and bias are still missing"),
        (normed * GAIN, "the bias is still missing"),
        ((normed + BIAS) * GAIN, "the gain comes first, then the bias: the bias is not multiplied"),
        (GAIN * centred + BIAS, "the mean is taken off, but nothing is divided yet"),
        (GAIN * centred / 9 + BIAS, "you divided by the variance 9; divide by its root"),
        (
            GAIN * centred / np.sqrt(12) + BIAS,
            "you divided the squares by 3; LayerNorm divides by their number, 4",
        ),
        (GAIN * X / 3 + BIAS, "the mean was not taken off before the division"),
        (GAIN * X / np.sqrt((X**2).mean()) + BIAS, "that is RMSNorm: the mean was not taken off"),
    ]
    for wrong, sentence in mistakes:
        expect(not close(given, wrong, 0.01), sentence)
    wanted = GAIN * normed + BIAS
    for place in range(4):
        expect(
            close(given[place], wanted[place], 0.01),
            f"feature {place} is {given[place]:.3g}: take off the mean 5, divide by 3, times "
            f"{GAIN[place]:g}, plus {BIAS[place]:g}",
        )


@exercise("Exercise 2 (both blocks)")
def check_block(
    block: Callable[[Tensor, Sublayer, Sublayer, Sublayer, Sublayer, bool], Tensor],
) -> None:
    """Check a function of x, attention, feed-forward, two norms and `norm_first` that returns the block."""
    generator = torch.Generator().manual_seed(0)
    x, *matrices = (torch.randn(4, 4, generator=generator).double() for _ in range(5))
    a, f, m, n = (_bend(matrix) for matrix in matrices)
    for norm_first, mistakes in ((False, _post_mistakes), (True, _pre_mistakes)):
        answer = block(x.clone(), a, f, m, n, norm_first)
        expect(answer.shape == x.shape, f"x has shape {tuple(x.shape)}, your output {tuple(answer.shape)}")
        where = "with norm_first=True: " if norm_first else "with norm_first=False: "
        for wrong, sentence in mistakes(x, a, f, m, n):
            expect(not close(answer, wrong), where + sentence)
        middle = x + a(m(x)) if norm_first else m(x + a(x))
        wanted = middle + f(n(middle)) if norm_first else n(middle + f(middle))
        expect(close(answer, wanted), where + "the output is another: write it down for one sublayer first")


def _bend(matrix: Tensor) -> Sublayer:
    """A function that no other of these undoes or passes through."""
    return lambda x: torch.tanh(x @ matrix) + 0.1 * x


def _post_mistakes(x: Tensor, a: Sublayer, f: Sublayer, m: Sublayer, n: Sublayer) -> list[tuple[Tensor, str]]:
    pre = x + a(m(x))
    after = m(x + a(x))
    return [
        (pre + f(n(pre)), "that is pre-LN: in post-LN the norm takes the sum"),
        (n(f(m(a(x)))), "nothing is added: x must go past the sublayer"),
        (x + n(f(x + m(a(x)))), "you normed what the sublayer found, not the sum"),
        ((x + m(a(x))) + n(f(x + m(a(x)))), "you normed what the sublayer found, not the sum"),
        (
            n(x + f(after)),
            "the second sum starts from x again: it must start from the first sublayer's output",
        ),
        (m(after + f(after)), "both norms are the first one: each sublayer has its own"),
        ((x + a(x)) + f(x + a(x)), "both norms are missing"),
        (n(after + f(x)), "the feed-forward network reads x, not what the attention has made of it"),
    ]


def _pre_mistakes(x: Tensor, a: Sublayer, f: Sublayer, m: Sublayer, n: Sublayer) -> list[tuple[Tensor, str]]:
    post = m(x + a(x))
    middle = x + a(m(x))
    normed = m(x) + a(m(x))
    return [
        (n(post + f(post)), "that is post-LN: in pre-LN the norm stands before the sublayer"),
        (
            n(normed) + f(n(normed)),
            "you added to the *normed* x: the stream goes on as it was, the norm is for the sublayer alone",
        ),
        (middle + f(m(middle)), "both norms are the first one: each sublayer has its own"),
        (middle + f(n(x)), "the feed-forward network reads x, not what the attention has made of it"),
        (middle + f(middle), "the second norm is missing"),
        (x + f(n(middle)), "the second sum starts from x again: what the attention found is lost"),
        (f(n(a(m(x)))), "nothing is added: x must go past the sublayer"),
        (
            n(middle) + f(n(middle)),
            "the second sum starts from the normed stream: add to what was not normed",
        ),
    ]


@exercise("Exercise 3 (the way back)")
def check_backward(backward: Callable[[Floats, Floats, float], Floats]) -> None:
    """Check a function of the output's gradient (T, D), x (T, D) and eps: the gradient of x, without gain."""
    rng = np.random.default_rng(0)
    x, grad, eps = 3 * rng.normal(size=(3, 5)), rng.normal(size=(3, 5)), 0.5
    answer = np.asarray(backward(grad.copy(), x.copy(), eps))
    expect(answer.shape == x.shape, f"x has shape {x.shape}, your gradient {answer.shape}")
    one, none = np.ones(5), np.zeros(5)
    wanted = layer_norm_vjp(grad, x, one, none, eps)[0]
    variance = x.var(axis=-1, keepdims=True)
    root = np.sqrt(variance + eps)
    normed = layer_norm(x, one, none, eps)
    shift = grad.mean(axis=-1, keepdims=True)
    stretch = normed * (grad * normed).mean(axis=-1, keepdims=True)
    mistakes = [
        (
            grad / root,
            "mean and deviation are no constants: they move with x, and two parts are to be taken out",
        ),
        (
            (grad - shift) / root,
            "the shift is taken out; the stretch is not yet: the deviation moves with x, too",
        ),
        (
            (grad - stretch) / root,
            "the stretch is taken out; the shift is not yet: the mean moves with x, too",
        ),
        (grad - shift - stretch, "both parts are out; the division by the deviation is missing"),
        ((grad - shift - stretch) / (variance + eps), "divide by the root, not by variance + eps"),
        ((grad - shift + stretch) / root, "the stretch must be taken *off*: its sign is wrong"),
        ((grad + shift - stretch) / root, "the shift must be taken *off*: its sign is wrong"),
        (layer_norm_vjp(grad, x, one, none, 0.0)[0], "eps is missing: the root has variance + eps inside"),
        (
            (grad - grad.mean(axis=0) - normed * (grad * normed).mean(axis=0)) / root,
            "your means run over the positions: they run over the features of each, axis=-1, keepdims=True",
        ),
    ]
    for wrong, sentence in mistakes:
        expect(not close(answer, wrong), sentence)
    expect(
        close(answer, wanted), "the gradient is another: compare with numerical_gradient, one part at a time"
    )
