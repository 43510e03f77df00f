"""Random arguments for recurrent networks and what ELMo is made of; see `tests.inputs`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tests.draws import Arguments, Sizes, some_like_shapes, some_padding


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


def _characters(n: Sizes, rng: np.random.Generator, *leading: int) -> np.ndarray:
    """Words (..., C) of characters 1 to A, zeros behind their end; some have none."""
    real = np.arange(n.Tk) < rng.integers(0, n.Tk + 1, size=(*leading, 1))
    return np.where(real, rng.integers(1, n.A + 1, size=real.shape), 0)


def _character_cnn_params(n: Sizes, rng: np.random.Generator, d_model: int) -> dict[str, np.ndarray]:
    """A table of A characters and the 0, filters of two widths, H highway layers."""
    numbers = {1 + n.K % 3: 2, 3: n.K}  # of each width
    F = sum(numbers.values())
    shapes: dict[str, tuple[int, ...]] = {"characters.weight": (n.A + 1, 2)}
    for i, (width, number) in enumerate(numbers.items()):
        shapes |= {f"filters.{i}.weight": (number, 2, width), f"filters.{i}.bias": (number,)}
    for i in range(n.H):
        parts = (f"highways.{i}.transform", f"highways.{i}.gate")
        shapes |= {f"{part}.weight": (F, F) for part in parts} | {f"{part}.bias": (F,) for part in parts}
    return some_like_shapes(rng, shapes | {"project.weight": (d_model, F), "project.bias": (d_model,)})


def _character_cnn(n: Sizes, rng: np.random.Generator) -> Arguments:
    return _characters(n, rng, n.B, n.Tq), _character_cnn_params(n, rng, n.D)


def _highway(n: Sizes, rng: np.random.Generator) -> Arguments:
    shapes = {f"{part}.{kind}": shape for part in ("transform", "gate")
              for kind, shape in (("weight", (n.D, n.D)), ("bias", (n.D,)))}  # fmt: skip
    return rng.normal(size=(n.B, n.Tq, n.D)), some_like_shapes(rng, shapes)


def _scalar_mix(n: Sizes, rng: np.random.Generator) -> Arguments:
    layers = rng.normal(size=(n.H, n.B, n.Tq, n.D))
    return layers, rng.normal(size=n.H), np.array(rng.normal()), bool(rng.integers(2)), 0.1


def _small(n: Sizes) -> Sizes:
    """Every parameter will be nudged: few of them, all the same."""
    return replace(n, H=1 + n.H % 2, K=1 + n.K % 2, D=1 + n.D % 2)


def _both_ways_params(n: Sizes, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Two layers in each direction, of width D, with memories of K."""
    shapes = {"w_input": (4 * n.K, n.D), "w_hidden": (4 * n.K, n.D), "b_input": (4 * n.K,)}
    shapes |= {"b_hidden": (4 * n.K,), "w_project": (n.D, n.K)}
    stacks = [f"{direction}.{i}" for direction in ("forwards", "backwards") for i in range(2)]
    return some_like_shapes(rng, {f"{stack}.{name}": shapes[name] for stack in stacks for name in shapes})


def _bidirectional_lm(n: Sizes, rng: np.random.Generator) -> Arguments:
    n = _small(n)
    mask = some_padding(rng, n.B, n.Tq) if rng.integers(3) else None
    return rng.normal(size=(n.B, n.Tq, n.D)), _both_ways_params(n, rng), mask


def _elmo(n: Sizes, rng: np.random.Generator) -> Arguments:
    """Half of the models read ids, half characters."""
    n = _small(n)
    mask = some_padding(rng, n.B, n.Tq) if rng.integers(3) else None
    layers = {f"layers.{name}": value for name, value in _both_ways_params(n, rng).items()}
    if rng.integers(2):
        ids = rng.integers(0, n.A, size=(n.B, n.Tq))
        return ids, {"embeddings.weight": rng.normal(size=(n.A, n.D)), **layers}, mask
    spelled = {f"embeddings.{name}": value for name, value in _character_cnn_params(n, rng, n.D).items()}
    return _characters(n, rng, n.B, n.Tq), spelled | layers, mask


def _bidirectional_lm_loss(n: Sizes, rng: np.random.Generator) -> Arguments:
    inputs, own, mask = _elmo(n, rng)
    D = _small(n).D
    params = {f"elmo.{name}": value for name, value in own.items()}
    params["output.bias"] = rng.normal(size=n.A)
    if inputs.ndim == 2:
        return inputs, inputs, params, mask
    ids = np.where(rng.random((n.B, n.Tq)) < 0.8, rng.integers(0, n.A, size=(n.B, n.Tq)), -100)
    return inputs, ids, {**params, "output.weight": rng.normal(size=(n.A, D))}, mask


RECURRENT: dict[str, Callable[[Sizes, np.random.Generator], Arguments]] = {
    "gru_cell": lambda n, rng: (
        rng.normal(size=(n.B, n.A)),
        rng.normal(size=(n.B, n.D)),
        *some_gates(rng, n, 3),
    ),
    "lstm_cell": _lstm_cell,
    "gru": _gru,
    "lstm": _lstm,
    # ELMo
    "highway": _highway,
    "character_cnn": _character_cnn,
    "scalar_mix": _scalar_mix,
    "bidirectional_lm": _bidirectional_lm,
    "elmo": _elmo,
    "bidirectional_lm_loss": _bidirectional_lm_loss,
}
