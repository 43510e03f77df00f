"""What is lost if no word may look at [CLS], or at [SEP]?

In all-MiniLM-L6-v2 most heads give most of their weight to [CLS]. Here it is hidden: nobody may look at it
but itself, in any layer. So is [SEP], or both, or, to compare with, in each text one of the ordinary pieces,
chosen at random. Two more arms tell the look from the message: all may look, and the weights are what the
states make them, but the value of [CLS] (or of that ordinary piece) is 0 in every layer. Nothing is trained
again. Measured: how far the mean of a text's states turns, and those of
single pieces; how many questions find the paragraph that answers them (XQuAD, English, every second article);
and how often the nearest occurrence of a word has its sense (CoarseWSD-20).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from _minilm import MiniLM, pooled
from _search import Search, interval
from bertlab.nn.masking import padding_mask
from bertlab.text import WordPiece
from bertlab.training import run_arms, save_result
from sense_layers import nearest_is_right, occurrences, percent, states

NAME = "hidden_marks"
QUESTION = "What is lost if no word may look at [CLS], or at [SEP]?"
VALUE = "value of "  # before the name of what others see, but hear nothing of
HIDDEN = ("nothing", "[CLS]", "[SEP]", "both marks", "a word", f"{VALUE}[CLS]", f"{VALUE}a word")


def chosen(what: str, ids: Tensor, vocab: WordPiece) -> Tensor:
    """Where in ids (B, T) the named pieces stand: (B, T) bool; an ordinary one depends on the ids alone."""
    cls, sep = ids == vocab.cls_id, ids == vocab.sep_id
    found = torch.zeros_like(cls)
    if what in ("[CLS]", "both marks"):
        found |= cls
    if what in ("[SEP]", "both marks"):
        found |= sep
    if what == "a word":
        generator = torch.Generator().manual_seed(0)
        for row, own in zip(found, ~cls & ~sep & (ids != 0), strict=True):
            places = own.nonzero()[:, 0]
            row[places[torch.randint(len(places), (), generator=generator)]] = True
    return found


def hide(what: str, vocab: WordPiece) -> Callable[[Tensor], Tensor]:
    """Make masks that keep all others from looking at some piece; it may look at itself.

    Parameters
    ----------
    what : one of `HIDDEN`.
    vocab : its numbers of [CLS] and [SEP] count.

    Returns
    -------
    function of ids (B, T) that gives a mask (B, 1, T, T), True = may be attended to; a name that begins with
    `VALUE` hides nothing.
    """

    def mask(ids: Tensor) -> Tensor:
        gone = chosen(what, ids, vocab)
        itself = torch.eye(ids.shape[1], dtype=torch.bool)
        return padding_mask(ids) & (~gone[:, None, None, :] | itself)

    return mask


@contextmanager
def silence(what: str, model: MiniLM) -> Iterator[None]:
    """Set the values of some pieces to 0 in every layer, if `what` begins with `VALUE`; weights stay free."""
    heard: list[Tensor] = []

    def note(_: object, inputs: tuple[Tensor, ...], states: Tensor) -> None:
        heard[:] = [~chosen(what.removeprefix(VALUE), inputs[0], model.tokenizer)[..., None]]

    def mute(_: object, inputs: tuple[Tensor, ...], values: Tensor) -> Tensor:
        return values * heard[0]

    hooks = []
    if what.startswith(VALUE):
        hooks = [model.bert.embeddings.register_forward_hook(note)]
        hooks += [layer.attention.value.register_forward_hook(mute) for layer in model.layers]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def read(model: MiniLM, search: Search, what: str) -> tuple[Tensor, Tensor]:
    """Text vectors (n, D) in the order of the texts, and the states of all real pieces (N, D)."""
    vectors, pieces = torch.empty(sum(len(which) for which, _ in search.texts), 384), []
    mask_of = hide(what, model.tokenizer)
    for which, ids in search.texts:
        with silence(what, model):
            x = model(model.embed(ids), mask_of(ids))
        vectors[which] = pooled(x, padding_mask(ids))
        ordinary = (ids != 0) & (ids != model.tokenizer.cls_id) & (ids != model.tokenizer.sep_id)
        pieces.append(x[ordinary])
    return vectors, torch.cat(pieces)


def degrees(a: Tensor, b: Tensor) -> float:
    """Mean angle between the rows of two matrices."""
    cosines = F.cosine_similarity(a.double(), b.double(), dim=-1).clamp(-1, 1)
    return round(cosines.arccos().rad2deg().mean().item(), 2)


def measure(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Hide or silence one thing, and measure."""
    model = MiniLM()
    search = Search(model, "test")
    (before, words_before), (after, words_after) = (
        read(model, search, what) for what in ("nothing", arm["hidden"])
    )
    lost = search.each(before)["first"] - search.each(after)["first"]
    train, test = (occurrences("coarsewsd-20", model.tokenizer, split) for split in ("train", "test"))
    mask = hide(arm["hidden"], model.tokenizer)
    with silence(arm["hidden"], model):
        x, asked = (states(model, part, mask)[0][-1] for part in (train, test))
    return {
        "text turned": degrees(before, after),
        "pieces turned": degrees(words_before, words_after),
        **search.measure(after),
        "lost": round(lost.mean().item(), 3),
        "interval": interval(lost, search.answers),
        "senses": percent(nearest_is_right(train, test, x, asked)),
    }


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    rows = run_arms(NAME, [{"hidden": what} for what in HIDDEN], measure, parser.parse_args().workers)
    save_result(NAME, QUESTION, {"arms": rows}, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()
