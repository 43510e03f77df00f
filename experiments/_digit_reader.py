"""What the experiments on residuals and norms share: an encoder that reads number words and says digits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from bertlab.datasets.numbers import pieces, sample_numbers
from bertlab.nn import Encoder, FeedForward, SinusoidalPositions
from bertlab.nn.functional import cross_entropy
from bertlab.nn.masking import padding_mask
from bertlab.text import Vocabulary

BELOW, DIGITS, LONGEST = 1000, 3, 6  # the longest number has five words; a batch is at least one wider
WORDS = Vocabulary.from_sentences(pieces(number, "en") for number in range(BELOW))


def draw(rng: np.random.Generator, n: int, held_out: bool = False) -> tuple[Tensor, Tensor]:
    """Draw n numbers: their words as ids (n, LONGEST), padded on the right, and their digits (n, DIGITS)."""
    numbers = sample_numbers(rng, (n,), held_out, BELOW)
    ids = torch.full((n, LONGEST), WORDS.pad_id)
    for row, number in zip(ids, numbers.tolist(), strict=True):
        words = [WORDS.ids[word] for word in pieces(number, "en")]
        row[: len(words)] = torch.tensor(words)
    return ids, torch.tensor(numbers[:, None] // 10 ** np.arange(DIGITS)[::-1] % 10)


class DigitReader(nn.Module):
    """Reads a number in words; the first positions, padding or not, say its digits.

    Parameters
    ----------
    n_layers : number of encoder layers L.
    norm_first : pre-LN if true, post-LN if false.
    init : how the matrices of the encoder begin. "pytorch": as `nn.Linear` does it, of variance 1 / (3 D_in);
        "xavier": of variance 2 / (D_in + D_out), three times as much where both are D.
    d_model : width D; the feed-forward networks are four times as wide.
    """

    def __init__(self, n_layers: int, norm_first: bool, init: str = "pytorch", d_model: int = 32) -> None:
        super().__init__()
        self.words = nn.Embedding(len(WORDS), d_model)
        self.positions = SinusoidalPositions(64, d_model)
        self.encoder = Encoder(n_layers, d_model, 4, 4 * d_model, norm_first=norm_first)
        if init == "xavier":
            for weight in self.encoder.parameters():
                if weight.dim() == 2:
                    nn.init.xavier_uniform_(weight)
        self.output = nn.Linear(d_model, 10)

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids (B, T) to logits (B, DIGITS, 10)."""
        x, _ = self.encoder(self.positions(self.words(ids)), padding_mask(ids))
        logits: Tensor = self.output(x[:, :DIGITS])
        return logits


def batch_loss(model: nn.Module, seed: int, batch: int) -> Callable[[int], Tensor]:
    """Make the loss of step 0, 1, …: other numbers each time."""

    def loss(step: int) -> Tensor:
        ids, digits = draw(np.random.default_rng([seed, step]), batch)
        return cross_entropy(model(ids), digits)

    return loss


def held_out_numbers() -> tuple[Tensor, Tensor]:
    """All numbers that are held out: words and digits."""
    ids, digits = draw(np.random.default_rng(10_000), 2000, held_out=True)
    values = digits @ torch.tensor([100, 10, 1])
    first = [int((values == value).int().argmax()) for value in values.unique()]
    return ids[first], digits[first]


@torch.no_grad()
def right(model: nn.Module, ids: Tensor, digits: Tensor) -> float:
    """Share of numbers whose digits are all right."""
    hits = (model(ids).argmax(dim=-1) == digits).all(dim=1)
    return round(float(hits.float().mean()), 4)


def feed_forward_networks(model: nn.Module) -> list[FeedForward]:
    """List those of all layers, the first one first."""
    return [part for part in model.modules() if isinstance(part, FeedForward)]
