"""GPT: two embeddings summed, and the layers of the Transformer's encoder under a causal mask.

GPT-1 norms behind each sublayer (post-LN), GPT-2 before it (pre-LN), and once more behind the last layer.
"""

from collections.abc import Mapping

from bertlab.reference.encoder import encoder_layer, encoder_vjp
from bertlab.reference.feed_forward import Activation
from bertlab.reference.functional import embedding, embedding_vjp, layer_norm
from bertlab.reference.masking import causal_mask
from bertlab.reference.parameters import join_parameters, split_parameters, split_stack
from bertlab.reference.positions import learned_positions, learned_positions_vjp
from bertlab.reference.types import Floats, Ints

EMBEDDING_PARTS = ("token", "position")
PARTS = ("embeddings", "encoder")


def gpt_embeddings(ids: Ints, params: Mapping[str, Floats]) -> Floats:
    """Say of each token which it is and where it stands: the sum of two vectors.

    Parameters
    ----------
    ids : (B, T) integer array.
    params : ``{"token.weight": (V, D), "position.weight": (N, D)}``.

    Returns
    -------
    (B, T, D) float array.

    Raises
    ------
    ValueError
        If an id has no row, T is beyond the table of positions, or a parameter is missing.

    References
    ----------
    Radford et al. 2018, sec. 3.1, eq. (2): h0 = U We + Wp. Unlike BERT, without a norm.
    """
    part = split_parameters(params, EMBEDDING_PARTS)
    token = embedding(ids, part["token"]["weight"])  # (B, T, D)
    return token + learned_positions(ids.shape[1], part["position"]["weight"])  # (B, T, D) + (T, D)


def gpt_embeddings_vjp(grad: Floats, ids: Ints, params: Mapping[str, Floats]) -> dict[str, Floats]:
    """Pull a gradient back through `gpt_embeddings`, to the parameters.

    Parameters
    ----------
    grad : (B, T, D) float array, gradient with respect to the output.
    ids, params : as in `gpt_embeddings`.

    Returns
    -------
    A dict of gradients by name.
    """
    part = split_parameters(params, EMBEDDING_PARTS)
    return {
        "token.weight": embedding_vjp(grad, ids, part["token"]["weight"]),
        "position.weight": learned_positions_vjp(grad.sum(axis=0), ids.shape[1], part["position"]["weight"]),
    }


def gpt(
    ids: Ints,
    params: Mapping[str, Floats],
    n_heads: int,
    norm_first: bool = False,
    activation: Activation = "gelu_tanh",
    eps: float = 1e-5,
) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
    """Read texts from left to right: no position sees what comes after it.

    So padding behind a text needs no mask: nothing in the text looks there.

    Parameters
    ----------
    ids : (B, T) integer array.
    params : the names and layout of the `state_dict` of `bertlab.nn.GPT`.
    n_heads : number of heads H, a divisor of D.
    norm_first : GPT-2's order (pre-LN) if true, GPT-1's (post-LN) if false.
    activation, eps : as in `feed_forward` and `layer_norm`.

    Returns
    -------
    layers : L + 1 float arrays (B, T, D): what enters the first layer, and what each layer says. In pre-LN
        the last one has passed the last norm.
    weights : one (B, H, T, T) float array for each layer.

    Raises
    ------
    ValueError
        As in `gpt_embeddings` and `encoder_layer`.

    References
    ----------
    Radford et al. 2018, sec. 3.1, eq. (2), and 4.1, "Model specifications"; pre-LN: Radford et al. 2019,
    sec. 2.3.
    """
    part = split_parameters(params, PARTS)
    layers, weights = [gpt_embeddings(ids, part["embeddings"])], []
    stack, norm = split_stack(part["encoder"], norm_first)
    mask = causal_mask(ids.shape[1])  # (T, T)
    for layer in stack:
        x, its_weights = encoder_layer(layers[-1], layer, n_heads, mask, norm_first, activation, eps)
        layers.append(x)
        weights.append(its_weights)
    if norm is not None:
        layers[-1] = layer_norm(layers[-1], norm["weight"], norm["bias"], eps)
    return tuple(layers), tuple(weights)


def gpt_vjp(
    grad: Floats,
    ids: Ints,
    params: Mapping[str, Floats],
    n_heads: int,
    norm_first: bool = False,
    activation: Activation = "gelu_tanh",
    eps: float = 1e-5,
) -> dict[str, Floats]:
    """Pull a gradient back through `gpt`, to the parameters.

    Parameters
    ----------
    grad : (B, T, D) float array, gradient with respect to what the last layer says.
    ids, params, n_heads, norm_first, activation, eps : as in `gpt`.

    Returns
    -------
    A dict of gradients by name.
    """
    part = split_parameters(params, PARTS)
    x, mask = gpt_embeddings(ids, part["embeddings"]), causal_mask(ids.shape[1])
    grad, d_encoder = encoder_vjp(grad, x, part["encoder"], n_heads, mask, norm_first, activation, eps)
    d_embeddings = gpt_embeddings_vjp(grad, ids, part["embeddings"])
    return join_parameters({"embeddings": d_embeddings, "encoder": d_encoder})
