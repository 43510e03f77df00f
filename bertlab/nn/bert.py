"""BERT in PyTorch: twin of `bertlab.reference.bert`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from bertlab.nn.bert_config import BertConfig
from bertlab.nn.dropout import Dropout
from bertlab.nn.encoder import Encoder, encoder_layer
from bertlab.nn.feed_forward import Activation
from bertlab.nn.functional import embedding, layer_norm, linear
from bertlab.nn.masking import padding_mask
from bertlab.nn.packing import Packing
from bertlab.nn.parameters import split_parameters, split_stack
from bertlab.nn.positions import learned_positions

EMBEDDING_PARTS = ("token", "position", "segment", "norm")
PARTS = ("embeddings", "encoder", "pooler")


def bert_embeddings(
    ids: Tensor, segments: Tensor, params: Mapping[str, Tensor], eps: float = 1e-12
) -> Tensor:
    """Say of each piece which it is, where it stands and in which text: the sum of three vectors, normed.

    Parameters
    ----------
    ids, segments : (B, T) integer tensors.
    params : the `state_dict` of `BertEmbeddings`.
    eps : as in `layer_norm`.

    Returns
    -------
    (B, T, D) float tensor.

    Raises
    ------
    ValueError
        If an id or a segment has no row, T is beyond the table of positions, or a parameter is missing.

    References
    ----------
    Devlin et al. 2019, sec. 3, "Input/Output Representations", fig. 2. The norm is in the authors' code only.
    """
    part = split_parameters(params, EMBEDDING_PARTS)
    token = embedding(ids, part["token"]["weight"])  # (B, T, D)
    segment = embedding(segments, part["segment"]["weight"])  # (B, T, D)
    position = learned_positions(ids.shape[1], part["position"]["weight"])  # (T, D)
    return layer_norm(token + position + segment, part["norm"]["weight"], part["norm"]["bias"], eps)


def pool(states: Tensor, params: Mapping[str, Tensor]) -> Tensor:
    """Make one vector for the whole input, out of what [CLS] became.

    Parameters
    ----------
    states : (B, T, D) float tensor, of the last layer.
    params : ``{"weight": (D, D), "bias": (D,)}``.

    Returns
    -------
    (B, D) float tensor.

    References
    ----------
    google-research/bert, modeling.py, "pooler": a layer with tanh; the paper calls its input C.
    """
    return linear(states[:, 0], params["weight"], params["bias"]).tanh()  # (B, D) -> (B, D)


def bert(
    ids: Tensor,
    segments: Tensor,
    params: Mapping[str, Tensor],
    n_heads: int,
    mask: Tensor | None = None,
    activation: Activation = "gelu",
    eps: float = 1e-12,
) -> tuple[tuple[Tensor, ...], Tensor, tuple[Tensor, ...]]:
    """Read texts in both directions at once.

    Parameters
    ----------
    ids, segments : (B, T) integer tensors.
    params : the `state_dict` of `BertModel`, pooler included.
    n_heads : number of heads H, a divisor of D.
    mask : bool tensor that broadcasts to (B, H, T, T), True = may be attended to; optional.
    activation, eps : as in `feed_forward` and `layer_norm`.

    Returns
    -------
    layers : L + 1 float tensors (B, T, D): what enters the first layer, and what each layer says.
    pooled : (B, D) float tensor.
    weights : one (B, H, T, T) float tensor for each layer.

    Raises
    ------
    ValueError
        As in `bert_embeddings` and `encoder_layer`.

    References
    ----------
    Devlin et al. 2019, sec. 3, "Model Architecture".
    """
    part = split_parameters(params, PARTS)
    layers, weights = [bert_embeddings(ids, segments, part["embeddings"], eps)], []
    for layer in split_stack(part["encoder"], norm_first=False)[0]:
        x, its_weights = encoder_layer(layers[-1], layer, n_heads, mask, False, activation, eps)
        layers.append(x)
        weights.append(its_weights)
    return tuple(layers), pool(layers[-1], part["pooler"]), tuple(weights)


class BertOutput(NamedTuple):
    """What BERT says of an input."""

    layers: tuple[Tensor, ...]  # L + 1 of (B, T, D): what enters the first layer, and what each layer says
    pooled: Tensor | None  # (B, D); None for a model without pooler
    weights: tuple[Tensor, ...] | None  # L of (B, H, T, T); None unless asked for

    @property
    def states(self) -> Tensor:
        """What the last layer says (B, T, D)."""
        return self.layers[-1]


class BertEmbeddings(nn.Module):
    """Three tables, whose rows are added, then normed; see `bert_embeddings`.

    Parameters
    ----------
    config : sizes and choices.

    References
    ----------
    Devlin et al. 2019, sec. 3, fig. 2. All three are learned, the positions too, and none is scaled by √D.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.token = nn.Embedding(config.vocab_size, config.d_model)
        self.position = nn.Embedding(config.max_positions, config.d_model)
        self.segment = nn.Embedding(config.n_segments, config.d_model)
        self.norm = nn.LayerNorm(config.d_model, config.eps)
        self.dropout = Dropout(config.dropout)

    def forward(self, ids: Tensor, segments: Tensor, packing: Packing | None = None) -> Tensor:
        """Map (B, T) ids and segments to (B, T, D), or of a packed batch (1, N) to (1, N, D)."""
        if packing is None:
            position = learned_positions(ids.shape[1], self.position.weight)  # (T, D)
        else:
            position = embedding(packing.columns, self.position.weight)  # (N, D)
        total = embedding(ids, self.token.weight) + position + embedding(segments, self.segment.weight)
        embedded: Tensor = self.dropout(self.norm(total))
        return embedded


class BertModel(nn.Module):
    """The encoder that reads both ways, and the pooler.

    Parameters
    ----------
    config : sizes and choices.
    pooler : whether there is one; published encoders without it exist.

    References
    ----------
    Devlin et al. 2019, sec. 3. The first weights: google-research/bert, modeling.py.

    Examples
    --------
    >>> model = BertModel(BertConfig.tiny(vocab_size=100))
    >>> output = model(torch.tensor([[2, 7, 8, 3]]))
    >>> output.states.shape, len(output.layers), output.pooled.shape  # (B, T, D), L + 1, (B, D)
    (torch.Size([1, 4, 128]), 3, torch.Size([1, 128]))
    """

    def __init__(self, config: BertConfig, pooler: bool = True) -> None:
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        self.encoder = Encoder(config.n_layers, config.d_model, config.n_heads, config.d_ff, **config.layer)
        self.pooler = nn.Linear(config.d_model, config.d_model) if pooler else None
        self.apply(begin)

    def forward(
        self,
        ids: Tensor,
        segments: Tensor | None = None,
        mask: Tensor | Packing | None = None,
        need_weights: bool = False,
    ) -> BertOutput:
        """Read (B, T) ids.

        Parameters
        ----------
        ids : (B, T) integer tensor.
        segments : (B, T) integer tensor: 0 for the first text, 1 for the second; if not given, all 0.
        mask : bool tensor that broadcasts to (B, H, T, T), True = may be attended to; if not given, padding
            (`pad_id` of the config) is hidden. What stands at padded positions of the output means nothing.
            Or a `Packing`, to compute the same without padding: the layers of the output are (1, N, D) then.
        need_weights : also return the weights; without them PyTorch's fused attention does the work.

        Raises
        ------
        ValueError
            If an id or a segment has no row, or T is beyond `max_positions` of the config.
        """
        segments = torch.zeros_like(ids) if segments is None else segments
        mask = padding_mask(ids, self.config.pad_id) if mask is None else mask
        packing = mask if isinstance(mask, Packing) else None
        if packing:
            ids, segments = packing.pack(ids), packing.pack(segments)  # (B, T) -> (1, N)
        layers, weights = [self.embeddings(ids, segments, packing)], []
        for layer in self.encoder.layers:
            x, its_weights = layer(layers[-1], mask, need_weights)
            layers.append(x)
            weights.append(its_weights)
        first = layers[-1][0, packing.first] if packing else layers[-1][:, 0]  # (B, D), what [CLS] became
        pooled = None if self.pooler is None else self.pooler(first).tanh()  # (B, D)
        return BertOutput(tuple(layers), pooled, tuple(weights) if need_weights else None)


def begin(module: nn.Module) -> None:
    """Draw the first weights of a module: small, of both signs; biases 0.

    References
    ----------
    google-research/bert, modeling.py, "create_initializer": a normal distribution with a deviation of 0.02,
    cut off at two deviations.
    """
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.trunc_normal_(module.weight, std=0.02, a=-0.04, b=0.04)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
