"""Who may attend to whom, in PyTorch: twin of `bertlab.reference.masking`. True means: may be attended to."""

from __future__ import annotations

import torch
from torch import Tensor


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
    if mask.dtype != torch.bool:
        raise ValueError(
            f"the mask has dtype {mask.dtype}: make it boolean, True = may be attended to "
            "(from 0/1 by mask != 0, from 0/-inf by mask == 0)"
        )
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
