"""How many heads of a published BERT can be taken out before it finds fewer answers?

all-MiniLM-L6-v2 gets a question and must find the paragraph that answers it (XQuAD, English, 48 articles).
Every second article serves to *choose* heads, the others to *test*. First each of the 72 heads is taken out
alone. Then more and more of them, in several orders: by what each did alone (to the questions found, to the
surprise at the right paragraph, to the embeddings), by a gradient (Michel et al. 2019, eq. (2)), at random,
at random with the last layer left to the end, and the most important first. Last, each layer is left with one
head, and with none. Nothing is trained.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module

from _minilm import (
    D_HEAD,
    D_MODEL,
    N_HEADS,
    N_LAYERS,
    Batches,
    Head,
    MiniLM,
    encode,
    pooled,
    prune,
    states_before,
)
from _search import Search, interval
from bertlab.nn.masking import padding_mask
from bertlab.training import run_arms, save_result
from bertlab.training.results import RUNS

NAME = "head_pruning"
QUESTION = "How many of the 72 heads can be taken out before the model finds fewer answers?"
PRUNED = (0, 6, 12, 18, 24, 30, 36, 48, 60, 72)
SOME = (30,)  # for the order that differs from the random one only in what it leaves to the end
RANDOM_SEEDS = (0, 1, 2)
HEADS = [(layer, head) for layer in range(N_LAYERS) for head in range(N_HEADS)]
LATE = "random, last layer last"
ORDERS = RUNS / NAME / "orders.json"


def take_out_alone(half: str, layer: int) -> dict[str, Any]:
    """Take out each head of one layer alone: what is found, and how far the embeddings turn (1 - cosine)."""
    model = MiniLM()
    search = Search(model, half)
    states = states_before(model, layer, search.texts)
    whole = encode(model, search.texts, layer, states)
    heads = []
    for head in range(N_HEADS):
        without = copy.deepcopy(model)
        prune(without, [(layer, head)])
        found = encode(without, search.texts, layer, states)
        heads.append({**search.measure(found), "turned": round(1 - (found * whole).sum(-1).mean().item(), 6)})
    return {"whole": search.measure(whole), "heads": heads}


def gradients(half: str) -> list[list[float]]:
    """Mean size of each text's gradient by a switch on each head: (L, H), scaled to length 1 a layer."""
    model = MiniLM()
    search = Search(model, half)
    embeddings = encode(model, search.texts).requires_grad_()
    (upstream,) = torch.autograd.grad(search.surprise(embeddings), embeddings)
    matrices = [output.weight.requires_grad_() for output in model.outputs]
    total = torch.zeros(N_LAYERS, N_HEADS)
    for number, ids in one_by_one(search.texts):
        mask = padding_mask(ids)
        embedding = pooled(model(model.embed(ids), mask), mask)[0]
        found = torch.autograd.grad(embedding @ upstream[number], matrices)
        # A switch on a head scales its columns of W_O: its derivative is the sum of gradient · weight.
        by_column = torch.stack([(g * w).sum(dim=0) for g, w in zip(found, matrices, strict=True)])  # (L, D)
        total += by_column.detach().view(N_LAYERS, N_HEADS, D_HEAD).sum(dim=-1).abs()
    scaled: list[list[float]] = (total / total.norm(dim=1, keepdim=True)).tolist()
    return scaled


def one_by_one(texts: Batches) -> Iterator[tuple[int, Tensor]]:
    """The number of each text and its ids (1, T), without padding."""
    for which, ids in texts:
        for number, row in zip(which.tolist(), ids, strict=True):
            yield number, row[row != 0][None]


def take_out_more(order: str, seed: int, keep_mean: bool) -> dict[str, Any]:
    """Take out more and more heads in one order, and test."""
    model = MiniLM()
    search = Search(model, "test")
    heads: list[Head] = [(layer, head) for layer, head in json.loads(ORDERS.read_text())[order]]
    if order == "random":
        random.Random(seed).shuffle(heads)
    if order == LATE:
        before, last = heads[:-N_HEADS], heads[-N_HEADS:]
        heads = random.Random(seed).sample(before, len(before)) + last
    means = mean_outputs(model) if keep_mean else None
    rows = []
    for n in SOME if order == LATE else PRUNED:
        without = copy.deepcopy(model)
        prune(without, heads[:n], means)
        rows.append({"pruned": n, **search.measure(encode(without, search.texts))})
    return {"curve": rows, "heads": heads}


@torch.no_grad()
def mean_outputs(model: MiniLM) -> Tensor:
    """What each head says on average over the word pieces of the choosing half: (L, D)."""
    total, n = torch.zeros(N_LAYERS, D_MODEL), 0

    def note(layer: int) -> Callable[[Module, tuple[Tensor]], None]:
        def add(_: Module, inputs: tuple[Tensor]) -> None:
            total[layer] += inputs[0][real].sum(dim=0)

        return add

    hooks = [output.register_forward_pre_hook(note(layer)) for layer, output in enumerate(model.outputs)]
    for _, ids in Search(model, "choose").texts:
        real = ids != 0
        n += int(real.sum())
        model(model.embed(ids), padding_mask(ids))
    for hook in hooks:
        hook.remove()
    return total / n


def compare(order: str, pruned: int) -> dict[str, Any]:
    """What that many heads cost on the test half, with 95 % intervals over its paragraphs."""
    model = MiniLM()
    search = Search(model, "test")
    before = search.each(encode(model, search.texts))
    prune(model, json.loads(ORDERS.read_text())[order][:pruned])
    after = search.each(encode(model, search.texts))
    costs = {"first": before["first"] - after["first"], "surprise": after["surprise"] - before["surprise"]}
    return {
        name: {"cost": round(cost.mean().item(), 4), "interval": interval(cost, search.answers)}
        for name, cost in costs.items()
    }


def leave(layer: int, kept: list[int]) -> dict[str, Any]:
    """Leave only some heads in one layer, and test."""
    model = MiniLM()
    search = Search(model, "test")
    prune(model, [(layer, head) for head in range(N_HEADS) if head not in kept])
    return search.measure(encode(model, search.texts))


def measure(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Measure one arm of any kind."""
    kind, settings = arm["kind"], {key: value for key, value in arm.items() if key != "kind"}
    if kind == "gradients":
        return {"importance": gradients(**settings)}
    if kind == "alone":
        return take_out_alone(**settings)
    if kind == "leave":
        best = json.loads(ORDERS.read_text())["most important first"]
        kept = [next(head for layer, head in best if layer == settings["layer"])][: settings["heads"]]
        return {"kept": kept, **leave(settings["layer"], kept)}
    return compare(**settings) if kind == "compare" else take_out_more(**settings)


def orders(alone: list[dict[str, Any]], importance: list[list[float]]) -> dict[str, list[Head]]:
    """In which order to take out the heads, least important first, by what the choosing half says."""
    by: dict[str, dict[Head, float]] = {"questions": {}, "surprise": {}, "turned": {}, "gradient": {}}
    for row in alone:
        for number, found in enumerate(row["heads"]):
            head = row["layer"], number
            by["questions"][head] = row["whole"]["first"] - found["first"]
            by["surprise"][head] = found["surprise"] - row["whole"]["surprise"]
            by["turned"][head] = found["turned"]
            by["gradient"][head] = importance[row["layer"]][number]
    made = {name: sorted(HEADS, key=lambda head: values[head]) for name, values in by.items()}
    return {**made, "random": HEADS, LATE: HEADS, "most important first": made["surprise"][::-1]}


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    workers = parser.parse_args().workers
    halves = [("choose", layer) for layer in range(N_LAYERS)] + [("test", layer) for layer in range(N_LAYERS)]
    first: list[dict[str, Any]] = [{"kind": "alone", "half": half, "layer": layer} for half, layer in halves]
    *alone, by_gradient = run_arms(NAME, [*first, {"kind": "gradients", "half": "choose"}], measure, workers)
    ORDERS.write_text(json.dumps(orders(alone[:N_LAYERS], by_gradient["importance"])))
    plain = {"kind": "more", "seed": 0, "keep_mean": False}
    fixed = ("surprise", "gradient", "most important first", "questions", "turned")
    second = [{**plain, "order": order} for order in fixed]
    second += [{**plain, "order": "random", "seed": seed} for seed in RANDOM_SEEDS]
    second += [{**plain, "order": "surprise", "keep_mean": True}]
    second += [{"kind": "compare", "order": "turned", "pruned": 30}]
    second += [{**plain, "order": LATE, "seed": seed} for seed in RANDOM_SEEDS]
    second += [{"kind": "leave", "layer": layer, "heads": n} for n in (0, 1) for layer in range(N_LAYERS)]
    more = run_arms(NAME, second, measure, workers)
    results = {
        "alone": alone,
        "gradient": by_gradient["importance"],
        "more": [row for row in more if row["kind"] == "more"],
        "left": [row for row in more if row["kind"] == "leave"],
        "compared": [row for row in more if row["kind"] == "compare"],
        "settings": {"pruned": PRUNED, "layers": N_LAYERS, "heads": N_HEADS},
    }
    seconds = sum(row["seconds"] for row in [*alone, by_gradient, *more])
    save_result(NAME, QUESTION, results, seconds=seconds)


if __name__ == "__main__":
    main()
