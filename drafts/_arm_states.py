"""States of words and of texts, taken from each arm in its own right way.

A word may be several pieces. Who reads one way has read all of it at one end alone: from the left at its last
piece, from the right at its first one. So there a direction is taken (`bertlab.tasks.elmo_features`); of
BERT, of vectors without context, and of what enters the first layer, the mean of the pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from _arms import Arm
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

BATCH = 64
Floats = NDArray[np.float64]


class Text(NamedTuple):
    """What is read, and what is asked for in it."""

    ids: Sequence[int]  # (t,)
    segments: Sequence[int]  # (t,)
    spans: Sequence[tuple[int, int]]  # first and last piece of each word, or of each text of a pair


def laid_out(texts: Sequence[Text], pad_id: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Lay texts into a batch: ids (B, T), segments (B, T), and all spans (n, 3): row, first, last."""
    ids = pad_sequence([torch.tensor(one.ids) for one in texts], True, pad_id)
    segments = pad_sequence([torch.tensor(one.segments) for one in texts], True, 0)
    spans = [(row, *span) for row, one in enumerate(texts) for span in one.spans]
    return ids, segments, torch.tensor(spans, dtype=torch.int64).reshape(-1, 3)


def mean_of(layer: Tensor, spans: Tensor) -> Tensor:
    """Take the mean of a layer (B, T, W) over each of n spans: (n, W)."""
    sums = torch.nn.functional.pad(layer.cumsum(1), (0, 0, 1, 0))  # (B, T + 1, W)
    row, first, last = spans.T
    mean: Tensor = (sums[row, last + 1] - sums[row, first]) / (last - first + 1)[:, None]
    return mean


def word_of(layer: Tensor, spans: Tensor, sides: str) -> Tensor:
    """Take what a layer (B, T, W) says of each of n words, where it has read the whole of it: (n, W).

    Parameters
    ----------
    layer : any but what enters the first one.
    spans : (n, 3) row, first and last piece.
    sides : of the arm.
    """
    row, first, last = spans.T
    if sides == "left":
        return layer[row, last]
    if sides == "each":
        ahead, back = layer.chunk(2, -1)
        return torch.cat([ahead[row, last], back[row, first]], -1)
    return mean_of(layer, spans)


def pooled(arm: Arm, texts: Sequence[Text], words: bool) -> list[Tensor]:
    """Read a batch and take all layers at its spans.

    Parameters
    ----------
    words : whether the spans are words, or whole texts, of which the mean is taken whoever reads.

    Returns
    -------
    L + 1 tensors (n, W).
    """
    ids, segments, spans = laid_out(texts, arm.model.config.pad_id)
    layers = arm.layers(ids, segments)
    first = mean_of(layers[0], spans)
    rest = [word_of(one, spans, arm.sides) if words else mean_of(one, spans) for one in layers[1:]]
    return [first, *rest]


@torch.no_grad()
def features(arm: Arm, texts: Sequence[Text], words: bool) -> NDArray[np.float32]:
    """Read many texts once, without training: (L + 1, n, W), n spans in the order of the texts."""
    arm.eval()
    found: list[Tensor] = [torch.empty(0)] * len(texts)
    order = sorted(range(len(texts)), key=lambda i: len(texts[i].ids))
    for start in range(0, len(order), BATCH):  # those of like length together
        some = order[start : start + BATCH]
        said = torch.stack(pooled(arm, [texts[i] for i in some], words))  # (L + 1, spans, W)
        for i, own in zip(some, said.split([len(texts[i].spans) for i in some], 1), strict=True):
            found[i] = own
    joined: NDArray[np.float32] = torch.cat(found, 1).numpy()
    return joined


def choices(layers: NDArray[np.float32]) -> dict[str, Floats]:
    """Name what a probe may be given: each layer, and all of them side by side; (n, W') each.

    Examples
    --------
    >>> {name: x.shape for name, x in choices(np.zeros((3, 5, 4), np.float32)).items()}
    {'layer 0': (5, 4), 'layer 1': (5, 4), 'layer 2': (5, 4), 'all': (5, 12)}
    """
    found = {f"layer {i}": layer.astype(np.float64) for i, layer in enumerate(layers)}
    if len(layers) > 1:
        found["all"] = np.concatenate(layers, -1).astype(np.float64)
    return found
