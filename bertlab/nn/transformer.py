"""The Transformer: an encoder that reads a sentence, and a decoder that writes another."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from bertlab.nn.cache import DecoderCache
from bertlab.nn.decoder import Decoder
from bertlab.nn.decoding import Step
from bertlab.nn.encoder import Encoder
from bertlab.nn.functional import embedding
from bertlab.nn.masking import causal_mask, padding_mask
from bertlab.nn.positions import LearnedPositions, SinusoidalPositions
from bertlab.nn.seq2seq import shift_right
from bertlab.nn.transformer_config import TransformerConfig


class TransformerWeights(NamedTuple):
    """Who looked at whom: for each of the three attentions, one tensor for each of L layers."""

    encoder: tuple[Tensor, ...]  # (B, H, Ts, Ts) each
    decoder: tuple[Tensor, ...]  # (B, H, Tt, Tt) each
    cross: tuple[Tensor, ...]  # (B, H, Tt, Ts) each


class Translated(NamedTuple):
    """What the model computes for Tt target positions."""

    logits: Tensor  # (B, Tt, V)
    weights: TransformerWeights | None  # None unless asked for


class TransformerMemory(NamedTuple):
    """What the encoder hands over."""

    states: Tensor  # (B, Ts, D)
    mask: Tensor  # (B, 1, 1, Ts) bool, True = a real token
    weights: tuple[Tensor, ...] | None  # (B, H, Ts, Ts) for each layer, if asked for


class Transformer(nn.Module):
    """Reads one sentence, writes another, without recurrence.

    Parameters
    ----------
    config : sizes and choices.

    References
    ----------
    Vaswani et al. 2017, sec. 3; embeddings and output: sec. 3.4; dropout: sec. 5.4. Matrices start as in
    Glorot and Bengio 2010, eq. (16), embeddings with a variance of 1 / D, which √D makes 1.

    Examples
    --------
    >>> config = TransformerConfig(source_vocab=9, target_vocab=9, d_model=8, n_heads=2, d_ff=16, n_layers=1)
    >>> model = Transformer(config)
    >>> model(torch.tensor([[5, 6, 1]]), torch.tensor([[7, 1]])).logits.shape  # (B, Tt, V)
    torch.Size([1, 2, 9])
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.source_embedding = nn.Embedding(config.source_vocab, config.d_model)
        self.target_embedding = nn.Embedding(config.target_vocab, config.d_model)
        self.source_positions, self.target_positions = _positions(config), _positions(config)
        self.encoder = Encoder(config.n_layers, config.d_model, config.n_heads, config.d_ff, **config.layer)
        self.decoder = Decoder(config.n_layers, config.d_model, config.n_heads, config.d_ff, **config.layer)
        # Like the authors' code, without a bias: of the three places of a shared matrix none has one.
        self.output = nn.Linear(config.d_model, config.target_vocab, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        self._begin()
        if config.share_embeddings in ("all", "target"):
            self.output.weight = self.target_embedding.weight
        if config.share_embeddings == "all":
            self.source_embedding.weight = self.target_embedding.weight

    def _begin(self) -> None:
        """Draw the first weights."""
        for name, parameter in self.named_parameters():
            if "embedding" in name or name == "output.weight":
                nn.init.normal_(parameter, std=self.config.d_model**-0.5)
            elif parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, source: Tensor, targets: Tensor, need_weights: bool = False) -> Translated:
        """Predict each target token from the source and the *right* tokens before it (teacher forcing).

        Parameters
        ----------
        source, targets : (B, Ts) and (B, Tt) integer tensors, each row ended by the end token, then padding.
        need_weights : also return the weights; without them PyTorch's fused attention does the work.

        Returns
        -------
        Translated, with logits (B, Tt, V): row t scores the candidates for ``targets[:, t]``.

        Raises
        ------
        ValueError
            If an id is not in its vocabulary, or a sentence is longer than `max_length` of the config.
        """
        memory = self.encode(source, need_weights)
        return self.decode(shift_right(targets, self.config.end_id), memory, need_weights)

    def encode(self, source: Tensor, need_weights: bool = False) -> TransformerMemory:
        """Read (B, Ts) ids, padding at the end of each row."""
        mask = padding_mask(source, self.config.pad_id)  # (B, 1, 1, Ts)
        scaled = embedding(source, self.source_embedding.weight) * self.config.d_model**0.5  # sec. 3.4
        states, weights = self.encoder(self.dropout(self.source_positions(scaled)), mask, need_weights)
        return TransformerMemory(states, mask, weights)

    def decode(self, inputs: Tensor, memory: TransformerMemory, need_weights: bool = False) -> Translated:
        """Predict from (B, Tt) ids, the start token first, what follows each of them: logits (B, Tt, V)."""
        # Padding needs no mask here: it stands behind the sentence, where no position of it looks.
        mask = causal_mask(inputs.shape[1], inputs.device)
        features, own, cross = self.decoder(
            self._embed_target(inputs), memory.states, mask, memory.mask, need_weights
        )
        logits = self.output(features)  # (B, Tt, D) -> (B, Tt, V)
        if not need_weights:
            return Translated(logits, None)
        return Translated(logits, TransformerWeights(memory.weights or (), own, cross))

    def _embed_target(self, inputs: Tensor, start: int = 0) -> Tensor:
        """Map (B, Tt) ids, the first of which stands at position `start`, to (B, Tt, D)."""
        scaled = embedding(inputs, self.target_embedding.weight) * self.config.d_model**0.5
        embedded: Tensor = self.dropout(self.target_positions(scaled, start))
        return embedded

    def start(self, source: Tensor) -> tuple[TransformerMemory, DecoderCache]:
        """Read (B, Ts) ids, and begin a cache; see `decoding.StepwiseModel` for this and the next two."""
        return self.encode(source), self.decoder.new_cache()

    def step(
        self, tokens: Tensor, state: tuple[TransformerMemory, DecoderCache], need_weights: bool = False
    ) -> Step:
        """Read (N,) tokens; the weights on request are those across to the source, (N, L, H, Ts)."""
        memory, cache = state
        x = self._embed_target(tokens[:, None], start=cache.length)  # (N, 1, D)
        # One new position, which may look at all of the cache: the last row of the causal mask.
        features, _, cross = self.decoder(x, memory.states, None, memory.mask, need_weights, cache)
        weights = torch.stack(cross, dim=1)[:, :, :, 0] if need_weights else None
        return Step(self.output(features[:, 0]), state, weights)

    def reorder(
        self, state: tuple[TransformerMemory, DecoderCache], index: Tensor
    ) -> tuple[TransformerMemory, DecoderCache]:
        """Keep the rows (N',) of the index."""
        memory, cache = state
        cache.select(index)
        return _rows(memory, index), cache


class WithoutCache:
    """The same model, but each step computes all positions of the decoder again: what the cache saves.

    Parameters
    ----------
    model : a `Transformer`, used as it is.
    """

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self.config = model.config

    @property
    def training(self) -> bool:
        """Whether the model is in training mode."""
        return self.model.training

    def train(self, mode: bool = True) -> WithoutCache:
        """Switch the model's mode."""
        self.model.train(mode)
        return self

    def start(self, source: Tensor) -> tuple[TransformerMemory, Tensor]:
        """Read (B, Ts) ids, and begin with (B, 0) ids of the target."""
        return self.model.encode(source), source[:, :0]

    def step(
        self, tokens: Tensor, state: tuple[TransformerMemory, Tensor], need_weights: bool = False
    ) -> Step:
        """Send all tokens so far through the decoder, and keep what it says of the last one."""
        memory, before = state
        inputs = torch.cat([before, tokens[:, None]], dim=1)  # (N, t): the start token, then what was written
        out = self.model.decode(inputs, memory, need_weights)
        weights = torch.stack(out.weights.cross, dim=1)[:, :, :, -1] if out.weights else None
        return Step(out.logits[:, -1], (memory, inputs), weights)

    def reorder(
        self, state: tuple[TransformerMemory, Tensor], index: Tensor
    ) -> tuple[TransformerMemory, Tensor]:
        """Keep the rows (N',) of the index."""
        memory, before = state
        return _rows(memory, index), before[index]


def _rows(memory: TransformerMemory, index: Tensor) -> TransformerMemory:
    """Take rows of what the encoder handed over."""
    return TransformerMemory(memory.states[index], memory.mask[index], None)


def _positions(config: TransformerConfig) -> nn.Module:
    """Make what adds positions."""
    if config.positions == "none":
        return NoPositions()
    kind = SinusoidalPositions if config.positions == "sinusoidal" else LearnedPositions
    return kind(config.max_length, config.d_model)


class NoPositions(nn.Module):
    """Adds nothing: to see what positions are for."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Return (B, T, D) as it is."""
        return x
