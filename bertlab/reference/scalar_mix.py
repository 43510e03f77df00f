"""ELMo's scalar mix: one vector out of several layers, by weights that a task learns."""

import numpy as np

from bertlab.reference.functional import layer_norm, layer_norm_vjp, softmax, softmax_vjp
from bertlab.reference.types import Floats


def scalar_mix(
    layers: Floats, weights: Floats, gamma: Floats, norm: bool = False, eps: float = 1e-12
) -> Floats:
    """Sum layers, each times its share, and scale the sum.

    Parameters
    ----------
    layers : (J, ..., D) float array.
    weights : (J,) float array; their softmax gives the shares s.
    gamma : () float array, scales the sum: layers may be much smaller or larger than a task wants.
    norm : bring each vector of each layer to mean 0 and variance 1 before, so that a layer of large numbers
        does not drown the others.
    eps : as in `layer_norm`.

    Returns
    -------
    (..., D) float array: ``gamma * sum_j s_j * layers[j]``.

    Raises
    ------
    ValueError
        If there is not one weight for each layer.

    References
    ----------
    Peters et al. 2018, sec. 3.2, eq. (1); the norm is in the paragraph below it.

    Examples
    --------
    >>> layers = np.array([[[0.0, 4.0]], [[8.0, 0.0]]])  # two layers, one word
    >>> scalar_mix(layers, np.log([3.0, 1.0]), np.array(1.0)).round(6).tolist()
    [[2.0, 3.0]]
    """
    _check(layers, weights)
    normed = _normed(layers, eps) if norm else layers
    mixed: Floats = gamma * np.tensordot(softmax(weights), normed, axes=1)  # (J,) x (J, ..., D)
    return mixed


def scalar_mix_vjp(
    grad: Floats, layers: Floats, weights: Floats, gamma: Floats, norm: bool = False, eps: float = 1e-12
) -> tuple[Floats, Floats, Floats]:
    """Pull a gradient back through `scalar_mix`.

    Parameters
    ----------
    grad : (..., D) float array, gradient with respect to the output.
    layers, weights, gamma, norm, eps : as in `scalar_mix`.

    Returns
    -------
    d_layers, d_weights, d_gamma : float arrays, each shaped like its argument.
    """
    shares, normed = softmax(weights), _normed(layers, eps) if norm else layers
    along = np.array([(grad * layer).sum() for layer in normed])  # (J,) how much each layer is wanted
    d_layers = gamma * np.multiply.outer(shares, grad)  # (J, ..., D)
    if norm:
        gain = np.ones(layers.shape[-1])
        d_layers, _, _ = layer_norm_vjp(d_layers, layers, gain, 0 * gain, eps)
    return d_layers, softmax_vjp(gamma * along, weights), np.asarray(shares @ along)


def _normed(layers: Floats, eps: float) -> Floats:
    # Departs from the authors' code, which takes one mean over all words of a batch: a word's vector would
    # depend on what else is in the batch.
    gain = np.ones(layers.shape[-1])
    return layer_norm(layers, gain, 0 * gain, eps)


def _check(layers: Floats, weights: Floats) -> None:
    """Refuse another number of weights than of layers."""
    if weights.shape != (len(layers),):
        raise ValueError(
            f"weights of shape {weights.shape} for {len(layers)} layers: give one number for each"
        )
