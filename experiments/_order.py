"""What experiments on positions share: two tasks that need the order of words, and an encoder for both."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from bertlab.nn import Encoder, LearnedPositions, SinusoidalPositions
from bertlab.nn.functional import cross_entropy
from bertlab.nn.masking import causal_mask

N_FILLERS = 16  # words 0 … 15 say nothing
DOG, MAN, ASK = 16, 17, 18
N_WORDS = 19
HIDDEN = -1  # a target that does not count

Draw = Callable[[int, int, torch.Generator], tuple[Tensor, Tensor]]


def word_before(n: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw sentences of any words; each position must say the word before it: ids and targets (n, length)."""
    ids = torch.randint(N_FILLERS, (n, length), generator=generator)
    targets = torch.full_like(ids, HIDDEN)
    targets[:, 1:] = ids[:, :-1]
    return ids, targets


def who_bites(n: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw sentences with one dog, one man and a question at the end, which must say who came first.

    Sentences come in pairs that differ in nothing but that dog and man have changed places.
    """
    half = (n + 1) // 2
    ids = torch.randint(N_FILLERS, (half, length), generator=generator)
    places = torch.rand(half, length - 1, generator=generator).argsort(dim=1)[:, :2].sort(dim=1).values
    ids.scatter_(1, places, torch.tensor([DOG, MAN]).expand(half, 2))
    mirrored = ids.scatter(1, places, torch.tensor([MAN, DOG]).expand(half, 2))
    both = torch.stack([ids, mirrored], dim=1).flatten(0, 1)[:n]  # (n, length)
    both[:, -1] = ASK
    targets = torch.full_like(both, HIDDEN)
    targets[:, -1] = both.gather(1, places.repeat_interleave(2, dim=0)[:n, :1])[:, 0]
    return both, targets


TASKS: dict[str, Draw] = {"word before": word_before, "who bites": who_bites}


class Reader(nn.Module):
    """Two encoder layers over words, with one kind of positions, and one kind of mask.

    Parameters
    ----------
    positions : "sinusoidal", "learned" or "none".
    mask : "causal" or "none".
    max_length : rows of the table of positions.
    d_model : width D.
    factor : the words' vectors, which start with a variance of 1 / D, are multiplied by this; √D if None.
    """

    def __init__(
        self, positions: str, mask: str, max_length: int, d_model: int = 64, factor: float | None = None
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(N_WORDS, d_model)
        nn.init.normal_(self.words.weight, std=d_model**-0.5)
        self.factor = d_model**0.5 if factor is None else factor
        self.positions: nn.Module = nn.Identity()
        if positions == "sinusoidal":
            self.positions = SinusoidalPositions(max_length, d_model)
        elif positions == "learned":
            self.positions = LearnedPositions(max_length, d_model)
        self.causal = mask == "causal"
        self.encoder = Encoder(2, d_model, 4, 2 * d_model, norm_first=True)
        self.output = nn.Linear(d_model, N_WORDS)

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids (B, T) to logits (B, T, V)."""
        x = self.positions(self.words(ids) * self.factor)
        x, _ = self.encoder(x, causal_mask(ids.shape[1]) if self.causal else None)
        logits: Tensor = self.output(x)
        return logits


def batch_loss(
    model: nn.Module, draw: Draw, seed: int, lengths: tuple[int, int], batch: int = 32
) -> Callable[[int], Tensor]:
    """Make the loss of step 0, 1, …: new sentences each time, from the shortest to the longest."""

    def loss(step: int) -> Tensor:
        generator = torch.Generator().manual_seed(100_000 * (seed + 1) + step)
        length = int(torch.randint(lengths[0], lengths[1] + 1, (1,), generator=generator))
        ids, targets = draw(batch, length, generator)
        counted = targets != HIDDEN
        return cross_entropy(model(ids)[counted], targets[counted])

    return loss


@torch.no_grad()
def right_by_position(model: nn.Module, draw: Draw, length: int, n: int = 400) -> list[float]:
    """Share of right answers at each position of new sentences, the same for all arms; NaN if none counts."""
    ids, targets = draw(n, length, torch.Generator().manual_seed(length))
    counted = targets != HIDDEN
    right = (model(ids).argmax(dim=-1) == targets) & counted
    share: list[float] = (right.sum(dim=0) / counted.sum(dim=0)).tolist()
    return share


def mean_of(shares: list[float]) -> float:
    """Mean over the positions that count, rounded."""
    counted = [share for share in shares if not math.isnan(share)]
    return round(sum(counted) / len(counted), 4)
