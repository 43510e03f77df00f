"""All heads of a model in one number each: a map with a row for each layer, a column for each head."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from bertlab.viz.payload import as_array
from bertlab.viz.style import (
    ORANGE,
    PALE,
    WEIGHTS,
    WIDTH,
    house_style,
    new_figure,
    text_width,
    title_height,
)

COLUMNS = 3  # maps beside each other
LABEL = 0.2  # inches: cells must be so large for all heads to be numbered


@house_style
def head_maps(
    panels: Mapping[str, ArrayLike], title: str, label: str = "share of the weight", vmax: float | None = None
) -> Figure:
    """Draw a number for each head of each layer as small maps on one scale; the largest is framed and told.

    Parameters
    ----------
    panels : mapping of name to (L, H) array
        E.g. the share of its weight that each head gives to the token before. Not negative.
    title : str
        What is to be seen, as a sentence.
    label : str
        What the numbers are, beside the colours.
    vmax : float, optional
        What is drawn darkest; the largest of all numbers, if not given.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If the maps differ in shape, are no maps, or a number is negative or no number.
    """
    arrays = {name: as_array(values) for name, values in panels.items()}
    shapes = {values.shape for values in arrays.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 2:
        raise ValueError(f"maps of shapes {sorted(shapes)}: give one or more, all (layers, heads)")
    if not all((values >= 0).all() for values in arrays.values()):
        raise ValueError("a number of a head is negative or no number: give shares, or sizes")
    (n_layers, n_heads), top = shapes.pop(), vmax or max(values.max() for values in arrays.values()) or 1.0
    n_rows, n_columns = -(-len(arrays) // COLUMNS), min(COLUMNS, len(arrays))
    cell = (WIDTH - 1.3 - 0.45 * n_columns) / n_columns / n_heads
    cell = min(cell, 0.34)
    fig = new_figure(title, title_height(title) + n_rows * (cell * n_layers + 1.0) + 0.1)
    axes = fig.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax, (name, values) in zip(axes, arrays.items(), strict=False):
        image = _map(ax, values, top, cell)
        layer, head = np.unravel_index(int(values.argmax()), values.shape)
        ax.set_title(name, parse_math=False, fontsize=12 * min(1, cell * n_heads / text_width(name, 13)))
        ax.set_xlabel(f"head → ({values.max():.2f}: layer {layer}, head {head})", fontsize=11)
    for ax in axes[len(arrays) :]:
        ax.axis("off")
    for ax in axes[::n_columns]:
        ax.set_ylabel("← layer", fontsize=11)
    fig.colorbar(
        image, ax=list(axes), label=label, pad=0.02, aspect=18, ticks=[0, top / 2, top], format="%.2g"
    )
    return fig


def _map(ax: Axes, values: np.ndarray, top: float, cell: float) -> AxesImage:
    image = ax.imshow(values, cmap=WEIGHTS, vmin=0.0, vmax=top, aspect="equal")
    layers, heads = values.shape
    ax.set_xticks(range(0, heads, 1 if cell >= LABEL else 2))
    ax.set_yticks(range(layers))
    ax.tick_params(which="both", length=0, labelsize=9)
    ax.grid(False)
    ax.set_xticks(np.arange(0.5, heads - 1), minor=True)
    ax.set_yticks(np.arange(0.5, layers - 1), minor=True)
    ax.grid(which="minor", color=PALE, linewidth=0.8)
    layer, head = np.unravel_index(int(values.argmax()), values.shape)
    frame = Rectangle(
        (head - 0.5, layer - 0.5), 1, 1, fill=False, edgecolor=ORANGE, linewidth=2.2, clip_on=False
    )
    ax.add_patch(frame)
    for spine in ax.spines.values():
        spine.set(visible=True, color=PALE)
    return image
