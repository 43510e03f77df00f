"""Queries and keys of all heads, wherever they come from, and how one query scores every key."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bertlab.viz.attentions import layers_of, one_example, strings
from bertlab.viz.payload import as_array

MISSING = (
    "{0}: nothing given (None): give one (heads, tokens, width) array or tensor for each layer, such as a "
    "forward hook on the layer that makes them catches, split into heads"
)
NESTED = "but a layer is one array or tensor of shape (heads, tokens, width)"


@dataclass(frozen=True, eq=False)
class QueryKeyLayers:
    """The queries and keys of all layers and heads for one example, with their tokens.

    Attributes
    ----------
    queries : sequence of L arrays or tensors of shape (H, Tq, K)
        As they are multiplied: split into heads, and turned already where a model turns them (RoPE). A batch
        of one is fine. One layer may be given alone, as (H, Tq, K), and one head as (Tq, K). Layers may
        differ in H and K. Beware: (1, Tq, D), what a layer gives before it is split, is one head D wide.
    keys : sequence of L arrays or tensors of shape (H, Tk, K)
    query_tokens : sequence of Tq strings
    key_tokens : sequence of Tk strings, optional
        By default the queries: self-attention.
    mask : bool array that broadcasts to (Tq, Tk), optional
        True = may be attended to.
    scale : float, optional
        What scores are divided by; by default √K.

    Raises
    ------
    ValueError
        If something is missing, holds a batch or numbers that are not finite, or does not fit the rest.
    """

    queries: Any
    keys: Any
    query_tokens: Sequence[str]
    key_tokens: Sequence[str] | None = None
    mask: Any = None
    scale: float | None = None

    def __post_init__(self) -> None:
        """Make every layer a pair of (H, T, K) NumPy arrays, and see that all fits together."""
        query_tokens = strings(self.query_tokens, "tokens")
        key_tokens = query_tokens if self.key_tokens is None else strings(self.key_tokens, "key_tokens")
        queries = _layers(self.queries, "queries", len(query_tokens))
        keys = _layers(self.keys, "keys", len(key_tokens))
        if len(queries) != len(keys):
            raise ValueError(f"{len(queries)} layers of queries, {len(keys)} of keys: give as many of both")
        for i, (q, k) in enumerate(zip(queries, keys, strict=True)):
            _check_pair(q, k, i)
        if self.scale is not None and not 0 < self.scale < math.inf:
            raise ValueError(f"scale={self.scale}: scores are divided by it, so give a number above 0")
        object.__setattr__(self, "queries", queries)
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "query_tokens", query_tokens)
        object.__setattr__(self, "key_tokens", key_tokens)
        object.__setattr__(self, "mask", checked_mask(self.mask, len(query_tokens), len(key_tokens)))

    @property
    def heads(self) -> list[int]:
        """Number of heads of each layer."""
        return [len(layer) for layer in self.queries]

    @property
    def widths(self) -> list[int]:
        """Numbers in a query, and in a key, of each layer."""
        return [layer.shape[2] for layer in self.queries]

    @property
    def scales(self) -> list[float]:
        """What the scores of each layer are divided by."""
        return [math.sqrt(width) if self.scale is None else float(self.scale) for width in self.widths]

    @property
    def size(self) -> int:
        """How many numbers there are in all."""
        return sum(layer.size for side in (self.queries, self.keys) for layer in side)


class Scored(NamedTuple):
    """How one query scores every key, from the products of single dimensions to the weight."""

    products: np.ndarray  # (Tk, K): a row sums to the score
    scores: np.ndarray  # (Tk,)
    scaled: np.ndarray  # (Tk,): what the softmax sees, where it may
    weights: np.ndarray  # (Tk,): 0 where the query may not attend


def score_keys(
    query: ArrayLike, keys: ArrayLike, mask: np.ndarray | None = None, scale: float | None = None
) -> Scored:
    """Compare one query with every key, and keep every step.

    Parameters
    ----------
    query : (K,) array
    keys : (Tk, K) array
    mask : (Tk,) bool array, optional
        True = may be attended to. Where nothing may, all weights are 0.
    scale : float, optional
        What scores are divided by; by default √K.

    Returns
    -------
    Scored

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.1, eq. (1).

    Examples
    --------
    >>> scored = score_keys([1.0, 2.0], [[3.0, 0.0], [1.0, 1.0]], scale=1.0)
    >>> scored.products.tolist(), scored.scores.tolist(), scored.weights.tolist()
    ([[3.0, 0.0], [1.0, 2.0]], [3.0, 3.0], [0.5, 0.5])
    """
    q, k = as_array(query), as_array(keys)
    products = q * k  # (Tk, K)
    scores = products.sum(axis=1)  # (Tk,)
    scaled = scores / (math.sqrt(len(q)) if scale is None else scale)
    allowed = np.ones(len(k), dtype=bool) if mask is None else mask
    seen = np.where(allowed, scaled, -np.inf)
    powers = np.exp(seen - (seen.max() if allowed.any() else 0.0))  # exp(-inf) = 0
    return Scored(products, scores, scaled, powers / (powers.sum() or 1.0))


def beyond_average(scored: Scored, key: int) -> np.ndarray:
    """What each dimension adds to the score of one key more than to that of the average key.

    Softmax sees differences of scores only: what is added to every key alike decides nothing.

    Parameters
    ----------
    scored : Scored
    key : int

    Returns
    -------
    (K,) array
        q × (k − mean of all keys under the weights); the plain mean where all weights are 0.

    Examples
    --------
    >>> beyond_average(score_keys([1.0, 2.0], [[3.0, 0.0], [1.0, 1.0]]), 0).tolist()
    [1.0, -1.0]
    """
    weights = scored.weights if scored.weights.any() else np.ones(len(scored.weights))
    return np.asarray(scored.products[key] - np.average(scored.products, axis=0, weights=weights))


def largest_first(products: np.ndarray) -> np.ndarray:
    """Order the dimensions by what they add: first what raises the score most, last what lowers it most.

    Parameters
    ----------
    products : (K,) array

    Returns
    -------
    (K,) int array
    """
    return np.argsort(-products, kind="stable")


def checked_mask(mask: Any, n_queries: int, n_keys: int) -> np.ndarray | None:
    """The mask as a (Tq, Tk) bool array, or None.

    Raises
    ------
    ValueError
        If it is not boolean, or does not broadcast.
    """
    if mask is None:
        return None
    array = np.asarray(mask.detach().cpu() if hasattr(mask, "detach") else mask)
    if array.dtype != bool:
        raise ValueError(
            f"mask holds {array.dtype}: give booleans, True = may be attended to; a tokenizer's "
            "attention_mask becomes one by attention_mask == 1"
        )
    while array.ndim > 2 and len(array) == 1:
        array = array[0]
    try:
        return np.broadcast_to(array, (n_queries, n_keys))
    except ValueError:
        raise ValueError(
            f"mask of shape {array.shape} does not broadcast to {n_queries} queries and {n_keys} keys: give "
            "one mask for all heads, of one example"
        ) from None


def _layers(values: Any, name: str, n_tokens: int) -> tuple[np.ndarray, ...]:
    given = layers_of(values, name, MISSING.format(name), NESTED)
    return tuple(_checked(*layer, n_tokens) for layer in given)


def _checked(array: np.ndarray, name: str, n_tokens: int) -> np.ndarray:
    array = one_example(array, name)
    if array.ndim != 3 or array.shape[1] != n_tokens or not array.size:
        raise ValueError(
            f"{name} has shape {array.shape}, but {n_tokens} tokens need (heads, {n_tokens}, width of a "
            "head): split what a layer gives by x.unflatten(-1, (n_heads, -1)).transpose(1, 2)"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds nan or infinity: nothing can be scored with it")
    return array


def _check_pair(q: np.ndarray, k: np.ndarray, layer: int) -> None:
    if q.shape[2] != k.shape[2]:
        raise ValueError(
            f"layer {layer}: queries are {q.shape[2]} wide and keys {k.shape[2]}, but they are multiplied "
            "number by number: give both of one width"
        )
    if len(q) % len(k) == 0 and len(q) > len(k):
        raise ValueError(
            f"layer {layer}: {len(q)} heads of queries share {len(k)} of keys: give each its own, by "
            f"k.repeat_interleave({len(q) // len(k)}, dim=-3)"
        )
    if len(q) != len(k):
        raise ValueError(f"layer {layer}: {len(q)} heads of queries, {len(k)} of keys: give as many of both")
