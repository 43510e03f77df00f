"""The course of a training: its loss at every step, and what the model can do by then."""

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.charts import plain_numbers
from bertlab.viz.payload import as_array
from bertlab.viz.style import BLUE, GREY, ORANGE, house_style, new_figure, title_height


@house_style
def learning_curve(
    steps: ArrayLike,
    losses: ArrayLike,
    title: str,
    held_out: tuple[ArrayLike, ArrayLike] | None = None,
    held_out_label: str = "exact matches on held-out examples, %",
    ylabel: str = "training loss, nats a token",
    floor: tuple[str, float] | None = None,
) -> Figure:
    """Draw the loss of every step (pale) with its running mean, and beside it what the model can do by then.

    Parameters
    ----------
    steps, losses : (n,) arrays
        The loss is drawn on a logarithmic axis.
    title : str
        What is to be seen, as a sentence.
    held_out : (steps, shares), optional
        Two (m,) arrays; shares between 0 and 1 are drawn in percent.
    held_out_label, ylabel : str
        With units.
    floor : (name, value), optional
        A loss that no model goes below, such as the entropy of smoothed targets: a dotted line.

    Returns
    -------
    matplotlib Figure
    """
    steps, losses = as_array(steps), as_array(losses)
    fig = new_figure(title, 3.7 + title_height(title))
    axes = fig.subplots(1, 2 if held_out is not None else 1, squeeze=False)[0]
    axes[0].plot(steps, losses, color=BLUE, alpha=0.3, linewidth=1, linestyle="-", marker="none")
    axes[0].plot(steps, running_mean(losses), color=BLUE, linestyle="-", marker="none")
    axes[0].set(yscale="log", xlabel="training step")
    plain_numbers(axes[0])
    if floor is not None:
        name, value = floor
        axes[0].axhline(value, color=GREY, linewidth=1.4, linestyle=(0, (2, 2)), marker="none", zorder=1)
        place = axes[0].get_yaxis_transform()
        axes[0].text(0.02, value, name, va="bottom", color=GREY, fontsize=12, transform=place)
    axes[0].set_title(ylabel, fontweight="normal")
    if held_out is not None:
        at, shares = (as_array(part) for part in held_out)
        axes[1].plot(at, 100 * shares, color=ORANGE, linestyle="-", marker="o", clip_on=False, zorder=3)
        axes[1].set(ylim=(0, 100), xlabel="training step", xlim=axes[0].get_xlim())
        axes[1].set_title(held_out_label, fontweight="normal")
        axes[1].annotate(
            f"{100 * shares[-1]:.1f} %", (at[-1], 100 * shares[-1]), (-6, -12), textcoords="offset points",
            ha="right", va="top", fontweight="bold",
        )  # fmt: skip
    return fig


def running_mean(values: ArrayLike, share: float = 0.02) -> np.ndarray:
    """Mean over a window around each value; near the ends the window shrinks, so that nothing is invented.

    Parameters
    ----------
    values : (n,) array
    share : float
        Half of the window, as a part of n.

    Returns
    -------
    (n,) array

    Examples
    --------
    >>> running_mean([0.0, 3.0, 6.0, 0.0], share=0.25).tolist()
    [1.5, 3.0, 3.0, 3.0]
    """
    array = as_array(values)
    reach = max(1, round(share * len(array)))
    return np.array([array[max(0, i - reach) : i + reach + 1].mean() for i in range(len(array))])
