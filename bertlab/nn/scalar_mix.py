"""ELMo's scalar mix in PyTorch: twin of `bertlab.reference.scalar_mix`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

EPS = 1e-12


def scalar_mix(
    layers: Tensor, weights: Tensor, gamma: Tensor, norm: bool = False, eps: float = EPS
) -> Tensor:
    """Sum layers, each times its share, and scale the sum.

    Parameters
    ----------
    layers : (J, ..., D) float tensor.
    weights : (J,) float tensor; their softmax gives the shares s.
    gamma : () float tensor, scales the sum: layers may be much smaller or larger than a task wants.
    norm : bring each vector of each layer to mean 0 and variance 1 before, so that a layer of large numbers
        does not drown the others.
    eps : as in `layer_norm`.

    Returns
    -------
    (..., D) float tensor: ``gamma * sum_j s_j * layers[j]``.

    Raises
    ------
    ValueError
        If there is not one weight for each layer.

    References
    ----------
    Peters et al. 2018, sec. 3.2, eq. (1); the norm is in the paragraph below it.

    Examples
    --------
    >>> layers = torch.tensor([[[0.0, 4.0]], [[8.0, 0.0]]])  # two layers, one word
    >>> scalar_mix(layers, torch.tensor([3.0, 1.0]).log(), torch.tensor(1.0)).round(decimals=4).tolist()
    [[2.0, 3.0]]
    """
    if weights.shape != layers.shape[:1]:
        raise ValueError(
            f"weights of shape {tuple(weights.shape)} for {len(layers)} layers: give one number for each"
        )
    if norm:
        # Departs from the authors' code, which takes one mean over all words of a batch: a word's vector
        # would depend on what else is in the batch.
        layers = nn.functional.layer_norm(layers, layers.shape[-1:], eps=eps)
    mixed: Tensor = gamma * torch.tensordot(weights.softmax(0), layers, dims=1)
    return mixed


class ScalarMix(nn.Module):
    """What a task learns of a frozen model: a weight for each layer, and one factor; see `scalar_mix`.

    Parameters
    ----------
    n_layers : J, the embeddings counted.
    norm : as in `scalar_mix`.

    References
    ----------
    Peters et al. 2018, sec. 3.2 and 3.3; all layers begin with the same share.

    Examples
    --------
    >>> mix = ScalarMix(3)
    >>> mix(torch.ones(3, 2, 5, 8)).shape, round(mix.shares.sum().item(), 4)
    (torch.Size([2, 5, 8]), 1.0)
    """

    def __init__(self, n_layers: int, norm: bool = False) -> None:
        super().__init__()
        self.norm = norm
        self.weights = nn.Parameter(torch.zeros(n_layers))
        self.gamma = nn.Parameter(torch.ones(()))

    @property
    def shares(self) -> Tensor:
        """The share s of each layer (J,); they sum to 1."""
        return self.weights.softmax(0)

    def forward(self, layers: Tensor) -> Tensor:
        """Map (J, ..., D) to (..., D)."""
        return scalar_mix(layers, self.weights, self.gamma, self.norm)

    def penalty(self) -> Tensor:
        """Sum the squares of the weights: times λ, a term of the loss that draws all shares to their average.

        References
        ----------
        Peters et al. 2018, sec. 3.3: λ = 0.001 leaves the weights free, λ = 1 makes them nearly equal (5.1).
        """
        return (self.weights**2).sum()
