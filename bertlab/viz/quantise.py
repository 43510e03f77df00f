"""Weights as the browser gets them: whole numbers of one or two bytes, times a step for each row."""

from typing import NamedTuple

import numpy as np

FEW = 2**18  # weights: up to here two bytes each are affordable
ERROR = {2: 0.5 / 65535, 1: 0.5 / 255}  # at most, by bytes a weight


class Quantised(NamedTuple):
    """Weights as `levels * steps[:, None]`."""

    levels: np.ndarray  # (Tq, Tk) uint8 or uint16
    steps: np.ndarray  # (Tq,) float32


def bytes_each(n_weights: int) -> int:
    """How many bytes a weight gets when there are `n_weights` in all: two if they are few, else one."""
    return 2 if n_weights <= FEW else 1


def quantise(weights: np.ndarray, n_bytes: int) -> Quantised:
    """Round the weights of one head to whole steps.

    With two bytes a step is 1/65535. With one byte it is 1/255 of the row's largest weight, but not less than
    half of what a uniform row would have, 1/(2 Tk), or 1/256 below 128 keys: finer steps would carry noise
    that no picture shows, and noise does not compress. Zero stays zero. The error is at most `ERROR[n_bytes]`.

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
    finest = 1 / (2 * max(128, weights.shape[1]))
    steps = np.maximum(weights.max(axis=1, initial=0.0) / 255, finest).astype(np.float32)
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
