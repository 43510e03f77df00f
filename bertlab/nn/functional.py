"""The elementary functions in PyTorch: twin of `bertlab.reference.functional`, gradients by autograd."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Turn scores into positive weights that sum to 1 along `axis`.

    Parameters
    ----------
    x : (...) float tensor of scores.
    axis : the axis that sums to 1.

    Returns
    -------
    (...) float tensor, same shape as `x`.

    References
    ----------
    Bridle 1990, "Probabilistic interpretation of feedforward classification network outputs".

    Examples
    --------
    >>> softmax(torch.tensor([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """
    return torch.softmax(x, dim=axis)


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Logarithm of `softmax`, in nats, computed without leaving the log domain.

    Parameters
    ----------
    x : (...) float tensor of scores.
    axis : the axis whose exponentials sum to 1.

    Returns
    -------
    (...) float tensor, same shape as `x`.

    Examples
    --------
    >>> log_softmax(torch.tensor([1000.0, 1000.0])).exp().tolist()
    [0.5, 0.5]
    """
    return torch.log_softmax(x, dim=axis)


def cross_entropy(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> Tensor:
    """Mean surprise at the right answers, in nats per answer that counts.

    Parameters
    ----------
    logits : (..., V) float tensor.
    targets : (...) int64 tensor of class numbers below V, or `ignore_index`.
    ignore_index : target value of positions that do not count: neither in the sum nor in the divisor.

    Returns
    -------
    scalar tensor; 0 with zero gradients when no position counts, never NaN.

    Raises
    ------
    ValueError
        If there is not one target for each row of logits, or a target is no class.

    References
    ----------
    Goodfellow et al. 2016, "Deep Learning", sec. 6.2.2.3.

    Examples
    --------
    >>> round(cross_entropy(torch.zeros(2, 4), torch.tensor([3, -100])).item(), 4)  # log 4: the other row is ignored
    1.3863
    """
    if targets.shape != logits.shape[:-1]:
        raise ValueError(
            f"logits of shape {tuple(logits.shape)} need targets of shape {tuple(logits.shape[:-1])}, "
            f"not {tuple(targets.shape)}: the classes are the last axis of the logits"
        )
    V = logits.shape[-1]
    strange = targets[(targets != ignore_index) & ((targets < 0) | (targets >= V))]
    if strange.numel():  # found here: on a GPU it would end the whole process in an assertion
        raise ValueError(
            f"target {strange[0]} is none of the {V} classes: choose one in [0, {V}), "
            f"or {ignore_index} for a position that does not count"
        )
    total = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), ignore_index=ignore_index, reduction="sum"
    )
    return total / (targets != ignore_index).sum().clamp(min=1)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply by a matrix and add a bias.

    Parameters
    ----------
    x : (..., D_in) float tensor.
    weight : (D_out, D_in) float tensor, the layout of `torch.nn.Linear`.
    bias : (D_out,) float tensor, optional.

    Returns
    -------
    (..., D_out) float tensor: ``x @ weight.T + bias``.

    Examples
    --------
    >>> linear(torch.tensor([1.0, 2.0]), torch.tensor([[3.0, 4.0]])).tolist()
    [11.0]
    """
    return F.linear(x, weight, bias)


def embedding(ids: Tensor, table: Tensor) -> Tensor:
    """Look up one row of a table for each id.

    Parameters
    ----------
    ids : (...) integer tensor with values in [0, V).
    table : (V, D) float tensor.

    Returns
    -------
    (..., D) float tensor.

    Raises
    ------
    ValueError
        If an id is negative or not below V.

    References
    ----------
    Bengio et al. 2003, sec. 2: the matrix C, one row a word.

    Examples
    --------
    >>> embedding(torch.tensor([1]), torch.tensor([[0.0], [7.0]])).tolist()
    [[7.0]]
    """
    if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < len(table):
        worst = int(ids.min()) if int(ids.min()) < 0 else int(ids.max())
        raise ValueError(f"id {worst} is outside a table of {len(table)} rows: ids must lie in [0, {len(table)})")
    return F.embedding(ids, table)


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    """Give each vector mean 0 and variance 1 over its own features, then scale and shift them.

    Parameters
    ----------
    x : (..., D) float tensor.
    gain, bias : (D,) float tensors.
    eps : added to the variance (divided by D, not D - 1) before the square root.

    Returns
    -------
    (..., D) float tensor.

    References
    ----------
    Ba et al. 2016, sec. 3, eq. (3) and (4).

    Examples
    --------
    >>> layer_norm(torch.tensor([1.0, 3.0]), torch.ones(2), torch.zeros(2), eps=0.0).tolist()
    [-1.0, 1.0]
    """
    return F.layer_norm(x, x.shape[-1:], gain, bias, eps)


def gelu(x: Tensor) -> Tensor:
    """Weigh each value by the probability that a standard normal number lies below it.

    Parameters
    ----------
    x : (...) float tensor.

    Returns
    -------
    (...) float tensor: ``x * Phi(x)``, the exact form with erf that published BERT checkpoints expect.

    References
    ----------
    Hendrycks and Gimpel 2016, sec. 2.

    Examples
    --------
    >>> round(gelu(torch.tensor(2.0)).item(), 4)
    1.9545
    """
    return F.gelu(x)


def gelu_tanh(x: Tensor) -> Tensor:
    """Approximate `gelu` by a tanh, as GPT and the first TensorFlow BERT do; at most 4.74e-4 away from it.

    Parameters
    ----------
    x : (...) float tensor.

    Returns
    -------
    (...) float tensor.

    References
    ----------
    Hendrycks and Gimpel 2016, sec. 2.

    Examples
    --------
    >>> round(gelu_tanh(torch.tensor(2.0)).item(), 4)
    1.9546
    """
    return F.gelu(x, approximate="tanh")


def sigmoid(x: Tensor) -> Tensor:
    """Squash each value into (0, 1): the gate of recurrent cells.

    Parameters
    ----------
    x : (...) float tensor.

    Returns
    -------
    (...) float tensor: ``1 / (1 + exp(-x))``.

    Examples
    --------
    >>> sigmoid(torch.tensor(0.0)).item()
    0.5
    """
    return torch.sigmoid(x)
