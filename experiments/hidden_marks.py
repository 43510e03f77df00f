"""What is lost if no word may look at [CLS], or at [SEP]?

In all-MiniLM-L6-v2 most heads give most of their weight to [CLS]. Here it is hidden: nobody may look at it
but itself, in any layer. So is [SEP], or both, or, to compare with, in each text one of the ordinary pieces,
chosen at random. Nothing is trained again. Measured: how far the mean of a text's states turns, and those of
single pieces; how many questions find the paragraph that answers them (XQuAD, English, every second article);
and how often the nearest occurrence of a word has its sense (CoarseWSD-20).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
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
HIDDEN = ("nothing", "[CLS]", "[SEP]", "both marks", "a word")


def hide(what: str, vocab: WordPiece) -> Callable[[Tensor], Tensor]:
    """Make masks that keep all others from looking at some piece; it may look at itself.

    Parameters
    ----------
    what : one of `HIDDEN`.
    vocab : its numbers of [CLS] and [SEP] count.

    Returns
    -------
    function of ids (B, T) that gives a mask (B, 1, T, T), True = may be attended to. Which ordinary piece it
    hides depends on the ids alone.
    """

    def mask(ids: Tensor) -> Tensor:
        cls, sep = ids == vocab.cls_id, ids == vocab.sep_id
        gone = torch.zeros_like(cls)
        if what in ("[CLS]", "both marks"):
            gone |= cls
        if what in ("[SEP]", "both marks"):
            gone |= sep
        if what == "a word":
            generator = torch.Generator().manual_seed(0)
            for row, own in zip(gone, ~cls & ~sep & (ids != 0), strict=True):
                places = own.nonzero()[:, 0]
                row[places[torch.randint(len(places), (), generator=generator)]] = True
        itself = torch.eye(ids.shape[1], dtype=torch.bool)
        return padding_mask(ids) & (~gone[:, None, None, :] | itself)

    return mask


@torch.no_grad()
def read(model: MiniLM, search: Search, what: str) -> tuple[Tensor, Tensor]:
    """Text vectors (n, D) in the order of the texts, and the states of all real pieces (N, D)."""
    vectors, pieces = torch.empty(sum(len(which) for which, _ in search.texts), 384), []
    for which, ids in search.texts:
        x = model(model.embed(ids), hide(what, model.tokenizer)(ids))
        vectors[which] = pooled(x, padding_mask(ids))
        ordinary = (ids != 0) & (ids != model.tokenizer.cls_id) & (ids != model.tokenizer.sep_id)
        pieces.append(x[ordinary])
    return vectors, torch.cat(pieces)


def degrees(a: Tensor, b: Tensor) -> float:
    """Mean angle between the rows of two matrices."""
    cosines = F.cosine_similarity(a.double(), b.double(), dim=-1).clamp(-1, 1)
    return round(cosines.arccos().rad2deg().mean().item(), 2)


def measure(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Hide one thing, and measure."""
    model = MiniLM()
    search = Search(model, "test")
    (before, words_before), (after, words_after) = (
        read(model, search, what) for what in ("nothing", arm["hidden"])
    )
    lost = search.each(before)["first"] - search.each(after)["first"]
    train, test = (occurrences("coarsewsd-20", model.tokenizer, split) for split in ("train", "test"))
    mask = hide(arm["hidden"], model.tokenizer)
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
