"""Training Word2Vec: hundreds of thousands of words a second on one core."""

from __future__ import annotations

import numpy as np
import torch
from tqdm import tqdm

from bertlab.nn.word2vec import Word2Vec
from bertlab.text import Vectors, WordCorpus
from bertlab.text.noise import Noise, noise_distribution
from bertlab.text.windows import keep_chances, thin_out
from bertlab.training.adagrad import SparseAdaGrad
from bertlab.training.blocks import AT_ONCE, BLOCK, SHARED, blocks, cbow_gradients, skip_gram_gradients
from bertlab.training.word_vectors import TrainedVectors, Word2VecConfig

REPORTS = 50  # a run tells its loss so often,
LOOK = 5  # from one step in so many: it costs a tenth of one
FIRST = 1.0  # what the mean squares of a row begin with: a rare word does not leap at its first pair
LOWEST = 1e-4  # share of the rate that is left at the end


def train_word2vec(corpus: WordCorpus, config: Word2VecConfig | None = None) -> TrainedVectors:
    """Train skip-gram or CBOW on a text, on one CPU.

    All chance comes from the seed, and the same seed gives the same vectors on the same machine. A step takes
    a thousand words at once. The sum of what they ask of a frequent word would overshoot by plain descent,
    which word2vec does word by word; so AdaGrad divides each row's step by what was asked of it before.

    Parameters
    ----------
    corpus : the text.
    config : sizes and choices; skip-gram as word2vec has it, if not given.

    Returns
    -------
    The input vectors, and the mean loss of a pair (a place, with CBOW) of each fiftieth of the text, in nats.

    Raises
    ------
    ValueError
        If no word has another one in its window.

    References
    ----------
    Mikolov et al. 2013a, 2013b.

    Examples
    --------
    >>> sentences = ["red green blue", "green red blue", "one two three", "two three one"] * 50
    >>> config = Word2VecConfig(d_model=8, window=2, epochs=30, threshold=0)
    >>> vectors, losses = train_word2vec(WordCorpus.read(sentences), config)
    >>> sorted(word for word, _ in vectors.neighbours("red", 2)), losses[-1] < losses[0]
    (['blue', 'green'], True)
    """
    config = config or Word2VecConfig()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        model = Word2Vec(len(corpus.words), config.d_model)
    inputs, outputs = model.input.weight.detach(), model.output.weight.detach()
    movers = [SparseAdaGrad(table, FIRST, by_row=True) for table in (inputs, outputs)]
    noise = Noise(noise_distribution(corpus.counts), config.seed)
    chances = keep_chances(corpus.counts, config.threshold)
    gradients = skip_gram_gradients if config.model == "skip-gram" else cbow_gradients
    losses = _Losses()
    with tqdm(total=config.epochs * len(corpus), disable=None, unit=" words", unit_scale=True) as bar:
        for epoch in range(config.epochs):
            text = thin_out(corpus, chances, config.window, config.seed, epoch)
            order = np.random.default_rng((config.seed, epoch))
            for step, some in enumerate(blocks(text, config.window, order)):
                read = epoch + step * AT_ONCE * BLOCK / len(text.ids)  # epochs so far
                drawn = torch.from_numpy(noise.draw(epoch, some.numbers, SHARED))
                found = gradients(some, drawn, config.negatives, inputs, outputs)
                for mover, rows in zip(movers, (found.input, found.output), strict=True):
                    mover.step(*rows, config.rate * max(1 - read / config.epochs, LOWEST))
                if step % LOOK == 0:
                    losses.add(read / config.epochs, *found.loss())
                    bar.update(int(read * len(corpus)) - bar.n)
    return TrainedVectors(Vectors(corpus.words, inputs.numpy()), losses.means())


class _Losses:
    """Mean losses of stretches of equal length."""

    def __init__(self) -> None:
        self._sums = np.zeros((REPORTS, 2))

    def add(self, done: float, loss: float, n: float) -> None:
        """Count the loss of n examples; `done` is the share of the training before them."""
        self._sums[int(done * REPORTS)] += loss, n

    def means(self) -> list[float]:
        """Mean losses of the stretches that had any example."""
        if not self._sums[:, 1].any():
            raise ValueError("no word has another one in its window: give sentences of at least two words")
        return [float(loss / n) for loss, n in self._sums if n]
