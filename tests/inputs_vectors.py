"""Random arguments for models that give words vectors; see `tests.inputs`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.draws import Arguments, Sizes, some_like_shapes


def _share(rng: np.random.Generator) -> float:
    return float(rng.choice([1.0, 0.25]))


def _noise(n: Sizes, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Targets (B,) and negatives (B, K) of A words: some negatives are the target itself."""
    return rng.integers(0, n.A, size=n.B), rng.integers(0, n.A, size=(n.B, n.K))


def _tables(n: Sizes, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return some_like_shapes(rng, {"input.weight": (n.A, n.D), "output.weight": (n.A, n.D)})


def _negative_sampling_loss(n: Sizes, rng: np.random.Generator) -> Arguments:
    return rng.normal(size=(n.B, n.D)), *_noise(n, rng), rng.normal(size=(n.A, n.D)), _share(rng)


def _skip_gram_loss(n: Sizes, rng: np.random.Generator) -> Arguments:
    return rng.integers(0, n.A, size=n.B), *_noise(n, rng), _tables(n, rng), _share(rng)


def _cbow_loss(n: Sizes, rng: np.random.Generator) -> Arguments:
    contexts, mask = rng.integers(0, n.A, size=(n.B, n.Tk)), rng.random((n.B, n.Tk)) < 0.5
    mask[np.arange(n.B), rng.integers(0, n.Tk, size=n.B)] = True
    return contexts, mask, *_noise(n, rng), _tables(n, rng), _share(rng)


def _glove_loss(n: Sizes, rng: np.random.Generator) -> Arguments:
    M = n.B * n.Tk
    rows, columns = rng.integers(0, n.A, size=M), rng.integers(0, n.A, size=M)
    shapes = {f"{side}.{kind}": shape for side in ("word", "context")
              for kind, shape in (("weight", (n.A, n.D)), ("bias", (n.A,)))}  # fmt: skip
    entries = rows, columns, np.exp(2 * rng.normal(size=M))
    return entries, some_like_shapes(rng, shapes), float(rng.choice([1.0, 100.0])), 0.75


def _nnlm(n: Sizes, rng: np.random.Generator) -> Arguments:
    joined = n.Tk * n.D
    shapes = {
        "table.weight": (n.A, n.D),
        "hidden.weight": (n.K, joined),
        "hidden.bias": (n.K,),
        "output.weight": (n.A, n.K),
        "output.bias": (n.A,),
    }
    if rng.integers(2):
        shapes["direct.weight"] = (n.A, joined)
    return rng.integers(0, n.A, size=(n.B, n.Tk)), some_like_shapes(rng, shapes)


VECTORS: dict[str, Callable[[Sizes, np.random.Generator], Arguments]] = {
    "nnlm": _nnlm,
    "negative_sampling_loss": _negative_sampling_loss,
    "skip_gram_loss": _skip_gram_loss,
    "cbow_loss": _cbow_loss,
    "glove_loss": _glove_loss,
}
