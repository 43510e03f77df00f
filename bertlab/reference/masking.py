"""Who may attend to whom. A mask is boolean, and True means: may be attended to.

What `mask_conventions` defines, converters from and to other kinds of masks, can be had from here as well.
"""

import numpy as np

from bertlab.reference.mask_conventions import check_boolean
from bertlab.reference.mask_conventions import from_additive_mask as from_additive_mask
from bertlab.reference.mask_conventions import from_hidden_mask as from_hidden_mask
from bertlab.reference.mask_conventions import to_additive_mask as to_additive_mask
from bertlab.reference.mask_conventions import to_hidden_mask as to_hidden_mask
from bertlab.reference.types import Bools, Floats, Ints


def padding_mask(ids: Ints, pad_id: int = 0) -> Bools:
    """Hide padding from every query of every head.

    Parameters
    ----------
    ids : (B, T) integer array.
    pad_id : the id of padding.

    Returns
    -------
    (B, 1, 1, T) bool array, True where a real token stands; it broadcasts to scores of shape (B, H, Tq, T).

    Raises
    ------
    ValueError
        If `ids` has not two axes.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.3, mention only the causal mask; padding is hidden in the same way.

    Examples
    --------
    >>> padding_mask(np.array([[5, 6, 0]])).tolist()
    [[[[True, True, False]]]]
    """
    if ids.ndim != 2:
        raise ValueError(
            f"ids have shape {ids.shape}, expected (B, T): add a batch axis to one sequence with ids[None]"
        )
    real: Bools = ids != pad_id  # (B, T)
    return real[:, None, None, :]  # (B, 1, 1, T)


def causal_mask(n: int) -> Bools:
    """Let each position look at itself and at what stands before it.

    Parameters
    ----------
    n : number of positions T.

    Returns
    -------
    (n, n) bool array, a row for each query: True on and below the diagonal.

    Raises
    ------
    ValueError
        If `n` is negative.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.3, third item.

    Examples
    --------
    >>> causal_mask(3).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    if n < 0:
        raise ValueError(f"n={n} positions: give a number of positions >= 0")
    return np.tril(np.ones((n, n), dtype=bool))


def combine_masks(*masks: Bools | None) -> Bools | None:
    """Allow only what every mask allows, for instance real tokens that are not in the future.

    Parameters
    ----------
    masks : bool arrays that broadcast to each other, True = may be attended to; None allows everything.
        Give padding as (B, 1, 1, Tk): two axes always mean (Tq, Tk).

    Returns
    -------
    bool array in their common shape; None if all are None.

    Raises
    ------
    ValueError
        If a mask is not boolean, or the shapes do not broadcast.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.3: in the decoder's self-attention both kinds apply.

    Examples
    --------
    >>> combine_masks(padding_mask(np.array([[5, 0, 6]])), causal_mask(3)).astype(int).tolist()
    [[[[1, 0, 0], [1, 0, 0], [1, 0, 1]]]]
    """
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    for mask in given:
        check_boolean(mask)
    shapes = [mask.shape for mask in given]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(
            f"masks of shapes {shapes} do not broadcast: give all of them the same axes"
        ) from None
    combined = given[0]
    for mask in given[1:]:
        combined = combined & mask
    return combined


def check_mask(mask: Bools, scores_shape: tuple[int, ...]) -> None:
    """Refuse a mask that would run without an error and mean something else.

    Parameters
    ----------
    mask : the mask to check.
    scores_shape : shape (..., Tq, Tk) of the scores that it is meant for.

    Raises
    ------
    ValueError
        If the mask is not boolean, does not broadcast to the scores, or has three axes where they have four.

    Examples
    --------
    >>> check_mask(np.ones((2, 3)), (2, 3))
    Traceback (most recent call last):
    ValueError: the mask has dtype float64: make it boolean, True = may be attended to (from 0/1 by ...
    """
    check_boolean(mask)
    if mask.ndim == 3 and len(scores_shape) == 4:
        raise ValueError(
            f"a mask of shape {mask.shape} would line up its batch with the heads of scores {scores_shape}: "
            "pass mask[:, None]"
        )
    pairs = zip(reversed(mask.shape), reversed(scores_shape), strict=False)
    if mask.ndim > len(scores_shape) or any(m not in (1, s) for m, s in pairs):
        raise ValueError(
            f"a mask of shape {mask.shape} does not broadcast to scores of shape {scores_shape}: "
            "give it the axes of the scores, 1 where it repeats"
        )


def masked_softmax(scores: Floats, mask: Bools | None = None) -> Floats:
    """Softmax over the keys that may be attended to; every other key weighs exactly 0.

    Parameters
    ----------
    scores : (..., Tq, Tk) float array.
    mask : bool array that broadcasts to the scores, True = may be attended to; optional.
        Two axes always mean (Tq, Tk).

    Returns
    -------
    (..., Tq, Tk) float array: a row sums to 1, or is all zero where nothing may be attended to.

    Raises
    ------
    ValueError
        As in `check_mask`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.3.

    Examples
    --------
    >>> masked_softmax(np.zeros((2, 2)), np.array([[True, False], [False, False]])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    if mask is not None:
        check_mask(mask, scores.shape)
        scores = np.where(mask, scores, -np.inf)
    peak = scores.max(axis=-1, keepdims=True)  # (..., Tq, 1), -inf in a row with nothing to attend to
    e = np.exp(scores - np.where(peak == -np.inf, 0, peak))  # there exp(-inf) = 0, not exp(-inf + inf) = NaN
    total = e.sum(axis=-1, keepdims=True)  # (..., Tq, 1)
    # Departs from Vaswani et al. 2017: with -inf alone an empty row is 0 / 0. Ours attends to nothing.
    return e / np.where(total == 0, 1, total)


def masked_softmax_vjp(grad: Floats, scores: Floats, mask: Bools | None = None) -> Floats:
    """Pull a gradient back through `masked_softmax`.

    Parameters
    ----------
    grad : (..., Tq, Tk) float array, gradient with respect to the weights.
    scores, mask : as in `masked_softmax`.

    Returns
    -------
    (..., Tq, Tk) float array, gradient with respect to `scores`: exactly 0 wherever the mask hides.

    Raises
    ------
    ValueError
        As in `check_mask`.

    Examples
    --------
    >>> grad, mask = np.array([[1.0, 0.0, 9.0]]), np.array([[True, True, False]])
    >>> masked_softmax_vjp(grad, np.zeros((1, 3)), mask).tolist()
    [[0.25, -0.25, 0.0]]
    """
    # The weights are zero where the mask hides, so the formula of `softmax_vjp` gives zero there, too.
    weights = masked_softmax(scores, mask)
    mean: Floats = (grad * weights).sum(axis=-1, keepdims=True)
    return weights * (grad - mean)
