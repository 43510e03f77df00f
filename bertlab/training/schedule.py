"""How the learning rate moves during training."""

from __future__ import annotations

from collections.abc import Callable


def linear_decay(peak: float, warmup: int, total: int) -> Callable[[int], float]:
    """Rise in a straight line to the peak, then fall in a straight line to zero.

    Parameters
    ----------
    peak : highest learning rate.
    warmup : number of steps of the rise.
    total : number of steps in all; the rate is 0 from there on.

    Returns
    -------
    function from a step number (0 is the state before the first step) to the learning rate.

    Raises
    ------
    ValueError
        If `warmup` is negative or not below `total`.

    References
    ----------
    Devlin et al. 2019, appendix A.2: warm-up, then linear decay.

    Examples
    --------
    >>> rate = linear_decay(peak=1e-3, warmup=10, total=100)
    >>> [round(rate(step), 7) for step in (0, 5, 10, 40, 100)]
    [0.0, 0.0005, 0.001, 0.0006667, 0.0]
    """
    if not 0 <= warmup < total:
        raise ValueError(
            f"warmup={warmup} of total={total} steps: the warm-up must be shorter than the training"
        )

    def rate(step: int) -> float:
        if step < warmup:
            return peak * step / warmup
        return peak * max(0.0, (total - step) / (total - warmup))

    return rate
