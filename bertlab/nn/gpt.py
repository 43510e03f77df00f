"""GPT in PyTorch: twin of `bertlab.reference.gpt`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from bertlab.nn.bert_heads import at
from bertlab.nn.cache import DecoderCache
from bertlab.nn.decoding import Step
from bertlab.nn.dropout import Dropout
from bertlab.nn.encoder import Encoder, encoder_layer
from bertlab.nn.feed_forward import Activation
from bertlab.nn.functional import embedding, layer_norm
from bertlab.nn.gpt_config import GPTConfig
from bertlab.nn.losses import cross_entropy
from bertlab.nn.masking import causal_mask
from bertlab.nn.packing import Packing
from bertlab.nn.parameters import split_parameters, split_stack
from bertlab.nn.positions import learned_positions

EMBEDDING_PARTS = ("token", "position")
PARTS = ("embeddings", "encoder")
NOT_ASKED = -100  # a label that does not count, as in `cross_entropy`

Layers = tuple[Tensor, ...]  # L + 1 of (B, T, D): what enters the first layer, and what each layer says


def gpt_embeddings(ids: Tensor, params: Mapping[str, Tensor]) -> Tensor:
    """Say of each token which it is and where it stands: the sum of two vectors.

    Parameters
    ----------
    ids : (B, T) integer tensor.
    params : ``{"token.weight": (V, D), "position.weight": (N, D)}``.

    Returns
    -------
    (B, T, D) float tensor.

    Raises
    ------
    ValueError
        If an id has no row, T is beyond the table of positions, or a parameter is missing.

    References
    ----------
    Radford et al. 2018, sec. 3.1, eq. (2): h0 = U We + Wp. Unlike BERT, without a norm.
    """
    part = split_parameters(params, EMBEDDING_PARTS)
    token = embedding(ids, part["token"]["weight"])  # (B, T, D)
    return token + learned_positions(ids.shape[1], part["position"]["weight"])  # (B, T, D) + (T, D)


def gpt(
    ids: Tensor,
    params: Mapping[str, Tensor],
    n_heads: int,
    norm_first: bool = False,
    activation: Activation = "gelu_tanh",
    eps: float = 1e-5,
) -> tuple[Layers, tuple[Tensor, ...]]:
    """Read texts from left to right: no position sees what comes after it.

    So padding behind a text needs no mask: nothing in the text looks there.

    Parameters
    ----------
    ids : (B, T) integer tensor.
    params : the `state_dict` of `GPT`.
    n_heads : number of heads H, a divisor of D.
    norm_first : GPT-2's order (pre-LN) if true, GPT-1's (post-LN) if false.
    activation, eps : as in `feed_forward` and `layer_norm`.

    Returns
    -------
    layers : L + 1 float tensors (B, T, D): what enters the first layer, and what each layer says. In pre-LN
        the last one has passed the last norm.
    weights : one (B, H, T, T) float tensor for each layer.

    Raises
    ------
    ValueError
        As in `gpt_embeddings` and `encoder_layer`.

    References
    ----------
    Radford et al. 2018, sec. 3.1, eq. (2), and 4.1, "Model specifications"; pre-LN: Radford et al. 2019,
    sec. 2.3.
    """
    part = split_parameters(params, PARTS)
    layers, weights = [gpt_embeddings(ids, part["embeddings"])], []
    stack, norm = split_stack(part["encoder"], norm_first)
    mask = causal_mask(ids.shape[1], ids.device)  # (T, T)
    for layer in stack:
        x, its_weights = encoder_layer(layers[-1], layer, n_heads, mask, norm_first, activation, eps)
        layers.append(x)
        weights.append(its_weights)
    if norm is not None:
        layers[-1] = layer_norm(layers[-1], norm["weight"], norm["bias"], eps)
    return tuple(layers), tuple(weights)


class GPTOutput(NamedTuple):
    """What GPT says of an input."""

    logits: Tensor  # (B, T, V), or (M, V) of the chosen positions: softmax gives the next token's chances
    layers: Layers
    weights: tuple[Tensor, ...] | None  # L of (B, H, T, T); None unless asked for

    @property
    def states(self) -> Tensor:
        """What the last layer says (B, T, D)."""
        return self.layers[-1]


class GPTEmbeddings(nn.Module):
    """Two tables, whose rows are added; see `gpt_embeddings`.

    Parameters
    ----------
    config : sizes and choices.

    References
    ----------
    Radford et al. 2018, sec. 3.1 and 4.1: positions are learned, too.
    """

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.token = nn.Embedding(config.vocab_size, config.d_model)
        self.position = nn.Embedding(config.max_positions, config.d_model)
        self.dropout = Dropout(config.dropout)

    def forward(self, ids: Tensor, start: int = 0, packing: Packing | None = None) -> Tensor:
        """Map (B, T) ids, the first at position `start`, to (B, T, D), or packed ones (1, N) to (1, N, D)."""
        if packing is None:
            position = learned_positions(start + ids.shape[1], self.position.weight)[start:]  # (T, D)
        else:
            position = embedding(packing.columns, self.position.weight)  # (N, D)
        embedded: Tensor = self.dropout(embedding(ids, self.token.weight) + position)
        return embedded


class GPT(nn.Module):
    """A language model that reads from left to right: BERT's stack under the decoder's mask.

    Parameters
    ----------
    config : sizes and choices.

    References
    ----------
    Radford et al. 2018, sec. 3.1 and 4.1: first weights from a normal distribution with a deviation of 0.02.
    In pre-LN those that write into the residual stream, of which 2 L add up, are smaller by their root:
    Radford et al. 2019, sec. 2.3.

    Examples
    --------
    >>> model = GPT(GPTConfig.tiny(vocab_size=100))
    >>> output = model(torch.tensor([[7, 8, 3]]))
    >>> output.logits.shape, output.states.shape, len(output.layers)  # (B, T, V), (B, T, D), L + 1
    (torch.Size([1, 3, 100]), torch.Size([1, 3, 128]), 3)
    """

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = GPTEmbeddings(config)
        self.encoder = Encoder(config.n_layers, config.d_model, config.n_heads, config.d_ff, **config.layer)
        self.apply(begin)
        if config.norm_first:
            for name, weight in self.encoder.named_parameters():
                if name.endswith(("attention.output.weight", "feed_forward.outer.weight")):
                    nn.init.normal_(weight, std=0.02 / (2 * config.n_layers) ** 0.5)

    def read(
        self,
        ids: Tensor,
        packing: Packing | None = None,
        need_weights: bool = False,
        cache: DecoderCache | None = None,
    ) -> tuple[Layers, tuple[Tensor, ...] | None]:
        """Read (B, T) ids without scoring what may follow: what each layer says, and the weights.

        Parameters
        ----------
        ids : (B, T) integer tensor; with a cache, only the new positions.
        packing : to compute the same without padding; the layers are (1, N, D) then.
        need_weights : also return the weights; without them PyTorch's fused attention does the work.
        cache : from `new_cache`, for a text that is written step by step.

        Raises
        ------
        ValueError
            If an id has no row, T is beyond `max_positions` of the config, or the packing is not causal.
        """
        if packing is not None and not packing.causal:
            raise ValueError("this Packing shows what comes after: make it with causal=True for a GPT")
        start = cache.length if cache else 0
        ids = packing.pack(ids) if packing else ids  # (B, T) -> (1, N)
        layers, weights = [self.embeddings(ids, start, packing)], []
        mask = packing or causal_mask(start + ids.shape[1], ids.device)[start:]  # (T, cached and new)
        for i, layer in enumerate(self.encoder.layers):
            x, its_weights = layer(layers[-1], mask, need_weights, cache.layers[i] if cache else None)
            layers.append(x)
            weights.append(its_weights)
        if self.encoder.norm is not None:
            layers[-1] = self.encoder.norm(layers[-1])
        return tuple(layers), tuple(weights) if need_weights else None

    def logits(self, states: Tensor) -> Tensor:
        """Score all tokens of the vocabulary by what positions say: (..., D) to (..., V)."""
        return nn.functional.linear(states, self.embeddings.token.weight)

    def forward(
        self,
        ids: Tensor,
        packing: Packing | None = None,
        positions: Tensor | None = None,
        need_weights: bool = False,
    ) -> GPTOutput:
        """Read (B, T) ids, and score what may follow each of them.

        Parameters
        ----------
        ids, packing, need_weights : as in `read`.
        positions : (M,) integer tensor, row * T + column: score the vocabulary there alone; everywhere, if
            not given.
        """
        layers, weights = self.read(ids, packing, need_weights)
        return GPTOutput(self.logits(_chosen(layers[-1], positions, packing)), layers, weights)

    def loss(self, ids: Tensor, labels: Tensor, packing: Packing | None = None) -> Tensor:
        """Compute the mean surprise in nats; see `bertlab.nn.language_model`, which also makes labels."""
        return self.loss_of(self.read(ids, packing)[0][-1], labels, packing)

    def loss_of(self, states: Tensor, labels: Tensor, packing: Packing | None = None) -> Tensor:
        """Compute the same of what was read, the vocabulary scored only where `labels` ask for something."""
        asked = (labels.flatten() != NOT_ASKED).nonzero()[:, 0]  # (M,) row * T + column
        return cross_entropy(self.logits(_chosen(states, asked, packing)), labels.flatten()[asked])

    def new_cache(self) -> DecoderCache:
        """Make an empty cache for one batch of texts; `read` and `step` fill it."""
        return DecoderCache(self.config.n_layers)

    def step(self, tokens: Tensor, state: DecoderCache, need_weights: bool = False) -> Step:
        """Read (N,) tokens, the last ones written, and score what may come next.

        The weights, on request, are those to all tokens so far, (N, L, H, T).
        """
        layers, weights = self.read(tokens[:, None], need_weights=need_weights, cache=state)
        looks = torch.stack(weights, dim=1)[:, :, :, 0] if weights else None
        return Step(self.logits(layers[-1][:, 0]), state, looks)


def _chosen(states: Tensor, positions: Tensor | None, packing: Packing | None) -> Tensor:
    """Take chosen positions out of what was read; all, if none are named."""
    if positions is None:
        return states
    return at(states, packing.at(positions) if packing else positions)


def begin(module: nn.Module) -> None:
    """Draw the first weights of a module: small, of both signs; biases 0."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
