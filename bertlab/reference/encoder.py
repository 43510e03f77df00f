"""The Transformer's encoder, one layer and the stack: self-attention and a feed-forward network, in turn."""

from collections.abc import Mapping

from bertlab.reference.feed_forward import Activation
from bertlab.reference.functional import layer_norm, layer_norm_vjp
from bertlab.reference.parameters import (
    Shapes,
    join_parameters,
    split_parameters,
    split_stack,
    stack_shapes,
)
from bertlab.reference.sublayers import (
    attention_sublayer,
    attention_sublayer_vjp,
    feed_forward_sublayer,
    feed_forward_sublayer_vjp,
)
from bertlab.reference.types import Bools, Floats

LAYER_PARTS = ("attention", "attention_residual", "feed_forward", "feed_forward_residual")


def encoder_layer(
    x: Floats,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> tuple[Floats, Floats]:
    """Let every position look at the others, then think by itself.

    Parameters
    ----------
    x : (B, T, D) float array.
    params : the names and layout of the `state_dict` of `bertlab.nn.EncoderLayer`.
    n_heads : number of heads H, a divisor of D.
    mask : bool array that broadcasts to (B, H, T, T), True = may be attended to; optional.
    norm_first : pre-LN if true, post-LN if false.
    activation, eps : as in `feed_forward` and `layer_norm`.

    Returns
    -------
    output, weights : (B, T, D) and (B, H, T, T) float arrays.

    Raises
    ------
    ValueError
        If a parameter is missing or left over, or as in `multi_head_attention` and `feed_forward`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.1, "Encoder".
    """
    own, past_own, network, past_network = split_parameters(params, LAYER_PARTS).values()
    x, weights = attention_sublayer(x, None, own, past_own, n_heads, mask, norm_first, eps)
    return feed_forward_sublayer(x, network, past_network, norm_first, activation, eps), weights


def encoder_layer_vjp(
    grad: Floats,
    x: Floats,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> tuple[Floats, dict[str, Floats]]:
    """Pull a gradient back through `encoder_layer`: the sublayers in reverse order.

    Parameters
    ----------
    grad : (B, T, D) float array, gradient with respect to the output (not to the weights).
    x, params, n_heads, mask, norm_first, activation, eps : as in `encoder_layer`.

    Returns
    -------
    d_x, d_params : (B, T, D) float array, and a dict of gradients by name.
    """
    own, past_own, network, past_network = split_parameters(params, LAYER_PARTS).values()
    between, _ = attention_sublayer(x, None, own, past_own, n_heads, mask, norm_first, eps)

    grad, *d_network = feed_forward_sublayer_vjp(
        grad, between, network, past_network, norm_first, activation, eps
    )
    grad, _, *d_own = attention_sublayer_vjp(grad, x, None, own, past_own, n_heads, mask, norm_first, eps)
    return grad, join_parameters(dict(zip(LAYER_PARTS, (*d_own, *d_network), strict=True)))


def encoder(
    x: Floats,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> tuple[Floats, tuple[Floats, ...]]:
    """Send positions through a stack of layers; in pre-LN a last norm follows.

    Parameters
    ----------
    params : the names and layout of the `state_dict` of `bertlab.nn.Encoder`; it tells the number of layers.
    x, n_heads, mask, norm_first, activation, eps : as in `encoder_layer`.

    Returns
    -------
    output : (B, T, D) float array.
    weights : one (B, H, T, T) float array for each layer.

    Raises
    ------
    ValueError
        As in `encoder_layer`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.1, "Encoder". The last norm: Xiong et al. 2020, table 1.
    """
    layers, norm = split_stack(params, norm_first)
    weights = []
    for layer in layers:
        x, its_weights = encoder_layer(x, layer, n_heads, mask, norm_first, activation, eps)
        weights.append(its_weights)
    if norm is not None:
        x = layer_norm(x, norm["weight"], norm["bias"], eps)
    return x, tuple(weights)


def encoder_vjp(
    grad: Floats,
    x: Floats,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> tuple[Floats, dict[str, Floats]]:
    """Pull a gradient back through `encoder`: the layers in reverse order, each with the input that it had.

    Parameters
    ----------
    grad : (B, T, D) float array, gradient with respect to the output (not to the weights).
    x, params, n_heads, mask, norm_first, activation, eps : as in `encoder`.

    Returns
    -------
    d_x, d_params : (B, T, D) float array, and a dict of gradients by name.
    """
    layers, norm = split_stack(params, norm_first)
    options = (n_heads, mask, norm_first, activation, eps)
    d: dict[str, dict[str, Floats]] = {}
    inputs = [x]
    for layer in layers:
        inputs.append(encoder_layer(inputs[-1], layer, *options)[0])
    if norm is not None:
        grad, d_gain, d_bias = layer_norm_vjp(grad, inputs[-1], norm["weight"], norm["bias"], eps)
        d["norm"] = {"weight": d_gain, "bias": d_bias}
    for i in reversed(range(len(layers))):
        grad, d[f"layers.{i}"] = encoder_layer_vjp(grad, inputs[i], layers[i], *options)
    return grad, join_parameters(d)


def encoder_shapes(n_layers: int, d_model: int, d_ff: int, norm_first: bool = False) -> Shapes:
    """List the parameters of a stack; the number of heads changes none of them.

    Parameters
    ----------
    n_layers, d_model, d_ff, norm_first : as in `bertlab.nn.Encoder`.

    Returns
    -------
    The shape of each parameter by name, for `initial_parameters`.
    """
    return stack_shapes(LAYER_PARTS, n_layers, d_model, d_ff, norm_first)
