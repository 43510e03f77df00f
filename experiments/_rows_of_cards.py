"""What the experiments on heads share: a row of players, each of whom must fetch several cards in one layer.

Every player has a name, a place, a card, and two friends, whom it knows by name. Its left neighbour and its
right one are found by place, its friends by name. Nobody can know another's card without looking.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bertlab.nn import MultiHeadAttention
from bertlab.nn.functional import cross_entropy
from bertlab.training.schedule import linear_decay

LOOKUPS = ("left", "friend", "right", "other friend")  # n things to fetch: the first n
PLAYERS, NAMES, CARDS = 8, 32, 10
BATCH, TEST, TEST_EVERY, WARMUP, ENOUGH = 64, 1000, 100, 50, 0.999


class Rows(nn.Module):
    """One layer of attention (or several) over a row of players, and a linear read-out of the cards.

    Parameters
    ----------
    things : how many cards each player must name, 1 to 4.
    heads : number of heads of the layer.
    width : D of the layer.
    feed_forward : width of a layer with a ReLU before the read-out; 0 for none.
    layers : layers of attention, with residual connections if there is more than one.
    """

    def __init__(
        self, things: int, heads: int, width: int = 64, feed_forward: int = 0, layers: int = 1
    ) -> None:
        super().__init__()
        n_friends = things // 2
        sizes = (NAMES, CARDS, PLAYERS, *[NAMES] * n_friends)
        self.embeddings = nn.ModuleList(nn.Embedding(size, width) for size in sizes)
        self.layers = nn.ModuleList(MultiHeadAttention(width, heads) for _ in range(layers))
        self.residual = layers > 1
        wide = feed_forward or 1
        parts = [nn.Linear(width, wide), nn.ReLU(), nn.Linear(wide, width)]
        self.feed_forward = nn.Sequential(*parts) if feed_forward else nn.Identity()
        self.read_out = nn.Linear(width, things * CARDS)

    def embed(self, ids: Tensor) -> Tensor:
        """Add up what is known of each player: (B, T, 3 + friends) ids -> (B, T, D)."""
        x: Tensor = sum(table(column) for table, column in zip(self.embeddings, ids.unbind(-1), strict=True))
        return x

    def forward(self, ids: Tensor) -> Tensor:
        """Let each player name its cards: (B, T, 3 + friends) ids -> logits (B, T, things, CARDS)."""
        x = self.embed(ids)
        for layer in self.layers:
            fetched, _ = layer(x, x, x)
            x = x + fetched if self.residual else fetched
        logits: Tensor = self.read_out(self.feed_forward(x))
        return logits.view(*ids.shape[:2], -1, CARDS)


def draw(n: int, things: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Draw n rows: what is known (n, T, 3 + friends), where to look (n, T, things), the cards there."""
    names = torch.rand(n, NAMES, generator=generator).argsort(dim=1)[:, :PLAYERS]  # no name twice in a row
    cards = torch.randint(CARDS, (n, PLAYERS), generator=generator)
    friends = torch.randint(PLAYERS, (2, n, PLAYERS), generator=generator)  # by place
    places = torch.arange(PLAYERS).expand(n, -1)
    left, right = (places - 1) % PLAYERS, (places + 1) % PLAYERS  # the row is a circle
    where = torch.stack([left, friends[0], right, friends[1]][:things], dim=-1)  # (n, T, things)
    known_by_name = [names.gather(1, friend) for friend in friends[: things // 2]]
    ids = torch.stack([names, cards, places, *known_by_name], dim=-1)
    return ids, where, cards.gather(1, where.flatten(1)).view(where.shape)


def train(rate: float, seed: int, steps: int, **settings: Any) -> dict[str, Any]:
    """Train one model until it knows its task or the steps are used up, testing it as it learns."""
    torch.manual_seed(seed)
    model, generator = Rows(**settings), torch.Generator().manual_seed(seed)
    ids, _, cards = draw(TEST, settings["things"], torch.Generator().manual_seed(10_000))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0)
    learning_rate = linear_decay(rate, WARMUP, steps)
    right: list[list[float]] = []
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = learning_rate(step)
        x, _, wanted = draw(BATCH, settings["things"], generator)
        loss = cross_entropy(model(x), wanted)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % TEST_EVERY == 0:
            right.append(shares_right(model, ids, cards))
            if right[-1][-1] >= ENOUGH:
                break
    return {
        "accuracy": right[-1][-1],
        "accuracy_each": right[-1][:-1],
        "accuracies": [shares[-1] for shares in right],
    }


@torch.no_grad()
def shares_right(model: Rows, ids: Tensor, cards: Tensor) -> list[float]:
    """Share of players who name each card, and last of those who name all of them."""
    right = model(ids).argmax(dim=-1) == cards  # (B, T, things)
    shares = [*right.float().mean(dim=(0, 1)).tolist(), right.all(dim=-1).float().mean().item()]
    return [round(share, 4) for share in shares]


def best_of(rates: tuple[float, ...], **settings: Any) -> dict[str, Any]:
    """Train once at each learning rate; return the best run, and what each of them reached."""
    runs = [train(rate, **settings) for rate in rates]
    best = max(range(len(rates)), key=lambda i: runs[i]["accuracy"])
    return {"rate": rates[best], "accuracy_by_rate": [run["accuracy"] for run in runs], **runs[best]}
