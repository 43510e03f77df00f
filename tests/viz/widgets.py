"""One of each widget over any tokens, for the tests that hold for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bertlab import viz
from bertlab.viz.widget import Widget

PLAIN = ("[CLS]", "the", "cat", "saw", "the", "cat", "##s", "[SEP]")
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "a<b&c",
    "$x$",
    "</svg><script>alert(2)</script>",
    "",
    " ",
    "&amp;",
    '"',
    "##</svg>",
    "שלום",
    "👩\u200d🔬",
    "\u200b",
    "\u202ecba",
    "",
    "&amp;",
)

PIECES = (
    "[UNK]",
    *"abcdefghijklmnopqrstuvwxyz<>/=()[]&#;$",
    "the",
    "cat",
    "saw",
    "##s",
    "##a",
    "##t",
    "##w",
    "##g",
)


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _layers(tokens: Sequence[str], n_layers: int = 3, n_heads: int = 4) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [softmax(2 * rng.normal(size=(n_heads, len(tokens), len(tokens)))) for _ in range(n_layers)]


def _vectors(n: int, width: int = 16) -> np.ndarray:
    return np.random.default_rng(2).normal(size=(n, width))


def _trace(tokens: Sequence[str]) -> viz.DecodingTrace:
    scores, states = _vectors(len(tokens), len(tokens)), np.tanh(_vectors(len(tokens), 5))
    weights = softmax(scores)
    return viz.DecodingTrace(
        source_tokens=tokens,
        target_tokens=tokens,
        encoder_states=states,
        initial_state=states[0],
        states=states,
        scores=scores,
        weights=weights,
        contexts=weights @ states,
        combined=states,
        top_words=[[(token, 0.75), (tokens[0], 0.2)] for token in tokens],
        start=tokens[0],
    )


def _queries_keys(tokens: Sequence[str]) -> list[np.ndarray]:
    return [np.random.default_rng(layer).normal(size=(4, len(tokens), 8)) for layer in range(3)]


def _segments(tokens: Sequence[str]) -> np.ndarray:
    return (np.arange(len(tokens)) >= 4).astype(int)


MAKE: dict[str, Callable[[Sequence[str]], Widget]] = {
    "decoding_steps": lambda t: viz.decoding_steps(_trace(t), step=7 * len(t) - 1),
    "softmax_temperature": lambda t: viz.softmax_temperature(np.arange(len(t)) / 3, t, {t[0]: 1.0, "√64": 8}),
    "head_view": lambda t: viz.head_view(_layers(t), t, sentence_b=2, layer=1),
    "matrix_view": lambda t: viz.matrix_view(_layers(t), t, layer=1),
    "model_view": lambda t: viz.model_view(_layers(t), t, layer=1, head=2),
    "neuron_view": lambda t: viz.neuron_view(_queries_keys(t), _queries_keys(t), t),
    "input_flow": lambda t: viz.input_flow(
        t,
        _segments(t),
        _vectors(len(t)),
        _vectors(2)[_segments(t)],
        _vectors(len(t)),
        ids=range(len(t)),
        position=1,
    ),
    "mask_explorer": lambda t: viz.mask_explorer(_vectors(len(t), len(t)), t, causal=True),
    "position_explorer": lambda t: viz.position_explorer(_vectors(len(t)), position=1),
    "masking_explorer": lambda t: viz.masking_explorer(t, list(t), rng=np.random.default_rng(3)),
    "scale_explorer": lambda t: viz.scale_explorer(rng=np.random.default_rng(4)),
    "piece_explorer": lambda t: viz.piece_explorer(PIECES, t),
    "vector_explorer": lambda t: viz.vector_explorer(
        list(dict.fromkeys(t)), _vectors(len(set(t))), [(word,) for word in dict.fromkeys(t)]
    ),
}
# A trait that the reader can change, and a value that must change the picture.
CHANGE: dict[str, tuple[str, object]] = {
    "decoding_steps": ("step", 0),
    "softmax_temperature": ("place", 0),
    "head_view": ("layer", 2),
    "matrix_view": ("head", 2),
    "model_view": ("layer", 2),
    "neuron_view": ("query", 2),
    "input_flow": ("step", 5),
    "mask_explorer": ("mask", [[True] * len(PLAIN)] * len(PLAIN)),
    "position_explorer": ("position", 3),
    "masking_explorer": ("draw", 2),
    "scale_explorer": ("place", 0),
    "piece_explorer": ("text", "Cats saw the cat."),
    "vector_explorer": ("word", "saw"),
}
ALL = tuple(MAKE)
WITHOUT_TOKENS = ("position_explorer", "scale_explorer")
