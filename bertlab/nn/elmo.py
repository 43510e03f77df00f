"""ELMo in PyTorch: twin of `bertlab.reference.elmo`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from bertlab.nn.bidirectional_lm import BidirectionalLM, bidirectional_lm
from bertlab.nn.character_cnn import CharacterCNN, character_cnn
from bertlab.nn.dropout import Dropout
from bertlab.nn.elmo_config import ELMoConfig
from bertlab.nn.functional import embedding, linear
from bertlab.nn.losses import cross_entropy
from bertlab.nn.parameters import check_names, split_parameters

PARTS = ("embeddings", "layers")


def elmo(inputs: Tensor, params: Mapping[str, Tensor], mask: Tensor | None = None) -> tuple[Tensor, ...]:
    """Represent each token by L + 1 layers: its own vector, and what LSTMs of both directions make of it.

    Parameters
    ----------
    inputs : (B, T) integer tensor of ids, whose vectors are rows of a table; or (B, T, C) of characters,
        of which `character_cnn` makes vectors.
    params : the `state_dict` of `ELMo`.
    mask : (B, T) bool tensor, True = a real token; None if all are.

    Returns
    -------
    L + 1 float tensors (B, T, 2D), zero at padding; see `bidirectional_lm`.

    Raises
    ------
    ValueError
        If a parameter is missing or left over, or an id or a character has no row.

    References
    ----------
    Peters et al. 2018, sec. 3.
    """
    part = split_parameters(params, PARTS)
    if inputs.dim() == 3:
        x = character_cnn(inputs, part["embeddings"])
    else:
        check_names(part["embeddings"], ("weight",))
        x = embedding(inputs, part["embeddings"]["weight"])
    return bidirectional_lm(x, part["layers"], mask)


def bidirectional_lm_loss(
    inputs: Tensor, ids: Tensor, params: Mapping[str, Tensor], mask: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Ask the one direction for each next token, the other for each previous one; the losses are added.

    One softmax serves both. Where ids are read, its matrix is their table; where characters are, it has one
    of its own.

    Parameters
    ----------
    inputs : as in `elmo`.
    ids : (B, T) integer tensor: what stands there, among the V tokens that the softmax knows; -100 where none
        of them does.
    params : the `state_dict` of `ELMoForPreTraining`.
    mask : as in `elmo`.

    Returns
    -------
    joint, forward, backward : the loss, and the two it is the sum of, in nats for each token asked for.

    Raises
    ------
    ValueError
        As in `elmo` and `cross_entropy`.

    References
    ----------
    Peters et al. 2018, sec. 3.1, the equation at its end. It sums over tokens, here is a mean.
    """
    part = split_parameters(params, ("elmo", "output"))
    states, own = elmo(inputs, part["elmo"], mask)[-1], inputs.dim() == 3
    check_names(part["output"], ("weight", "bias") if own else ("bias",))
    table = part["output"]["weight"] if own else part["elmo"]["embeddings.weight"]
    return surprise(states, ids, table, part["output"]["bias"], mask)


def surprise(
    states: Tensor, ids: Tensor, table: Tensor, bias: Tensor, mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the losses of `bidirectional_lm_loss` from the states of the last layer (B, T, 2D).

    Both directions go through the softmax in one product, and positions that ask for nothing do not.
    """
    mask = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask
    both = mask[:, 1:] & mask[:, :-1]  # a token and its neighbour
    ahead, back = states.chunk(2, dim=-1)  # (B, T, D) each
    rows = torch.cat([ahead[:, :-1][both], back[:, 1:][both]])  # (2N, D)
    logits = linear(rows, table, bias)  # (2N, V)
    of_next, of_previous = logits.chunk(2)
    forward, backward = (
        cross_entropy(of_next, ids[:, 1:][both]),
        cross_entropy(of_previous, ids[:, :-1][both]),
    )
    return forward + backward, forward, backward


class ELMoOutput(NamedTuple):
    """What ELMo says of an input."""

    layers: tuple[Tensor, ...]  # L + 1 of (B, T, 2D): the word's own vector twice, then both directions

    @property
    def states(self) -> Tensor:
        """What the last layer says (B, T, 2D)."""
        return self.layers[-1]


class ELMo(nn.Module):
    """Word vectors, out of a table or out of characters, and two stacks of LSTMs over them.

    Parameters
    ----------
    config : sizes and choices.

    References
    ----------
    Peters et al. 2018, sec. 3.

    Examples
    --------
    >>> model = ELMo(ELMoConfig.tiny(vocab_size=100))
    >>> output = model(torch.tensor([[2, 7, 8, 3]]))
    >>> len(output.layers), output.states.shape  # L + 1, (B, T, 2D)
    (3, torch.Size([1, 4, 256]))
    """

    def __init__(self, config: ELMoConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings: nn.Module
        if config.n_characters:
            sizes = (config.d_character, config.filters, config.n_highway)
            self.embeddings = CharacterCNN(config.n_characters, *sizes, config.d_model)
        else:
            self.embeddings = nn.Embedding(config.vocab_size, config.d_model)
            # rows of length 1: no norm would bring smaller ones up, and as a softmax larger ones would shout
            nn.init.normal_(self.embeddings.weight, std=config.d_model**-0.5)
        self.layers = BidirectionalLM(config.n_layers, config.d_model, config.d_memory, config.dropout)

    def forward(self, inputs: Tensor, mask: Tensor | None = None) -> ELMoOutput:
        """Read (B, T) ids, or of a model of characters (B, T, C).

        Parameters
        ----------
        inputs : integer tensor.
        mask : (B, T) bool tensor, True = a real token; if not given, ids other than `pad_id` of the config,
            or words that have a character. No state depends on padding, and at padding all are zero.

        Raises
        ------
        ValueError
            If `inputs` has other axes, or an id or a character has no row.
        """
        axes = 3 if self.config.n_characters else 2
        if inputs.dim() != axes:
            wanted = "(B, T, C), characters of words" if axes == 3 else "(B, T), ids"
            raise ValueError(f"inputs have shape {tuple(inputs.shape)}, but this model reads {wanted}")
        mask = self.real(inputs) if mask is None else mask
        if isinstance(self.embeddings, nn.Embedding):
            return ELMoOutput(self.layers(embedding(inputs, self.embeddings.weight), mask))
        return ELMoOutput(self.layers(self.embeddings(inputs), mask))

    def real(self, inputs: Tensor) -> Tensor:
        """Say where a token stands: (B, T) bool."""
        return (inputs != 0).any(-1) if inputs.dim() == 3 else inputs != self.config.pad_id


class BothWays(NamedTuple):
    """What the two language models answer."""

    of_next: Tensor  # (B, T, V): at each position, what stands right of it
    of_previous: Tensor  # (B, T, V): at each position, what stands left of it
    elmo: ELMoOutput


class ELMoForPreTraining(nn.Module):
    """ELMo with the softmax of its pre-training, one for both directions.

    Parameters
    ----------
    config : sizes and choices.

    References
    ----------
    Peters et al. 2018, sec. 3.1. Their softmax over 793,471 words is sampled; this one is whole.

    Examples
    --------
    >>> model = ELMoForPreTraining(ELMoConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 8, 3]])).of_next.shape
    torch.Size([1, 4, 100])
    """

    def __init__(self, config: ELMoConfig) -> None:
        super().__init__()
        self.config = config
        self.elmo = ELMo(config)
        self.dropout = Dropout(config.dropout)
        self.output = Output(config)

    @property
    def table(self) -> Tensor:
        """The matrix of the softmax (V, D): of a model of pieces, the table of their embeddings."""
        return self.elmo.embeddings.weight if self.output.weight is None else self.output.weight  # type: ignore[return-value]

    def forward(self, inputs: Tensor, mask: Tensor | None = None) -> BothWays:
        """Score at each position what stands right of it and what stands left of it.

        Parameters
        ----------
        inputs, mask : as in `ELMo.forward`.
        """
        output = self.elmo(inputs, mask)
        ahead, back = self.dropout(output.states).chunk(2, dim=-1)  # (B, T, D) each
        of_next, of_previous = (linear(half, self.table, self.output.bias) for half in (ahead, back))
        return BothWays(of_next, of_previous, output)

    def loss(
        self, inputs: Tensor, ids: Tensor | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Compute the joint loss and its two parts in nats; see `bidirectional_lm_loss`.

        A model of pieces needs `inputs` alone.
        """
        ids = inputs if ids is None else ids
        mask = self.elmo.real(inputs) if mask is None else mask
        states = self.dropout(self.elmo(inputs, mask).states)
        return surprise(states, ids, self.table, self.output.bias, mask)


class Output(nn.Module):
    """The softmax's bias, and its matrix unless that is the table of embeddings."""

    weight: nn.Parameter | None

    def __init__(self, config: ELMoConfig) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        own = torch.empty(config.vocab_size, config.d_model).normal_(std=config.d_model**-0.5)
        self.register_parameter("weight", nn.Parameter(own) if config.n_characters else None)
