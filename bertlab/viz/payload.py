"""All arithmetic of the explorers: arrays and tokens in, what the browser draws out. Nothing here draws."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def as_array(values: ArrayLike) -> np.ndarray:
    """A float64 NumPy array of anything array-like; a PyTorch tensor may need gradients, on any device."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().double()
    return np.asarray(values, dtype=float)


def entropy(probabilities: ArrayLike, axis: int = -1) -> np.ndarray:
    """Entropy in bits: 0 when one outcome is certain, log2(n) when all n are equally likely.

    Parameters
    ----------
    probabilities : (..., n) array
        Summing to 1 along `axis`. An outcome of probability 0 adds nothing.

    Returns
    -------
    (...) array

    Examples
    --------
    >>> float(entropy([0.5, 0.5])), float(entropy([1.0, 0.0])), float(entropy([0.25] * 4))
    (1.0, 0.0, 2.0)
    """
    p = as_array(probabilities)
    return np.asarray(np.abs((p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=axis)))


def check_index(name: str, index: int, n: int) -> int:
    """Give back `index`, or raise ValueError if it is not one of 0 to n − 1."""
    if not 0 <= index < n:
        raise ValueError(f"{name}={index}: there are {n}, from 0")
    return index


DECIMALS = 6  # of what is sent: the browser rounds to 2 or 3, and must not round a rounded number up
MOST_CELLS = 12  # of a vector that is drawn: more would be too small to see


def cells(vectors: ArrayLike) -> list[list[float]]:
    """The first twelve numbers of each vector, scaled so that the largest is 1 or −1: how strongly to colour.

    Parameters
    ----------
    vectors : (n, D) array

    Returns
    -------
    n lists of at most 12 numbers

    Examples
    --------
    >>> cells([[1.0, -4.0], [2.0, 0.0]])
    [[0.25, -1.0], [0.5, 0.0]]
    """
    first = as_array(vectors)[:, :MOST_CELLS]
    peak = np.abs(first).max(initial=0.0) or 1.0
    return [[round(float(x), 3) for x in row] for row in first / peak]


def softmax_table(scores: ArrayLike, temperatures: ArrayLike) -> np.ndarray:
    """The softmax of the same scores at every temperature.

    Parameters
    ----------
    scores : (n,) array
    temperatures : (m,) array
        Above 0. Near 0 the largest score takes all; when large, all get the same.

    Returns
    -------
    (m, n) array
        Each row sums to 1.

    Raises
    ------
    ValueError
        If a temperature is not above 0.
    """
    divisors = as_array(temperatures)[:, None]
    if not (divisors > 0).all():
        raise ValueError(
            f"temperature {divisors.min():g}: scores are divided by it, so give a number above 0"
        )
    scaled = as_array(scores)[None] / divisors
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def temperature_payload(
    scores: ArrayLike, labels: Sequence[str], temperatures: ArrayLike, marks: Mapping[str, float]
) -> dict[str, Any]:
    """What the temperature slider shows at each of its places.

    Parameters
    ----------
    scores : (n,) array
    labels : sequence of n strings
    temperatures : (m,) array
        Rising; the places of the slider.
    marks : mapping of name to temperature
        Each gets a button that moves the slider there; each must be one of `temperatures`.

    Returns
    -------
    dict
        Ready for JSON.

    Raises
    ------
    ValueError
        If there is not one label for each score, or a mark is not on the slider.
    """
    scores, places = as_array(scores), as_array(temperatures)
    if scores.shape != (len(labels),):
        raise ValueError(
            f"scores of shape {scores.shape} and {len(labels)} labels: give one label for each score"
        )
    off = [name for name, mark in marks.items() if not np.isclose(places, mark, rtol=1e-9).any()]
    if off:
        raise ValueError(
            f"mark {off[0]!r} at {marks[off[0]]:g} is not on the slider: add it to the temperatures"
        )
    table = softmax_table(scores, places)
    return {
        "labels": list(labels),
        "scores": [f"{score:.3g}".replace("-", "−") for score in scores],
        "temperatures": [f"{place:.3g}" for place in places],
        "probabilities": np.round(table, DECIMALS).tolist(),
        "entropies": [f"{bits:.2f}" for bits in entropy(table)],
        "most": f"{np.log2(len(labels)):.2f}",
        "marks": [[name, int(np.abs(places - mark).argmin())] for name, mark in marks.items()],
    }
