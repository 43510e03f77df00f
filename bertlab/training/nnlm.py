"""Training the neural language model: its word vectors are what is left when the model is thrown away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bertlab.nn.nnlm import NNLM
from bertlab.text import Vectors, WordCorpus
from bertlab.text.windows import word_runs
from bertlab.training.loop import fit
from bertlab.training.schedule import linear_decay
from bertlab.training.word_vectors import NNLMConfig, TrainedVectors


def train_nnlm(
    corpus: WordCorpus, config: NNLMConfig | None = None, checkpoint: Path | None = None
) -> tuple[NNLM, TrainedVectors]:
    """Train a language model that looks back a few words, on one CPU.

    Parameters
    ----------
    corpus : the text; each run of N + 1 words in a sentence is an example.
    config : sizes and choices.
    checkpoint : as in `fit`: a run that was cut off goes on where it stopped.

    Returns
    -------
    The model; and the rows of its table, with the loss of each step in nats.

    Raises
    ------
    ValueError
        If no sentence has N + 1 words.

    References
    ----------
    Bengio et al. 2003.

    Examples
    --------
    >>> corpus = WordCorpus.read(["one two three four five six", "red green blue"] * 40)
    >>> config = NNLMConfig(d_model=8, d_hidden=16, n_context=2, epochs=40, batch_size=32, rate=0.02)
    >>> model, (vectors, losses) = train_nnlm(corpus, config)
    >>> two_three = torch.tensor([[vectors.place("two"), vectors.place("three")]])
    >>> vectors.words[int(model(two_three).argmax())]
    'four'
    """
    config = config or NNLMConfig()
    n = config.n_context
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        model = NNLM(len(corpus.words), config.d_model, config.d_hidden, n, config.direct)
    firsts = word_runs(corpus, n + 1)
    size = min(config.batch_size, len(firsts))
    a_epoch = len(firsts) // size  # what is left over comes in another epoch
    steps = config.epochs * a_epoch
    batch = _batches(corpus, firsts, size, n, config.seed)

    def loss(number: int) -> Tensor:
        context, following = batch(number)
        return model.loss(context, following)

    rate = linear_decay(config.rate, max(steps // 10, 1), steps + 1)
    losses = fit(model, loss, steps=steps, learning_rate=rate, checkpoint=checkpoint)
    vectors = Vectors(corpus.words, model.table.weight.detach().numpy())
    return model, TrainedVectors(vectors, losses)


def _batches(
    corpus: WordCorpus, firsts: np.ndarray, size: int, n: int, seed: int
) -> Callable[[int], tuple[Tensor, Tensor]]:
    """From a number to its batch: contexts (B, N) and the next words (B,), in a new order each epoch."""
    a_epoch = len(firsts) // size
    kept: dict[int, np.ndarray] = {}

    def batch(number: int) -> tuple[Tensor, Tensor]:
        epoch, i = divmod(number, a_epoch)
        if epoch not in kept:
            kept.clear()
            kept[epoch] = np.random.default_rng((seed, epoch)).permutation(firsts)
        starts = kept[epoch][i * size : (i + 1) * size]
        runs = torch.from_numpy(corpus.ids[starts[:, None] + np.arange(n + 1)].astype(np.int64))
        return runs[:, :n], runs[:, n]

    return batch
