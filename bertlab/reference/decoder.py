"""The Transformer's decoder, one layer and the stack: it looks at the target so far, then at the source.

Whoever calls it hides the future: with ``mask=None`` every position sees every other.
"""

from collections.abc import Mapping

import numpy as np

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

LAYER_PARTS = (
    "self_attention",
    "self_attention_residual",
    "cross_attention",
    "cross_attention_residual",
    "feed_forward",
    "feed_forward_residual",
)


def decoder_layer(
    x: Floats,
    memory: Floats,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    memory_mask: Bools | None = None,
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> tuple[Floats, Floats, Floats]:
    """Let every position look at the target before it, then at the source, then think by itself.

    Parameters
    ----------
    x : (B, Tq, D) float array, the target so far.
    memory : (B, Tk, D) float array, the output of the encoder.
    params : the names and layout of the `state_dict` of `bertlab.nn.DecoderLayer`.
    n_heads : number of heads H, a divisor of D.
    mask : bool array that broadcasts to (B, H, Tq, Tq), True = may be attended to; optional.
    memory_mask : bool array that broadcasts to (B, H, Tq, Tk), True = may be attended to; optional.
    norm_first : pre-LN if true, post-LN if false.
    activation, eps : as in `feed_forward` and `layer_norm`.

    Returns
    -------
    output, self_weights, cross_weights : (B, Tq, D), (B, H, Tq, Tq) and (B, H, Tq, Tk) float arrays.

    Raises
    ------
    ValueError
        If a parameter is missing or left over, or as in `multi_head_attention` and `feed_forward`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.1, "Decoder", and 3.2.3.
    """
    own, past_own, across, past_across, network, past_network = split_parameters(params, LAYER_PARTS).values()
    x, self_weights = attention_sublayer(x, None, own, past_own, n_heads, mask, norm_first, eps)
    x, cross_weights = attention_sublayer(
        x, memory, across, past_across, n_heads, memory_mask, norm_first, eps
    )
    x = feed_forward_sublayer(x, network, past_network, norm_first, activation, eps)
    return x, self_weights, cross_weights


def decoder_layer_vjp(
    grad: Floats,
    x: Floats,
    memory: Floats,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    memory_mask: Bools | None = None,
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> tuple[Floats, Floats, dict[str, Floats]]:
    """Pull a gradient back through `decoder_layer`: the sublayers in reverse order.

    Parameters
    ----------
    grad : (B, Tq, D) float array, gradient with respect to the output (not to the weights).
    x, memory, params, n_heads, mask, memory_mask, norm_first, activation, eps : as in `decoder_layer`.

    Returns
    -------
    d_x, d_memory, d_params : float arrays shaped like `x` and `memory`, and a dict of gradients by name.
    """
    own, past_own, across, past_across, network, past_network = split_parameters(params, LAYER_PARTS).values()
    for_own = (own, past_own, n_heads, mask, norm_first, eps)
    for_across = (across, past_across, n_heads, memory_mask, norm_first, eps)
    first, _ = attention_sublayer(x, None, *for_own)
    second, _ = attention_sublayer(first, memory, *for_across)

    grad, *d_network = feed_forward_sublayer_vjp(
        grad, second, network, past_network, norm_first, activation, eps
    )
    grad, d_memory, *d_across = attention_sublayer_vjp(grad, first, memory, *for_across)
    grad, _, *d_own = attention_sublayer_vjp(grad, x, None, *for_own)
    assert d_memory is not None
    return (
        grad,
        d_memory,
        join_parameters(dict(zip(LAYER_PARTS, (*d_own, *d_across, *d_network), strict=True))),
    )


def decoder(
    x: Floats,
    memory: Floats,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    memory_mask: Bools | None = None,
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> tuple[Floats, tuple[Floats, ...], tuple[Floats, ...]]:
    """Send positions through a stack of layers that all read the same memory; in pre-LN a last norm follows.

    Parameters
    ----------
    params : the names and layout of the `state_dict` of `bertlab.nn.Decoder`; it tells the number of layers.
    x, memory, n_heads, mask, memory_mask, norm_first, activation, eps : as in `decoder_layer`.

    Returns
    -------
    output : (B, Tq, D) float array.
    self_weights, cross_weights : (B, H, Tq, Tq) and (B, H, Tq, Tk) float arrays, one for each layer.

    Raises
    ------
    ValueError
        As in `decoder_layer`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.1, "Decoder". The last norm: Xiong et al. 2020, table 1.
    """
    layers, norm = split_stack(params, norm_first)
    options = (n_heads, mask, memory_mask, norm_first, activation, eps)
    self_weights, cross_weights = [], []
    for layer in layers:
        x, own, across = decoder_layer(x, memory, layer, *options)
        self_weights.append(own)
        cross_weights.append(across)
    if norm is not None:
        x = layer_norm(x, norm["weight"], norm["bias"], eps)
    return x, tuple(self_weights), tuple(cross_weights)


def decoder_vjp(
    grad: Floats,
    x: Floats,
    memory: Floats,
    params: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    memory_mask: Bools | None = None,
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> tuple[Floats, Floats, dict[str, Floats]]:
    """Pull a gradient back through `decoder`: the layers in reverse order, each with the input that it had.

    Parameters
    ----------
    grad : (B, Tq, D) float array, gradient with respect to the output (not to the weights).
    x, memory, params, n_heads, mask, memory_mask, norm_first, activation, eps : as in `decoder`.

    Returns
    -------
    d_x, d_memory, d_params : float arrays shaped like `x` and `memory`, and a dict of gradients by name.
        All layers read the memory, so its gradient is the sum of what they send it.
    """
    layers, norm = split_stack(params, norm_first)
    options = (n_heads, mask, memory_mask, norm_first, activation, eps)
    d: dict[str, dict[str, Floats]] = {}
    inputs = [x]
    for layer in layers:
        inputs.append(decoder_layer(inputs[-1], memory, layer, *options)[0])
    if norm is not None:
        grad, d_gain, d_bias = layer_norm_vjp(grad, inputs[-1], norm["weight"], norm["bias"], eps)
        d["norm"] = {"weight": d_gain, "bias": d_bias}
    d_memory = np.zeros(memory.shape)
    for i in reversed(range(len(layers))):
        grad, d_from_layer, d[f"layers.{i}"] = decoder_layer_vjp(grad, inputs[i], memory, layers[i], *options)
        d_memory = d_memory + d_from_layer
    return grad, d_memory, join_parameters(d)


def decoder_shapes(n_layers: int, d_model: int, d_ff: int, norm_first: bool = False) -> Shapes:
    """List the parameters of a stack; the number of heads changes none of them.

    Parameters
    ----------
    n_layers, d_model, d_ff, norm_first : as in `bertlab.nn.Decoder`.

    Returns
    -------
    The shape of each parameter by name, for `initial_parameters`.
    """
    return stack_shapes(LAYER_PARTS, n_layers, d_model, d_ff, norm_first)
