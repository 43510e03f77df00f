"""All heads of a model at a glance: a small picture of each, a row a layer."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bertlab.viz.attentions import AttentionLayers, attention_sets
from bertlab.viz.head_summary import SPREAD, HeadSummary, strongest, summarise
from bertlab.viz.quantise import thumbnail
from bertlab.viz.style import GREY, RED, WEIGHTS, WIDTH, house_style, new_figure, title_height

FINEST = 32  # pixels that a thumbnail has at least when it is drawn
GAP = 4  # pixels between thumbnails, the lines around them included
FRAME = (195, 201, 209)
Place = tuple[int, int]  # layer and head


class Thumbnails(NamedTuple):
    """A small picture of every head, each as fine as its own weights allow."""

    pictures: list[np.ndarray]  # for each layer (H, rows, columns) uint8: 255 is the head's largest weight
    largest: list[np.ndarray]  # for each layer (H,): the largest weight of each head
    is_cross: bool = False  # between two sequences no token can look at itself


def thumbnails(layers: AttentionLayers) -> Thumbnails:
    """Shrink every head to 40 × 40 pixels at most, each pixel the largest weight of its block."""
    largest = [np.minimum(layer.max(axis=(1, 2)), 1.0) for layer in layers.weights]
    pictures = [
        np.stack([thumbnail(head / (peak or 1.0)) for head, peak in zip(layer, peaks, strict=True)])
        for layer, peaks in zip(layers.weights, largest, strict=True)
    ]
    return Thumbnails(pictures, largest, layers.is_cross)


def all_heads(
    attentions: Any,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    title: str = "",
    sentence_b: int | None = None,
    mark: str = "",
    chosen: Place | None = None,
    own_scale: bool = False,
) -> Figure:
    """Draw a thumbnail of every head of every layer: rows are layers, columns are heads, counted from 0.

    In a thumbnail a row is a query, from the first at the top, and a column a key. A long sentence is shrunk
    to 40 × 40 pixels, each of them the largest weight of its block.

    Parameters
    ----------
    attentions, tokens, key_tokens, sentence_b
        As for `model_view`, but one set of layers only.
    title : str
        What is to be seen, as a sentence.
    mark : str
        Number the heads that give most weight to this: "itself", "previous", "next", the first token (by its
        own name if it is a special one, such as "[CLS]"), "[SEP]", "other sentence", "one token" (that is
        neither special nor the first); or "spread": those whose rows have the largest entropy.
    chosen : (layer, head), optional
        A head to put into a frame.
    own_scale : bool
        Draw the largest weight of each head darkest, instead of a weight of 1: heads that spread their weight
        become visible, but heads cannot be compared by how dark they are.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If weights and tokens do not fit, or there is no such head, or nothing to mark by that name.
    """
    sets = attention_sets(attentions, tokens, key_tokens, sentence_b)
    if len(sets) > 1:
        raise ValueError(f"attentions has {', '.join(sets)}: one picture shows one of them, choose it")
    (layers,) = sets.values()
    summary = summarise(layers) if mark else None
    return draw_thumbnails(thumbnails(layers), summary, title, mark, chosen, own_scale)


@house_style
def draw_thumbnails(
    given: Thumbnails,
    summary: HeadSummary | None,
    title: str = "",
    mark: str = "",
    chosen: Place | None = None,
    own_scale: bool = False,
) -> Figure:
    """Draw what `thumbnails` and `summarise` gave; arguments are those of `all_heads`."""
    heads = [len(layer) for layer in given.pictures]
    ranked = strongest(summary, mark) if summary and mark else []
    title = title or _title(heads, summary, mark)
    cell = min(0.66, (WIDTH - 1.5) / max(heads), max(0.3, 10 / len(heads)))  # inches
    fig = new_figure(title, title_height(title) + 0.75 + max(cell * len(heads), 1.2))
    ax = fig.subplots()
    picture = ax.imshow(_mosaic(given, own_scale), extent=(0, max(heads), len(heads), 0), cmap=WEIGHTS)
    picture.set_clim(0, 1)
    _axes(ax, heads, cell)
    if not given.is_cross:
        _diagonals(ax, heads)
    if chosen is not None:
        _frame(ax, *chosen)
    for place, (layer, head, _) in enumerate(ranked):
        _number(ax, layer, head, place + 1)
    scale = fig.colorbar(
        picture, ax=ax, pad=0.02, aspect=18 if len(heads) <= max(heads) else 40, ticks=[0, 0.5, 1]
    )
    scale.set_label("part of the head's largest weight" if own_scale else "weight")
    return fig


def _title(heads: list[int], summary: HeadSummary | None, mark: str) -> str:
    if summary and mark == SPREAD:
        return "Numbered: the heads that spread their weight over most tokens"
    if summary and mark:
        keys = next(pattern.keys for pattern in summary.patterns if pattern.name == mark)
        return f"Numbered: the heads that look most at {keys}"
    whose = f"{sum(heads)} heads look" if sum(heads) > 1 else "one head looks"
    return f"Where {whose}: a row a layer, each thumbnail one head"


def _mosaic(given: Thumbnails, own_scale: bool) -> np.ndarray:
    """All thumbnails in one picture (rows, columns, 3) of bytes, each in a thin frame."""
    _, rows, columns = given.pictures[0].shape
    up, right = -(-FINEST // rows), -(-FINEST // columns)  # so many pixels for each of theirs
    tall, wide = rows * up + GAP, columns * right + GAP
    sheet = np.full((tall * len(given.pictures), wide * max(map(len, given.pictures)), 3), 255, np.uint8)
    for i, (layer, peaks) in enumerate(zip(given.pictures, given.largest, strict=True)):
        for j, (levels, peak) in enumerate(zip(layer, peaks, strict=True)):
            colours = WEIGHTS(np.arange(256) / 255 * (1.0 if own_scale else peak), bytes=True)[:, :3]
            cell = sheet[i * tall : (i + 1) * tall, j * wide : (j + 1) * wide]
            cell[1:-1, 1:-1] = FRAME
            cell[2:-2, 2:-2] = colours[levels].repeat(up, axis=0).repeat(right, axis=1)
    return sheet


def _axes(ax: Axes, heads: list[int], cell: float) -> None:
    every = math.ceil(0.26 / cell)  # so many have one number
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.set_xticks(np.arange(0, max(heads), every) + 0.5, [f"{i}" for i in range(0, max(heads), every)])
    ax.set_yticks(np.arange(0, len(heads), every) + 0.5, [f"{i}" for i in range(0, len(heads), every)])
    ax.set(xlabel="head →", ylabel="← layer")
    ax.tick_params(length=0)
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _diagonals(ax: Axes, heads: list[int]) -> None:
    """A thin line in each thumbnail, where a token looks at itself: what lies beside it does not."""
    inset = 0.06  # of a thumbnail and the gap around it
    lines = [
        [(head + inset, layer + inset), (head + 1 - inset, layer + 1 - inset)]
        for layer, count in enumerate(heads)
        for head in range(count)
    ]
    ax.add_collection(LineCollection(lines, colors=GREY, linewidths=0.6, linestyles="dashed", label="itself"))
    ax.set_title("dashed: a token to itself", loc="right", fontsize=10, color=GREY, fontweight="normal")


def _frame(ax: Axes, layer: int, head: int) -> None:
    ax.add_patch(
        Rectangle((head + 0.02, layer + 0.02), 0.96, 0.96, fill=False, edgecolor=RED, linewidth=3, zorder=3)
    )


def _number(ax: Axes, layer: int, head: int, place: int) -> None:
    disc = {"boxstyle": "circle,pad=0.18", "facecolor": RED, "edgecolor": "white"}
    ax.text(
        head + 0.98, layer + 0.03, str(place), ha="right", va="top", fontsize=10, color="white",
        fontweight="bold", bbox=disc, zorder=4,
    )  # fmt: skip
