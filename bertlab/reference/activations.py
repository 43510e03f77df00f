"""Activation functions, value by value: the gate of recurrent cells and the GELU of GPT and BERT."""

import math

import numpy as np

from bertlab.reference.types import Floats

_erfc = np.vectorize(math.erfc, otypes=[np.float64])  # NumPy itself has no error function


def sigmoid(x: Floats) -> Floats:
    """Squash each number into (0, 1), so that it can act as a gate.

    Parameters
    ----------
    x : (...) float array.

    Returns
    -------
    (...) float array: ``1 / (1 + exp(-x))``.

    Examples
    --------
    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.exp(-np.logaddexp(0, -x))  # the log of 1 + exp(-x), never exp(1000) itself: no overflow


def sigmoid_vjp(grad: Floats, x: Floats) -> Floats:
    """Pull a gradient back through `sigmoid`; at most a quarter of it survives.

    Parameters
    ----------
    grad : (...) float array, gradient with respect to the output.
    x : (...) float array, as in `sigmoid`.

    Returns
    -------
    (...) float array, gradient with respect to `x`.

    Examples
    --------
    >>> sigmoid_vjp(np.ones(1), np.zeros(1)).tolist()
    [0.25]
    """
    s = sigmoid(x)
    return grad * s * (1 - s)


def relu(x: Floats) -> Floats:
    """Let positive numbers pass and stop all others.

    Parameters
    ----------
    x : (...) float array.

    Returns
    -------
    (...) float array: ``max(0, x)``.

    References
    ----------
    Nair & Hinton 2010, sec. 2; in the Transformer: Vaswani et al. 2017, sec. 3.3, eq. (2).

    Examples
    --------
    >>> relu(np.array([-2.0, 3.0])).tolist()
    [0.0, 3.0]
    """
    return np.maximum(x, 0)


def relu_vjp(grad: Floats, x: Floats) -> Floats:
    """Pull a gradient back through `relu`: it passes where the number itself passed.

    Parameters
    ----------
    grad : (...) float array, gradient with respect to the output.
    x : (...) float array, as in `relu`.

    Returns
    -------
    (...) float array, gradient with respect to `x`; at exactly 0, where there is a kink, it is 0.

    Examples
    --------
    >>> relu_vjp(np.array([5.0, 5.0, 5.0]), np.array([-2.0, 0.0, 3.0])).tolist()
    [0.0, 0.0, 5.0]
    """
    return np.where(x > 0, grad, 0.0)


def _normal_cdf(x: Floats) -> Floats:
    """Probability that a standard normal number lies below x."""
    # Not (1 + erf(x / √2)) / 2, which cancels far to the left.
    below: Floats = _erfc(-x / math.sqrt(2)) / 2
    return below


def gelu(x: Floats) -> Floats:
    """Weigh each number by the probability that a standard normal number lies below it (exact form).

    Parameters
    ----------
    x : (...) float array.

    Returns
    -------
    (...) float array: ``x * Phi(x)``. It is what published BERT checkpoints mean by "gelu".

    References
    ----------
    Hendrycks & Gimpel 2016, sec. 2: ``x * (1 + erf(x / sqrt(2))) / 2``.

    Examples
    --------
    >>> gelu(np.array([2.0, -1.0])).round(6).tolist()
    [1.9545, -0.158655]
    """
    return x * _normal_cdf(x)


def gelu_vjp(grad: Floats, x: Floats) -> Floats:
    """Pull a gradient back through `gelu`.

    Parameters
    ----------
    grad : (...) float array, gradient with respect to the output.
    x : (...) float array, as in `gelu`.

    Returns
    -------
    (...) float array, gradient with respect to `x`: ``grad * (Phi(x) + x * phi(x))``, phi = normal density.

    Examples
    --------
    >>> gelu_vjp(np.ones(1), np.zeros(1)).tolist()
    [0.5]
    """
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return grad * (_normal_cdf(x) + x * density)


def gelu_tanh(x: Floats) -> Floats:
    """Approximate `gelu` by a hyperbolic tangent, which needs no error function.

    Parameters
    ----------
    x : (...) float array.

    Returns
    -------
    (...) float array, at most 4.74e-4 away from `gelu`. GPT and the first TensorFlow BERT use this form.

    References
    ----------
    Hendrycks & Gimpel 2016, sec. 2: ``x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))``.

    Examples
    --------
    >>> gelu_tanh(np.array([2.0, -1.0])).round(6).tolist()
    [1.954598, -0.158808]
    """
    t: Floats = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    return x / 2 * (1 + t)


def gelu_tanh_vjp(grad: Floats, x: Floats) -> Floats:
    """Pull a gradient back through `gelu_tanh`.

    Parameters
    ----------
    grad : (...) float array, gradient with respect to the output.
    x : (...) float array, as in `gelu_tanh`.

    Returns
    -------
    (...) float array, gradient with respect to `x`.

    Examples
    --------
    >>> gelu_tanh_vjp(np.ones(1), np.zeros(1)).tolist()
    [0.5]
    """
    t: Floats = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    inner_slope: Floats = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
    return grad * ((1 + t) / 2 + x / 2 * (1 - t**2) * inner_slope)
