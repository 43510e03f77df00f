"""Negative sampling: instead of scoring every word, tell the true one from a few that are drawn at random."""

import numpy as np

from bertlab.reference.activations import sigmoid
from bertlab.reference.functional import embedding, embedding_vjp
from bertlab.reference.types import Floats, Ints


def negative_sampling_loss(
    hidden: Floats, targets: Ints, negatives: Ints, table: Floats, share: float = 1.0
) -> float:
    """Mean surprise at "this is the word, and those are noise", in nats.

    A negative that is the target itself does not count, as in word2vec's own code. Other words of the window
    may well be drawn as negatives.

    Parameters
    ----------
    hidden : (B, D) float array, what is known of the place: a word's vector, or the mean of several.
    targets : (B,) integer array, the words that stand there.
    negatives : (B, N) integer array, words drawn from noise.
    table : (V, D) float array, the output vectors.
    share : how much a negative counts. 1 in the paper; k / N lets N negatives stand for k.

    Returns
    -------
    float: the mean over B of ``-log σ(h·t) - share Σ log σ(-h·n)``.

    Raises
    ------
    ValueError
        If there is no example, or an id has no row.

    References
    ----------
    Mikolov et al. 2013b, sec. 2.2, eq. (4); k is 5 to 20 for small data sets, 2 to 5 for large ones.

    Examples
    --------
    >>> hidden, table = np.array([[1.0]]), np.array([[0.0], [0.0]])
    >>> round(negative_sampling_loss(hidden, np.array([0]), np.array([[1, 1]]), table), 4)  # 3 log 2
    2.0794
    """
    positive, negative, counts = _scores(hidden, targets, negatives, table)
    surprise: Floats = np.logaddexp(0, -positive)  # -log σ(x) = log(1 + exp(-x))
    noise: Floats = np.logaddexp(0, negative) * counts
    return float((surprise + share * noise.sum(axis=1)).mean())


def negative_sampling_loss_vjp(
    grad: float, hidden: Floats, targets: Ints, negatives: Ints, table: Floats, share: float = 1.0
) -> tuple[Floats, Floats]:
    """Pull a gradient back through `negative_sampling_loss`: each score by what was said minus what is true.

    Parameters
    ----------
    grad : gradient with respect to the loss.
    hidden, targets, negatives, table, share : as in `negative_sampling_loss`.

    Returns
    -------
    d_hidden, d_table : (B, D) and (V, D) float arrays.
    """
    positive, negative, counts = _scores(hidden, targets, negatives, table)
    scale = grad / len(hidden)
    d_positive = scale * (sigmoid(positive) - 1)  # (B,), asked for: 1
    d_negative = scale * share * sigmoid(negative) * counts  # (B, N), asked for: 0
    vectors, noise = embedding(targets, table), embedding(negatives, table)  # (B, D), (B, N, D)
    d_hidden = d_positive[:, None] * vectors + (d_negative[:, :, None] * noise).sum(axis=1)
    d_table = embedding_vjp(d_positive[:, None] * hidden, targets, table)
    return d_hidden, d_table + embedding_vjp(d_negative[:, :, None] * hidden[:, None], negatives, table)


def _scores(hidden: Floats, targets: Ints, negatives: Ints, table: Floats) -> tuple[Floats, Floats, Floats]:
    """Scores of the targets (B,) and of the negatives (B, N), and which negatives count (B, N)."""
    if not len(hidden):
        raise ValueError(f"hidden of shape {hidden.shape} has no example: give at least one")
    positive: Floats = (hidden * embedding(targets, table)).sum(axis=-1)
    negative: Floats = (hidden[:, None] * embedding(negatives, table)).sum(axis=-1)
    return positive, negative, (negatives != targets[:, None]).astype(np.float64)
