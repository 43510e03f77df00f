"""Five ways to learn words from their contexts: what is trained, and how each is asked.

An arm reads (B, T) ids, a text between [CLS] and [SEP], and is asked the same two things: what it makes of
each piece (`layers`), and which piece stands at a place, without looking at what stands there (`log_p`). The
second it answers in its own right way:

    "CBOW"       the mean of the five pieces on either side, in no order, through a whole softmax
    "ELMo"       LSTMs from the left and from the right; the two opinions are joined, see `joined`
    "GPT"        a Transformer from the left; nothing right of the place is read
    "two GPTs"   Transformers from the left and from the right, joined in the same way
    "BERT"       reads [MASK] at the place, and all else on both sides at once

`_arms_made` makes them, all of one size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from bertlab.nn.bert_heads import at
from bertlab.nn.functional import log_softmax
from bertlab.nn.language_model import shift_left
from bertlab.nn.losses import cross_entropy
from bertlab.nn.packing import Packing

WINDOW = 5  # pieces on either side that CBOW reads, as in word2vec
PLAIN = (1.0, 1.0, -1.0)  # weights of two opinions and of how frequent a piece is, by Bayes' rule
FLOOR = -30.0  # instead of the logarithm of 0
ROWS = 256  # texts with one [MASK] each that BERT reads at a time


class Arm(nn.Module):
    """What is trained. `trunk` computes the loss of a batch; `sides` says what it reads of a text.

    Parameters
    ----------
    model : with its weights.
    log_unigram : (V,) logarithm of how often each piece stands in the training text.
    """

    log_unigram: Tensor
    sides = "both"  # or "left", "each" (apart), "around" (in no order)

    def __init__(self, model: nn.Module, log_unigram: Tensor) -> None:
        super().__init__()
        self.model: Any = model
        self.register_buffer("log_unigram", log_unigram)

    def loss(self, *batch: Tensor) -> Tensor:
        """Mean surprise at what is asked for, in nats; of both directions the sum, and BERT's NSP added."""
        raise NotImplementedError

    def layers(self, ids: Tensor, segments: Tensor | None = None) -> tuple[Tensor, ...]:
        """What enters the first layer, and what each layer says: (B, T, W) each."""
        raise NotImplementedError

    def log_p(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Log chances of all pieces at M positions, row * T + column, each asked alone: (M, V)."""
        raise NotImplementedError

    def real(self, ids: Tensor) -> Tensor:
        """Say where a piece stands: (B, T) bool."""
        real: Tensor = ids != self.model.config.pad_id
        return real


class Around(NamedTuple):
    """Sizes of a CBOW."""

    vocab_size: int
    width: int
    pad_id: int


class CBOW(nn.Module):
    """Two vectors for each piece; see Mikolov et al. 2013a, sec. 3.1. First weights: word2vec.c."""

    def __init__(self, config: Around) -> None:
        super().__init__()
        self.config = config
        self.input, self.output = (nn.Embedding(config.vocab_size, config.width) for _ in range(2))
        nn.init.uniform_(self.input.weight, -0.5 / config.width, 0.5 / config.width)
        nn.init.zeros_(self.output.weight)

    def around(self, ids: Tensor) -> Tensor:
        """Mean of the vectors around each place, without the one that stands there: (B, T, W)."""
        x, columns = self.input(ids), torch.arange(ids.shape[1], device=ids.device)
        apart = (columns - columns[:, None]).abs()  # (T, T)
        near = ((apart > 0) & (apart <= WINDOW)) & (ids != self.config.pad_id)[:, None]  # (B, T, T)
        weights = near.to(x)
        mean: Tensor = (weights / weights.sum(-1, keepdim=True).clamp(min=1)) @ x
        return mean


class StaticArm(Arm):
    """One vector for each piece, whatever stands around it."""

    sides = "around"

    def loss(self, *batch: Tensor) -> Tensor:
        ids, mask = batch
        inner = mask[:, 1:-1] & mask[:, 2:]  # pieces between [CLS] and [SEP]
        logits = self.model.around(ids)[:, 1:-1][inner] @ self.model.output.weight.T
        return cross_entropy(logits, ids[:, 1:-1][inner])

    def layers(self, ids: Tensor, segments: Tensor | None = None) -> tuple[Tensor, ...]:
        return (self.model.input(ids),)

    def log_p(self, ids: Tensor, positions: Tensor) -> Tensor:
        return log_softmax(at(self.model.around(ids), positions) @ self.model.output.weight.T)


class GPTArm(Arm):
    """A Transformer that reads from the left."""

    sides = "left"

    def loss(self, *batch: Tensor) -> Tensor:
        ids, mask = batch
        packing = Packing.where_it_pays(mask, causal=True)
        loss: Tensor = self.model.loss(ids, shift_left(ids, mask), packing)
        return loss

    def layers(self, ids: Tensor, segments: Tensor | None = None) -> tuple[Tensor, ...]:
        layers: tuple[Tensor, ...] = self.model.read(ids)[0]
        return layers

    def log_p(self, ids: Tensor, positions: Tensor) -> Tensor:
        return log_softmax(self.model(ids, positions=positions - 1).logits)


class TwoSidedArm(Arm):
    """Readers from the left and from the right that never meet."""

    sides = "each"
    weights: tuple[float, float, float] = PLAIN  # of `joined`; `_glue.adjust` fits them

    def opinions(self, ids: Tensor, positions: Tensor) -> Tensor:
        """What the reader from the left says of M places, and what the one from the right: (2, M, V)."""
        ahead, back = self.layers(ids)[-1].chunk(2, -1)
        return torch.stack(
            [log_softmax(self.score(at(x, p))) for x, p in ((ahead, positions - 1), (back, positions + 1))]
        )

    def score(self, states: Tensor) -> Tensor:
        """Logits of states of one direction."""
        raise NotImplementedError

    def log_p(self, ids: Tensor, positions: Tensor) -> Tensor:
        return joined(self.opinions(ids, positions), self.log_unigram, self.weights)


class GluedArm(TwoSidedArm):
    """Two GPTs, of which one reads from the right."""

    def loss(self, *batch: Tensor) -> Tensor:
        ids, mask = batch
        loss: Tensor = self.model.loss(ids, mask, Packing.where_it_pays(mask, causal=True))[0]
        return loss

    def layers(self, ids: Tensor, segments: Tensor | None = None) -> tuple[Tensor, ...]:
        layers: tuple[Tensor, ...] = self.model.layers(ids)
        return layers

    def score(self, states: Tensor) -> Tensor:
        scores: Tensor = self.model.forwards.logits(states)
        return scores


class ELMoArm(TwoSidedArm):
    """LSTMs from the left and from the right, over the same pieces as the others."""

    def loss(self, *batch: Tensor) -> Tensor:
        ids, mask = batch
        loss: Tensor = self.model.loss(ids, mask=mask)[0]
        return loss

    def layers(self, ids: Tensor, segments: Tensor | None = None) -> tuple[Tensor, ...]:
        layers: tuple[Tensor, ...] = self.model.elmo(ids).layers
        return layers

    def score(self, states: Tensor) -> Tensor:
        return nn.functional.linear(states, self.model.table, self.model.output.bias)


class BertArm(Arm):
    """A Transformer that reads both sides at once, and so must not see what it is asked for."""

    mask_id = 4  # [MASK] of all vocabularies here

    def loss(self, *batch: Tensor) -> Tensor:
        *what, real = batch  # what `BertForPreTraining.loss` takes, and (B, T) where there is a piece
        loss: Tensor = self.model.loss(*what, Packing.where_it_pays(real))[0]
        return loss

    def layers(self, ids: Tensor, segments: Tensor | None = None) -> tuple[Tensor, ...]:
        segments = segments if self.model.next_sentence else None  # else the second segment met no loss
        layers: tuple[Tensor, ...] = self.model.bert(ids, segments).layers
        return layers

    def log_p(self, ids: Tensor, positions: Tensor) -> Tensor:
        found = []
        for some in positions.split(ROWS):  # each place in a copy of its own
            rows, columns = some // ids.shape[1], some % ids.shape[1]
            copies, numbers = ids[rows], torch.arange(len(some), device=ids.device)
            copies[numbers, columns] = self.mask_id
            found.append(self.model(copies, positions=numbers * ids.shape[1] + columns).logits)
        return log_softmax(torch.cat(found))


def joined(opinions: Tensor, log_unigram: Tensor, weights: Sequence[float] = PLAIN) -> Tensor:
    """Join what two readers say who see different sides: (2, M, V) to log probabilities (M, V).

    If the sides were independent of each other, given the piece between them, Bayes' rule would give
    p(piece | left) · p(piece | right) / p(piece), but for a constant: what both contain is divided out. Of
    readers that know little, that is too much: so the logarithms have weights.

    Examples
    --------
    >>> left, right, alone = torch.tensor([[0.8, 0.2], [0.5, 0.5], [0.5, 0.5]]).log()
    >>> joined(torch.stack([left, right])[:, None], alone).exp().round(decimals=3).tolist()
    [[0.800000011920929, 0.20000000298023224]]
    """
    left, right, alone = weights
    first, second = opinions.clamp(min=FLOOR)
    return log_softmax(left * first + right * second + alone * log_unigram)
