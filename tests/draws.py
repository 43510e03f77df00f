"""Sizes and numbers that random arguments are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Sizes:
    """One drawn shape. Every size may be 1, and Tq, Tk and the widths differ more often than not."""

    B: int
    Tq: int
    Tk: int
    H: int
    K: int
    D: int
    A: int


def some_padding(rng: np.random.Generator, B: int, T: int) -> np.ndarray:
    """(B, T), True = a real token; padded on the right, some with holes, some rows with no token at all."""
    mask = np.arange(T) < rng.integers(0, T + 1, size=(B, 1))
    return mask & (rng.random((B, T)) < 0.7) if rng.integers(4) == 0 else mask


def some_like_shapes(rng: np.random.Generator, shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Normal numbers under the names and in the shapes that are given."""
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}
