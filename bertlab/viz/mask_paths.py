"""Which inputs can reach an output through a stack of masked layers: the argument, drawn as a graph."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from bertlab.viz.drawing import PALE_BLUE, PALE_ORANGE, arrow, canvas, words
from bertlab.viz.masked_attention import checked_mask
from bertlab.viz.style import BLUE, GREY, INK, ORANGE, WIDTH, house_style

LEFT, BOTTOM, RISE = 1.5, 0.75, 1.0  # inches
LARGEST = 8  # tokens that can be told apart
FAINT = "#C3C8CF"  # steps that lead elsewhere


@house_style
def mask_paths(
    mask: np.ndarray,
    tokens: Sequence[str],
    output: int,
    title: str,
    n_layers: int = 2,
    *,
    source: int | None = None,
    residual: bool = True,
) -> Figure:
    """Draw a stack of layers as a graph, and in it every path that ends at one output.

    An arrow leads from a key to each query that may look at it, and from each position to itself, around the
    attention (the residual connection: no mask closes it).

    Parameters
    ----------
    mask : (T, T) bool array
        True = may be attended to, row = query; the same in every layer.
    tokens : sequence of T strings
        At most eight.
    output : int
        The position whose paths are drawn strongly, with the inputs that reach it.
    title : str
        What is to be seen, as a sentence.
    n_layers : int
        From 1 to 4.
    source : int, optional
        Draw strongly only the paths that begin at this input; no other is crossed out.
    residual : bool
        False leaves the residual connection out.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If the mask is not boolean or does not fit, or there are too many tokens or layers, or no such output
        or input.
    """
    n = len(tokens)
    steps = checked_mask(mask, (n, n)) | (np.eye(n, dtype=bool) & residual)
    if not 0 <= output < n <= LARGEST or not 1 <= n_layers <= 4 or not 0 <= (source or 0) < n:
        raise ValueError(
            f"output {output} and input {source} of {n} tokens, {n_layers} layers: "
            f"give an output that is there, an input likewise, at most {LARGEST} tokens, and 1 to 4 layers"
        )
    fig, ax = canvas(title, BOTTOM + RISE * n_layers + 0.55)
    gap = min(1.7, (WIDTH - LEFT - 0.6) / n)
    xs = [LEFT + gap * (i + 0.5) for i in range(n)]
    levels = [BOTTOM + RISE * layer for layer in range(n_layers + 1)]
    reached = reachable(steps, output, n_layers)
    if source is not None:
        reached &= reachable(steps.T, source, n_layers)[::-1]
    for layer in range(n_layers):
        for query, key in sorted(
            zip(*np.nonzero(steps), strict=True),
            key=lambda step: reached[layer + 1][step[0]] and reached[layer][step[1]],
        ):
            on_path = bool(reached[layer][key] and reached[layer + 1][query])
            start, end = np.array([xs[key], levels[layer]]), np.array([xs[query], levels[layer + 1]])
            along = 0.14 * (end - start) / np.linalg.norm(end - start)
            ends = tuple(start + along), tuple(end - along)
            arrow(ax, *ends, BLUE if on_path else FAINT, 2.0 if on_path else 1.2)
    for layer, y in enumerate(levels):
        name = "input" if layer == 0 else f"layer {layer}"
        ax.text(0.15, y, name, ha="left", va="center", fontsize=12, color=GREY)
        for i, x in enumerate(xs):
            goal, on = layer == n_layers and i == output, bool(reached[layer][i])
            edge, fill = (ORANGE, PALE_ORANGE) if goal else (BLUE, PALE_BLUE) if on else (GREY, "white")
            ax.plot(x, y, "o", markersize=15, markerfacecolor=fill, markeredgecolor=edge, markeredgewidth=1.8)
            if layer == 0 and not on and source is None:
                ax.plot(x, y, "x", markersize=8, color=INK, markeredgewidth=1.6)
    words(ax, xs, 0.3, tokens, gap - 0.1)
    ax.text(xs[output], levels[-1] + 0.24, "its output", ha="center", va="bottom", fontsize=12, color=INK)
    return fig


def reachable(steps: np.ndarray, output: int, n_layers: int) -> np.ndarray:
    """Tell from which positions of each level a path leads to one output: (n_layers + 1, T) bool.

    Parameters
    ----------
    steps : (T, T) bool array
        Row = where a step of one layer ends, column = where it begins.
    output : int
        Position at the last level.
    n_layers : int

    Examples
    --------
    >>> reachable(np.array([[True, False], [True, True]]), output=0, n_layers=2).astype(int).tolist()
    [[1, 0], [1, 0], [1, 0]]
    """
    levels = [np.arange(len(steps)) == output]
    for _ in range(n_layers):
        levels.insert(0, steps[levels[0]].any(axis=0))
    return np.array(levels)
