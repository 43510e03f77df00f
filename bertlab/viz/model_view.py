"""The model view: all heads of all layers at a glance, and one of them large."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure

from bertlab.viz.attentions import AttentionLayers, attention_sets
from bertlab.viz.head_summary import SPREAD, HeadSummary, in_words, strongest, summarise
from bertlab.viz.head_words import between_said
from bertlab.viz.one_head import OneHead
from bertlab.viz.style import shown
from bertlab.viz.thumbnails import Thumbnails, draw_thumbnails, thumbnails
from bertlab.viz.widget import script

PICTURES = "thumbnails"  # name of the chunks that hold them, before the number of the set


class ModelView(OneHead):
    """A thumbnail of every head; made by `model_view`. `layer` and `head` are None while none is open.

    Attributes
    ----------
    mark : str
        What the numbered heads do most, e.g. "previous"; "" while none are numbered.
    """

    _esm = script("model_view")
    layer = traitlets.Int(None, allow_none=True).tag(sync=True)
    head = traitlets.Int(None, allow_none=True).tag(sync=True)
    mark = traitlets.Unicode("").tag(sync=True)

    def __init__(self, sets: dict[str, AttentionLayers], **state: Any) -> None:
        self.pictures = [thumbnails(layers) for layers in sets.values()]
        self.summaries = [summarise(layers) for layers in sets.values()]
        overview = [_overview(*both) for both in zip(self.pictures, self.summaries, strict=True)]
        super().__init__(sets, {"overview": overview}, **state)

    @traitlets.validate("mark")
    def _check_mark(self, proposal: dict[str, Any]) -> str:
        mark: str = proposal["value"]
        if mark:
            strongest(self.summaries[self.set_number], mark)
        return mark

    @traitlets.observe("set_number")
    def _forget_mark(self, _: dict[str, Any]) -> None:
        """Other tokens may lack what was marked."""
        names = [pattern.name for pattern in self.summaries[self.set_number].patterns]
        if self.mark not in ("", SPREAD, *names):
            self.mark = ""

    def chunk_names(self) -> list[str]:
        """One for the thumbnails of each set, then those of all heads."""
        return [f"{PICTURES}/{number}" for number in range(len(self.sets))] + super().chunk_names()

    def chunk(self, name: str) -> list[bytes]:
        """All thumbnails of a set, layer by layer and head by head; or the weights of one head."""
        kind, _, number = name.partition("/")
        if kind != PICTURES:
            return super().chunk(name)
        return [np.concatenate(self.pictures[int(number)].pictures).tobytes()]

    def still(self) -> Figure:
        """All thumbnails, the open head in a frame."""
        open_head = None if self.layer is None or self.head is None else (self.layer, self.head)
        number = self.set_number
        return draw_thumbnails(
            self.pictures[number], self.summaries[number], "", self.mark, open_head, self.own_scale
        )

    @property
    def alt(self) -> str:
        """The picture in words."""
        layers = self.shown_layers
        name = f"{shown(list(self.sets)[self.set_number])}: " if len(self.sets) > 1 else ""
        said = (
            f"{name}{_counted(sum(layers.heads), 'head')} in {_counted(len(layers.heads), 'layer')}, a "
            f"thumbnail of each; {between_said(layers.query_tokens, layers.key_tokens or ())}."
        )
        if self.layer is not None and self.head is not None:
            said += f" Open: layer {self.layer}, head {self.head}."
        if self.mark:
            first = [
                f"layer {i} head {j}" for i, j, _ in strongest(self.summaries[self.set_number], self.mark)
            ]
            said += f" Most “{self.mark}”: {', '.join(first) or 'no head'}."
        return said


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def _overview(pictures: Thumbnails, summary: HeadSummary) -> dict[str, Any]:
    """One set for the browser: everything about its heads but pictures and weights."""
    names = [pattern.name for pattern in summary.patterns]
    return {
        "size": pictures.pictures[0].shape[1:],
        "largest": [np.round(layer.astype(float), 5).tolist() for layer in pictures.largest],
        "patterns": [pattern._asdict() for pattern in summary.patterns],
        "shares": [np.round(layer.astype(float), 4).tolist() for layer in summary.shares],
        "even": np.round(summary.even, 4).tolist(),
        "columns": [layer.tolist() for layer in summary.columns],
        "bits": [np.round(layer, 3).tolist() for layer in summary.bits],
        "told": [
            [in_words(summary, i, j) for j in range(len(layer))] for i, layer in enumerate(summary.bits)
        ],
        "marks": {name: strongest(summary, name) for name in (*names, SPREAD)},
    }


def model_view(
    attentions: Any,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    sentence_b: int | None = None,
    set_number: int = 0,
    layer: int | None = None,
    head: int | None = None,
    mark: str = "",
    merge_words: bool = False,
    own_scale: bool = False,
) -> ModelView:
    """See all heads at once, a row of thumbnails for each layer; choose one to see it large.

    Pointing at a head says in numbers what it does. Buttons number the heads that do most of one thing, e.g.
    look at the token before.

    Parameters
    ----------
    attentions : sequence of L arrays or tensors, or AttentionLayers, or mapping of name to AttentionLayers
        Each layer (H, Tq, Tk), or (1, H, Tq, Tk) as in `outputs.attentions` of transformers; layers may
        differ in H. A mapping shows several, e.g. those of an encoder-decoder, one at a time.
    tokens : sequence of Tq strings, optional
        Needed unless `attentions` brings them.
    key_tokens : sequence of Tk strings, optional
        In cross-attention, the tokens that are looked at; by default the same.
    sentence_b : int, optional
        Position of the first token of the second sentence of a pair.
    set_number : int
        Which of several is shown first.
    layer, head : int, optional
        The head that is open at first, counted from 0; give both, or none.
    mark : str
        What the numbered heads do most: "itself", "previous", "next", "spread", the first token by its name
        ("[CLS]"), "[SEP]", "other sentence", "one token" (that is neither special nor the first); whatever
        of these there is.
    merge_words : bool
        In the open head, put word pieces together: the weight to a word is the sum over its pieces, from a
        word their mean.
    own_scale : bool
        Draw the largest weight of each head darkest, instead of a weight of 1: heads that spread theirs
        become visible.

    Returns
    -------
    ModelView
        Its `set_number`, `layer`, `head`, `cell`, `mark`, `merge_words`, `own_scale` can be read and set, and
        ``save("view.html")``, `.png` or `.svg` keeps it.

    Raises
    ------
    ValueError
        If weights and tokens do not fit, or hold a batch, or are missing; or if there is no such layer or
        head, or nothing to mark by that name.

    References
    ----------
    Vig 2019, A Multiscale Visualization of Attention in the Transformer Model, sec. 3.2.
    """
    sets = attention_sets(attentions, tokens, key_tokens, sentence_b)
    if (layer is None) != (head is None):
        raise ValueError(f"layer={layer} and head={head}: give both to open a head, or none")
    place = {"set_number": set_number, "layer": layer, "head": head}
    return ModelView(sets, **place, mark=mark, merge_words=merge_words, own_scale=own_scale)
