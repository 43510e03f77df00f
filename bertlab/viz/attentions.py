"""The attention of a whole model, wherever it comes from: layers of heads of weights, with their words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

NOT_RETURNED = (
    "the model returned no attention weights (None): fast kernels such as sdpa never have them; load it with "
    'attn_implementation="eager" and call it with output_attentions=True'
)
NESTED = "as generate() returns for each token: choose one step, and give its tuple of layers"
ROUNDING = 0.02  # how far above 1 a weight in half precision may lie


@dataclass(frozen=True, eq=False)
class AttentionLayers:
    """The attention weights of all layers and heads for one example, with the words on both sides.

    Attributes
    ----------
    weights : sequence of L arrays or tensors of shape (H, Tq, Tk)
        A row is a query and sums to 1. `outputs.attentions` of transformers fits as it is, if its batch holds
        one example. One layer may be given alone, as (H, Tq, Tk), and one head as (Tq, Tk). Layers may differ
        in H.
    query_tokens : sequence of Tq strings
    key_tokens : sequence of Tk strings, optional
        By default the queries: self-attention. In cross-attention, the tokens of the encoder.
    sentence_b : int, optional
        Position of the first token of the second sentence of a pair (both sides; self-attention only).

    Raises
    ------
    ValueError
        If the weights are missing (None), hold a batch, are not between 0 and 1, or do not fit the tokens.
    """

    weights: Any
    query_tokens: Sequence[str]
    key_tokens: Sequence[str] | None = None
    sentence_b: int | None = None

    def __post_init__(self) -> None:
        """Make every layer a (H, Tq, Tk) NumPy array, and see that all fits together."""
        queries = strings(self.query_tokens, "query_tokens")
        keys = queries if self.key_tokens is None else strings(self.key_tokens, "key_tokens")
        given = layers_of(self.weights, "attentions", NOT_RETURNED, NESTED)
        layers = tuple(_checked(*layer, len(queries), len(keys)) for layer in given)
        if self.sentence_b is not None and (
            self.key_tokens is not None or not 0 < self.sentence_b < len(queries)
        ):
            raise ValueError(
                f"sentence_b={self.sentence_b}: give the position where the second sentence begins, from 1 "
                f"to {len(queries) - 1}, in self-attention"
            )
        object.__setattr__(self, "weights", layers)
        object.__setattr__(self, "query_tokens", queries)
        object.__setattr__(self, "key_tokens", keys)

    @property
    def heads(self) -> list[int]:
        """Number of heads of each layer."""
        return [len(layer) for layer in self.weights]

    @property
    def is_cross(self) -> bool:
        """Whether queries and keys are different sentences."""
        return self.query_tokens is not self.key_tokens

    @property
    def size(self) -> int:
        """How many weights there are in all."""
        return sum(layer.size for layer in self.weights)


def attention_sets(
    attentions: Any, tokens: Sequence[str] | None, key_tokens: Sequence[str] | None, sentence_b: int | None
) -> dict[str, AttentionLayers]:
    """What a view was given, by name: one set of layers, or several (encoder, decoder, cross-attention).

    Parameters
    ----------
    attentions : mapping of name to AttentionLayers, or AttentionLayers, or weights
        Plain weights come with `tokens`; the others bring their own.

    Raises
    ------
    ValueError
        If tokens are missing, or given twice.
    """
    if isinstance(attentions, AttentionLayers):
        attentions = {"": attentions}
    if isinstance(attentions, Mapping):
        if tokens is not None or key_tokens is not None or sentence_b is not None:
            raise ValueError("AttentionLayers bring their own tokens and sentence_b: give them there only")
        wrong = [name for name, value in attentions.items() if not isinstance(value, AttentionLayers)]
        if wrong or not attentions:
            raise ValueError(
                f"attentions of {wrong[0]!r} have no tokens: give AttentionLayers(weights, query_tokens)"
                if wrong
                else "an empty mapping shows nothing: give at least one AttentionLayers"
            )
        return dict(attentions)
    if tokens is None:
        raise ValueError("weights without words: give the tokens, one string for each position")
    return {"": AttentionLayers(attentions, tokens, key_tokens, sentence_b)}


def strings(tokens: Sequence[str], name: str) -> tuple[str, ...]:
    """The tokens, or ValueError if they are not strings, or none at all."""
    if isinstance(tokens, str) or not all(isinstance(token, str) for token in tokens):
        raise ValueError(
            f"{name}={tokens!r:.60}: give a list of strings, such as tokenizer.convert_ids_to_tokens(ids)"
        )
    if not len(tokens):
        raise ValueError(f"{name} is empty: give one string for each position")
    return tuple(tokens)


def layers_of(values: Any, name: str, missing: str, nested: str) -> Iterator[tuple[np.ndarray, str]]:
    """Each layer of what was given as `name`, and what error messages call it.

    Parameters
    ----------
    values : sequence of arrays or tensors, or one of them
        One array is one layer, or one head of it if it has two axes, or all layers if it has five.
    name : str
        Of the argument.
    missing, nested : str
        What to say if there is nothing, or a sequence where an array should be.
    """
    if values is None or (isinstance(values, Sequence) and not len(values)):
        raise ValueError(missing)
    if not isinstance(values, Sequence):
        array = plain_array(values)
        if array.ndim == 5:  # (L, B, H, Tq, Tk)
            values = list(array)
        else:
            yield (array[None] if array.ndim == 2 else array), f"what is given as {name}"
            return
    for i, layer in enumerate(values):
        if layer is None:
            raise ValueError(missing)
        if isinstance(layer, Sequence):
            raise ValueError(f"{name}[{i}] is a {type(layer).__name__}, {nested}")
        yield plain_array(layer), f"layer {i} of {name}"


def one_example(array: np.ndarray, name: str) -> np.ndarray:
    """A layer without the axis of its batch, if that holds one example; a larger batch is refused."""
    if array.ndim == 4 and len(array) > 1:
        raise ValueError(
            f"{name} has shape {array.shape}, a batch of {len(array)} examples: choose one, as in "
            "[layer[:1] for layer in layers], and its tokens"
        )
    return array[0] if array.ndim == 4 and len(array) == 1 else array


def plain_array(values: Any) -> np.ndarray:
    """A NumPy array in the precision that was given, half precision aside; copied only where it must be."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = (values if values.element_size() >= 4 else values.float()).numpy()
    array = np.asarray(values)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float32)


def _checked(array: np.ndarray, name: str, n_queries: int, n_keys: int) -> np.ndarray:
    array = one_example(array, name)
    if array.ndim != 3 or array.shape[1:] != (n_queries, n_keys):
        raise ValueError(
            f"{name} has shape {array.shape}, but {n_queries} query tokens and {n_keys} key tokens need "
            f"(heads, {n_queries}, {n_keys}): give one token for each position, [CLS], [SEP] and padding "
            "among them, as in tokenizer.convert_ids_to_tokens(input_ids[0])"
        )
    lowest, highest = (array.min(), array.max()) if array.size else (0.0, 0.0)
    if not (lowest >= 0 and highest <= 1 + ROUNDING):  # also refuses nan
        raise ValueError(
            f"{name} has weights from {lowest:.3g} to {highest:.3g}: give them after the softmax, and "
            "without dropout (model.eval())"
        )
    return array
