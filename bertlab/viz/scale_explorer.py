"""Explorer of the scale √d_k: move the width, draw another query, see what the softmax does."""

from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure

from bertlab.viz.payload import check_index
from bertlab.viz.scaled_scores import WIDTHS, Scaled, scale_figure, scale_payload, scaled_scores
from bertlab.viz.widget import Widget, script

MOST_KEYS = 16


class ScaleExplorer(Widget):
    """Scores of random queries and keys, divided by √d_k or not.

    Attributes
    ----------
    place : int
        The place of the slider; d_k is 2 to the power of it.
    draw : int
        Which query is shown.
    """

    _esm = script("scale_explorer")
    place = traitlets.Int(6).tag(sync=True)
    draw = traitlets.Int(0).tag(sync=True)

    def __init__(self, both: Scaled, place: int) -> None:
        self.both = both
        super().__init__(scale_payload(both), place=place)

    @property
    def d_k(self) -> int:
        """The width of queries and keys."""
        return WIDTHS[self.place]

    @traitlets.validate("place")
    def _check_place(self, proposal: Any) -> int:
        return check_index("place", proposal["value"], len(WIDTHS))

    @traitlets.validate("draw")
    def _check_draw(self, proposal: Any) -> int:
        return check_index("draw", proposal["value"], self.both.plain.scores.shape[1])

    def still(self) -> Figure:
        """Both softmaxes of the present query, and the mean entropy at every width."""
        return scale_figure(self.both, self.place, self.draw)

    @property
    def alt(self) -> str:
        """The picture in words."""
        plain, divided = (arm.weights[self.place, self.draw].max() for arm in self.both)
        return (
            f"The softmax of a random query's scores over {self.both.plain.scores.shape[-1]} keys at width "
            f"{self.d_k}: the largest weight is {plain:.1f} as the scores are, {divided:.1f} when they are "
            f"divided by the root of {self.d_k}. Below, the mean entropy at every width: without the "
            "division it falls towards 0, with it it stays level."
        )


def scale_explorer(
    *, rng: np.random.Generator, d_k: int = 64, n_keys: int = 8, draws: int = 40
) -> ScaleExplorer:
    """See why scores are divided by √d_k: without it, wide queries and keys make the softmax a hard choice.

    Parts of queries and keys are random, of mean 0 and variance 1, so that q·k has variance d_k.

    Parameters
    ----------
    rng : numpy Generator
    d_k : int
        Where to begin: 1, 2, 4, … or 512.
    n_keys : int
        Keys of each query, 2 to 16.
    draws : int
        How many queries, at least 2.

    Returns
    -------
    ScaleExplorer
        Its `place` on the slider (d_k is 2 to that power) and its `draw` can be read and set.

    Raises
    ------
    ValueError
        If `d_k`, `n_keys` or `draws` is another.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.1, footnote 4.
    """
    if d_k not in WIDTHS:
        raise ValueError(f"d_k={d_k}: the slider has {', '.join(map(str, WIDTHS))}")
    if not 2 <= n_keys <= MOST_KEYS:
        raise ValueError(f"n_keys={n_keys}: give 2 to {MOST_KEYS}")
    if draws < 2:
        raise ValueError(f"draws={draws}: give at least 2, since one query may be a lucky one")
    queries = rng.normal(size=(draws, WIDTHS[-1]))
    keys = rng.normal(size=(draws, n_keys, WIDTHS[-1]))
    return ScaleExplorer(scaled_scores(queries, keys), WIDTHS.index(d_k))
