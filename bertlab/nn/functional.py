"""The elementary functions in PyTorch: twin of `bertlab.reference.functional`, gradients by autograd."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from bertlab.nn.activations import gelu as gelu
from bertlab.nn.activations import gelu_tanh as gelu_tanh
from bertlab.nn.activations import relu as relu
from bertlab.nn.activations import sigmoid as sigmoid
from bertlab.nn.losses import cross_entropy as cross_entropy
from bertlab.nn.losses import log_softmax as log_softmax

FEW_ROWS = 8  # of a table, such as that of BERT's segments


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

    Raises
    ------
    ValueError
        If the width of `x` is not that of `weight`.

    Examples
    --------
    >>> linear(torch.tensor([1.0, 2.0]), torch.tensor([[3.0, 4.0]])).tolist()
    [11.0]
    """
    if x.shape[-1] != weight.shape[-1]:
        raise ValueError(
            f"x of shape {tuple(x.shape)} does not fit a weight of shape {tuple(weight.shape)}: "
            f"make it (D_out, {x.shape[-1]})"
        )
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
    checked = not torch.compiler.is_compiling()  # a compiled model cannot branch on values
    if checked and ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < len(table):
        worst = int(ids.min()) if int(ids.min()) < 0 else int(ids.max())
        raise ValueError(
            f"id {worst} is outside a table of {len(table)} rows: ids must lie in [0, {len(table)})"
        )
    if table.dtype == torch.bfloat16 and len(table) <= FEW_ROWS:
        # The gradient of a row is a sum over thousands of positions, too long for the digits of bfloat16;
        # a matrix product gives the same and adds in float32.
        return F.one_hot(ids, len(table)).to(table.dtype) @ table
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
