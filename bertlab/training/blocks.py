"""Word2Vec's gradients for a whole stretch of text at once, by matrix products.

Taken pair by pair, skip-gram fetches and moves two vectors for every pair, ten times for each word. But
neighbours have their windows in common. So the text is cut into blocks, and the scores of all words of a
block with all words around it are one matrix product; those that are no pair are then set to nothing. The
noise is drawn for a block, too: 32 words, each counting k / 32 for every pair, have the same mean as k words
for each pair. Ji et al. 2016 ("Parallelizing word2vec in shared and distributed memory") shared it first.

What is computed is the gradient of the losses of `bertlab.nn.word2vec`, summed, with ``share = k / 32``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from bertlab.text.windows import Ints, Thinned

BLOCK = 32  # words
AT_ONCE = 32  # blocks in a step
SHARED = 32  # words of noise drawn for a block


class Blocks(NamedTuple):
    """G blocks of B words, each with W words to its left and right."""

    centres: Tensor  # (G, B) int64
    around: Tensor  # (G, B + 2W) int64: word i of the block stands at place i + W
    mask: Tensor  # (G, B, B + 2W) bool: True where the second word is in the first one's window
    numbers: Ints  # (G,) which blocks of the text these are


class Gradients(NamedTuple):
    """Gradients of the rows of both tables, and what the loss that they belong to is made of."""

    input: tuple[Tensor, Tensor]  # ids (M,) and gradients (M, D)
    output: tuple[Tensor, Tensor]
    scores: tuple[Tensor, Tensor]  # of the true words and of the noise, in any shapes
    weights: tuple[Tensor, Tensor]  # how much each of them counts

    def loss(self) -> tuple[float, float]:
        """Sum of the losses in nats, and of how many pairs (or places, with CBOW) it is the sum."""
        (true, noise), (times, noise_times) = self.scores, self.weights
        total = (F.softplus(-true) * times).sum() + (F.softplus(noise) * noise_times).sum()
        return float(total), float(times.sum())


def blocks(text: Thinned, window: int, rng: np.random.Generator, at_once: int = AT_ONCE) -> Iterator[Blocks]:
    """Cut a text into blocks, and say which words are in whose window.

    Parameters
    ----------
    text : from `thin_out`.
    window : W, the widest that its windows can be.
    rng : in what order blocks come. Books and news in turn, not one after the other.
    at_once : G; the last ones may be fewer.

    Examples
    --------
    >>> text = Thinned(np.array([7, 8, 9]), np.array([0, 0, 1]), np.array([1, 2, 2]))
    >>> some = next(blocks(text, 2, np.random.default_rng(0)))
    >>> some.around[0, :6].tolist(), some.mask[0, :3, 2:5].int().tolist()  # 9 is alone in its sentence
    ([0, 0, 7, 8, 9, 0], [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    """
    n = len(text.ids)
    n_blocks = -(-n // BLOCK)
    rest = n_blocks * BLOCK - n  # the last block is filled up with words that have no window

    def in_blocks(values: np.ndarray, filler: int) -> Tensor:
        padded = np.concatenate([np.full(window, filler), values, np.full(rest + window, filler)])
        return torch.from_numpy(padded).unfold(0, BLOCK + 2 * window, BLOCK)  # (n_blocks, B + 2W)

    if not n:
        return
    ids, sentences, widths = in_blocks(text.ids, 0), in_blocks(text.sentences, -1), in_blocks(text.widths, 0)
    apart = torch.arange(BLOCK + 2 * window) - window - torch.arange(BLOCK)[:, None]  # (B, B + 2W)
    apart = torch.where(apart == 0, window + 1, apart).abs()  # no word is in its own window
    middle = slice(window, window + BLOCK)
    for numbers in np.split(rng.permutation(n_blocks), range(at_once, n_blocks, at_once)):
        chosen = torch.from_numpy(numbers)
        around, their, reach = (values.index_select(0, chosen) for values in (ids, sentences, widths))
        mask = (apart <= reach[:, middle, None]) & (their[:, None] == their[:, middle, None])
        yield Blocks(around[:, middle], around, mask, numbers)


@torch.no_grad()
def skip_gram_gradients(some: Blocks, noise: Tensor, k: int, inputs: Tensor, outputs: Tensor) -> Gradients:
    """Sum the gradients of `skip_gram_loss` over all pairs of some blocks.

    Parameters
    ----------
    some : G blocks.
    noise : (G, N) words drawn for each block.
    k : for how many negatives of a pair they stand.
    inputs, outputs : both tables (V, D).
    """
    centre, around = F.embedding(some.centres, inputs), F.embedding(some.around, outputs)  # (G, ., D)
    near = F.embedding(noise, outputs)  # (G, N, D)
    mask = some.mask.to(inputs)
    scores, noise_scores = centre @ around.mT, centre @ near.mT  # (G, B, B + 2W), (G, B, N)
    # Each pair counts each word of noise k / N times, but for one that is the pair's own second word.
    same = (some.around[:, :, None] == noise[:, None]).to(inputs)  # (G, B + 2W, N)
    times = (mask.sum(2, keepdim=True) - mask @ same) * (k / noise.shape[1])  # (G, B, N)
    error = (scores.sigmoid() - 1) * mask
    noise_error = noise_scores.sigmoid() * times
    d_centre = error @ around + noise_error @ near  # (G, B, D)
    return Gradients(
        (some.centres.flatten(), d_centre.flatten(0, 1)),
        _joined((some.around, error.mT @ centre), (noise, noise_error.mT @ centre)),
        (scores, noise_scores),
        (mask, times),
    )


@torch.no_grad()
def cbow_gradients(some: Blocks, noise: Tensor, k: int, inputs: Tensor, outputs: Tensor) -> Gradients:
    """Sum the gradients of `cbow_loss` over all places of some blocks that have words around them.

    Parameters
    ----------
    some, noise, k, inputs, outputs : as in `skip_gram_gradients`.
    """
    mask = some.mask.to(inputs)
    count = mask.sum(2, keepdim=True)  # (G, B, 1)
    asked = (count > 0).to(inputs)
    part = mask / count.clamp(min=1)  # (G, B, B + 2W), what each word has of the mean
    hidden = part @ F.embedding(some.around, inputs)  # (G, B, D)
    centre, near = F.embedding(some.centres, outputs), F.embedding(noise, outputs)
    scores, noise_scores = (hidden * centre).sum(2, keepdim=True), hidden @ near.mT  # (G, B, 1), (G, B, N)
    same = some.centres[:, :, None] == noise[:, None]
    times = asked * ~same * (k / noise.shape[1])  # (G, B, N)
    error = (scores.sigmoid() - 1) * asked
    noise_error = noise_scores.sigmoid() * times
    d_hidden = error * centre + noise_error @ near  # (G, B, D)
    return Gradients(
        (some.around.flatten(), (part.mT @ d_hidden).flatten(0, 1)),
        _joined((some.centres, error * hidden), (noise, noise_error.mT @ hidden)),
        (scores, noise_scores),
        (asked, times),
    )


def _joined(*parts: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Put ids (G, .) and gradients (G, ., D) of several kinds of rows one behind the other."""
    return (
        torch.cat([ids.flatten() for ids, _ in parts]),
        torch.cat([grads.flatten(0, 1) for _, grads in parts]),
    )
