"""Search as a test of an encoder: a question comes, and the paragraph that answers it must be found."""

from __future__ import annotations

import json

import numpy as np
import torch
from torch import Tensor

from _minilm import MOST_PIECES, HasTokenizer, batches
from bertlab.datasets import load
from bertlab.nn.functional import cross_entropy

SCALE = 20.0  # of cosines on their way to a softmax: the published model's own


class Search:
    """Questions and paragraphs of one half of the articles.

    Parameters
    ----------
    model : makes the word pieces.
    half : "choose" or "test", every second article each.
    most : word pieces that are read of a text, [CLS] and [SEP] counted.
    """

    def __init__(self, model: HasTokenizer, half: str, most: int = MOST_PIECES) -> None:
        articles = json.loads(load("xquad").text("xquad.en.json"))["data"][half == "test" :: 2]
        paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
        asked = [(qa["question"], n) for n, paragraph in enumerate(paragraphs) for qa in paragraph["qas"]]
        self.answers = torch.tensor([n for _, n in asked])
        self.raw = [question for question, _ in asked] + [p["context"] for p in paragraphs]
        self.texts = batches(model, self.raw, most)

    def cosines(self, embeddings: Tensor) -> Tensor:
        """How near each question is to each paragraph: (questions, paragraphs)."""
        questions, paragraphs = embeddings.split([len(self.answers), len(embeddings) - len(self.answers)])
        cosines: Tensor = questions @ paragraphs.T
        return cosines

    def each(self, embeddings: Tensor) -> dict[str, Tensor]:
        """For each question, 100 if its paragraph comes first and 0 if not, and the surprise in nats."""
        log_p = torch.log_softmax(SCALE * self.cosines(embeddings.double()), dim=-1)
        surprise = -log_p.gather(1, self.answers[:, None])[:, 0]
        return {"first": 100.0 * (self.ranks(embeddings) == 1).double(), "surprise": surprise}

    def surprise(self, embeddings: Tensor) -> Tensor:
        """Mean of -log p of the right paragraph, in nats, p a softmax over all of them."""
        return cross_entropy(SCALE * self.cosines(embeddings), self.answers)

    def ranks(self, embeddings: Tensor) -> Tensor:
        """Place of the right paragraph among all, from 1: (questions,)."""
        scores = self.cosines(embeddings)
        at_least_as_near: Tensor = scores >= scores.gather(1, self.answers[:, None])
        return at_least_as_near.sum(dim=1)

    def measure(self, embeddings: Tensor) -> dict[str, float]:
        """Share of questions whose paragraph comes first, in %, and the surprise in nats."""
        first = (self.ranks(embeddings) == 1).double().mean().item()
        surprise = self.surprise(embeddings.double()).item()
        return {"first": round(100 * first, 3), "surprise": round(surprise, 5)}


def interval(costs: Tensor, paragraphs: Tensor, draws: int = 4000) -> list[float]:
    """Between which means do 95 % of the resamples lie, if paragraphs with their questions are drawn anew?

    Parameters
    ----------
    costs : one number a question: (n,).
    paragraphs : the paragraph of each question: (n,). Questions about one paragraph stay together.
    draws : how many resamples.
    """
    sums, sizes = np.bincount(paragraphs.numpy(), costs.numpy()), np.bincount(paragraphs.numpy())
    drawn = np.random.default_rng(0).integers(len(sums), size=(draws, len(sums)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return [round(bound, 4) for bound in np.quantile(means, [0.025, 0.975]).tolist()]
