"""What experiments on all-MiniLM-L6-v2 share: the published encoder in our BERT."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from bertlab.interop import load_bert
from bertlab.nn import BertModel, EncoderLayer
from bertlab.nn.masking import padding_mask
from bertlab.text import WordPiece

MODEL = "all-MiniLM-L6-v2"
N_LAYERS, N_HEADS, D_HEAD, D_MODEL = 6, 12, 32, 384
MOST_PIECES = 256  # of a text, [CLS] and [SEP] counted; the published model cuts there, too
BATCH = 4096  # word pieces in a batch at most, padding counted
Head = tuple[int, int]  # layer, head
Batches = list[tuple[Tensor, Tensor]]  # numbers of the texts (B,), their ids (B, T)


class MiniLM(nn.Module):
    """The encoder with its published weights, open between its layers."""

    def __init__(self) -> None:
        super().__init__()
        self.bert, self.tokenizer = load_bert(MODEL, BertModel)
        self.eval().requires_grad_(False)

    @property
    def layers(self) -> list[EncoderLayer]:
        """All layers."""
        return list(self.bert.encoder.layers)  # type: ignore[arg-type]

    @property
    def outputs(self) -> list[nn.Linear]:
        """W_O of each layer."""
        return [layer.attention.output for layer in self.layers]

    def embed(self, ids: Tensor) -> Tensor:
        """What enters the first layer: (B, T) ids -> (B, T, D)."""
        x: Tensor = self.bert.embeddings(ids, torch.zeros_like(ids))
        return x

    def forward(self, x: Tensor, mask: Tensor, first: int = 0, last: int = N_LAYERS) -> Tensor:
        """Send (B, T, D) through the layers from `first` to the one before `last`."""
        for layer in self.layers[first:last]:
            x, _ = layer(x, mask)
        return x


def pooled(states: Tensor, mask: Tensor) -> Tensor:
    """Sentence embeddings of length 1: the mean over the word pieces, (B, T, D) -> (B, D)."""
    real = mask[:, 0, 0, :, None].to(states.dtype)  # (B, T, 1)
    return F.normalize((states * real).sum(dim=1) / real.sum(dim=1), dim=-1)


class HasTokenizer(Protocol):
    """A model that comes with what cuts its texts."""

    tokenizer: WordPiece


def batches(model: HasTokenizer, texts: Sequence[str], most: int = MOST_PIECES) -> Batches:
    """Texts of similar length together, so that little is padded; of each at most so many pieces."""
    tokenizer = model.tokenizer
    pieces = [found[: most - 2] for found in tokenizer.encode_batch(texts)]
    ids = [torch.tensor([tokenizer.cls_id, *found, tokenizer.sep_id]) for found in pieces]
    groups: list[list[int]] = [[]]
    for i in sorted(range(len(ids)), key=lambda i: len(ids[i])):
        if len(ids[i]) * (len(groups[-1]) + 1) > BATCH:
            groups.append([])
        groups[-1].append(i)
    return [(torch.tensor(group), pad_sequence([ids[i] for i in group], True)) for group in groups]


@torch.no_grad()
def states_before(model: MiniLM, layer: int, texts: Batches) -> list[Tensor]:
    """What enters a layer, for each batch."""
    return [model(model.embed(ids), padding_mask(ids), last=layer) for _, ids in texts]


@torch.no_grad()
def encode(model: MiniLM, texts: Batches, layer: int = 0, states: Sequence[Tensor] | None = None) -> Tensor:
    """Sentence embeddings (n, D) in the order of the texts; `states` spare the layers before `layer`."""
    found = torch.empty(sum(len(which) for which, _ in texts), D_MODEL)
    for number, (which, ids) in enumerate(texts):
        x, mask = model.embed(ids) if states is None else states[number], padding_mask(ids)
        found[which] = pooled(model(x, mask, first=layer), mask)
    return found


@torch.no_grad()
def prune(model: MiniLM, heads: Iterable[Head], means: Tensor | None = None) -> None:
    """Take heads out: the columns of W_O that read them become 0; `means` (L, D) keep their average words."""
    for layer, head in heads:
        output, columns = model.outputs[layer], slice(D_HEAD * head, D_HEAD * (head + 1))
        if means is not None:
            output.bias.add_(output.weight[:, columns] @ means[layer, columns])
        output.weight[:, columns] = 0
