"""The other two conventions for masks that are in use: twin of `bertlab.reference.mask_conventions`.

Ours is that of `torch.nn.functional.scaled_dot_product_attention`: boolean, True = may be attended to.
`torch.nn.MultiheadAttention` and the layers built of it mean the opposite: True = hidden. Published BERTs add
numbers to the scores: 0, or a very low one where nothing may be attended to. A boolean mask cannot tell which
of the first two it is, so each converter has the other convention in its name.
"""

from __future__ import annotations

import torch
from torch import Tensor


def check_boolean(mask: Tensor) -> None:
    """Refuse a mask that is not boolean.

    Raises
    ------
    ValueError
        If the mask is made of numbers.

    Examples
    --------
    >>> check_boolean(torch.ones(3))
    Traceback (most recent call last):
    ValueError: the mask has dtype torch.float32: make it boolean, True = may be attended to ...
    """
    if mask.dtype != torch.bool:
        raise ValueError(
            f"the mask has dtype {mask.dtype}: make it boolean, True = may be attended to "
            "(from 0/1 by mask != 0, from 0/-inf by mask == 0)"
        )


def to_hidden_mask(mask: Tensor) -> Tensor:
    """Turn a mask of ours into one where True means: hidden, as `torch.nn.MultiheadAttention` wants it.

    Parameters
    ----------
    mask : bool tensor, True = may be attended to.

    Returns
    -------
    bool tensor, same shape, True = hidden. There, `key_padding_mask` is (B, Tk), which is ``[:, 0, 0]`` of a
    mask (B, 1, 1, Tk), and `attn_mask` is (Tq, Tk) or (B * H, Tq, Tk).

    Raises
    ------
    ValueError
        If the mask is not boolean.

    Examples
    --------
    >>> to_hidden_mask(torch.tensor([True, True, False])).tolist()
    [False, False, True]
    """
    check_boolean(mask)
    return ~mask


def from_hidden_mask(hidden: Tensor) -> Tensor:
    """Turn a mask where True means hidden, as in `torch.nn.MultiheadAttention`, into one of ours.

    Parameters
    ----------
    hidden : bool tensor, True = hidden.

    Returns
    -------
    bool tensor, same shape, True = may be attended to.

    Raises
    ------
    ValueError
        If the mask is not boolean.

    Examples
    --------
    >>> from_hidden_mask(torch.tensor([False, False, True])).tolist()
    [True, True, False]
    """
    if hidden.dtype != torch.bool:
        raise ValueError(
            f"the mask has dtype {hidden.dtype}, and one with True = hidden is boolean: "
            "from 0/1 by hidden != 0, and from one that is added to the scores by from_additive_mask"
        )
    return ~hidden


def to_additive_mask(mask: Tensor, dtype: torch.dtype = torch.float32, finite: bool = False) -> Tensor:
    """Turn a mask of ours into numbers that are added to the scores before the softmax.

    Parameters
    ----------
    mask : bool tensor, True = may be attended to.
    dtype : float type of the scores.
    finite : hide with the lowest number of the dtype, not with -inf. A row with nothing to attend to becomes
        NaN by -inf, and attends to everything alike by the lowest number: neither gives the zeros of ours.

    Returns
    -------
    float tensor, same shape: 0 where one may attend, -inf or the lowest number elsewhere.

    Raises
    ------
    ValueError
        If the mask is not boolean.

    Examples
    --------
    >>> to_additive_mask(torch.tensor([True, False])).tolist()
    [0.0, -inf]
    """
    check_boolean(mask)
    hidden = torch.finfo(dtype).min if finite else float("-inf")
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, hidden)


def from_additive_mask(additive: Tensor) -> Tensor:
    """Turn a mask that is added to the scores into one of ours.

    Parameters
    ----------
    additive : float tensor of zeros and, where hidden, -inf or numbers of at most -1000, whose exponential
        is 0 in every dtype. That takes in the -10,000 of the first BERT and the -1e9 of many tutorials.

    Returns
    -------
    bool tensor, same shape, True = may be attended to.

    Raises
    ------
    ValueError
        If the mask is not made of floats, or has any other number: then it is no mask, or one of 0 and 1.

    Examples
    --------
    >>> from_additive_mask(torch.tensor([0.0, float("-inf"), -1e9])).tolist()
    [True, False, False]
    """
    if not additive.is_floating_point():
        raise ValueError(
            f"the mask has dtype {additive.dtype}, and one that is added to the scores is made of floats: "
            "convert one with True = hidden with from_hidden_mask"
        )
    strange = additive[~((additive == 0) | (additive <= -1000))]  # NaN is neither
    if strange.numel():
        raise ValueError(
            f"{float(strange[0])} in an additive mask neither shows (0) nor hides (at most -1000): "
            "make one of 0 and 1 boolean with mask != 0"
        )
    return additive == 0
