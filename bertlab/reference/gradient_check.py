"""The judge of every backward pass here: nudge one number at a time and see how the result moves."""

from collections.abc import Callable

import numpy as np

from bertlab.reference.types import Floats


def numerical_gradient(f: Callable[[Floats], float], x: Floats, step: float = 1e-6) -> Floats:
    """Estimate the gradient of a function with one number as its result, by central differences.

    It costs two evaluations for each number in `x`: good for checking a backward pass, never for training.

    Parameters
    ----------
    f : function of a float array that returns one number.
    x : (...) float array, the point at which the slope is wanted; it is left unchanged.
    step : how far to nudge. In float64 the error is smallest near 1e-6 to 1e-5: a longer step sees the curve,
        a shorter one sees rounding.

    Returns
    -------
    (...) float array, same shape as `x`: ``(f(x + step) - f(x - step)) / (2 * step)`` for each number.

    References
    ----------
    Press et al. 2007, "Numerical Recipes", sec. 5.7.

    Examples
    --------
    >>> numerical_gradient(lambda x: (x**2).sum(), np.array([1.0, -3.0])).round(6).tolist()
    [2.0, -6.0]
    """
    slope = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        nudge = np.zeros(x.shape)
        nudge[place] = step
        slope[place] = (f(x + nudge) - f(x - nudge)) / (2 * step)
    return slope
