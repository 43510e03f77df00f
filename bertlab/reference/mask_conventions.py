"""The other two conventions for masks that are in use.

Ours is that of `torch.nn.functional.scaled_dot_product_attention`: boolean, True = may be attended to.
`torch.nn.MultiheadAttention` and the layers built of it mean the opposite: True = hidden. Published BERTs add
numbers to the scores: 0, or a very low one where nothing may be attended to. A boolean mask cannot tell which
of the first two it is, so each converter has the other convention in its name.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertlab.reference.types import Bools


def check_boolean(mask: Bools) -> None:
    """Refuse a mask that is not boolean.

    Raises
    ------
    ValueError
        If the mask is made of numbers.

    Examples
    --------
    >>> check_boolean(np.ones(3))
    Traceback (most recent call last):
    ValueError: the mask has dtype float64: make it boolean, True = may be attended to ...
    """
    if mask.dtype != np.bool_:
        raise ValueError(
            f"the mask has dtype {mask.dtype}: make it boolean, True = may be attended to "
            "(from 0/1 by mask != 0, from 0/-inf by mask == 0)"
        )


def to_hidden_mask(mask: Bools) -> Bools:
    """Turn a mask of ours into one where True means: hidden, as `torch.nn.MultiheadAttention` wants it.

    Parameters
    ----------
    mask : bool array, True = may be attended to.

    Returns
    -------
    bool array, same shape, True = hidden. There, `key_padding_mask` is (B, Tk), which is ``[:, 0, 0]`` of a
    mask (B, 1, 1, Tk), and `attn_mask` is (Tq, Tk) or (B * H, Tq, Tk).

    Raises
    ------
    ValueError
        If the mask is not boolean.

    Examples
    --------
    >>> to_hidden_mask(np.array([True, True, False])).tolist()
    [False, False, True]
    """
    check_boolean(mask)
    return ~mask


def from_hidden_mask(hidden: Bools) -> Bools:
    """Turn a mask where True means hidden, as in `torch.nn.MultiheadAttention`, into one of ours.

    Parameters
    ----------
    hidden : bool array, True = hidden.

    Returns
    -------
    bool array, same shape, True = may be attended to.

    Raises
    ------
    ValueError
        If the mask is not boolean.

    Examples
    --------
    >>> from_hidden_mask(np.array([False, False, True])).tolist()
    [True, True, False]
    """
    if hidden.dtype != np.bool_:
        raise ValueError(
            f"the mask has dtype {hidden.dtype}, and one with True = hidden is boolean: "
            "from 0/1 by hidden != 0, and from one that is added to the scores by from_additive_mask"
        )
    return ~hidden


def to_additive_mask(
    mask: Bools, dtype: type[np.floating[Any]] = np.float64, finite: bool = False
) -> NDArray[np.floating[Any]]:
    """Turn a mask of ours into numbers that are added to the scores before the softmax.

    Parameters
    ----------
    mask : bool array, True = may be attended to.
    dtype : float type of the scores.
    finite : hide with the lowest number of the dtype, not with -inf. A row with nothing to attend to becomes
        NaN by -inf, and attends to everything alike by the lowest number: neither gives the zeros of ours.

    Returns
    -------
    float array, same shape: 0 where one may attend, -inf or the lowest number elsewhere.

    Raises
    ------
    ValueError
        If the mask is not boolean.

    Examples
    --------
    >>> to_additive_mask(np.array([True, False])).tolist()
    [0.0, -inf]
    """
    check_boolean(mask)
    hidden = np.finfo(dtype).min if finite else -np.inf
    return np.where(mask, 0, hidden).astype(dtype)


def from_additive_mask(additive: NDArray[np.floating[Any]]) -> Bools:
    """Turn a mask that is added to the scores into one of ours.

    Parameters
    ----------
    additive : float array of zeros and, where hidden, -inf or numbers of at most -1000, whose exponential
        is 0 in every dtype. That takes in the -10,000 of the first BERT and the -1e9 of many tutorials.

    Returns
    -------
    bool array, same shape, True = may be attended to.

    Raises
    ------
    ValueError
        If the mask is not made of floats, or has any other number: then it is no mask, or one of 0 and 1.

    Examples
    --------
    >>> from_additive_mask(np.array([0.0, -np.inf, -1e9])).tolist()
    [True, False, False]
    """
    if not np.issubdtype(additive.dtype, np.floating):
        raise ValueError(
            f"the mask has dtype {additive.dtype}, and one that is added to the scores is made of floats: "
            "convert one with True = hidden with from_hidden_mask"
        )
    strange = additive[~((additive == 0) | (additive <= -1000))]  # NaN is neither
    if strange.size:
        raise ValueError(
            f"{float(strange[0])} in an additive mask neither shows (0) nor hides (at most -1000): "
            "make one of 0 and 1 boolean with mask != 0"
        )
    visible: Bools = additive == 0
    return visible
