"""Random arguments for recurrent networks and what ELMo is made of; see `tests.inputs`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.draws import Arguments, Sizes, some_padding


def some_gates(rng: np.random.Generator, n: Sizes, n_gates: int) -> Arguments:
    """w_input, w_hidden, b_input and b_hidden of a cell that reads width A and has a state of width D."""
    rows = n_gates * n.D
    return tuple(rng.normal(size=shape) for shape in ((rows, n.A), (rows, n.D), (rows,), (rows,)))


def some_projected_gates(rng: np.random.Generator, n: Sizes) -> tuple[Arguments, np.ndarray | None]:
    """The same of an LSTM, half of the time with a projection to width K, and that or None."""
    w_input, w_hidden, *biases = some_gates(rng, n, 4)
    if rng.integers(2):
        return (w_input, w_hidden, *biases), None
    return (w_input, rng.normal(size=(4 * n.D, n.K)), *biases), rng.normal(size=(n.K, n.D))


def _lstm_cell(n: Sizes, rng: np.random.Generator) -> Arguments:
    gates, w_project = some_projected_gates(rng, n)
    h, c = rng.normal(size=(n.B, gates[1].shape[1])), rng.normal(size=(n.B, n.D))
    return rng.normal(size=(n.B, n.A)), h, c, *gates, w_project


def _gru(n: Sizes, rng: np.random.Generator) -> Arguments:
    x, mask = _sequence(n, rng)
    h0 = rng.normal(size=(n.B, n.D)) if rng.integers(2) else None
    return x, mask, *some_gates(rng, n, 3), h0, bool(rng.integers(2))


def _lstm(n: Sizes, rng: np.random.Generator) -> Arguments:
    x, mask = _sequence(n, rng)
    gates, w_project = some_projected_gates(rng, n)
    widths = gates[1].shape[1], n.D
    first = [rng.normal(size=(n.B, width)) if rng.integers(2) else None for width in widths]
    return x, mask, *gates, *first, bool(rng.integers(2)), w_project


def _sequence(n: Sizes, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    mask = some_padding(rng, n.B, n.Tq) if rng.integers(3) else None
    return rng.normal(size=(n.B, n.Tq, n.A)), mask


RECURRENT: dict[str, Callable[[Sizes, np.random.Generator], Arguments]] = {
    "gru_cell": lambda n, rng: (
        rng.normal(size=(n.B, n.A)),
        rng.normal(size=(n.B, n.D)),
        *some_gates(rng, n, 3),
    ),
    "lstm_cell": _lstm_cell,
    "gru": _gru,
    "lstm": _lstm,
}
