"""Two one-directional Transformers glued together: ELMo with GPTs in the place of its LSTMs.

Nobody published it. It stands between ELMo and BERT so that two things are told apart which both change from
the one to the other: what reads (LSTM or Transformer), and whether one model reads both sides at once.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from bertlab.nn.fused_lstm import turned
from bertlab.nn.gpt import GPT
from bertlab.nn.gpt_config import GPTConfig
from bertlab.nn.language_model import shift_left
from bertlab.nn.packing import Packing


class GluedOutput(NamedTuple):
    """What the two language models answer, and what they said on the way."""

    of_next: Tensor  # (B, T, V): at each position, what stands right of it
    of_previous: Tensor  # (B, T, V): at each position, what stands left of it
    layers: tuple[Tensor, ...]  # L + 1 of (B, T, 2D): the half from the left, then that from the right


class GluedGPTs(nn.Module):
    """Two GPTs, of which the second reads each text from its end; tables and softmax are one for both.

    Parameters
    ----------
    config : of each of them.

    References
    ----------
    Peters et al. 2018, sec. 3.1, for the loss and for what is shared; Radford et al. 2018 for the readers.

    Examples
    --------
    >>> model = GluedGPTs(GPTConfig.tiny(vocab_size=100))
    >>> output = model(torch.tensor([[2, 7, 8, 3]]))
    >>> output.of_next.shape, len(output.layers), output.layers[-1].shape  # (B, T, V), L + 1, (B, T, 2D)
    (torch.Size([1, 4, 100]), 3, torch.Size([1, 4, 256]))
    """

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.forwards, self.backwards = GPT(config), GPT(config)
        # In the second one the tables are an ordinary attribute: were they its submodule, too, they would
        # stand twice in the `state_dict`, and `functional_call` would exchange them twice and put back once.
        del self.backwards.embeddings
        object.__setattr__(self.backwards, "embeddings", self.forwards.embeddings)

    def layers(self, ids: Tensor, mask: Tensor | None = None) -> tuple[Tensor, ...]:
        """Map (B, T) ids to L + 1 tensors (B, T, 2D), zero at padding.

        Parameters
        ----------
        ids : integer tensor.
        mask : (B, T) bool tensor, True = a real token, with padding behind them; if not given, ids other than
            `pad_id` of the config.
        """
        mask = self.real(ids) if mask is None else mask
        order = turned(ids, mask)  # (B, T)
        ahead, _ = self.forwards.read(ids)
        back, _ = self.backwards.read(ids.gather(1, order))
        there = order[..., None].expand_as(ahead[0])  # turned round twice, a row is as it was
        pairs = zip(ahead, (layer.gather(1, there) for layer in back), strict=True)
        return tuple(torch.cat(pair, dim=-1).masked_fill(~mask[..., None], 0) for pair in pairs)

    def real(self, ids: Tensor) -> Tensor:
        """Say where a token stands: (B, T) bool."""
        return ids != self.config.pad_id

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> GluedOutput:
        """Score at each position what stands right of it and what stands left of it.

        Parameters
        ----------
        ids, mask : as in `layers`.
        """
        layers = self.layers(ids, mask)
        of_next, of_previous = (self.forwards.logits(half) for half in layers[-1].chunk(2, dim=-1))
        return GluedOutput(of_next, of_previous, layers)

    def loss(
        self, ids: Tensor, mask: Tensor | None = None, packing: Packing | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Compute the joint loss and its two parts in nats: each direction is asked for every next token.

        Parameters
        ----------
        ids, mask : as in `layers`.
        packing : causal, of the same mask; to compute the same without padding.
        """
        mask = self.real(ids) if mask is None else mask
        back = ids.gather(1, turned(ids, mask))
        forward = self.forwards.loss(ids, shift_left(ids, mask), packing)
        backward = self.backwards.loss(back, shift_left(back, mask), packing)
        return forward + backward, forward, backward
