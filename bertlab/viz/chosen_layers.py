"""Stacks of layers side by side: which of them each choice takes, and what it does with them."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bertlab.viz.drawing import PALE_BLUE, Point, arrow, canvas
from bertlab.viz.style import BLUE, GREY, INK, WIDTH, even_lines, house_style

MOST_CHOICES, MOST_LAYERS = 7, 24
EDGE, LEFT, HIGH, ABOVE, BELOW = 0.1, 1.15, 2.6, 0.62, 0.8  # inches; HIGH of a whole stack
Choice = tuple[Sequence[int], str]  # layers, 0 being what enters the first one; what is made of them


@house_style
def chosen_layers(choices: Mapping[str, Choice], n_layers: int, title: str) -> Figure:
    """Draw a stack for each choice, the embeddings below, with the layers that it takes filled.

    Parameters
    ----------
    choices : mapping of name to (layers, what is made of them)
        One to seven. Layers from 0, what enters the first one, to `n_layers`, the last; said above the stack
        is what is made of them, such as "sum".
    n_layers : int
        L, at most 24.
    title : str
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there are too few or too many choices or layers, or a choice takes a layer that is not there.
    """
    if not 0 < len(choices) <= MOST_CHOICES:
        raise ValueError(
            f"{len(choices)} choices: draw one to {MOST_CHOICES} in a figure, and split the rest"
        )
    if not 0 < n_layers <= MOST_LAYERS:
        raise ValueError(f"n_layers={n_layers}: draw one to {MOST_LAYERS}")
    for name, (layers, _) in choices.items():
        if not layers or min(layers) < 0 or max(layers) > n_layers:
            raise ValueError(f"{name!r} takes layers {list(layers)}: choose from 0 to {n_layers}")
    fig, ax = canvas(title, BELOW + HIGH + ABOVE)
    wide = (WIDTH - LEFT - EDGE) / len(choices)
    step = HIGH / (n_layers + 1)
    for layer in _said(n_layers):
        name = "embeddings" if layer == 0 else f"layer {layer}"
        ax.text(
            LEFT - 0.08, BELOW + (layer + 0.5) * step, name, ha="right", va="center", fontsize=11, color=GREY
        )
    for number, (name, (layers, made)) in enumerate(choices.items()):
        _stack(ax, (LEFT + (number + 0.15) * wide, BELOW), 0.7 * wide, step, n_layers, set(layers))
        middle = LEFT + (number + 0.5) * wide
        arrow(ax, (middle, BELOW + HIGH + 0.04), (middle, BELOW + HIGH + 0.24), INK, 1.4)
        plain: dict[str, Any] = {"ha": "center", "parse_math": False}
        ax.text(middle, BELOW + HIGH + 0.28, made, va="bottom", fontsize=11, **plain)
        lines = even_lines(name, max(8, round(wide * 9.5)))
        ax.text(middle, BELOW - 0.1, lines, va="top", fontsize=11, linespacing=1.15, **plain)
    return fig


def _said(n_layers: int) -> list[int]:
    """Which layers are named at the side: all of few, else every third and the last."""
    return [i for i in range(n_layers + 1) if n_layers <= 12 or i % 3 == 0 or i == n_layers]


def _stack(ax: Axes, corner: Point, wide: float, step: float, n_layers: int, chosen: set[int]) -> None:
    for layer in range(n_layers + 1):
        taken = layer in chosen
        look: dict[str, Any] = {
            "facecolor": PALE_BLUE if taken else "white",
            "edgecolor": BLUE if taken else GREY,
        }
        place = (corner[0], corner[1] + (layer + 0.1) * step)
        ax.add_patch(Rectangle(place, wide, 0.8 * step, linewidth=2.0 if taken else 0.8, **look))
        if taken:  # in grey and to colour-blind eyes, too
            middle = (corner[0] + wide / 2, corner[1] + (layer + 0.5) * step)
            ax.plot(*middle, marker="o", markersize=min(7, 40 * step), color=BLUE, linestyle="none")
