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


def inverse_square_root(peak: float, warmup: int) -> Callable[[int], float]:
    """Rise in a straight line to the peak, then fall with the inverse square root of the step.

    Parameters
    ----------
    peak : highest learning rate, that of step `warmup`.
    warmup : number of steps of the rise, at least 1.

    Returns
    -------
    function from a step number (0 is the state before the first step) to the learning rate.

    Raises
    ------
    ValueError
        If `warmup` is below 1.

    References
    ----------
    Vaswani et al. 2017, sec. 5.3, with the peak set free: `noam` computes it from the width.

    Examples
    --------
    >>> rate = inverse_square_root(peak=1e-3, warmup=100)
    >>> [round(rate(step), 7) for step in (0, 50, 100, 400)]
    [0.0, 0.0005, 0.001, 0.0005]
    """
    if warmup < 1:
        raise ValueError(f"warmup={warmup} steps: choose 1 or more, the paper has 4000")

    def rate(step: int) -> float:
        return peak * (step / warmup if step < warmup else (warmup / step) ** 0.5)

    return rate


def noam(d_model: int, warmup: int, scale: float = 1.0) -> Callable[[int], float]:
    """Make the Transformer's own schedule: ``scale · d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)``.

    Parameters
    ----------
    d_model : width D; wider models get lower rates.
    warmup : number of steps of the rise, at least 1.
    scale : multiplies every rate; 1 in the paper.

    Returns
    -------
    function from a step number (0 is the state before the first step) to the learning rate.

    Raises
    ------
    ValueError
        If `warmup` is below 1.

    References
    ----------
    Vaswani et al. 2017, sec. 5.3, eq. (3), with 4000 steps of warm-up. Its name is that of an author.

    Examples
    --------
    >>> rate = noam(d_model=512, warmup=4000)
    >>> [f"{rate(step):.2e}" for step in (1, 4000, 100_000)]
    ['1.75e-07', '6.99e-04', '1.40e-04']
    """
    return inverse_square_root(scale * (d_model * warmup) ** -0.5 if warmup > 0 else 0.0, warmup)
