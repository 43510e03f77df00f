"""Training GloVe: count how often words meet, then fit the logarithms of the counts."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm import trange

from bertlab.nn.glove import Entries, GloVe, glove_weights
from bertlab.text import Vectors, WordCorpus
from bertlab.text.cooccurrence import cooccurrences
from bertlab.training.adagrad import SparseAdaGrad
from bertlab.training.word_vectors import GloVeConfig, TrainedVectors

BATCH = 4096  # entries in a step


def train_glove(corpus: WordCorpus, config: GloVeConfig | None = None) -> TrainedVectors:
    """Train GloVe on a text, on one CPU.

    Parameters
    ----------
    corpus : the text.
    config : sizes and choices; those of the paper, if not given.

    Returns
    -------
    Word and context vectors, added, and of each epoch the mean weighted squared error of an entry.

    Raises
    ------
    ValueError
        If no two words meet.

    References
    ----------
    Pennington et al. 2014, sec. 3 and 4.2.

    Examples
    --------
    >>> sentences = ["red green blue", "green red blue", "one two three", "two three one"] * 50
    >>> vectors, losses = train_glove(WordCorpus.read(sentences), GloVeConfig(d_model=8, epochs=100))
    >>> sorted(word for word, _ in vectors.neighbours("red", 2)), losses[-1] < losses[0] / 10
    (['blue', 'green'], True)
    """
    config = config or GloVeConfig()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        model = GloVe(len(corpus.words), config.d_model)
    tables = {name: parameter.detach() for name, parameter in model.named_parameters()}
    movers = {name: SparseAdaGrad(table, first=1.0) for name, table in tables.items()}
    found = cooccurrences(corpus, config.window)
    losses = []
    for epoch in trange(config.epochs, disable=None, desc="GloVe"):
        order = np.random.default_rng((config.seed, epoch)).permutation(len(found.rows))
        total = 0.0
        for first in range(0, len(order), BATCH):
            some = order[first : first + BATCH]
            entries = tuple(torch.from_numpy(part[some]) for part in found)
            rows, columns, counts = entries[0].long(), entries[1].long(), entries[2].float()
            grads, loss = gradients((rows, columns, counts), tables, config.cut, config.power)
            for name, grad in grads.items():
                movers[name].step(rows if name.startswith("word") else columns, grad, config.rate)
            total += loss
        losses.append(total / len(order))
    return TrainedVectors(Vectors(corpus.words, model.vectors().numpy()), losses)


def gradients(
    entries: Entries, tables: dict[str, Tensor], cut: float, power: float
) -> tuple[dict[str, Tensor], float]:
    """Gradients of half of `glove_loss`, a row an entry, as GloVe's own code has it; and the loss itself.

    Parameters
    ----------
    entries : rows, columns, counts, each (M,).
    tables : the `state_dict` of `GloVe`.
    cut, power : as in `glove_weights`.
    """
    rows, columns, counts = entries
    word = F.embedding(rows, tables["word.weight"])  # (M, D)
    context = F.embedding(columns, tables["context.weight"])
    error = (word * context).sum(1) + tables["word.bias"][rows] + tables["context.bias"][columns]
    error -= counts.log()
    slope = glove_weights(counts, cut, power) * error  # (M,)
    grads = {
        "word.weight": slope[:, None] * context,
        "context.weight": slope[:, None] * word,
        "word.bias": slope,
        "context.bias": slope,
    }
    return grads, float((slope * error).sum())
