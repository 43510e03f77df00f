"""A Transformer that is trained in seconds, every mask of which can be chosen: that of notebook 06."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from bertlab.nn import Decoder, Encoder, SinusoidalPositions
from bertlab.nn.masking import causal_mask, padding_mask

Mask = Callable[[Tensor], Tensor | None]  # from source ids (B, Ts) to whom may be looked at


class Writer(nn.Module):
    """Reads a sentence and writes another.

    Parameters
    ----------
    n_source, n_target : numbers of words V of the two languages.
    """

    def __init__(self, n_source: int, n_target: int) -> None:
        super().__init__()
        self.read, self.said = nn.Embedding(n_source, 64), nn.Embedding(n_target, 64)
        self.positions = SinusoidalPositions(64, 64)
        self.encoder = Encoder(2, 64, 4, 128, norm_first=True)
        self.decoder = Decoder(2, 64, 4, 128, norm_first=True)
        self.output = nn.Linear(64, n_target)

    def forward(
        self,
        source: Tensor,
        inputs: Tensor,
        mask: Tensor | None,
        source_mask: Mask = padding_mask,
        memory_mask: Mask = padding_mask,
    ) -> Tensor:
        """Score what may stand at each place: (B, Ts) and (B, Tt) ids -> (B, Tt, V)."""
        memory, _ = self.encoder(self.positions(self.read(source)), source_mask(source))
        said = self.positions(self.said(inputs))
        features, _, _ = self.decoder(said, memory, mask, memory_mask(source))
        logits: Tensor = self.output(features)
        return logits


def strictly_before(n: int) -> Tensor:
    """Let each position see what stands before it, not itself: (n, n) bool."""
    return causal_mask(n).tril(-1)


def not_itself(n: int) -> Tensor:
    """Let each position see all others, earlier and later, not itself: (n, n) bool."""
    return ~torch.eye(n, dtype=torch.bool)
