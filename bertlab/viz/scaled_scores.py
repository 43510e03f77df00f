"""Why scores are divided by √d_k: the same random queries and keys at every width, with and without."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.payload import DECIMALS, as_array, entropy
from bertlab.viz.style import BLUE, GREY, ORANGE, RED, house_style, new_figure, title_height

WIDTHS: tuple[int, ...] = tuple(2**i for i in range(10))  # d_k, from 1 to 512


class Arm(NamedTuple):
    """Scores, divided or not, and what the softmax makes of them; W widths, N queries, n keys each."""

    scores: np.ndarray  # (W, N, n)
    weights: np.ndarray  # (W, N, n)
    entropies: np.ndarray  # (W, N), in bits


class Scaled(NamedTuple):
    """Both arms."""

    plain: Arm  # q·k
    divided: Arm  # q·k / √d_k


def scaled_scores(queries: ArrayLike, keys: ArrayLike) -> Scaled:
    """Scores of the same queries and keys when only their first d_k parts count, for every d_k of WIDTHS.

    Parameters
    ----------
    queries : (N, 512) array
    keys : (N, n, 512) array
        n keys for each query; all parts independent, of mean 0 and variance 1.

    Returns
    -------
    Scaled
        The variance of q·k is d_k, that of q·k / √d_k is 1.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.1, footnote 4.
    """
    products = as_array(queries)[:, None] * as_array(keys)  # (N, n, 512)
    widths = np.array(WIDTHS)
    plain = np.moveaxis(products.cumsum(axis=-1)[..., widths - 1], -1, 0)  # (W, N, n)
    return Scaled(_arm(plain), _arm(plain / np.sqrt(widths)[:, None, None]))


def _arm(scores: np.ndarray) -> Arm:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return Arm(scores, weights, entropy(weights))


def deviations(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Standard deviation of the scores of each query, (W, N), and of all queries together, (W,)."""
    return scores.std(axis=-1, ddof=1), scores.std(axis=(1, 2))


def scale_payload(both: Scaled) -> dict[str, Any]:
    """What the slider shows at each of its places.

    Parameters
    ----------
    both : Scaled

    Returns
    -------
    dict
        Ready for JSON.
    """

    def arm(one: Arm) -> dict[str, Any]:
        of_query, of_all = deviations(one.scores)
        numbers = {
            "scores": one.scores,
            "weights": one.weights,
            "entropies": one.entropies,
            "deviations": of_query,
            "deviation": of_all,
            "mean_entropy": one.entropies.mean(axis=1),
        }
        return {name: np.round(values, DECIMALS).tolist() for name, values in numbers.items()}

    _, n_queries, n_keys = both.plain.scores.shape
    return {
        "widths": list(WIDTHS),
        "queries": n_queries,
        "keys": n_keys,
        "most": float(np.round(np.log2(n_keys), DECIMALS)),
        "plain": arm(both.plain),
        "divided": arm(both.divided),
    }


@house_style
def scale_figure(both: Scaled, place: int, draw: int) -> Figure:
    """Draw one query's softmax without and with the division, and the mean entropy at every width.

    Parameters
    ----------
    both : Scaled
    place : int
        Of d_k in WIDTHS.
    draw : int
        Which query.

    Returns
    -------
    matplotlib Figure
    """
    d_k, n_keys = WIDTHS[place], both.plain.scores.shape[-1]
    title = "Undivided, large scores leave one key all the weight; ÷ √dₖ keeps the softmax undecided"
    fig = new_figure(title, 4.0 + 0.3 * n_keys + title_height(title))
    axes = fig.subplot_mosaic([["plain", "divided"], ["curve", "curve"]], height_ratios=[n_keys, 9])
    for name, colour, words in (("plain", ORANGE, "q·k"), ("divided", BLUE, f"q·k ÷ √{d_k}")):
        arm: Arm = getattr(both, name)
        _bars(axes[name], arm.weights[place, draw], colour)
        axes[name].set_title(f"{words}: standard deviation {deviations(arm.scores)[0][place, draw]:.1f}")
        axes[name].set_xlabel(
            f"entropy {arm.entropies[place, draw]:.2f} of {np.log2(n_keys):.3g} bits", loc="left"
        )
    axes["plain"].set_yticks(range(n_keys), [f"key {i + 1}" for i in range(n_keys)])
    axes["divided"].set_yticks([])
    _curves(axes["curve"], both, place)
    return fig


def _bars(ax: Axes, weights: np.ndarray, colour: str) -> None:
    bars = ax.barh(range(len(weights)), weights, 0.72, color=colour)
    ax.bar_label(bars, [f"{weight:.2f}" for weight in weights], padding=3, fontsize=11)
    ax.set(xlim=(0, 1.2), xticks=[])
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.grid(False)
    ax.invert_yaxis()


def _curves(ax: Axes, both: Scaled, place: int) -> None:
    most = np.log2(both.plain.scores.shape[-1])
    for arm, name, look in (
        (both.divided, "÷ √dₖ", {"color": BLUE, "linestyle": "-", "marker": "o"}),
        (both.plain, "not divided", {"color": ORANGE, "linestyle": (0, (5, 1.5)), "marker": "s"}),
    ):
        mean = arm.entropies.mean(axis=1)
        ax.plot(WIDTHS, mean, markeredgecolor="white", **look)
        ax.text(WIDTHS[-1] * 1.12, mean[-1], name, va="center")
    ax.axvline(WIDTHS[place], color=RED, linewidth=1.6, linestyle=(0, (3, 1.5)), marker="none", zorder=1)
    ax.axhline(most, color=GREY, linewidth=1.2, linestyle=(0, (2, 2)), marker="none", zorder=1)
    ax.text(1.0, 1.02 * most, "all keys alike", va="bottom", color=GREY)
    ax.set(xscale="log", xlim=(0.9, 1900), ylim=(0, 1.16 * most), xlabel="dₖ", ylabel="mean entropy, bits")
    ax.set_xticks(WIDTHS, list(map(str, WIDTHS)))
    ax.minorticks_off()
