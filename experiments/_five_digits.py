"""A small network learns five digits, from layers that another one learnt on five digits, or on nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor, nn

from bertlab.nn.small_cnn import SmallCNN

PARTS = {"train": (0, 1000), "val": (1000, 1200), "test": (1200, 1797)}
BATCH, SOURCE_RATE = 25, 3e-3
SOURCE_STEPS = {"A": 256, "B": 256, "lot": 1024}  # labels by lot are hard to learn
MARKS = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128)  # the last is the number of steps
DEPTH = len(SmallCNN.LAYERS) - 1  # layers that can move: the output has other classes
Hits = NDArray[np.float64]  # (N,) or (S, N): seeds, images; 1 where the class was found
Row = dict[str, Any]
Rates = dict[str, dict[str, float]]  # of each start, at each number of labels where rates are chosen


class Start(NamedTuple):
    """Where a network begins: whose lowest layers it has, how many, and whether they learn on."""

    source: str
    n: int = 0
    frozen: bool = False

    def __str__(self) -> str:
        moved = f" {self.n} {'frozen' if self.frozen else 'trained'}" if self.n else ""
        return self.source + moved


SCRATCH, REGRESSION, NEIGHBOUR = Start("scratch"), Start("regression on pixels"), Start("nearest neighbour")


def rates_of(start: Start) -> tuple[float, ...]:
    """Give the rates that are tried: higher ones for a head alone; for a regression, inverse penalties."""
    if start == REGRESSION:
        return (0.1, 1.0, 10.0)
    if start == NEIGHBOUR:
        return (1.0,)  # nothing to choose
    return (3e-3, 1e-2, 3e-2) if start.frozen and start.n == DEPTH else (1e-3, 3e-3, 1e-2)


@cache
def all_digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Read the 1,797 images (N, 8, 8) of scikit-learn, between 0 and 16, and their digits (N,)."""
    data = load_digits()
    return data.images, data.target


def part_of(digits: str, part: str) -> tuple[Tensor, Tensor]:
    """Give the images (N, 8, 8) of some digits, between 0 and 1, and their classes, from 0 on."""
    first, end = PARTS[part]
    images, right = (numbers[first:end] for numbers in all_digits())
    own = np.isin(right, [int(digit) for digit in digits])
    classes = [digits.index(str(digit)) for digit in right[own]]
    return torch.tensor(images[own] / 16, dtype=torch.float32), torch.tensor(classes)


def some(images: Tensor, right: Tensor, labels: str, seed: int) -> tuple[Tensor, Tensor]:
    """Draw images of each class; with more labels, those of fewer are among them."""
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(np.flatnonzero(right == c)) for c in range(5)]
    number = len(right) if labels == "all" else int(labels)
    chosen = torch.as_tensor(np.concatenate([own[:number] for own in drawn]))
    return images[chosen], right[chosen]


def stages(model: SmallCNN) -> nn.Sequential:
    """Give the same layers one after the other, so that what frozen ones see is computed once."""
    pool = nn.MaxPool2d(2)
    return nn.Sequential(
        nn.Sequential(nn.Unflatten(1, (1, 8)), model.conv1, nn.ReLU()),
        nn.Sequential(model.conv2, nn.ReLU(), pool),
        nn.Sequential(model.conv3, nn.ReLU(), pool, nn.Flatten()),
        nn.Sequential(model.hidden, nn.ReLU()),
        model.output,
    )


def batches(n: int, rng: np.random.Generator) -> Iterator[Tensor]:
    """Give batches without end: of every image once (but for a rest), then again in another order."""
    size = min(n, BATCH)
    while True:
        order = torch.as_tensor(rng.permutation(n))
        yield from (order[i : i + size] for i in range(0, n - size + 1, size))


def learn(
    model: SmallCNN,
    n_frozen: int,
    images: Tensor,
    right: Tensor,
    rate: float,
    seed: int,
    steps: int,
    watched: tuple[Tensor, Tensor] | None = None,
) -> list[float]:
    """Train all layers but the lowest ones, by Adam, and give the accuracy on other images at `MARKS`.

    What frozen layers give to a linear layer is centred and scaled, by the images that are learnt from: what
    layers of chance say of two images differs little, and small steps would not find it. The linear layer
    then takes it over, so the network is one like all others.
    """
    as_it_is: Any = model
    layers = stages(as_it_is.to(memory_format=torch.channels_last))  # the layout that is quick on CPUs
    below, above, curve = layers[:n_frozen], layers[n_frozen:], []
    seen = read(below, images)
    linear = getattr(model, model.LAYERS[n_frozen])
    scaled = n_frozen and isinstance(linear, nn.Linear)
    mean = seen.mean(0) if scaled else torch.tensor(0.0)
    scale = (seen - mean).std() if scaled else torch.tensor(1.0)
    seen = (seen - mean) / scale
    seen_there = (read(below, watched[0]) - mean) / scale if watched else None
    optimizer = torch.optim.Adam(above.parameters(), lr=rate, fused=True)
    drawn = batches(len(right), np.random.default_rng(seed))
    for step, batch in zip(range(1, steps + 1), drawn, strict=False):
        optimizer.zero_grad()
        F.cross_entropy(above(seen[batch]), right[batch]).backward()
        optimizer.step()
        if watched and step in MARKS:
            curve.append(round(float(hits_of(above, seen_there, watched[1]).mean()), 4))
    if scaled:
        with torch.no_grad():
            linear.weight /= scale
            linear.bias -= linear.weight @ mean
    return curve


@torch.no_grad()
def read(layers: nn.Module, images: Tensor) -> Tensor:
    """Give what layers say of images, without learning."""
    seen: Tensor = layers(images)
    return seen


@torch.no_grad()
def hits_of(model: nn.Module, images: Any, right: Tensor) -> Hits:
    """Tell of each image whether its class was found."""
    hits: Hits = (model(images).argmax(1) == right).numpy().astype(np.float64)
    return hits


def new_network(seed: int) -> SmallCNN:
    """Draw a network for five classes."""
    torch.manual_seed(seed)
    return SmallCNN(5)


def sources_of(five: str, seed: int, names: set[str]) -> tuple[dict[str, SmallCNN], Row]:
    """Train what layers are taken from, and tell how well each knows its own training and test images."""
    rest = "".join(digit for digit in "0123456789" if digit not in five)
    rng = np.random.default_rng([seed, 1])
    found, known = {"new": new_network(1000 + seed)}, {}
    for name, steps in SOURCE_STEPS.items():
        if name in names:
            digits = five if name == "B" else rest
            images, right = part_of(digits, "train")
            if name == "lot":
                right = right[torch.as_tensor(rng.permutation(len(right)))]
            found[name] = new_network(1000 + seed)  # "new" is what they were before
            learn(found[name], 0, images, right, SOURCE_RATE, seed, steps)
            judged = (images, right), part_of(digits, "test")
            known[name] = [round(float(hits_of(found[name], *own).mean()), 4) for own in judged]
    if "shuffled" in names:
        found["shuffled"] = shuffled(found["A"], seed)
    return found, known


def shuffled(model: SmallCNN, seed: int) -> SmallCNN:
    """Give a network with the same numbers in each weight and each bias, in places by lot."""
    other, lot = SmallCNN(5).take_over(model, DEPTH), torch.Generator().manual_seed(seed)
    for numbers in other.parameters():
        flat = numbers.detach().flatten()
        numbers.data = flat[torch.randperm(len(flat), generator=lot)].view_as(numbers)
    return other


def try_out(
    start: Start, sources: dict[str, SmallCNN], five: str, labels: str, part: str, rate: float, seed: int
) -> Row:
    """Learn five digits from a start, and tell which images of a part are found, and how soon."""
    images, right = some(*part_of(five, "train"), labels, seed)
    watched = part_of(five, part)
    row: Row = {"start": str(start), "labels": labels, "rate": rate, "curve": []}
    if start in (REGRESSION, NEIGHBOUR):
        plain = KNeighborsClassifier(1) if start == NEIGHBOUR else LogisticRegression(C=rate, max_iter=2000)
        plain.fit(images.flatten(1).numpy(), right.numpy())
        hits = plain.predict(watched[0].flatten(1).numpy()) == watched[1].numpy()
    else:
        model = new_network(seed)
        if start.n:
            model.take_over(sources[start.source], start.n)
        n_frozen = start.n if start.frozen else 0
        third = watched[0][::3], watched[1][::3]
        row["curve"] = learn(model, n_frozen, images, right, rate, seed, MARKS[-1], third)
        hits = hits_of(model, *watched)
    return row | {"hits": "".join("01"[int(hit)] for hit in hits)}
