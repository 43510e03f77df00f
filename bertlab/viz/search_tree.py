"""A drawing of all sentences that a small model can write, with their probabilities."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bertlab.viz.drawing import Point, canvas, on_arrow
from bertlab.viz.style import BLUE, GREY, INK, ORANGE, PALE, TEAL, WIDTH, house_style, shown, text_width

Tree = Mapping[tuple[str, ...], Mapping[str, float]]  # what may follow each beginning, and how probably

LEAF, FOOT, LEFT, GAP = 0.5, 0.1, 0.65, 0.5  # inches: between sentences, below, left, before their numbers
PATH_COLOURS, PATH_DASHES = (BLUE, ORANGE, TEAL), ("-", (0, (4, 1)), (0, (1, 1)))


@house_style
def search_tree(tree: Tree, paths: Mapping[str, Sequence[str]], title: str, start: str = "<END>") -> Figure:
    """Draw a tree of words from left to right, and some ways through it strongly.

    Parameters
    ----------
    tree : mapping of a beginning to the probabilities of the next word
        The empty beginning stands at the root; a beginning that has no entry is a whole sentence.
    paths : mapping of name to sequence of words, at most three
        Whole sentences; each gets its colour and dash, and its name beside its probability.
    title : str
        What is to be seen, as a sentence.
    start : str
        What stands at the root.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If a path is no whole sentence of the tree, or there are more than three.
    """
    leaves = list(_sentences(tree, ()))
    for name, path in paths.items():
        if tuple(path) not in leaves:
            raise ValueError(f"{name!r} is {list(path)}, no whole sentence of the tree: go on to a leaf")
    if len(paths) > len(PATH_COLOURS):
        raise ValueError(f"{len(paths)} paths: draw at most {len(PATH_COLOURS)}")
    height = FOOT + LEAF * len(leaves)
    fig, ax = canvas(title, height)
    depth = max(map(len, leaves))
    right = GAP + max(text_width(f"0.999  {name}", 14.0) for name in ["", *paths])
    step = (WIDTH - LEFT - right) / depth
    places = _places(tree, leaves, height, step)
    for beginning, place in places.items():
        if beginning:
            _branch(ax, places[beginning[:-1]], place, tree[beginning[:-1]][beginning[-1]])
        _word(ax, place, beginning[-1] if beginning else start)
    for leaf in leaves:
        on = [number for number, path in enumerate(paths.values()) if tuple(path) == leaf]
        said = ", ".join(list(paths)[number] for number in on)
        text = f"{probability(tree, leaf):.3g}" + (f"  {said}" if said else "")
        colour = PATH_COLOURS[on[0]] if on else GREY
        ax.text(
            LEFT + depth * step + GAP, places[leaf][1], text, va="center_baseline", fontsize=12,
            color=colour, fontweight="bold" if on else "normal",
        )  # fmt: skip
    for number, path in enumerate(paths.values()):
        _way(ax, [places[tuple(path[:n])] for n in range(len(path) + 1)], number)
    return fig


def probability(tree: Tree, sentence: Sequence[str]) -> float:
    """Multiply the probabilities on the way to a sentence.

    Examples
    --------
    >>> probability({(): {"a": 0.5, "b": 0.5}, ("a",): {"c": 1.0}}, ["a", "c"])
    0.5
    """
    product = 1.0
    for n, word in enumerate(sentence):
        product *= tree[tuple(sentence[:n])][word]
    return product


def _sentences(tree: Tree, beginning: tuple[str, ...]) -> list[tuple[str, ...]]:
    """List whole sentences in the order of the tree."""
    if beginning not in tree:
        return [beginning]
    return [leaf for word in tree[beginning] for leaf in _sentences(tree, (*beginning, word))]


def _places(
    tree: Tree, leaves: Sequence[tuple[str, ...]], height: float, step: float
) -> dict[tuple[str, ...], Point]:
    """Put sentences under each other, and every beginning at the middle of what it can become."""
    beginnings = sorted({leaf[:n] for leaf in leaves for n in range(len(leaf) + 1)}, key=len)
    rows = {leaf: height - LEAF * (row + 0.5) for row, leaf in enumerate(leaves)}
    places = {}
    for beginning in beginnings:
        below = [y for leaf, y in rows.items() if leaf[: len(beginning)] == beginning]
        places[beginning] = (LEFT + len(beginning) * step, (max(below) + min(below)) / 2)
    return places


def _branch(ax: Axes, start: Point, end: Point, share: float) -> None:
    """Draw a line with its probability, which stands nearer to where it leads."""
    ax.plot(*zip(start, end, strict=True), color=PALE, linewidth=1.6, linestyle="-", marker="none", zorder=1)
    on_arrow(
        ax, (start[0] + 0.55 * (end[0] - start[0]), start[1] + 0.55 * (end[1] - start[1])), f"{share:.3g}"
    )


def _word(ax: Axes, place: Point, word: str) -> None:
    around = {"facecolor": "white", "edgecolor": GREY, "boxstyle": "round,pad=0.25"}
    ax.text(
        *place, shown(word), ha="center", va="center_baseline", fontsize=12, color=INK, bbox=around,
        parse_math=False, zorder=4,
    )  # fmt: skip


def _way(ax: Axes, places: Sequence[Point], number: int) -> None:
    """Draw a way through the tree, a little beside the others."""
    beside = 0.05 * number
    xs, ys = [x for x, _ in places], [y - beside for _, y in places]
    style: dict[str, Any] = {
        "color": PATH_COLOURS[number],
        "linestyle": PATH_DASHES[number],
        "linewidth": 3.4,
        "marker": "none",
    }
    ax.plot(xs, ys, zorder=1.2 + 0.1 * number, **style)
