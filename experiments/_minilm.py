"""What experiments on all-MiniLM-L6-v2 share: the published encoder, built on our multi-head attention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from bertlab.datasets import pretrained
from bertlab.nn import MultiHeadAttention
from bertlab.nn.masking import padding_mask

MODEL = "all-MiniLM-L6-v2"
N_LAYERS, N_HEADS, D_HEAD, D_MODEL = 6, 12, 32, 384
MOST_PIECES = 256  # of a text; the published model cuts there, too
BATCH = 4096  # word pieces in a batch at most, padding counted
THEIR_NAMES = {
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.output": "attention.output.dense",
    "norm_attention": "attention.output.LayerNorm",
    "widen": "intermediate.dense",
    "narrow": "output.dense",
    "norm_feed_forward": "output.LayerNorm",
}

Head = tuple[int, int]  # layer, head
Batches = list[tuple[Tensor, Tensor]]  # numbers of the texts (B,), their ids (B, T)


class Layer(nn.Module):
    """One layer of BERT: attention and a feed-forward network, each added to its input, then normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(D_MODEL, N_HEADS)
        self.norm_attention, self.norm_feed_forward = (nn.LayerNorm(D_MODEL, eps=1e-12) for _ in range(2))
        self.widen, self.narrow = nn.Linear(D_MODEL, 4 * D_MODEL), nn.Linear(4 * D_MODEL, D_MODEL)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Map (B, T, D) to (B, T, D)."""
        x = self.norm_attention(x + self.attention(x, x, x, mask)[0])
        normed: Tensor = self.norm_feed_forward(x + self.narrow(F.gelu(self.widen(x))))
        return normed


class MiniLM(nn.Module):
    """The encoder with its published weights, and the mean of its last states as a sentence embedding."""

    def __init__(self) -> None:
        super().__init__()
        folder = pretrained(MODEL)
        theirs = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MOST_PIECES)
        tables = (
            theirs[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type")
        )
        self.words, self.places, self.segments = (nn.Embedding.from_pretrained(table) for table in tables)
        self.norm = nn.LayerNorm(D_MODEL, eps=1e-12)
        layers = [Layer() for _ in range(N_LAYERS)]
        self.layers = nn.ModuleList(layers)
        self.outputs = [layer.attention.output for layer in layers]  # W_O of each layer
        self.norm.load_state_dict(_parts(theirs, "embeddings.LayerNorm"))
        for number, layer in enumerate(layers):
            for ours, name in THEIR_NAMES.items():
                layer.get_submodule(ours).load_state_dict(_parts(theirs, f"encoder.layer.{number}.{name}"))
        self.eval().requires_grad_(False)

    def embed(self, ids: Tensor) -> Tensor:
        """What enters the first layer: (B, T) ids -> (B, T, D)."""
        x: Tensor = self.norm(self.words(ids) + self.places.weight[: ids.shape[1]] + self.segments.weight[0])
        return x

    def forward(self, x: Tensor, mask: Tensor, first: int = 0, last: int = N_LAYERS) -> Tensor:
        """Send (B, T, D) through the layers from `first` to the one before `last`."""
        for layer in self.layers[first:last]:
            x = layer(x, mask)
        return x


def _parts(theirs: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    return {kind: theirs[f"{name}.{kind}"] for kind in ("weight", "bias")}


def pooled(states: Tensor, mask: Tensor) -> Tensor:
    """Sentence embeddings of length 1: the mean over the word pieces, (B, T, D) -> (B, D)."""
    real = mask[:, 0, 0, :, None].to(states.dtype)  # (B, T, 1)
    return F.normalize((states * real).sum(dim=1) / real.sum(dim=1), dim=-1)


def batches(model: MiniLM, texts: Sequence[str]) -> Batches:
    """Texts of similar length together, so that little is padded."""
    ids = [torch.tensor(encoded.ids) for encoded in model.tokenizer.encode_batch(list(texts))]
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
