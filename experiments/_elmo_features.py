"""Taggers and classifiers on static word vectors, on ELMo's layers, or on both side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from bertlab.interop import load_vectors
from bertlab.nn.dropout import Dropout
from bertlab.nn.losses import cross_entropy
from bertlab.tasks.classification import accuracy
from bertlab.tasks.entities import TaggedSentence
from bertlab.tasks.features import SCALAR_MIX, Choice, FeatureTagger, LayerChoice, Mix
from bertlab.tasks.task import Part
from layer_choices import QUICKLY, QuickMix

STATIC = "glove-6b-50d-top20k"
LAYERS: dict[str, Choice | Mix] = {
    "layer 0": "embeddings",
    "layer 1": "second to last",
    "layer 2": "last",
    "mix": SCALAR_MIX,
    "slow mix": SCALAR_MIX,
}
BESIDE_STATIC = ("mix", "slow mix", "layer 0")
INPUTS = ("static", *(n for n in LAYERS if n != "slow mix"), *(f"static + {n}" for n in BESIDE_STATIC))
Ids = NDArray[np.int64]


@cache
def table() -> tuple[dict[str, int], Tensor]:
    """Load the static vectors: the place of each word, and (V + 1, S) with a row of zeros for all others."""
    found = load_vectors(STATIC)
    vectors = torch.from_numpy(np.asarray(found.matrix, np.float32))
    rows = torch.cat([vectors, torch.zeros_like(vectors[:1])])
    return {word: i for i, word in enumerate(found.words)}, rows


def static_beside(sentences: Sequence[TaggedSentence], states: Sequence[Tensor]) -> list[Tensor]:
    """Lay the static vectors of the words, looked up in small letters, behind what every layer says of them.

    Returns
    -------
    for each sentence (L + 1, W, 2D + S) in float16.
    """
    place, vectors = table()
    found = []
    for one, layers in zip(sentences, states, strict=True):
        rows = vectors[[place.get(word.lower(), -1) for word in one.words[: layers.shape[1]]]]  # (W, S)
        found.append(torch.cat([layers, rows.to(layers).expand(len(layers), -1, -1)], dim=-1))
    return found


class Inputs(nn.Module):
    """What is read of a word, out of what `static_beside` has laid side by side.

    Parameters
    ----------
    name : one of `INPUTS`. A mix learns its shares `layer_choices.QUICKLY` times as fast as all else; the
        slow one does not.
    n_layers, d_elmo, d_static : L, 2D and S.
    """

    def __init__(self, name: str, n_layers: int, d_elmo: int, d_static: int) -> None:
        super().__init__()
        parts = name.split(" + ")
        self.static, self.d_elmo = "static" in parts, d_elmo
        own = next((part for part in parts if part in LAYERS), None)
        self.layers: LayerChoice | None = None
        if own is not None:
            self.layers = (QuickMix if own == "mix" else LayerChoice)(LAYERS[own], n_layers, d_elmo)
        self.width = d_static * self.static + d_elmo * (own is not None)

    def forward(self, layers: Tensor) -> Tensor:
        """Map (L + 1, ..., 2D + S) to (..., width)."""
        said, static = layers[..., : self.d_elmo], layers[0, ..., self.d_elmo :]
        parts = [static] if self.static else []
        return torch.cat(parts if self.layers is None else [*parts, self.layers(said)], dim=-1)

    def learnt(self) -> dict[str, Any]:
        """Tell the shares of the layers, and the factor γ; nothing where none are learnt."""
        mix = self.layers
        if mix is None or not mix.mixed:
            return {}
        shares = ((QUICKLY if isinstance(mix, QuickMix) else 1) * mix.weights).softmax(0)
        return {"shares": [round(s, 3) for s in shares.tolist()], "gamma": round(mix.factor.item(), 3)}


def tagger(inputs: Inputs, n_labels: int, hidden: int) -> FeatureTagger:
    """Put the tagger of `layer_choices`, an LSTM in both directions, on some inputs."""
    found: Any = FeatureTagger("embeddings", 1, inputs.width, n_labels, hidden)
    found.choice = inputs
    made: FeatureTagger = found
    return made


class Classifier(nn.Module):
    """A class for a text: each word by itself through one layer, then the mean and the maximum over words.

    What it knows of the order of words, it must have been told by its inputs.

    Parameters
    ----------
    inputs, n_labels, hidden : what is read, number of classes C, width of the layer.
    dropout : probability of dropping a number before and behind it.
    """

    def __init__(self, inputs: Inputs, n_labels: int, hidden: int = 64, dropout: float = 0.3) -> None:
        super().__init__()
        self.choice, self.dropout = inputs, Dropout(dropout)
        self.each, self.classifier = nn.Linear(inputs.width, hidden), nn.Linear(2 * hidden, n_labels)

    def forward(self, texts: Sequence[Tensor]) -> Tensor:
        """Score the classes of B texts, each (L + 1, W, 2D + S): (B, C)."""
        lengths = torch.tensor([text.shape[1] for text in texts])
        layers = pad_sequence([text.transpose(0, 1) for text in texts], batch_first=True)  # (B, W, L + 1, …)
        x = self.choice(layers.movedim(2, 0).to(self.each.weight))  # (B, W, width)
        real = (torch.arange(x.shape[1]) < lengths[:, None])[..., None]  # (B, W, 1)
        said = torch.relu(self.each(self.dropout(x))) * real  # (B, W, hidden), nowhere below 0
        pooled = torch.cat([said.sum(1) / lengths[:, None], said.max(1).values], dim=-1)
        scores: Tensor = self.classifier(self.dropout(pooled))
        return scores

    def loss(self, right: Tensor, texts: Sequence[Tensor]) -> Tensor:
        """Compute the mean surprise at the right classes (B,), in nats."""
        return cross_entropy(self(texts), right)


class FeatureTexts:
    """Texts with a class, from frozen features: a `Task` for a `Classifier`.

    Parameters
    ----------
    states : of the texts of each part, from `static_beside`.
    right : (N,) classes of each part.
    """

    best_by = "accuracy"

    def __init__(self, states: dict[Part, list[Tensor]], right: dict[Part, Ids]) -> None:
        self.states, self.right = states, right

    def __len__(self) -> int:
        return len(self.right["train"])

    def batch(self, model: Classifier, rows: Sequence[int]) -> tuple[tuple[Any, ...], int]:
        """See `Task.batch`."""
        some = [self.states["train"][row] for row in rows]
        return (torch.from_numpy(self.right["train"][list(rows)]), some), len(rows)

    def fingerprint(self) -> str:
        """See `Task.fingerprint`."""
        digest = hashlib.sha256()
        for part in sorted(self.states):
            digest.update(self.right[part].tobytes())
            for states in self.states[part]:
                digest.update(states.numpy().tobytes())
        return digest.hexdigest()

    @torch.no_grad()
    def said(self, model: Classifier, part: Part, at_once: int = 64) -> Ids:
        """Give the classes that a model chooses for the texts of a part (N,)."""
        some = self.states[part]
        best = [model(some[i : i + at_once]).argmax(-1) for i in range(0, len(some), at_once)]
        return torch.cat(best).numpy()

    def scores(self, model: Classifier, part: Part) -> dict[str, float]:
        """Share of right classes."""
        return {"accuracy": accuracy(self.right[part], self.said(model, part))}
