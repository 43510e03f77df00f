"""Activation functions in PyTorch: twin of `bertlab.reference.activations`."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


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


def relu(x: Tensor) -> Tensor:
    """Let positive values pass and stop all others.

    Parameters
    ----------
    x : (...) float tensor.

    Returns
    -------
    (...) float tensor: ``max(0, x)``; its slope at 0 is taken as 0.

    References
    ----------
    Nair and Hinton 2010, sec. 2; in the Transformer: Vaswani et al. 2017, sec. 3.3, eq. (2).

    Examples
    --------
    >>> relu(torch.tensor([-2.0, 3.0])).tolist()
    [0.0, 3.0]
    """
    return torch.relu(x)


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
