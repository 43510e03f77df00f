"""BERT: three embeddings summed and normed, the Transformer's encoder, and a pooler over [CLS]."""

from collections.abc import Mapping

import numpy as np

from bertlab.reference.encoder import encoder_layer, encoder_layer_vjp
from bertlab.reference.feed_forward import Activation
from bertlab.reference.functional import (
    embedding,
    embedding_vjp,
    layer_norm,
    layer_norm_vjp,
    linear,
    linear_vjp,
)
from bertlab.reference.parameters import join_parameters, split_parameters, split_stack
from bertlab.reference.positions import learned_positions, learned_positions_vjp
from bertlab.reference.types import Bools, Floats, Ints

EMBEDDING_PARTS = ("token", "position", "segment", "norm")
PARTS = ("embeddings", "encoder", "pooler")


def bert_embeddings(ids: Ints, segments: Ints, params: Mapping[str, Floats], eps: float = 1e-12) -> Floats:
    """Say of each piece which it is, where it stands and in which text: the sum of three vectors, normed.

    Parameters
    ----------
    ids, segments : (B, T) integer arrays.
    params : the names and layout of the `state_dict` of `bertlab.nn.BertEmbeddings`.
    eps : as in `layer_norm`.

    Returns
    -------
    (B, T, D) float array.

    Raises
    ------
    ValueError
        If an id or a segment has no row, T is beyond the table of positions, or a parameter is missing.

    References
    ----------
    Devlin et al. 2019, sec. 3, "Input/Output Representations", fig. 2. The norm is in the authors' code only.
    """
    total, part = _sum_of_embeddings(ids, segments, params)
    return layer_norm(total, part["norm"]["weight"], part["norm"]["bias"], eps)


def bert_embeddings_vjp(
    grad: Floats, ids: Ints, segments: Ints, params: Mapping[str, Floats], eps: float = 1e-12
) -> dict[str, Floats]:
    """Pull a gradient back through `bert_embeddings`, to the parameters.

    Parameters
    ----------
    grad : (B, T, D) float array, gradient with respect to the output.
    ids, segments, params, eps : as in `bert_embeddings`.

    Returns
    -------
    A dict of gradients by name.
    """
    total, part = _sum_of_embeddings(ids, segments, params)
    grad, d_gain, d_bias = layer_norm_vjp(grad, total, part["norm"]["weight"], part["norm"]["bias"], eps)
    table = part["position"]["weight"]
    return {
        "token.weight": embedding_vjp(grad, ids, part["token"]["weight"]),
        "position.weight": learned_positions_vjp(grad.sum(axis=0), ids.shape[1], table),
        "segment.weight": embedding_vjp(grad, segments, part["segment"]["weight"]),
        "norm.weight": d_gain,
        "norm.bias": d_bias,
    }


def _sum_of_embeddings(
    ids: Ints, segments: Ints, params: Mapping[str, Floats]
) -> tuple[Floats, dict[str, dict[str, Floats]]]:
    part = split_parameters(params, EMBEDDING_PARTS)
    token = embedding(ids, part["token"]["weight"])  # (B, T, D)
    segment = embedding(segments, part["segment"]["weight"])  # (B, T, D)
    position = learned_positions(ids.shape[1], part["position"]["weight"])  # (T, D)
    return token + position + segment, part


def pool(states: Floats, params: Mapping[str, Floats]) -> Floats:
    """Make one vector for the whole input, out of what [CLS] became.

    Parameters
    ----------
    states : (B, T, D) float array, of the last layer.
    params : ``{"weight": (D, D), "bias": (D,)}``.

    Returns
    -------
    (B, D) float array.

    References
    ----------
    google-research/bert, modeling.py, "pooler": a layer with tanh; the paper calls its input C.
    """
    return np.tanh(linear(states[:, 0], params["weight"], params["bias"]))  # (B, D) -> (B, D)


def pool_vjp(grad: Floats, states: Floats, params: Mapping[str, Floats]) -> tuple[Floats, dict[str, Floats]]:
    """Pull a gradient back through `pool`.

    Parameters
    ----------
    grad : (B, D) float array, gradient with respect to the output.
    states, params : as in `pool`.

    Returns
    -------
    d_states, d_params : (B, T, D) float array, zero but at [CLS], and a dict of gradients by name.
    """
    d_inner = grad * (1 - pool(states, params) ** 2)  # tanh' = 1 - tanh²
    d_states = np.zeros_like(states)
    d_states[:, 0], d_weight, d_bias = linear_vjp(d_inner, states[:, 0], params["weight"], params["bias"])
    return d_states, {"weight": d_weight, "bias": d_bias}


def bert(
    ids: Ints,
    segments: Ints,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    activation: Activation = "gelu",
    eps: float = 1e-12,
) -> tuple[tuple[Floats, ...], Floats, tuple[Floats, ...]]:
    """Read texts in both directions at once.

    Parameters
    ----------
    ids, segments : (B, T) integer arrays.
    params : the names and layout of the `state_dict` of `bertlab.nn.BertModel`, pooler included.
    n_heads : number of heads H, a divisor of D.
    mask : bool array that broadcasts to (B, H, T, T), True = may be attended to; optional.
    activation, eps : as in `feed_forward` and `layer_norm`.

    Returns
    -------
    layers : L + 1 float arrays (B, T, D): what enters the first layer, and what each layer says.
    pooled : (B, D) float array.
    weights : one (B, H, T, T) float array for each layer.

    Raises
    ------
    ValueError
        As in `bert_embeddings` and `encoder_layer`.

    References
    ----------
    Devlin et al. 2019, sec. 3, "Model Architecture".
    """
    part = split_parameters(params, PARTS)
    layers, weights = [bert_embeddings(ids, segments, part["embeddings"], eps)], []
    for layer in split_stack(part["encoder"], norm_first=False)[0]:
        x, its_weights = encoder_layer(layers[-1], layer, n_heads, mask, False, activation, eps)
        layers.append(x)
        weights.append(its_weights)
    return tuple(layers), pool(layers[-1], part["pooler"]), tuple(weights)


def bert_vjp(
    grads: tuple[Floats, Floats],
    ids: Ints,
    segments: Ints,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    activation: Activation = "gelu",
    eps: float = 1e-12,
) -> dict[str, Floats]:
    """Pull gradients back through `bert`, to the parameters.

    Parameters
    ----------
    grads : (B, T, D) and (B, D) float arrays, gradients with respect to the last layer and to the pooled
        vector.
    ids, segments, params, n_heads, mask, activation, eps : as in `bert`.

    Returns
    -------
    A dict of gradients by name.
    """
    grad, grad_pooled = grads
    part = split_parameters(params, PARTS)
    inputs, _, _ = bert(ids, segments, params, n_heads, mask, activation, eps)
    through_pooler, d_pooler = pool_vjp(grad_pooled, inputs[-1], part["pooler"])
    grad = grad + through_pooler
    layers = split_stack(part["encoder"], norm_first=False)[0]
    d_layers = {}
    for i in reversed(range(len(layers))):
        grad, d_layers[f"layers.{i}"] = encoder_layer_vjp(
            grad, inputs[i], layers[i], n_heads, mask, False, activation, eps
        )
    d_embeddings = bert_embeddings_vjp(grad, ids, segments, part["embeddings"], eps)
    return join_parameters(
        {"embeddings": d_embeddings, "encoder": join_parameters(d_layers), "pooler": d_pooler}
    )
