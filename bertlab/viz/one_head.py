"""What the matrix view and the model view share: one head at a time is shown large, as a heat map."""

from typing import Any

import traitlets

from bertlab.viz.attentions import AttentionLayers
from bertlab.viz.style import shown
from bertlab.viz.views import AttentionView, check_place


class OneHead(AttentionView):
    """A view of one head at a time.

    Attributes
    ----------
    set_number, layer, head : int
        Which one; sets are counted in the order in which they were given.
    cell : list of int
        Position of the query and of the key that the reader has chosen, or nothing.
    merge_words : bool
        Word pieces are put together to words.
    own_scale : bool
        The largest weight of a head is drawn darkest, instead of a weight of 1.
    """

    set_number = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0, allow_none=True).tag(sync=True)
    head = traitlets.Int(0, allow_none=True).tag(sync=True)
    cell = traitlets.List(traitlets.Int()).tag(sync=True)
    merge_words = traitlets.Bool(False).tag(sync=True)
    own_scale = traitlets.Bool(False).tag(sync=True)

    @property
    def shown_layers(self) -> AttentionLayers:
        """The set that is looked at."""
        return self.layers(self.set_number)

    def place(self, layer: int, head: int) -> str:
        """In words: which head, and of which set if there are several."""
        name = shown(list(self.sets)[self.set_number]) if len(self.sets) > 1 else ""
        return f"{name}, layer {layer}, head {head}" if name else f"Layer {layer}, head {head}"

    @traitlets.validate("set_number")
    def _check_set(self, proposal: dict[str, Any]) -> int:
        self._see_that_there_is(proposal["value"])
        return int(proposal["value"])

    def _see_that_there_is(self, set_number: int) -> None:
        if not 0 <= set_number < len(self.sets):
            raise ValueError(f"set_number={set_number}: there are {len(self.sets)} sets, from 0")

    @traitlets.validate("layer", "head")
    def _check_place(self, proposal: dict[str, Any]) -> int | None:
        value: int | None = proposal["value"]
        layer = value if proposal["trait"].name == "layer" else self.layer
        head = value if proposal["trait"].name == "head" else None
        self._see_that_there_is(
            self.set_number
        )  # of several traits that change at once, any may be the first
        if layer is not None:
            check_place(self.sets, self.set_number, layer, head)
        return value

    @traitlets.validate("cell")
    def _check_cell(self, proposal: dict[str, Any]) -> list[int]:
        cell: list[int] = proposal["value"]
        sides = (self.shown_layers.query_tokens, self.shown_layers.key_tokens or ())
        if cell and not (
            len(cell) == 2 and all(0 <= i < len(side) for i, side in zip(cell, sides, strict=True))
        ):
            n, m = map(len, sides)
            raise ValueError(f"cell={cell}: give [query, key], of {n} queries and {m} keys from 0, or []")
        return cell

    @traitlets.observe("set_number", "layer")
    def _stay_inside(self, change: dict[str, Any]) -> None:
        """Another set may have fewer layers, another layer fewer heads, and other tokens have other cells."""
        heads = self.shown_layers.heads
        if self.layer is not None and self.layer >= len(heads):
            self.layer = len(heads) - 1
        if self.layer is not None and self.head is not None and self.head >= heads[self.layer]:
            self.head = heads[self.layer] - 1
        if change["name"] == "set_number":
            self.cell = []
