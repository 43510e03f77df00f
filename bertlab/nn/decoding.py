"""From a model's probabilities to a sentence, token by token.

Greedy decoding is here, `bertlab.nn.beam` has the search with a beam. Both take any model that can
write stepwise: a state after the source is read, then for each token one step. `bertlab.nn.sampling` draws
tokens by chance, behind the beginning of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor


class Step(NamedTuple):
    """What one step of N sentences gives."""

    logits: Tensor  # (N, V); softmax makes them the probabilities of the next token
    state: Any  # the model's own, for the next step
    weights: Tensor | None  # (N, ..., Ts) attention to the source, if the model has it and was asked for it


class SpecialIds(Protocol):
    """Two ids that mean something to a search."""

    @property
    def pad_id(self) -> int:
        """Fills a row after its end."""

    @property
    def end_id(self) -> int:
        """Ends a sentence, and starts the decoder."""


class Writer(Protocol):
    """What writing needs of a model; `GPT` has it, as have those that read a source before."""

    training: bool

    def step(self, tokens: Tensor, state: Any, need_weights: bool = False) -> Step:
        """Read (N,) tokens, the last ones written, and score what may come next; `state` is used up."""

    def train(self, mode: bool = True) -> Any:
        """Switch to training, or with False to evaluation."""


class StepwiseModel(Writer, Protocol):
    """What a search needs of a model; `Seq2Seq` and `Transformer` have it."""

    @property
    def config(self) -> SpecialIds:
        """Settings of the model; the two ids are what matters here."""

    def start(self, source: Tensor) -> Any:
        """Read (B, Ts) ids, and make the state before the first step."""

    def reorder(self, state: Any, index: Tensor) -> Any:
        """Keep the rows of (N',) `index`, in its order, some perhaps several times, others not at all."""


@torch.no_grad()
def greedy_decode(
    model: StepwiseModel, source: Tensor, max_length: int, need_weights: bool = False
) -> tuple[Tensor, Tensor | None]:
    """Write the most probable token at each step, and feed it back, until every sentence has ended.

    Parameters
    ----------
    model : switched to evaluation mode while it decodes.
    source : (B, Ts) integer tensor.
    max_length : stop after so many tokens, the end token counted.
    need_weights : also return the weights of a model that computes them on request only.

    Returns
    -------
    ids : (B, Tt) integer tensor, padded after the end token. Of equally probable tokens the one with the
        lowest id is written.
    weights : the weights that each token was written with, zero after the end: (B, Tt, Ts) float tensor of a
        `Seq2Seq` with attention, (B, L, H, Tt, Ts) of a `Transformer` that is asked for them; else None.

    Raises
    ------
    ValueError
        If `max_length` is below 1.

    References
    ----------
    Sutskever et al. 2014, sec. 3.2: a beam of size 1.
    """
    pad_id, end_id = model.config.pad_id, model.config.end_id
    with evaluation_mode(model):
        state = model.start(source)
        first = torch.full((len(source),), end_id, device=source.device)  # (B,)
        # argmax takes the first of equals
        return write(
            model, state, first, lambda logits: logits.argmax(-1), max_length, pad_id, end_id, need_weights
        )


def write(
    model: Writer,
    state: Any,
    token: Tensor,
    choose: Callable[[Tensor], Tensor],
    max_length: int,
    pad_id: int,
    end_id: int | None,
    need_weights: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Choose a token, feed it back, and so on, until every text has ended: the loop of all that write.

    Parameters
    ----------
    model, state, token : in evaluation mode; its state, and the tokens (B,) that the first step reads.
    choose : from the scores (B, V) of what may come next to one token (B,) each.
    max_length, need_weights : as in `greedy_decode`.
    pad_id, end_id : what fills a row after its end, and what ends it; None if nothing does.

    Returns
    -------
    ids, weights : as of `greedy_decode`.

    Raises
    ------
    ValueError
        If `max_length` is below 1.
    """
    check_at_least_one(max_length=max_length)
    ids: list[Tensor] = []
    weights: list[Tensor] = []
    ended = torch.zeros_like(token, dtype=torch.bool)
    while len(ids) < max_length and not ended.all():
        step = model.step(token, state, need_weights)
        state, token = step.state, choose(step.logits)
        ids.append(token.masked_fill(ended, pad_id))
        if step.weights is not None:
            shape = (-1, *[1] * (step.weights.dim() - 1))
            weights.append(step.weights.masked_fill(ended.view(shape), 0.0))
        if end_id is not None:
            ended = ended | (token == end_id)
    return torch.stack(ids, dim=1), torch.stack(weights, dim=-2) if weights else None


@contextmanager
def evaluation_mode(model: Writer) -> Iterator[None]:
    """Switch dropout off for a while, and back to what it was."""
    was_training = model.training
    model.train(False)
    try:
        yield
    finally:
        model.train(was_training)


def check_at_least_one(**numbers: int) -> None:
    """Raise a ValueError that names a number below 1."""
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name}={number}: allow at least 1")
