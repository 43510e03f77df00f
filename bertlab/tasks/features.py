"""BERT as a source of features: its weights stay as they are, and its layers feed a small network.

The paper tries six choices of layers for named entities (Devlin et al. 2019, table 7). All are here, with the
tagger that it puts on top: two layers of a bidirectional LSTM. ELMo's choice, a weighted sum in which the
embeddings count as a layer, is one more; `bertlab.tasks.elmo_features` makes such layers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from bertlab.nn.bert import BertModel
from bertlab.nn.dropout import Dropout
from bertlab.nn.losses import cross_entropy
from bertlab.nn.scalar_mix import scalar_mix
from bertlab.tasks.entities import TaggedSentence, word_inputs
from bertlab.tasks.entity_metrics import entity_scores
from bertlab.tasks.task import Part
from bertlab.text.inputs import Truncation, pad_batch
from bertlab.text.masked_lm import IGNORE_INDEX
from bertlab.text.wordpiece import WordPiece

Choice = Literal[
    "embeddings",
    "second to last",
    "last",
    "weighted sum of the last four",
    "last four side by side",
    "weighted sum of all",
]
CHOICES: tuple[Choice, ...] = get_args(Choice)
Mix = Literal["scalar mix"]
SCALAR_MIX: Mix = "scalar mix"


class LayerChoice(nn.Module):
    """One vector for each word, out of what enters the encoder and what its L layers say.

    Parameters
    ----------
    choice : which layers. Weighted sums learn a weight for each layer, made by a softmax, and one factor for
        all; "all" are the L layers, without the embeddings, and the "scalar mix" is of all L + 1.
    n_layers : L. With fewer than four there are no last four.
    d_model : width D of each.

    Raises
    ------
    ValueError
        If there is no such choice, or not with so few layers.

    References
    ----------
    Devlin et al. 2019, table 7. The weighted sum is ELMo's scalar mix: Peters et al. 2018, eq. (1).

    Examples
    --------
    >>> layers = torch.randn(13, 5, 8)  # (L + 1, W, D)
    >>> LayerChoice("last four side by side", n_layers=12, d_model=8)(layers).shape
    torch.Size([5, 32])
    """

    def __init__(self, choice: Choice | Mix, n_layers: int, d_model: int) -> None:
        super().__init__()
        if choice not in (*CHOICES, SCALAR_MIX):
            raise ValueError(f"{choice!r} is no choice of layers: choose one of {', '.join(CHOICES)}")
        if "four" in choice and n_layers < 4:
            raise ValueError(f"{choice!r} of {n_layers} layers: take a model with four layers or more")
        self.choice = choice
        first = {"embeddings": 0, "second to last": n_layers - 1, "last": n_layers}
        one = first.get(choice)
        self.layers = slice(1 if choice == "weighted sum of all" else n_layers - 3, n_layers + 1)
        if one is not None:
            self.layers = slice(one, one + 1)
        if choice == SCALAR_MIX:
            self.layers = slice(0, n_layers + 1)
        n = self.layers.stop - self.layers.start
        self.width = n * d_model if choice == "last four side by side" else d_model
        self.mixed = choice.startswith("weighted") or choice == SCALAR_MIX
        if self.mixed:
            self.weights = nn.Parameter(torch.zeros(n))  # all alike at first
            self.factor = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor) -> Tensor:
        """Map (L + 1, ..., D) to (..., D), or to (..., 4 D) side by side along the last axis."""
        chosen = layers[self.layers]  # (n, ..., D)
        if self.mixed:
            return scalar_mix(chosen, self.weights, self.factor)
        return torch.cat(tuple(chosen), dim=-1)


class FeatureTagger(nn.Module):
    """A label for each word: chosen layers, a bidirectional LSTM over them, a linear layer.

    Parameters
    ----------
    choice, n_layers, d_model : as in `LayerChoice`.
    n_labels : number of labels C.
    hidden : width of the LSTM in each direction; 768 in the paper.
    dropout : probability of dropping a number before, between and behind the layers of the LSTM.

    References
    ----------
    Devlin et al. 2019, sec. 5.3: "a randomly initialized two-layer 768-dimensional BiLSTM".
    """

    def __init__(
        self,
        choice: Choice | Mix,
        n_layers: int,
        d_model: int,
        n_labels: int,
        hidden: int = 256,
        dropout: float = 0.3,
    ) -> None:
        super().__init__()
        self.choice = LayerChoice(choice, n_layers, d_model)
        self.dropout = Dropout(dropout)
        self.lstm = nn.LSTM(self.choice.width, hidden, 2, True, True, dropout, bidirectional=True)
        self.classifier = nn.Linear(2 * hidden, n_labels)

    def forward(self, sentences: Sequence[Tensor]) -> Tensor:
        """Score the labels of the words of B sentences, each (L + 1, W, D): (B, W, C), W of the longest."""
        lengths = torch.tensor([sentence.shape[1] for sentence in sentences])
        chosen = [self.choice(sentence.to(self.classifier.weight)) for sentence in sentences]  # (W, D)
        x = self.dropout(pad_sequence(chosen, batch_first=True))  # (B, W, D)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)  # (B, W, 2 hidden)
        scores: Tensor = self.classifier(self.dropout(states))
        return scores

    def loss(self, labels: Tensor, sentences: Sequence[Tensor]) -> Tensor:
        """Compute the mean surprise at the right labels (B, W), in nats; IGNORE_INDEX asks nothing."""
        return cross_entropy(self(sentences), labels, IGNORE_INDEX)


@torch.no_grad()
def word_states(
    bert: BertModel,
    tokenizer: WordPiece,
    sentences: Sequence[TaggedSentence],
    max_length: int = 128,
    truncation: Truncation | None = "only_first",
    batch_size: int = 32,
) -> list[Tensor]:
    """Read sentences once, and keep what every layer says of each word: at its first piece.

    Parameters
    ----------
    bert, tokenizer : the pre-trained encoder; it is put into evaluation mode.
    sentences, max_length, truncation : as in `word_inputs`.

    Returns
    -------
    for each sentence (L + 1, W, D) in float16, W the words that were not cut off.
    """
    bert.eval()
    words = [word_inputs(one.words, tokenizer, max_length, truncation) for one in sentences]
    found: list[Tensor] = [torch.empty(0)] * len(words)
    order = sorted(range(len(words)), key=lambda i: len(words[i].inputs.ids))
    device = next(bert.parameters()).device
    for first in range(0, len(order), batch_size):
        some = order[first : first + batch_size]
        batch = pad_batch([words[i].inputs for i in some])
        ids, segments = (torch.from_numpy(array).to(device) for array in (batch.ids, batch.segments))
        layers = torch.stack(bert(ids, segments).layers)  # (L + 1, B, T, D)
        for place, i in enumerate(some):
            found[i] = layers[:, place, torch.from_numpy(words[i].firsts)].to("cpu", torch.float16)
    return found


class FeatureEntities:
    """Named entities from frozen features: a `Task` for a `FeatureTagger`.

    Parameters
    ----------
    states : of the sentences of each part, from `word_states`.
    parts : the sentences themselves.
    labels : in the order of the tagger's outputs.
    """

    best_by = "f1"

    def __init__(
        self,
        states: dict[Part, list[Tensor]],
        parts: dict[Part, list[TaggedSentence]],
        labels: Sequence[str],
    ) -> None:
        self.states, self.parts, self.labels = states, parts, tuple(labels)
        self.index = {label: i for i, label in enumerate(labels)}

    def __len__(self) -> int:
        return len(self.states["train"])

    def batch(self, model: FeatureTagger, rows: Sequence[int]) -> tuple[tuple[Any, ...], int]:
        """See `Task.batch`."""
        some = [self.states["train"][row] for row in rows]
        right = np.full((len(rows), max(states.shape[1] for states in some)), IGNORE_INDEX)
        for place, states, row in zip(right, some, rows, strict=True):
            names = self.parts["train"][row].labels[: states.shape[1]]
            place[: len(names)] = [self.index[name] for name in names]
        return (torch.from_numpy(right), some), int((right != IGNORE_INDEX).sum())

    def fingerprint(self) -> str:
        """See `Task.fingerprint`."""
        digest = hashlib.sha256(repr((self.labels, sorted(self.parts.items()))).encode())
        for part in sorted(self.states):
            for states in self.states[part]:
                digest.update(states.numpy().tobytes())
        return digest.hexdigest()

    @torch.no_grad()
    def scores(self, model: FeatureTagger, part: Part) -> dict[str, float]:
        """F1 of whole entities, as conlleval gives it, and the share of right words."""
        said = []
        for sentence, states in zip(self.parts[part], self.states[part], strict=True):
            best = model([states])[0].argmax(-1).tolist()  # (W,)
            said.append([self.labels[i] for i in best] + ["O"] * (len(sentence.words) - len(best)))
        found = entity_scores([sentence.labels for sentence in self.parts[part]], said)
        return {"f1": found.overall.f1, "word_accuracy": found.word_accuracy}
