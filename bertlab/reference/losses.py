"""From logits to one number that says how wrong the model is."""

import numpy as np

from bertlab.reference.types import Floats, Ints


def log_softmax(x: Floats, axis: int = -1) -> Floats:
    """Logarithm of `softmax`, in nats, without ever leaving the log domain.

    Parameters
    ----------
    x : (...) float array of scores.
    axis : the axis whose exponentials sum to 1.

    Returns
    -------
    (...) float array: ``x - log(sum(exp(x)))``.

    References
    ----------
    Goodfellow et al. 2016, "Deep Learning", sec. 6.2.2.3.

    Examples
    --------
    >>> log_softmax(np.array([0.0, -1000.0])).tolist()  # the log of softmax would be log(0) = -inf
    [0.0, -1000.0]
    """
    shifted: Floats = x - x.max(axis=axis, keepdims=True)  # changes nothing below, and exp() cannot overflow
    total: Floats = np.exp(shifted).sum(axis=axis, keepdims=True)
    return shifted - np.log(total)


def log_softmax_vjp(grad: Floats, x: Floats, axis: int = -1) -> Floats:
    """Pull a gradient back through `log_softmax`.

    Parameters
    ----------
    grad : (...) float array, gradient with respect to the output.
    x, axis : as in `log_softmax`.

    Returns
    -------
    (...) float array, gradient with respect to `x`.

    Examples
    --------
    >>> log_softmax_vjp(np.array([1.0, 0.0]), np.zeros(2)).tolist()
    [0.5, -0.5]
    """
    total: Floats = grad.sum(axis=axis, keepdims=True)
    return grad - np.exp(log_softmax(x, axis)) * total


def cross_entropy(logits: Floats, targets: Ints, ignore_index: int = -100, smoothing: float = 0.0) -> float:
    """Mean surprise at the right answers, in nats for each answer that counts.

    With label smoothing ε, a position adds ``-(1 - ε) log p(target) - ε/V Σ log p(k)``: the right answer is
    asked for with probability 1 - ε + ε/V, every class k of all V, padding included, with ε/V.

    Parameters
    ----------
    logits : (..., V) float array.
    targets : (...) integer array of classes in [0, V), or `ignore_index`.
    ignore_index : target of the positions that do not count, neither in the sum nor in the divisor.
    smoothing : ε in [0, 1).

    Returns
    -------
    float. Where no position counts it is 0.0, with a gradient of zeros, never NaN.

    Raises
    ------
    ValueError
        If there is not one target for each row of logits, a target is no class, or ε is none.

    References
    ----------
    Goodfellow et al. 2016, "Deep Learning", sec. 6.2.2.3. Smoothing: Szegedy et al. 2016, sec. 7, with a
    uniform prior, as `torch.nn.CrossEntropyLoss`; Vaswani et al. 2017, sec. 5.4, with ε = 0.1. Others share ε
    among the V - 2 classes that are neither right nor padding.

    Examples
    --------
    >>> round(cross_entropy(np.zeros((2, 4)), np.array([3, -100])), 4)  # log 4; the second row does not count
    1.3863
    """
    _check_targets(logits, targets, ignore_index)
    _check_smoothing(smoothing)
    counts = targets != ignore_index  # (...)
    log_p = log_softmax(logits)[counts]  # (..., V) -> (N, V), the rows that count
    loss = -np.take_along_axis(log_p, targets[counts][:, None], axis=-1)[:, 0]  # (N,)
    if smoothing:  # apart: 0 times the -inf of an impossible class would be NaN
        loss = (1 - smoothing) * loss - smoothing * log_p.mean(axis=-1)
    return float(loss.sum() / max(len(loss), 1))


def cross_entropy_vjp(
    grad: float, logits: Floats, targets: Ints, ignore_index: int = -100, smoothing: float = 0.0
) -> Floats:
    """Pull a gradient back through `cross_entropy`: what was predicted minus what was asked for.

    Parameters
    ----------
    grad : gradient with respect to the loss; 1.0 where the loss is the end of the line.
    logits, targets, ignore_index, smoothing : as in `cross_entropy`.

    Returns
    -------
    (..., V) float array, gradient with respect to `logits`; zero where a position does not count.

    Raises
    ------
    ValueError
        As in `cross_entropy`.

    Examples
    --------
    >>> cross_entropy_vjp(1.0, np.zeros((1, 2)), np.array([1])).tolist()
    [[0.5, -0.5]]
    """
    _check_targets(logits, targets, ignore_index)
    _check_smoothing(smoothing)
    V = logits.shape[-1]
    counts = (targets != ignore_index)[..., None]  # (..., 1)
    one_hot = targets[..., None] == np.arange(V)  # (..., V)
    asked = (1 - smoothing) * one_hot + smoothing / V  # (..., V)
    slope: Floats = np.exp(log_softmax(logits)) - asked
    return np.where(counts, grad * slope, 0) / max(int(counts.sum()), 1)


def _check_targets(logits: Floats, targets: Ints, ignore_index: int) -> None:
    """Refuse targets that would be looked up in the wrong row, or from the end of one."""
    if targets.shape != logits.shape[:-1]:
        raise ValueError(
            f"logits of shape {logits.shape} need targets of shape {logits.shape[:-1]}, not {targets.shape}: "
            "the classes are the last axis of the logits"
        )
    V = logits.shape[-1]
    strange = targets[(targets != ignore_index) & ((targets < 0) | (targets >= V))]
    if strange.size:
        raise ValueError(
            f"target {strange[0]} is none of the {V} classes: choose one in [0, {V}), "
            f"or {ignore_index} for a position that does not count"
        )


def _check_smoothing(smoothing: float) -> None:
    """Refuse a share that leaves nothing for the right answer, or more than all."""
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing={smoothing} is no share in [0, 1): 0.1 is usual, 0 switches it off")
