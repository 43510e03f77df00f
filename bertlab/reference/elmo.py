"""ELMo: word vectors, a bidirectional language model over them, and all its layers as representations."""

from collections.abc import Mapping

import numpy as np

from bertlab.reference.bidirectional_lm import bidirectional_lm, bidirectional_lm_vjp
from bertlab.reference.character_cnn import character_cnn, character_cnn_vjp
from bertlab.reference.functional import embedding, embedding_vjp, linear, linear_vjp
from bertlab.reference.losses import cross_entropy, cross_entropy_vjp
from bertlab.reference.parameters import check_names, join_parameters, split_parameters
from bertlab.reference.types import Bools, Floats, Ints

PARTS = ("embeddings", "layers")
IGNORE = -100
Params = Mapping[str, Floats]


def elmo(inputs: Ints, params: Params, mask: Bools | None = None) -> tuple[Floats, ...]:
    """Represent each token by L + 1 layers: its own vector, and what LSTMs of both directions make of it.

    Parameters
    ----------
    inputs : (B, T) integer array of ids, whose vectors are rows of a table; or (B, T, C) of characters,
        of which `character_cnn` makes vectors.
    params : the names and layout of the `state_dict` of `bertlab.nn.ELMo`.
    mask : (B, T) bool array, True = a real token; None if all are.

    Returns
    -------
    L + 1 float arrays (B, T, 2D), zero at padding; see `bidirectional_lm`.

    Raises
    ------
    ValueError
        If a parameter is missing or left over, or an id or a character has no row.

    References
    ----------
    Peters et al. 2018, sec. 3.
    """
    part = split_parameters(params, PARTS)
    return bidirectional_lm(_word_vectors(inputs, part["embeddings"]), part["layers"], mask)


def elmo_vjp(
    grads: tuple[Floats, ...], inputs: Ints, params: Params, mask: Bools | None = None
) -> dict[str, Floats]:
    """Pull gradients back through `elmo`, to the parameters.

    Parameters
    ----------
    grads : L + 1 float arrays (B, T, 2D), gradients with respect to all layers.
    inputs, params, mask : as in `elmo`.

    Returns
    -------
    A dict of gradients by name.
    """
    part = split_parameters(params, PARTS)
    x = _word_vectors(inputs, part["embeddings"])
    d_x, d_layers = bidirectional_lm_vjp(grads, x, part["layers"], mask)
    if inputs.ndim == 3:
        d_embeddings = character_cnn_vjp(d_x, inputs, part["embeddings"])
    else:
        d_embeddings = {"weight": embedding_vjp(d_x, inputs, part["embeddings"]["weight"])}
    return join_parameters({"embeddings": d_embeddings, "layers": d_layers})


def bidirectional_lm_loss(
    inputs: Ints, ids: Ints, params: Params, mask: Bools | None = None
) -> tuple[float, float, float]:
    """Ask the one direction for each next token, the other for each previous one; the losses are added.

    One softmax serves both. Where ids are read, its matrix is their table; where characters are, it has one
    of its own.

    Parameters
    ----------
    inputs : as in `elmo`.
    ids : (B, T) integer array: what stands there, among the V tokens that the softmax knows; -100 where none
        of them does.
    params : the names and layout of the `state_dict` of `bertlab.nn.ELMoForPreTraining`.
    mask : as in `elmo`.

    Returns
    -------
    joint, forward, backward : the loss, and the two it is the sum of, in nats for each token asked for.

    Raises
    ------
    ValueError
        As in `elmo` and `cross_entropy`.

    References
    ----------
    Peters et al. 2018, sec. 3.1, the equation at its end. It sums over tokens, here is a mean.
    """
    part = split_parameters(params, ("elmo", "output"))
    states, (table, bias) = elmo(inputs, part["elmo"], mask)[-1], _softmax_weights(inputs, part)
    forward, backward = (
        cross_entropy(linear(half, table, bias), targets)
        for half, targets in zip(np.split(states, 2, axis=-1), _targets(ids, mask), strict=True)
    )
    return forward + backward, forward, backward


def bidirectional_lm_loss_vjp(
    grad: float, inputs: Ints, ids: Ints, params: Params, mask: Bools | None = None
) -> dict[str, Floats]:
    """Pull a gradient back through the joint loss of `bidirectional_lm_loss`, to all parameters.

    Parameters
    ----------
    grad : gradient with respect to the joint loss: 1 for the gradient of the loss itself.
    inputs, ids, params, mask : as in `bidirectional_lm_loss`.

    Returns
    -------
    A dict of gradients by name. Where ids are read, that of their table has two parts: it embeds and scores.
    """
    part = split_parameters(params, ("elmo", "output"))
    layers, (table, bias) = elmo(inputs, part["elmo"], mask), _softmax_weights(inputs, part)
    halves, d_table, d_bias = [], np.zeros(table.shape), np.zeros(bias.shape)
    for half, targets in zip(np.split(layers[-1], 2, axis=-1), _targets(ids, mask), strict=True):
        d_logits = cross_entropy_vjp(grad, linear(half, table, bias), targets)
        d_half, d_own_table, d_own_bias = linear_vjp(d_logits, half, table, bias)
        halves.append(d_half)
        d_table, d_bias = d_table + d_own_table, d_bias + d_own_bias  # one softmax for both directions
    nothing = [np.zeros(layer.shape) for layer in layers[:-1]]
    d_elmo = elmo_vjp((*nothing, np.concatenate(halves, axis=-1)), inputs, part["elmo"], mask)
    if inputs.ndim == 3:
        return join_parameters({"elmo": d_elmo, "output": {"weight": d_table, "bias": d_bias}})
    d_elmo["embeddings.weight"] = d_elmo["embeddings.weight"] + d_table
    return join_parameters({"elmo": d_elmo, "output": {"bias": d_bias}})


def _word_vectors(inputs: Ints, params: Params) -> Floats:
    """Vectors (B, T, D) of ids (B, T) or of spelled words (B, T, C)."""
    if inputs.ndim == 3:
        return character_cnn(inputs, params)
    check_names(params, ("weight",))
    return embedding(inputs, params["weight"])


def _softmax_weights(inputs: Ints, part: dict[str, dict[str, Floats]]) -> tuple[Floats, Floats]:
    """Matrix (V, D) and bias (V,) of the softmax."""
    own = inputs.ndim == 3
    check_names(part["output"], ("weight", "bias") if own else ("bias",))
    table = part["output"]["weight"] if own else part["elmo"]["embeddings.weight"]
    return table, part["output"]["bias"]


def _targets(ids: Ints, mask: Bools | None) -> tuple[Ints, Ints]:
    """What each direction is asked for at each position: the next token and the previous one, (B, T) each."""
    mask = np.ones(ids.shape, dtype=bool) if mask is None else mask
    both = mask[:, 1:] & mask[:, :-1]  # a token and its neighbour
    nobody = np.full((len(ids), 1), IGNORE)
    following = np.where(both, ids[:, 1:], IGNORE)
    before = np.where(both, ids[:, :-1], IGNORE)
    return np.concatenate([following, nobody], axis=1), np.concatenate([nobody, before], axis=1)
