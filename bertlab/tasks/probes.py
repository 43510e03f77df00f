"""What can be read off a state: linear probes, and the control that tells knowledge from mere room.

A probe is a linear classifier on frozen states. That it succeeds need not mean that the model knows: with
enough numbers, a probe can learn any word's label by heart. So it is trained on a control task, too, in which
each kind of word has a label drawn once; what it does better on the real one is its selectivity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PENALTIES = (1.0, 10.0, 100.0, 1000.0)  # of the squares of the weights; of normed states


class Probed(NamedTuple):
    """What a probe says of states that it was not trained on."""

    guesses: list[str]
    penalty: float  # the one with which states left out of the fit were told best


def probe(x: Floats, labels: Sequence[str], asked: Floats) -> Probed:
    """Train a linear probe, and ask it.

    Parameters
    ----------
    x : (n, D) states, and their labels.
    asked : (m, D) other states.

    Returns
    -------
    `Probed`; each number of the states is brought to mean 0 and deviation 1 before, by those of x.

    Raises
    ------
    ValueError
        If there is not one label for each state, or the states are not equally wide.

    References
    ----------
    Alain and Bengio 2017, "Understanding intermediate layers using linear classifier probes".

    Examples
    --------
    >>> probe(np.array([[0.0], [1.0], [9.0], [8.0]]), [*"aabb"], np.array([[0.5], [7.0]])).guesses
    ['a', 'b']
    """
    if len(labels) != len(x):
        raise ValueError(f"{len(labels)} labels for {len(x)} states: give one for each")
    if x.ndim != 2 or asked.ndim != 2 or x.shape[1] != asked.shape[1]:
        raise ValueError(f"states of shapes {x.shape} and {asked.shape}: give (n, D) and (m, D)")
    middle, spread = x.mean(0), x.std(0)
    spread = np.where(spread > 0, spread, 1)
    guesses, errors = ridge((x - middle) / spread, labels, (asked - middle) / spread)
    best = int(errors.argmin())
    return Probed(guesses[best], PENALTIES[best])


def control_labels(words: Sequence[str], labels: Sequence[str], rng: np.random.Generator) -> dict[str, str]:
    """Draw a label for each kind of word, as often as the real ones: the control task.

    Parameters
    ----------
    words : of all states, those of training and those asked for.
    labels : of the real task.
    rng : source of chance.

    Returns
    -------
    from a word to its label.

    References
    ----------
    Hewitt and Liang 2019, "Designing and interpreting probes with control tasks", sec. 2.

    Examples
    --------
    >>> drawn = control_labels(["a", "b", "a"], ["x", "y"], np.random.default_rng(0))
    >>> sorted(drawn), {*drawn.values()} <= {"x", "y"}
    (['a', 'b'], True)
    """
    kinds = sorted(set(words))
    return dict(zip(kinds, rng.choice(list(labels), len(kinds)).tolist(), strict=True))


def ridge(x: Floats, labels: Sequence[str], asked: Floats) -> tuple[list[list[str]], Floats]:
    """Fit a ridge regression to the classes for each penalty.

    Parameters
    ----------
    x : (n, D) states, and their labels.
    asked : (m, D)

    Returns
    -------
    guesses : for each of `PENALTIES` the classes of `asked`.
    errors : for each, the squared errors of x when each is left out of its own fit, summed.

    References
    ----------
    Hastie et al. 2009, "The Elements of Statistical Learning", sec. 3.4.1 and eq. 7.64.

    Examples
    --------
    >>> guesses, _ = ridge(np.array([[0.0], [1.0], [9.0], [8.0]]), [*"aabb"], np.array([[0.5], [7.0]]))
    >>> guesses[0]
    ['a', 'b']
    """
    classes = sorted(set(labels))
    y = np.array([[label == one for one in classes] for label in labels], dtype=np.float64)
    x_mean, y_mean = x.mean(0), y.mean(0)
    u, s, vt = np.linalg.svd(x - x_mean, full_matrices=False)
    guesses, errors = [], []
    for penalty in PENALTIES:
        shrunk = s**2 / (s**2 + penalty)
        fitted = u @ (shrunk[:, None] * (u.T @ (y - y_mean))) + y_mean
        own = 1 / len(x) + (u**2 * shrunk).sum(1)  # what a label adds to its own prediction
        errors.append((((y - fitted) / (1 - own)[:, None]) ** 2).sum())
        weights = vt.T @ ((s / (s**2 + penalty))[:, None] * (u.T @ (y - y_mean)))
        scores = (asked - x_mean) @ weights + y_mean
        guesses.append([classes[i] for i in scores.argmax(1)])
    return guesses, np.array(errors)
