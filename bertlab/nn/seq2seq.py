"""A recurrent encoder-decoder with and without attention, as the Transformer found it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from bertlab.nn.attention import additive_scores, attend, concat_scores, dot_scores, general_scores
from bertlab.nn.decoding import Step
from bertlab.nn.functional import embedding
from bertlab.nn.recurrent import GRU, LSTM

Attention = Literal["none", "additive", "dot", "general", "concat"]
State = Tensor | tuple[Tensor, Tensor]  # a GRU's state, or an LSTM's state and memory, each (B, D)


@dataclass(frozen=True, kw_only=True)
class Seq2SeqConfig:
    """Sizes and choices of a `Seq2Seq` model.

    Raises
    ------
    ValueError
        If a value does not make a model; the sentence names it and the fix.
    """

    source_vocab: int  # number of source tokens V
    target_vocab: int  # number of target tokens V
    d_embedding: int = 128  # width of a token's vector
    d_model: int = 128  # D, width of the decoder's state and of what the encoder hands over for each token
    cell: Literal["gru", "lstm"] = "gru"
    bidirectional: bool = False  # the encoder reads both ways, half of d_model each
    attention: Attention = "dot"  # "none": the decoder gets the encoder's last state and nothing else
    dropout: float = 0.0  # probability in [0, 1) of dropping an embedding's or the last features' number
    pad_id: int = 0
    end_id: int = 1  # ends a sentence, and starts the decoder: a convention, any reserved id would do

    def __post_init__(self) -> None:
        if self.cell not in ("gru", "lstm"):
            raise ValueError(f"cell={self.cell!r}: choose 'gru' or 'lstm'")
        if self.attention not in Attention.__args__:  # type: ignore[attr-defined]
            raise ValueError(f"attention={self.attention!r}: choose none, additive, dot, general or concat")
        if self.bidirectional and self.d_model % 2:
            raise ValueError(
                f"d_model={self.d_model} does not split into two directions: choose an even number"
            )
        if not 0 <= self.dropout < 1:
            raise ValueError(
                f"dropout={self.dropout} is not a probability in [0, 1): choose one, 0 switches it off"
            )


class Memory(NamedTuple):
    """What the encoder hands over."""

    states: Tensor  # (B, Ts, D) one for each source token, zero at padding
    mask: Tensor  # (B, 1, Ts) bool, True = a real token
    state: State  # the last state: all that a decoder without attention gets


class Look(NamedTuple):
    """What Tt decoder states make of the encoder's states."""

    scores: Tensor  # (B, Tt, Ts)
    weights: Tensor  # (B, Tt, Ts)
    contexts: Tensor  # (B, Tt, D)


class Decoded(NamedTuple):
    """What the decoder computes for Tt target positions; without attention three of them are None."""

    logits: Tensor  # (B, Tt, V)
    states: Tensor  # (B, Tt, D)
    scores: Tensor | None  # (B, Tt, Ts)
    weights: Tensor | None  # (B, Tt, Ts)
    contexts: Tensor | None  # (B, Tt, D)
    features: Tensor  # (B, Tt, D) what the output layer sees
    state: State  # after the last position


def shift_right(targets: Tensor, start_id: int) -> Tensor:
    """Make the decoder's input from the sentence it is to write: a start token first, the last token dropped.

    Parameters
    ----------
    targets : (B, T) integer tensor, each row ending with the end token and padding.
    start_id : the token that starts every sentence.

    Returns
    -------
    (B, T) integer tensor: position t holds the target of position t - 1, so no position sees its own answer.

    References
    ----------
    Sutskever et al. 2014, sec. 2; Vaswani et al. 2017, sec. 3.1, "offset by one position".

    Examples
    --------
    >>> shift_right(torch.tensor([[11, 12, 2]]), start_id=1).tolist()
    [[1, 11, 12]]
    """
    start = torch.full_like(targets[:, :1], start_id)
    return torch.cat([start, targets[:, :-1]], dim=1)


class Encoder(nn.Module):
    """Reads the source and keeps every state."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.pad_id = config.pad_id
        self.embedding = nn.Embedding(config.source_vocab, config.d_embedding)
        layer = GRU if config.cell == "gru" else LSTM
        width = config.d_model // 2 if config.bidirectional else config.d_model
        self.rnn = layer(config.d_embedding, width, config.bidirectional)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, source: Tensor) -> Memory:
        """Read (B, Ts) ids."""
        real = source != self.pad_id  # (B, Ts)
        states, last = self.rnn(self.dropout(embedding(source, self.embedding.weight)), real)
        return Memory(states, real[:, None, :], last)


class Scorer(nn.Module):
    """Scores every encoder state for every decoder state, in one of the four ways."""

    def __init__(self, kind: Attention, d_model: int) -> None:
        super().__init__()
        self.kind = kind
        if kind == "general":
            self.weight = nn.Parameter(torch.empty(d_model, d_model))
        elif kind == "additive":
            self.w_query, self.w_key = (nn.Parameter(torch.empty(d_model, d_model)) for _ in range(2))
        elif kind == "concat":
            self.weight = nn.Parameter(torch.empty(d_model, 2 * d_model))
        if kind in ("additive", "concat"):
            self.v = nn.Parameter(torch.empty(d_model))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(d_model**-0.5), d_model**-0.5)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Map (B, Tt, D) and (B, Ts, D) to scores (B, Tt, Ts)."""
        match self.kind:
            case "general":
                return general_scores(queries, keys, self.weight)
            case "additive":
                return additive_scores(queries, keys, self.w_query, self.w_key, self.v)
            case "concat":
                return concat_scores(queries, keys, self.weight, self.v)
        return dot_scores(queries, keys)


class Decoder(nn.Module):
    """Writes token by token, from the encoder's last state and, with attention, from all of them."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.attention = config.attention
        self.embedding = nn.Embedding(config.target_vocab, config.d_embedding)
        layer = GRU if config.cell == "gru" else LSTM
        with_context = config.d_model if config.attention != "none" else 0
        before = with_context if config.attention == "additive" else 0  # the context enters Bahdanau's cell
        self.rnn = layer(config.d_embedding + before, config.d_model)
        self.scorer = Scorer(config.attention, config.d_model) if config.attention != "none" else None
        self.combine = nn.Linear(with_context + config.d_model, config.d_model)
        self.output = nn.Linear(config.d_model, config.target_vocab)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, inputs: Tensor, state: State, memory: Memory) -> Decoded:
        """Read (B, Tt) ids, the token before each position: all in training, one by one in decoding."""
        x = self.dropout(embedding(inputs, self.embedding.weight))  # (B, Tt, E)
        look = None
        if self.attention == "additive":
            states, state, look = self._look_then_step(x, state, memory)
        else:
            states, state = self.rnn(x, h0=state)  # (B, Tt, D)
            if self.scorer is not None:
                look = self._look(states, memory)
        joined = torch.cat([look.contexts, states], dim=-1) if look else states
        # Luong et al. 2015, eq. (5). Departs from Bahdanau et al. 2015, app. A.2.2: a maxout of these parts.
        features = torch.tanh(self.combine(joined))  # (B, Tt, D)
        logits = self.output(self.dropout(features))
        scores, weights, contexts = look or (None, None, None)
        return Decoded(logits, states, scores, weights, contexts, features, state)

    def _look(self, queries: Tensor, memory: Memory) -> Look:
        """Ask the encoder's states: Luong asks with the new decoder state, Bahdanau with the previous one."""
        assert self.scorer is not None
        scores = self.scorer(queries, memory.states)
        contexts, weights = attend(scores, memory.states, memory.mask)
        return Look(scores, weights, contexts)

    def _look_then_step(self, x: Tensor, state: State, memory: Memory) -> tuple[Tensor, State, Look]:
        """Look with the PREVIOUS state (Bahdanau), so every step must wait for the one before it."""
        states, looks = [], []
        for x_t in x.split(1, dim=1):  # (B, 1, E)
            previous = state if isinstance(state, Tensor) else state[0]
            looks.append(self._look(previous[:, None], memory))
            new, state = self.rnn(torch.cat([x_t, looks[-1].contexts], dim=-1), h0=state)
            states.append(new)
        return (
            torch.cat(states, dim=1),
            state,
            Look(*(torch.cat(parts, dim=1) for parts in zip(*looks, strict=True))),
        )


class Seq2Seq(nn.Module):
    """Reads one sentence, writes another.

    Parameters
    ----------
    config : sizes and choices.

    References
    ----------
    Sutskever et al. 2014, sec. 2, without attention; Bahdanau et al. 2015, sec. 3, "additive", which scores
    with the previous state; Luong et al. 2015, sec. 3.1, "dot", "general" and "concat": with the new one.

    Examples
    --------
    >>> model = Seq2Seq(Seq2SeqConfig(source_vocab=9, target_vocab=9, d_embedding=4, d_model=4))
    >>> model(torch.tensor([[5, 6, 1]]), torch.tensor([[7, 1]])).logits.shape  # (B, Tt, V)
    torch.Size([1, 2, 9])
    """

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)

    def forward(self, source: Tensor, targets: Tensor) -> Decoded:
        """Predict each target token from the source and the *right* tokens before it (teacher forcing).

        Parameters
        ----------
        source, targets : (B, Ts) and (B, Tt) integer tensors, each row ended by the end token, then padding.

        Returns
        -------
        Decoded, with logits (B, Tt, V): row t scores the candidates for ``targets[:, t]``.

        Raises
        ------
        ValueError
            If an id is not in its vocabulary.
        """
        memory = self.encoder(source)
        decoded: Decoded = self.decoder(shift_right(targets, self.config.end_id), memory.state, memory)
        return decoded

    def start(self, source: Tensor) -> tuple[Memory, State]:
        """Read (B, Ts) ids; see `decoding.StepwiseModel` for this and the next two."""
        memory: Memory = self.encoder(source)
        return memory, memory.state

    def step(self, tokens: Tensor, state: tuple[Memory, State], need_weights: bool = False) -> Step:
        """Read (N,) tokens; the weights (N, Ts) come unasked, since they are computed anyway."""
        memory, own = state
        decoded: Decoded = self.decoder(tokens[:, None], own, memory)
        weights = None if decoded.weights is None else decoded.weights[:, 0]
        return Step(decoded.logits[:, 0], (memory, decoded.state), weights)

    def reorder(self, state: tuple[Memory, State], index: Tensor) -> tuple[Memory, State]:
        """Keep the rows (N',) of the index."""
        (states, mask, last), own = state
        return Memory(states[index], mask[index], _rows(last, index)), _rows(own, index)


def _rows(state: State, index: Tensor) -> State:
    """Take rows of a GRU's state, or of an LSTM's state and memory."""
    return state[index] if isinstance(state, Tensor) else (state[0][index], state[1][index])
