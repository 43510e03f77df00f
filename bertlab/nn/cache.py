"""What a decoder that writes step by step need not compute again: keys and values, layer by layer.

A position of the decoder sees nothing that comes later, so its keys and values never change. Those of the
source are the same at every step. With both kept, a step costs one position instead of all. GPT is a decoder
without a source.
"""

from __future__ import annotations

import torch
from torch import Tensor

Pair = tuple[Tensor, Tensor]  # keys and values, each (B, H, T, K)


class LayerCache:
    """Keys and values of one decoder layer: of the target so far, and of the source if there is one."""

    def __init__(self) -> None:
        self.target: Pair | None = None
        self.source: Pair | None = None

    def extend_target(self, new: Pair) -> Pair:
        """Put keys and values of new positions behind those of the earlier ones, and return all.

        Raises
        ------
        ValueError
            If they come from another number of rows.
        """
        if self.target is not None:
            held, rows = len(self.target[0]), len(new[0])
            if held != rows:
                raise ValueError(
                    f"the cache holds {held} rows and {rows} come in: select rows, or begin a new cache"
                )
            new = torch.cat([self.target[0], new[0]], dim=2), torch.cat([self.target[1], new[1]], dim=2)
        self.target = new
        return new


class DecoderCache:
    """Keys and values of all layers of a decoder; empty at first, filled by the calls it is given to.

    Parameters
    ----------
    n_layers : number of layers L.
    """

    def __init__(self, n_layers: int) -> None:
        self.layers = [LayerCache() for _ in range(n_layers)]

    @property
    def length(self) -> int:
        """Number of target positions that are in the cache: the place of the next one."""
        first = self.layers[0].target
        return 0 if first is None else first[0].shape[2]

    def select(self, rows: Tensor) -> None:
        """Keep some rows of the batch, in the order given, also several times: for the beams of a search.

        Parameters
        ----------
        rows : (B',) integer tensor, or (B,) bool tensor. The caller selects the same rows of `memory_mask`.
        """
        for layer in self.layers:
            if layer.target is not None:
                layer.target = layer.target[0][rows], layer.target[1][rows]
            if layer.source is not None:
                layer.source = layer.source[0][rows], layer.source[1][rows]
