"""Weights as the browser gets them: whole numbers of one or two bytes, times a step for each row."""

from typing import NamedTuple

import numpy as np

FEW = 2**18  # weights: up to here two bytes each are affordable
COARSEST = 1 / 168  # a step of one byte, at most
ERROR = {2: "0.00001", 1: "0.003"}  # a weight is off by less than this, by its bytes


class Quantised(NamedTuple):
    """Weights as `levels * steps[:, None]`."""

    levels: np.ndarray  # (Tq, Tk) uint8 or uint16
    steps: np.ndarray  # (Tq,) float32


def bytes_each(n_weights: int) -> int:
    """How many bytes a weight gets when there are `n_weights` in all: two if they are few, else one."""
    return 2 if n_weights <= FEW else 1


def quantise(weights: np.ndarray, n_bytes: int) -> Quantised:
    """Round the weights of one head to whole steps.

    With two bytes a step is 1/65535. With one byte a row has up to 255 steps, but none much finer than 0.8 of
    what each key gets if all get the same: finer ones carry noise that no picture shows, and noise does not
    compress. Zero and the largest weight of a row stay exact; the error is less than `ERROR[n_bytes]`.

    Parameters
    ----------
    weights : (Tq, Tk) array
        Between 0 and 1.
    n_bytes : int
        1 or 2.

    Returns
    -------
    Quantised

    Examples
    --------
    >>> levels, steps = quantise(np.array([[0.25, 0.75]]), 1)
    >>> (levels * steps[:, None]).round(3).tolist()
    [[0.25, 0.75]]
    """
    weights = np.clip(weights, 0.0, 1.0)
    if n_bytes == 2:
        steps = np.full(len(weights), 1 / 65535, dtype=np.float32)
        return Quantised(np.rint(weights * 65535).astype("<u2"), steps)
    largest = weights.max(axis=1, initial=0.0)
    finest = min(COARSEST, 0.8 / weights.shape[1])
    n_steps = np.clip(np.ceil(largest / finest), 1, 255)
    steps = (np.where(largest > 1e-30, largest, 1.0) / n_steps).astype(np.float32)
    return Quantised(np.rint(weights / steps[:, None]).astype(np.uint8), steps)


def thumbnail(weights: np.ndarray, pixels: int = 40) -> np.ndarray:
    """A small picture of one head: the largest weight of each block, as 0 to 255.

    The largest, not the mean: one strong link among hundreds is what there is to see.

    Parameters
    ----------
    weights : (Tq, Tk) array
    pixels : int
        Rows and columns of the picture at most; a shorter sentence has a pixel for each token.

    Returns
    -------
    (min(Tq, pixels), min(Tk, pixels)) uint8 array
    """
    edges = [np.arange(min(n, pixels)) * n // min(n, pixels) for n in weights.shape]
    blocks = np.maximum.reduceat(np.maximum.reduceat(weights, edges[0], axis=0), edges[1], axis=1)
    return np.asarray(np.rint(255 * np.clip(blocks, 0.0, 1.0)), dtype=np.uint8)
