"""What the views of a whole model share: the layers they were given, and weights that follow on demand."""

from typing import Any

from bertlab.viz.attentions import AttentionLayers
from bertlab.viz.quantise import ERROR, bytes_each, quantise
from bertlab.viz.style import HEAD_COLOURS
from bertlab.viz.widget import Widget
from bertlab.viz.word_pieces import is_special, word, word_groups


class AttentionView(Widget):
    """A widget over all layers and heads. A head's weights are sent when it is first looked at.

    Attributes
    ----------
    sets : dict of name to AttentionLayers
        What was given; most models have one set, an encoder-decoder has three.
    """

    def __init__(self, sets: dict[str, AttentionLayers], payload: dict[str, Any], **state: Any) -> None:
        self.sets = sets
        self._bytes = bytes_each(sum(layers.size for layers in sets.values()))
        shared = {
            "sets": [_described(name, layers) for name, layers in sets.items()],
            "bytes": self._bytes,
            "error": ERROR[self._bytes],
            "colours": HEAD_COLOURS,
        }
        super().__init__({**shared, **payload}, **state)

    def layers(self, set_number: int) -> AttentionLayers:
        """The set of that number, in the order in which they were given."""
        return list(self.sets.values())[set_number]

    def chunk_names(self) -> list[str]:
        """``set/layer/head``, counted from 0, for every head there is."""
        return [
            f"{number}/{layer}/{head}"
            for number, layers in enumerate(self.sets.values())
            for layer, n_heads in enumerate(layers.heads)
            for head in range(n_heads)
        ]

    def chunk(self, name: str) -> list[bytes]:
        """Levels and steps of one head, see `quantise`."""
        number, layer, head = map(int, name.split("/"))
        levels, steps = quantise(self.layers(number).weights[layer][head], self._bytes)
        return [levels.tobytes(), steps.tobytes()]


def _described(name: str, layers: AttentionLayers) -> dict[str, Any]:
    """One set for the browser: everything but the weights."""
    described: dict[str, Any] = {"name": name, "heads": layers.heads, "cross": layers.is_cross}
    described["sentence_b"] = layers.sentence_b
    for side, tokens in (("queries", layers.query_tokens), ("keys", layers.key_tokens or ())):
        groups = word_groups(tokens)
        described[side] = list(tokens)
        described[f"{side}_special"] = [i for i, token in enumerate(tokens) if is_special(token)]
        described[f"{side}_words"] = [[word([tokens[i] for i in group]), group] for group in groups]
    return described


def check_place(
    sets: dict[str, AttentionLayers], set_number: int, layer: int, head: int | None = None
) -> None:
    """See that there is such a layer, and such a head in it.

    Raises
    ------
    ValueError
        If there is none; it says how many there are.
    """
    heads = list(sets.values())[set_number].heads
    if not 0 <= layer < len(heads):
        raise ValueError(f"layer={layer}: there are {len(heads)} layers, from 0")
    if head is not None and not 0 <= head < heads[layer]:
        raise ValueError(f"head={head}: layer {layer} has {heads[layer]} heads, from 0")
