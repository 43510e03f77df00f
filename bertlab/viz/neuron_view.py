"""The neuron view: which dimensions of queries and keys make the scores, and so the attention weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure

from bertlab.viz.quantise import FEW
from bertlab.viz.queries_keys import QueryKeyLayers, Scored, score_keys
from bertlab.viz.score_by_dimension import score_by_dimension
from bertlab.viz.style import shown
from bertlab.viz.widget import Widget, script

NOTE = (
    "The average key is the mean of all keys under the weights: softmax sees differences only, so what a "
    "dimension adds to every key alike decides nothing. All is counted from 0."
)
ROUNDED = " Queries and keys are rounded to within 0.002 % of the largest number in each vector."
LEVELS = 32767  # above and below 0, of a number in two bytes


class NeuronView(Widget):
    """How one query scores every key, dimension by dimension. A head's vectors are sent when first looked at.

    Attributes
    ----------
    layer, head, query, key : int
        What is looked at, from 0.
    dimension : int or None
        The one that is marked.
    by_share : bool
        Whether dimensions stand in the order of what they add to the score of `key` beyond the average key.
    """

    _esm = script("neuron_view")
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    query = traitlets.Int(0).tag(sync=True)
    key = traitlets.Int(0).tag(sync=True)
    dimension = traitlets.Int(None, allow_none=True).tag(sync=True)
    by_share = traitlets.Bool(False).tag(sync=True)

    def __init__(self, layers: QueryKeyLayers, **state: Any) -> None:
        self.layers = layers
        self._bytes = 4 if layers.size <= FEW else 2
        super().__init__(self._described(), **state)

    def _described(self) -> dict[str, Any]:
        """What the browser has to know before it asks for any vector."""
        layers = self.layers
        return {
            "queries": list(layers.query_tokens),
            "keys": list(layers.key_tokens or ()),
            "heads": layers.heads,
            "widths": layers.widths,
            "scales": layers.scales,
            "divisors": [self._divisor(width) for width in layers.widths],
            "masked": layers.mask is not None,
            "bytes": self._bytes,
            "note": NOTE + ("" if self._bytes == 4 else ROUNDED),
        }

    def _divisor(self, width: int) -> str:
        return f"÷ √{width}" if self.layers.scale is None else f"÷ {self.layers.scale:g}"

    @traitlets.validate("layer", "head", "query", "key", "dimension")
    def _there(self, proposal: dict[str, Any]) -> int | None:
        name: str = proposal["trait"].name
        value: int | None = proposal["value"]
        layers = self.layers
        most = {
            "layer": len(layers.heads),
            "head": max(layers.heads),
            "query": len(layers.query_tokens),
            "key": len(layers.key_tokens or ()),
            "dimension": max(layers.widths),
        }[name]
        if value is not None and not 0 <= value < most:
            raise ValueError(f"{name}={value}: there are {most}, from 0")
        return value

    def chunk_names(self) -> list[str]:
        """``layer/head``, counted from 0, and the mask if there is one."""
        heads = [f"{layer}/{head}" for layer, n in enumerate(self.layers.heads) for head in range(n)]
        return heads if self.layers.mask is None else [*heads, "mask"]

    def chunk(self, name: str) -> list[bytes]:
        """Queries and keys of one head, or the mask: a bit for each pair, a row of whole bytes a query."""
        if name == "mask" and self.layers.mask is not None:
            return [np.packbits(self.layers.mask, axis=1).tobytes()]
        layer, head = map(int, name.split("/"))
        sides = self.layers.queries, self.layers.keys
        return [buffer for side in sides for buffer in packed(side[layer][head], self._bytes)]

    def _looked_at(self) -> tuple[int, int]:
        """Layer and head: the last one there is, where a layer has fewer heads than the one before."""
        return self.layer, min(self.head, self.layers.heads[self.layer] - 1)

    def scored(self) -> Scored:
        """Products, scores and weights of the present query."""
        layer, head = self._looked_at()
        mask = None if self.layers.mask is None else self.layers.mask[self.query]
        q, k = self.layers.queries[layer][head, self.query], self.layers.keys[layer][head]
        return score_keys(q, k, mask, self.layers.scale)

    def still(self) -> Figure:
        """The present query, with its strongest keys."""
        layers, (layer, head) = self.layers, self._looked_at()
        return score_by_dimension(
            layers.queries[layer][head, self.query],
            layers.keys[layer][head],
            layers.query_tokens[self.query],
            layers.key_tokens or (),
            mask=None if layers.mask is None else layers.mask[self.query],
            scale=layers.scale,
            key=self.key,
            dimension=self.dimension if (self.dimension or 0) < layers.widths[layer] else None,
            by_share=self.by_share,
        )

    @property
    def alt(self) -> str:
        """The picture in words."""
        layer, head = self._looked_at()
        keys, weights = self.layers.key_tokens or (), self.scored().weights
        most = f"most goes to “{shown(keys[int(weights.argmax())])}”" if weights.any() else "all are 0"
        return (
            f"How the query “{shown(self.layers.query_tokens[self.query])}” scores {len(keys)} keys in layer "
            f"{layer}, head {head}: its vector, every key's, their products in {self.layers.widths[layer]} "
            f"dimensions, scores and weights, of which {most}."
        )


def packed(vectors: np.ndarray, n_bytes: int) -> list[bytes]:
    """Vectors of one head for the browser.

    Parameters
    ----------
    vectors : (T, K) array
    n_bytes : int
        4: float32, as they are. 2: whole numbers, times a step for each vector: 1/32767 of its largest.

    Returns
    -------
    list of bytes
        The numbers, and the steps if there are any.
    """
    if n_bytes == 4:
        return [vectors.astype("<f4").tobytes()]
    steps = np.abs(vectors).max(axis=1, keepdims=True) / LEVELS
    levels = np.rint(vectors / np.where(steps == 0, 1, steps))
    return [levels.astype("<i2").tobytes(), steps.astype("<f4").tobytes()]


def neuron_view(
    queries: Any,
    keys: Any,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    mask: Any = None,
    scale: float | None = None,
    layer: int = 0,
    head: int = 0,
    query: int = 0,
    key: int | None = None,
    dimension: int | None = None,
    by_share: bool = False,
) -> NeuronView:
    """See which dimensions make a score: q, every k, q times k, their sum, and the weight after the softmax.

    Works for any model that can hand over its queries and keys; forward hooks on the layers that make them
    are enough, see the example. Scores that get something added (relative positions in T5, ALiBi) are not
    the whole story here.

    Parameters
    ----------
    queries : sequence of L arrays or tensors of shape (H, Tq, K)
        As they are multiplied: split into heads, turned already where a model turns them (RoPE). NumPy or
        torch; a batch of one is fine. One layer may be given alone, as (H, Tq, K).
    keys : sequence of L arrays or tensors of shape (H, Tk, K)
    tokens : sequence of Tq strings
    key_tokens : sequence of Tk strings, optional
        By default `tokens`: self-attention.
    mask : bool array or tensor that broadcasts to (Tq, Tk), optional
        True = may be attended to. A query that may attend to nothing has weights of 0.
    scale : float, optional
        What scores are divided by; by default √K.
    layer, head, query : int
        Where to begin, from 0.
    key : int, optional
        The key to begin with; by default the one with the most weight.
    dimension : int, optional
        To mark.
    by_share : bool
        Order the dimensions by what they add to the score of the chosen key more than to that of the average
        key (the mean of all keys under the weights): softmax sees differences only.

    Returns
    -------
    NeuronView
        Its `layer`, `head`, `query`, `key`, `dimension` and `by_share` can be read and set.

    Raises
    ------
    ValueError
        If something is missing, holds a batch, does not fit the rest, or there is no such layer, head, ….

    Notes
    -----
    Up to 262,144 numbers in all, queries and keys are sent as float32; more of them take two bytes each, with
    a step for each vector, and scores of size 10 stay right to about 0.001. A head is sent when it is first
    looked at. A page saved as HTML holds all heads: 0.5 MB for 6 layers × 12 heads × 16 tokens × 32
    dimensions, 6.5 MB for 12 × 12 × 128 × 64, 26 MB for 12 × 12 × 512 × 64.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.1, eq. (1). Vig 2019, A multiscale visualization of attention in the
    Transformer model, sec. 3.3: the neuron view.

    Examples
    --------
    Of a BERT of transformers::

        queries, keys = [], []

        def keep(found):
            return lambda _, __, out: found.append(out.unflatten(-1, (n_heads, -1)).transpose(1, 2))

        for block in model.encoder.layer:
            block.attention.self.query.register_forward_hook(keep(queries))
            block.attention.self.key.register_forward_hook(keep(keys))
        model(**inputs)
        viz.neuron_view(queries, keys, tokenizer.convert_ids_to_tokens(inputs.input_ids[0]))
    """
    layers = QueryKeyLayers(queries, keys, tokens, key_tokens, mask, scale)
    if 0 <= layer < len(layers.heads) and not 0 <= head < layers.heads[layer]:
        raise ValueError(f"head={head}: layer {layer} has {layers.heads[layer]} heads, from 0")
    view = NeuronView(
        layers, layer=layer, head=head, query=query, dimension=dimension, by_share=by_share, key=key or 0
    )
    if key is None:
        view.key = int(view.scored().weights.argmax())
    return view
