"""The matrix view: one head as a heat map, a row for each query and a column for each key."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bertlab.viz.attentions import attention_sets
from bertlab.viz.head_selection import both_columns, shown_weights
from bertlab.viz.head_words import between_said
from bertlab.viz.heatmaps import attention_map
from bertlab.viz.one_head import OneHead
from bertlab.viz.style import RED, shown
from bertlab.viz.widget import script


class MatrixView(OneHead):
    """One head as a heat map; made by `matrix_view`. Its state can be read and set, see `OneHead`."""

    _esm = script("matrix_view")
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)

    def still(self) -> Figure:
        """The present head, the chosen cell in a frame."""
        queries, keys = both_columns(self.shown_layers, self.merge_words)
        weights = self.shown_layers.weights[self.layer][self.head]
        weights = np.minimum(shown_weights(weights, queries, keys), 1.0)
        darkest = rounded_up(float(weights.max())) if self.own_scale else 1.0
        told, around = f"where each {'word' if self.merge_words else 'token'} looks", None
        if self.cell:
            row, column = queries.of(self.cell[:1])[0], keys.of(self.cell[1:])[0]
            told = f"“{shown(queries.labels[row])}” looks at “{shown(keys.labels[column])}” with weight "
            told += f"{weights[row, column]:.2f}"
            around = (column - 0.5, row - 0.5)
        title = f"{self.place(self.layer, self.head)}: {told}"
        labels = queries.labels, keys.labels
        fig = attention_map(weights, *labels, title, "query: looks", "key: is looked at", darkest)
        fig.texts[0].set_parse_math(False)
        if around:
            frame = Rectangle(around, 1, 1, fill=False, edgecolor=RED, linewidth=2.5, zorder=3)
            fig.axes[0].add_patch(frame)
        return fig

    @property
    def alt(self) -> str:
        """The picture in words."""
        queries, keys = both_columns(self.shown_layers, self.merge_words)
        said = (
            f"{self.place(self.layer, self.head)}, as a heat map: a row for each query, a column for each "
            f"key, darker for more weight; {between_said(queries.labels, keys.labels)}."
        )
        if self.cell:
            query, key = queries.of(self.cell[:1])[0], keys.of(self.cell[1:])[0]
            said += f" In a frame: “{shown(queries.labels[query])}” looks at “{shown(keys.labels[key])}”."
        return said


def rounded_up(weight: float) -> float:
    """The next number of two digits: what the darkest colour stands for.

    >>> rounded_up(0.0832), rounded_up(0.5), rounded_up(0.0)
    (0.084, 0.5, 1.0)
    """
    if weight <= 0:
        return 1.0
    unit = 10.0 ** (np.floor(np.log10(weight)) - 1)
    return min(1.0, float(f"{np.ceil(weight / unit - 1e-9) * unit:.2g}"))


def matrix_view(
    attentions: Any,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    sentence_b: int | None = None,
    set_number: int = 0,
    layer: int = 0,
    head: int = 0,
    merge_words: bool = False,
    own_scale: bool = False,
) -> MatrixView:
    """See one head as a heat map: who looks (rows), at whom (columns), and with which weight.

    Point at a cell, or move to it with the arrow keys, to read its weight; step through layers and heads. A
    long sentence is drawn whole, a pixel or two a cell; zoom in until the tokens can be read.

    Parameters
    ----------
    attentions : sequence of L arrays or tensors, or AttentionLayers, or mapping of name to AttentionLayers
        Each layer (H, Tq, Tk), or (1, H, Tq, Tk) as in `outputs.attentions` of transformers; also one layer
        or one head alone. A mapping shows several, e.g. those of an encoder-decoder, one at a time.
    tokens : sequence of Tq strings, optional
        Needed unless `attentions` brings them.
    key_tokens : sequence of Tk strings, optional
        In cross-attention, the tokens that are looked at; by default the same.
    sentence_b : int, optional
        Position of the first token of the second sentence of a pair: a line is drawn before it.
    set_number : int
        Which of several is shown first.
    layer, head : int
        Where to begin, counted from 0.
    merge_words : bool
        Put word pieces together: the weight to a word is the sum over its pieces, from a word their mean.
    own_scale : bool
        Draw the largest weight of the head darkest, instead of a weight of 1.

    Returns
    -------
    MatrixView
        Its `set_number`, `layer`, `head`, `cell`, `merge_words`, `own_scale` can be read and set, and
        ``save("view.html")``, `.png` or `.svg` keeps it.

    Raises
    ------
    ValueError
        If weights and tokens do not fit, or hold a batch, or are missing; or if there is no such layer or
        head.

    Examples
    --------
    >>> matrix_view(np.eye(2), ["a", "b"]).alt.split(":")[0]
    'Layer 0, head 0, as a heat map'
    """
    sets = attention_sets(attentions, tokens, key_tokens, sentence_b)
    place = {"set_number": set_number, "layer": layer, "head": head}
    return MatrixView(sets, {}, **place, merge_words=merge_words, own_scale=own_scale)
