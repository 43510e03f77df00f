"""A batch without its padding: sequences lie one behind the other, and attention keeps them apart.

Linear layers, norms and activations look at each position by itself, so nothing forces them to be shown
padding. A `Packing` lays the positions of a batch (B, T) in a row (1, N). Only attention must know where a
sequence ends, and it finds the `Packing` where it otherwise finds a mask.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bertlab.nn.masking import causal_mask
from bertlab.nn.mixing import mix

PRICE = 30  # what one more group costs in attention, in positions of padding that cost the same
WORTH = 0.05  # share of a batch that must go for packing to pay


@dataclass(frozen=True)
class Group:
    """Sequences of about the same length, which attention treats in one go."""

    rows: int  # b
    length: int  # t, of the longest
    mask: Tensor | None  # (b, 1, 1, t) or, causal, (t, t), True = may be attended to; None hides nothing


class Packing:
    """How a batch lies in a row: sorted by length, in a few groups, padded to the longest of the group.

    One group for each length would need no padding at all, and many small steps instead; the groups are
    chosen such that both together cost least.

    Parameters
    ----------
    real : (B, T) bool tensor, True where a token stands; padding at the end of each row.
    price : what a group costs, in positions. 0 leaves no padding.
    causal : whether each position sees only itself and what stands before it, as in GPT.

    Raises
    ------
    ValueError
        If padding stands before a token, or a row has no token.

    References
    ----------
    Krell et al. 2021; "unpadding" in Portes et al. 2023, sec. 3.

    Examples
    --------
    >>> packing = Packing(torch.tensor([[True, True, True], [True, False, False]]), price=0)
    >>> packing.pack(torch.tensor([[5, 6, 7], [8, 0, 0]])).tolist()
    [[8, 5, 6, 7]]
    """

    def __init__(self, real: Tensor, price: int = PRICE, causal: bool = False) -> None:
        lengths = real.sum(1)  # (B,)
        columns = torch.arange(real.shape[1], device=real.device)  # (T,)
        if not torch.equal(real, columns < lengths[:, None]):
            raise ValueError("padding stands before a token: packing needs it at the end of each row")
        counts = lengths.tolist()
        if not all(counts):
            raise ValueError(f"row {counts.index(0)} is nothing but padding: leave it out of the batch")
        self.shape, self.causal = real.shape, causal  # (B, T)
        rows, ordered = lengths.argsort(stable=True), sorted(counts)
        starts, parts, groups = 0, [], []
        for number, length in partition(ordered, price):
            own = rows[starts : starts + number]  # (b,)
            parts.append((own[:, None] * real.shape[1] + columns[:length]).flatten())  # (b t,)
            if causal:  # padding comes last: nothing but padding looks there
                mask: Tensor | None = causal_mask(length, real.device)  # (t, t)
            elif ordered[starts] == length:  # all are equally long
                mask = None
            else:
                mask = (columns[:length] < lengths[own][:, None])[:, None, None]  # (b, 1, 1, t)
            groups.append(Group(number, length, mask))
            starts += number
        self.groups = tuple(groups)
        self.sources = torch.cat(parts)  # (N,) row * T + column of each packed position
        self.columns = self.sources % real.shape[1]  # (N,)
        self.places = torch.full((real.numel(),), -1, device=real.device)  # (B T,) the way back
        self.places[self.sources] = torch.arange(len(self.sources), device=real.device)
        self.first = self.places[:: real.shape[1]]  # (B,) where each sequence begins, in the batch's order

    @classmethod
    def where_it_pays(cls, real: Tensor, price: int = PRICE, causal: bool = False) -> Packing | None:
        """Make a `Packing` of a batch; None if it has hardly any padding."""
        packing = cls(real, price, causal)
        return packing if len(packing) <= (1 - WORTH) * real.numel() else None

    def __len__(self) -> int:
        """Count the packed positions N."""
        return len(self.sources)

    def pack(self, x: Tensor) -> Tensor:
        """Lay a batch in a row: (B, T, ...) -> (1, N, ...)."""
        return x.flatten(0, 1)[self.sources][None]

    def unpack(self, x: Tensor) -> Tensor:
        """Undo `pack`: (1, N, ...) -> (B, T, ...), with zeros at what was left out."""
        batch = x.new_zeros(self.shape.numel(), *x.shape[2:])
        return batch.index_copy(0, self.sources, x[0]).view(*self.shape, *x.shape[2:])

    def at(self, positions: Tensor) -> Tensor:
        """Find positions (M,) of the batch, row * T + column, in the row: their places (M,).

        Raises
        ------
        ValueError
            If padding that was left out is asked for.
        """
        places = self.places[positions]
        if (places < 0).any():
            raise ValueError(f"position {int(positions[places < 0][0])} is padding: ask for tokens only")
        return places

    def mix(self, q: Tensor, k: Tensor, v: Tensor, dropout: float = 0.0) -> Tensor:
        """Attend within each sequence: as `mixing.mix`, (1, H, N, K) -> (1, H, N, K)."""
        sizes = [group.rows * group.length for group in self.groups]
        # split, not slices: the gradient of all parts is then one tensor joined once
        parts = zip(*(x[0].split(sizes, dim=1) for x in (q, k, v)), strict=True)
        mixed = []
        for group, part in zip(self.groups, parts, strict=True):
            shape = (group.rows, group.length)
            q, k, v = (x.unflatten(1, shape).transpose(0, 1) for x in part)  # (H, b t, K) -> (b, H, t, K)
            mixed.append(mix(q, k, v, group.mask, dropout).transpose(0, 1).flatten(1, 2))  # (H, b t, K)
        return torch.cat(mixed, dim=1)[None]


def partition(lengths: list[int], price: int) -> list[tuple[int, int]]:
    """Cut sorted lengths into groups so that positions, and `price` for each group, are fewest.

    Parameters
    ----------
    lengths : B numbers, rising.
    price : of a group.

    Returns
    -------
    (number of sequences, longest length) of each group, in order.

    Examples
    --------
    >>> partition([10, 10, 12, 90, 100], price=30)
    [(3, 12), (2, 100)]
    >>> partition([10, 10, 12, 90, 100], price=0)
    [(2, 10), (1, 12), (1, 90), (1, 100)]
    """
    ends = [i for i in range(1, len(lengths) + 1) if i == len(lengths) or lengths[i] > lengths[i - 1]]
    best: dict[int, tuple[float, int]] = {0: (0, 0)}  # up to where -> least cost, where its last group begins
    for end in ends:
        longest = lengths[end - 1]
        best[end] = min((cost + price + (end - i) * longest, i) for i, (cost, _) in best.items())
    groups, end = [], len(lengths)
    while end:
        begin = best[end][1]
        groups.append((end - begin, lengths[end - 1]))
        end = begin
    return groups[::-1]
