"""Who may attend to whom, in PyTorch: twin of `bertlab.reference.masking`. True means: may be attended to.

What `mask_conventions` defines, converters from and to other kinds of masks, can be had from here as well.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bertlab.nn.mask_conventions import check_boolean
from bertlab.nn.mask_conventions import from_additive_mask as from_additive_mask
from bertlab.nn.mask_conventions import from_hidden_mask as from_hidden_mask
from bertlab.nn.mask_conventions import to_additive_mask as to_additive_mask
from bertlab.nn.mask_conventions import to_hidden_mask as to_hidden_mask


def padding_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    """Hide padding from every query of every head.

    Parameters
    ----------
    ids : (B, T) integer tensor.
    pad_id : the id of padding.

    Returns
    -------
    (B, 1, 1, T) bool tensor, True where a real token stands; it broadcasts to (B, H, Tq, T).

    Raises
    ------
    ValueError
        If `ids` is not two-dimensional.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.3, speaks of the causal mask only; padding is hidden in the same way.

    Examples
    --------
    >>> padding_mask(torch.tensor([[5, 6, 0]])).tolist()
    [[[[True, True, False]]]]
    """
    if ids.dim() != 2:
        raise ValueError(
            f"ids have shape {tuple(ids.shape)}, expected (B, T): add the batch axis with ids[None]"
        )
    return (ids != pad_id)[:, None, None, :]


def causal_mask(n: int, device: torch.device | str | None = None) -> Tensor:
    """Let each position see itself and what stands before it.

    Parameters
    ----------
    n : number of positions T.
    device : where the mask lives.

    Returns
    -------
    (n, n) bool tensor, row = query: the lower triangle with its diagonal is True.

    Raises
    ------
    ValueError
        If `n` is negative.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.3, third item.

    Examples
    --------
    >>> causal_mask(3).int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    if n < 0:
        raise ValueError(f"n={n} positions: give a number of positions >= 0")
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """Allow only what every mask allows, for instance real tokens that are not in the future.

    Parameters
    ----------
    masks : bool tensors that broadcast to each other, True = may be attended to; None allows everything.
        Give padding as (B, 1, 1, Tk): two axes always mean (Tq, Tk).

    Returns
    -------
    bool tensor in their common shape; None if all are None.

    Raises
    ------
    ValueError
        If a mask is not boolean, or the shapes do not broadcast.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.3: in the decoder's self-attention both kinds apply.

    Examples
    --------
    >>> combine_masks(padding_mask(torch.tensor([[5, 0, 6]])), causal_mask(3)).int().tolist()
    [[[[1, 0, 0], [1, 0, 0], [1, 0, 1]]]]
    """
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    for mask in given:
        check_boolean(mask)
    shapes = [tuple(mask.shape) for mask in given]
    try:
        torch.broadcast_shapes(*shapes)
    except RuntimeError:
        raise ValueError(
            f"masks of shapes {shapes} do not broadcast: give all of them the same axes"
        ) from None
    combined = given[0]
    for mask in given[1:]:
        combined = combined & mask
    return combined


def check_mask(mask: Tensor, scores_shape: torch.Size) -> None:
    """Refuse a mask that would run without an error and mean something else.

    Parameters
    ----------
    mask : the mask to check.
    scores_shape : shape of the scores (..., Tq, Tk) that it is meant for.

    Raises
    ------
    ValueError
        If the mask is not boolean, does not broadcast to the scores, or has three axes where they have four.
    """
    shape, wanted = tuple(mask.shape), tuple(scores_shape)
    check_boolean(mask)
    if len(shape) == 3 and len(wanted) == 4:
        raise ValueError(
            f"a mask of shape {shape} would line its batch up with the heads of {wanted}: pass mask[:, None]"
        )
    fits = len(shape) <= len(wanted) and all(
        m in (1, s) for m, s in zip(reversed(shape), reversed(wanted), strict=False)
    )
    if not fits:
        raise ValueError(
            f"a mask of shape {shape} does not broadcast to scores of shape {wanted}: "
            "give it the axes of the scores, 1 where it repeats"
        )


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys that may be attended to; every other key weighs exactly 0.

    Parameters
    ----------
    scores : (..., Tq, Tk) float tensor.
    mask : bool tensor that broadcasts to the scores, True = may be attended to; optional.
        Two axes always mean (Tq, Tk).

    Returns
    -------
    (..., Tq, Tk) float tensor: a row sums to 1, or is all zero where nothing may be attended to.

    Raises
    ------
    ValueError
        See `check_mask`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.3, masks with -inf; a row with nothing left then is 0/0. Ours is zero.

    Examples
    --------
    >>> masked_softmax(torch.zeros(2, 2), torch.tensor([[True, False], [False, False]])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    if mask is None:
        return torch.softmax(scores, dim=-1)
    check_mask(mask, scores.shape)
    # The lowest number of the dtype, not -inf: exp() makes it 0 beside any visible key, and an empty row
    # stays finite, so that neither weights nor gradients can become NaN. The second fill empties that row.
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1)
    return weights.masked_fill(~mask, 0.0)
