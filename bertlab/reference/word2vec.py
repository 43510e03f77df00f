"""Word2Vec's two models: a word predicts the words around it, or the words around it predict the word."""

from collections.abc import Mapping

import numpy as np

from bertlab.reference.functional import embedding, embedding_vjp
from bertlab.reference.negative_sampling import negative_sampling_loss, negative_sampling_loss_vjp
from bertlab.reference.parameters import check_names
from bertlab.reference.types import Bools, Floats, Ints

NAMES = ("input.weight", "output.weight")


def skip_gram_loss(
    centres: Ints, targets: Ints, negatives: Ints, params: Mapping[str, Floats], share: float = 1.0
) -> float:
    """Ask each word for one of the words around it.

    Parameters
    ----------
    centres, targets : (B,) integer arrays, a word and one that stands near it.
    negatives : (B, N) integer array, words drawn from noise.
    params : ``{"input.weight": (V, D), "output.weight": (V, D)}``; the word vectors are the input's rows.
    share : as in `negative_sampling_loss`.

    Returns
    -------
    float: the mean loss of a pair, in nats.

    Raises
    ------
    ValueError
        As in `negative_sampling_loss`; or if a parameter is missing or left over.

    References
    ----------
    Mikolov et al. 2013a, sec. 3.2; 2013b, sec. 2.2, eq. (4).

    Examples
    --------
    >>> params = {"input.weight": np.ones((2, 1)), "output.weight": np.zeros((2, 1))}
    >>> round(skip_gram_loss(np.array([0]), np.array([1]), np.array([[0]]), params), 4)  # 2 log 2
    1.3863
    """
    check_names(params, NAMES)
    hidden = embedding(centres, params["input.weight"])  # (B, D)
    return negative_sampling_loss(hidden, targets, negatives, params["output.weight"], share)


def skip_gram_loss_vjp(
    grad: float,
    centres: Ints,
    targets: Ints,
    negatives: Ints,
    params: Mapping[str, Floats],
    share: float = 1.0,
) -> dict[str, Floats]:
    """Pull a gradient back through `skip_gram_loss`, to both tables.

    Parameters
    ----------
    grad : gradient with respect to the loss.
    centres, targets, negatives, params, share : as in `skip_gram_loss`.

    Returns
    -------
    A dict of gradients by name.
    """
    table = params["input.weight"]
    d_hidden, d_output = negative_sampling_loss_vjp(
        grad, embedding(centres, table), targets, negatives, params["output.weight"], share
    )
    return {"input.weight": embedding_vjp(d_hidden, centres, table), "output.weight": d_output}


def cbow_loss(
    contexts: Ints,
    mask: Bools,
    targets: Ints,
    negatives: Ints,
    params: Mapping[str, Floats],
    share: float = 1.0,
) -> float:
    """Ask the mean of the words around a place which word stands there: a bag of words, without order.

    Parameters
    ----------
    contexts : (B, C) integer array, the words around.
    mask : (B, C) bool array, True where there is a word; at least one in each row.
    targets : (B,) integer array, the words in the middle.
    negatives : (B, N) integer array, words drawn from noise.
    params : ``{"input.weight": (V, D), "output.weight": (V, D)}``; the word vectors are the input's rows.
    share : as in `negative_sampling_loss`.

    Returns
    -------
    float: the mean loss of a place, in nats.

    Raises
    ------
    ValueError
        As in `negative_sampling_loss`; if a row has no word; or if a parameter is missing or left over.

    References
    ----------
    Mikolov et al. 2013a, sec. 3.1. The mean is differentiated as a mean: word2vec's own code hands each word
    the whole gradient; Irsoy et al. 2021 ("Corrected CBOW performs as well as skip-gram") found that to hurt.

    Examples
    --------
    >>> params = {"input.weight": np.array([[0.0], [2.0]]), "output.weight": np.ones((2, 1))}
    >>> contexts, mask = np.array([[0, 1]]), np.array([[True, True]])
    >>> round(cbow_loss(contexts, mask, np.array([1]), np.array([[0]]), params), 4)  # the mean is 1
    1.6265
    """
    check_names(params, NAMES)
    hidden = _mean(contexts, mask, params["input.weight"])[0]
    return negative_sampling_loss(hidden, targets, negatives, params["output.weight"], share)


def cbow_loss_vjp(
    grad: float,
    contexts: Ints,
    mask: Bools,
    targets: Ints,
    negatives: Ints,
    params: Mapping[str, Floats],
    share: float = 1.0,
) -> dict[str, Floats]:
    """Pull a gradient back through `cbow_loss`, to both tables.

    Parameters
    ----------
    grad : gradient with respect to the loss.
    contexts, mask, targets, negatives, params, share : as in `cbow_loss`.

    Returns
    -------
    A dict of gradients by name.
    """
    table = params["input.weight"]
    hidden, shares = _mean(contexts, mask, table)
    d_hidden, d_output = negative_sampling_loss_vjp(
        grad, hidden, targets, negatives, params["output.weight"], share
    )
    d_vectors = shares[:, :, None] * d_hidden[:, None]  # (B, C, D): each word has its part in the mean
    return {"input.weight": embedding_vjp(d_vectors, contexts, table), "output.weight": d_output}


def _mean(contexts: Ints, mask: Bools, table: Floats) -> tuple[Floats, Floats]:
    """Mean vector of the words around (B, D), and what share each has in it (B, C)."""
    count = mask.sum(axis=1, keepdims=True)  # (B, 1)
    if not count.all():
        raise ValueError(
            f"row {int(np.argmin(count))} of mask has no word: leave out a place without context"
        )
    shares: Floats = mask / count
    vectors = embedding(contexts, table)  # (B, C, D)
    return (shares[:, :, None] * vectors).sum(axis=1), shares
