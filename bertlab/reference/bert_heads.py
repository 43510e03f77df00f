"""What BERT is pre-trained with: hidden pieces and next sentences, and the sum of both losses."""

from collections.abc import Mapping

import numpy as np

from bertlab.reference.bert import bert, bert_vjp
from bertlab.reference.feed_forward import Activation, activation_and_vjp
from bertlab.reference.functional import layer_norm, layer_norm_vjp, linear, linear_vjp
from bertlab.reference.losses import cross_entropy, cross_entropy_vjp
from bertlab.reference.parameters import check_names, join_parameters, split_parameters
from bertlab.reference.types import Bools, Floats, Ints

HEAD = ("dense.weight", "dense.bias", "norm.weight", "norm.bias", "bias")
PARTS = ("bert", "masked_lm", "next_sentence")


def masked_lm_logits(
    states: Floats,
    table: Floats,
    params: Mapping[str, Floats],
    activation: Activation = "gelu",
    eps: float = 1e-12,
) -> Floats:
    """Score every piece of the vocabulary at every position: by its own embedding, and a bias.

    Parameters
    ----------
    states : (..., D) float array, of the last layer.
    table : (V, D) float array, the token embeddings.
    params : the names and layout of the `state_dict` of `bertlab.nn.MaskedLMHead`.
    activation, eps : as in `feed_forward` and `layer_norm`.

    Returns
    -------
    (..., V) float array.

    Raises
    ------
    ValueError
        If a parameter is missing or left over.

    References
    ----------
    google-research/bert, run_pretraining.py, "get_masked_lm_output". One matrix for two: Press & Wolf 2017.
    """
    check_names(params, HEAD)
    activate, _ = activation_and_vjp(activation)
    inner = linear(states, params["dense.weight"], params["dense.bias"])  # (..., D)
    features = layer_norm(activate(inner), params["norm.weight"], params["norm.bias"], eps)
    return linear(features, table, params["bias"])  # (..., D) -> (..., V)


def masked_lm_logits_vjp(
    grad: Floats,
    states: Floats,
    table: Floats,
    params: Mapping[str, Floats],
    activation: Activation = "gelu",
    eps: float = 1e-12,
) -> tuple[Floats, Floats, dict[str, Floats]]:
    """Pull a gradient back through `masked_lm_logits`.

    Parameters
    ----------
    grad : (..., V) float array, gradient with respect to the output.
    states, table, params, activation, eps : as in `masked_lm_logits`.

    Returns
    -------
    d_states, d_table, d_params : float arrays shaped like `states` and `table`, and gradients by name.
    """
    activate, activate_vjp = activation_and_vjp(activation)
    inner = linear(states, params["dense.weight"], params["dense.bias"])
    active = activate(inner)
    features = layer_norm(active, params["norm.weight"], params["norm.bias"], eps)

    d_features, d_table, d_bias = linear_vjp(grad, features, table, params["bias"])
    d_active, d_gain, d_shift = layer_norm_vjp(
        d_features, active, params["norm.weight"], params["norm.bias"], eps
    )
    d_states, d_dense, d_dense_bias = linear_vjp(
        activate_vjp(d_active, inner), states, params["dense.weight"], params["dense.bias"]
    )
    return d_states, d_table, dict(zip(HEAD, (d_dense, d_dense_bias, d_gain, d_shift, d_bias), strict=True))


def pretraining_loss(
    ids: Ints,
    segments: Ints,
    positions: Ints,
    labels: Ints,
    next_labels: Ints,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    activation: Activation = "gelu",
    eps: float = 1e-12,
) -> tuple[float, float, float]:
    """Ask BERT for hidden pieces and for the next sentence; the losses are added.

    Parameters
    ----------
    ids, segments : (B, T) integer arrays, pieces hidden.
    positions, labels : (M,) integer arrays: which pieces were chosen, row * T + column, and what they were.
    next_labels : (B,) integer array: 0 where the second text follows the first, 1 where it does not.
    params : the names and layout of the `state_dict` of `bertlab.nn.BertForPreTraining`.
    n_heads, mask, activation, eps : as in `bert`.

    Returns
    -------
    joint, masked_lm, next_sentence : the loss, and the two it is the sum of, in nats.

    Raises
    ------
    ValueError
        As in `bert`, `masked_lm_logits` and `cross_entropy`.

    References
    ----------
    Devlin et al. 2019, sec. 3.1, and appendix A.2: "the sum of the mean masked LM likelihood and the mean
    next sentence prediction likelihood".
    """
    (_, logits), (_, next_logits) = _scores(ids, segments, positions, params, n_heads, mask, activation, eps)
    masked_lm, next_sentence = cross_entropy(logits, labels), cross_entropy(next_logits, next_labels)
    return masked_lm + next_sentence, masked_lm, next_sentence


def pretraining_loss_vjp(
    grad: float,
    ids: Ints,
    segments: Ints,
    positions: Ints,
    labels: Ints,
    next_labels: Ints,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    activation: Activation = "gelu",
    eps: float = 1e-12,
) -> dict[str, Floats]:
    """Pull a gradient back through the joint loss of `pretraining_loss`, to all parameters.

    Parameters
    ----------
    grad : gradient with respect to the joint loss: 1 for the gradient of the loss itself.
    ids, segments, positions, labels, next_labels, params, n_heads, mask, activation, eps : as in
        `pretraining_loss`.

    Returns
    -------
    A dict of gradients by name. That of the token table has two parts: it embeds, and it scores.
    """
    part = split_parameters(params, PARTS)
    (states, logits), (pooled, next_logits) = _scores(
        ids, segments, positions, params, n_heads, mask, activation, eps
    )
    head = part["next_sentence"]
    d_pooled, d_weight, d_bias = linear_vjp(
        cross_entropy_vjp(grad, next_logits, next_labels), pooled, head["weight"], head["bias"]
    )
    table = part["bert"]["embeddings.token.weight"]
    d_chosen, d_table, d_masked_lm = masked_lm_logits_vjp(
        cross_entropy_vjp(grad, logits, labels), _at(states, positions), table, part["masked_lm"],
        activation, eps,
    )  # fmt: skip
    d_states = np.zeros_like(states)
    np.add.at(d_states.reshape(-1, states.shape[-1]), positions, d_chosen)
    d_bert = bert_vjp((d_states, d_pooled), ids, segments, part["bert"], n_heads, mask, activation, eps)
    d_bert["embeddings.token.weight"] = d_bert["embeddings.token.weight"] + d_table
    d_next = {"weight": d_weight, "bias": d_bias}
    return join_parameters({"bert": d_bert, "masked_lm": d_masked_lm, "next_sentence": d_next})


def _at(states: Floats, positions: Ints) -> Floats:
    """Take the chosen positions out of a batch: (B, T, D) -> (M, D)."""
    return states.reshape(-1, states.shape[-1])[positions]


def _scores(
    ids: Ints,
    segments: Ints,
    positions: Ints,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None,
    activation: Activation,
    eps: float,
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Both heads' inputs and logits: states (B, T, D), (M, V); pooled (B, D), (B, 2)."""
    part = split_parameters(params, PARTS)
    layers, pooled, _ = bert(ids, segments, part["bert"], n_heads, mask, activation, eps)
    table = part["bert"]["embeddings.token.weight"]
    logits = masked_lm_logits(_at(layers[-1], positions), table, part["masked_lm"], activation, eps)
    head = part["next_sentence"]
    return (layers[-1], logits), (pooled, linear(pooled, head["weight"], head["bias"]))
