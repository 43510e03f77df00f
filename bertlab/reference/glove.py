"""GloVe: vectors whose products are the logarithms of how often words meet, by weighted least squares."""

from collections.abc import Mapping

import numpy as np

from bertlab.reference.functional import embedding, embedding_vjp
from bertlab.reference.parameters import check_names
from bertlab.reference.types import Floats, Ints

NAMES = ("word.weight", "context.weight", "word.bias", "context.bias")
Entries = tuple[Ints, Ints, Floats]


def glove_weights(counts: Floats, cut: float = 100.0, power: float = 0.75) -> Floats:
    """Say how much an entry counts: the more, the more often its words met, up to a limit.

    Parameters
    ----------
    counts : (M,) float array, X.
    cut : the count from which the weight is 1.
    power : how fast it rises until then.

    Returns
    -------
    (M,) float array: ``min(1, X / cut) ** power``.

    References
    ----------
    Pennington et al. 2014, sec. 3, eq. (9).

    Examples
    --------
    >>> glove_weights(np.array([0.0, 100 / 16, 100.0, 5000.0])).tolist()
    [0.0, 0.125, 1.0, 1.0]
    """
    return np.minimum(counts / cut, 1.0) ** power


def glove_loss(
    entries: Entries, params: Mapping[str, Floats], cut: float = 100.0, power: float = 0.75
) -> float:
    """Sum of the weighted squared errors of the logarithms.

    Parameters
    ----------
    entries : rows, columns, counts, each (M,): word `rows[m]` met word `columns[m]` `counts[m]` times. Only
        pairs that did meet: counts are positive.
    params : "word.weight" and "context.weight" (V, D), "word.bias" and "context.bias" (V,).
    cut, power : as in `glove_weights`.

    Returns
    -------
    float: ``Σ f(X) (w·c + b_w + b_c - log X)²``.

    Raises
    ------
    ValueError
        If a count is not positive, an id has no row, or a parameter is missing or left over.

    References
    ----------
    Pennington et al. 2014, sec. 3, eq. (8).

    Examples
    --------
    >>> names = ("word.weight", "context.weight", "word.bias", "context.bias")
    >>> params = {name: np.zeros((2, 1) if "weight" in name else 2) for name in names}
    >>> entries = np.array([0]), np.array([1]), np.array([100.0])
    >>> round(glove_loss(entries, params), 4)  # log(100)²
    21.2076
    """
    errors = _errors(entries, params)
    return float((glove_weights(entries[2], cut, power) * errors**2).sum())


def glove_loss_vjp(
    grad: float,
    entries: Entries,
    params: Mapping[str, Floats],
    cut: float = 100.0,
    power: float = 0.75,
) -> dict[str, Floats]:
    """Pull a gradient back through `glove_loss`, to the parameters.

    Parameters
    ----------
    grad : gradient with respect to the loss.
    entries, params, cut, power : as in `glove_loss`.

    Returns
    -------
    A dict of gradients by name.
    """
    rows, columns, counts = entries
    slope = 2 * grad * glove_weights(counts, cut, power) * _errors(entries, params)  # (M,)
    word, context = params["word.weight"], params["context.weight"]
    return {
        "word.weight": embedding_vjp(slope[:, None] * context[columns], rows, word),
        "context.weight": embedding_vjp(slope[:, None] * word[rows], columns, context),
        "word.bias": embedding_vjp(slope[:, None], rows, params["word.bias"][:, None])[:, 0],
        "context.bias": embedding_vjp(slope[:, None], columns, params["context.bias"][:, None])[:, 0],
    }


def _errors(entries: Entries, params: Mapping[str, Floats]) -> Floats:
    """What each entry is too high, in nats (M,)."""
    check_names(params, NAMES)
    rows, columns, counts = entries
    if not (counts > 0).all():
        raise ValueError(f"a count of {counts.min()} has no logarithm: keep the pairs that did meet")
    product: Floats = (
        embedding(rows, params["word.weight"]) * embedding(columns, params["context.weight"])
    ).sum(axis=-1)
    return product + params["word.bias"][rows] + params["context.bias"][columns] - np.log(counts)
