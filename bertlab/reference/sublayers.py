"""The two kinds of sublayers that all layers are built of: attention, and the feed-forward network."""

from collections.abc import Mapping

from bertlab.reference.attention import multi_head_attention, multi_head_attention_vjp
from bertlab.reference.feed_forward import Activation, feed_forward, feed_forward_vjp
from bertlab.reference.residual import (
    after_sublayer,
    after_sublayer_vjp,
    before_sublayer,
    before_sublayer_vjp,
)
from bertlab.reference.types import Bools, Floats


def attention_sublayer(
    x: Floats,
    memory: Floats | None,
    attention: Mapping[str, Floats],
    norm: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    norm_first: bool = False,
    eps: float = 1e-5,
) -> tuple[Floats, Floats]:
    """Let each position look at its own sequence, or at another one, and add what it found.

    Parameters
    ----------
    x : (B, Tq, D) float array.
    memory : (B, Tk, D) float array to look at, the output of the encoder; None for self-attention.
    attention, norm : parameters as in `multi_head_attention` and `before_sublayer`.
    n_heads : number of heads H, a divisor of D.
    mask : bool array that broadcasts to (B, H, Tq, Tk), True = may be attended to; optional.
    norm_first : pre-LN if true, post-LN if false. The memory is not normed here: the encoder has done it.
    eps : as in `layer_norm`.

    Returns
    -------
    output, weights : (B, Tq, D) and (B, H, Tq, Tk) float arrays.

    Raises
    ------
    ValueError
        As in `multi_head_attention` and `before_sublayer`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.1 and 3.2.3.
    """
    seen = before_sublayer(x, norm, norm_first, eps)
    source = seen if memory is None else memory
    update, weights = multi_head_attention(seen, source, source, attention, n_heads, mask)
    return after_sublayer(x, update, norm, norm_first, eps), weights


def attention_sublayer_vjp(
    grad: Floats,
    x: Floats,
    memory: Floats | None,
    attention: Mapping[str, Floats],
    norm: Mapping[str, Floats],
    n_heads: int,
    mask: Bools | None = None,
    norm_first: bool = False,
    eps: float = 1e-5,
) -> tuple[Floats, Floats | None, dict[str, Floats], dict[str, Floats]]:
    """Pull a gradient back through `attention_sublayer`.

    Parameters
    ----------
    grad : (B, Tq, D) float array, gradient with respect to the output (not to the weights).
    x, memory, attention, norm, n_heads, mask, norm_first, eps : as in `attention_sublayer`.

    Returns
    -------
    d_x, d_memory, d_attention, d_norm : float arrays shaped like `x` and `memory` (None if that is None), and
        two dicts of gradients by name.
    """
    seen = before_sublayer(x, norm, norm_first, eps)
    source = seen if memory is None else memory
    update, _ = multi_head_attention(seen, source, source, attention, n_heads, mask)

    d_past, d_update, d_norm = after_sublayer_vjp(grad, x, update, norm, norm_first, eps)
    d_query, d_key, d_value, d_attention = multi_head_attention_vjp(
        d_update, seen, source, source, attention, n_heads, mask
    )
    d_seen, d_memory = (d_query + d_key + d_value, None) if memory is None else (d_query, d_key + d_value)
    d_through, d_norm_before = before_sublayer_vjp(d_seen, x, norm, norm_first, eps)
    return d_past + d_through, d_memory, d_attention, _sum(d_norm, d_norm_before)


def feed_forward_sublayer(
    x: Floats,
    network: Mapping[str, Floats],
    norm: Mapping[str, Floats],
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> Floats:
    """Let each position think by itself, and add what it found.

    Parameters
    ----------
    x : (..., D) float array.
    network, norm : parameters as in `feed_forward` and `before_sublayer`.
    norm_first : pre-LN if true, post-LN if false.
    activation, eps : as in `feed_forward` and `layer_norm`.

    Returns
    -------
    (..., D) float array.

    Raises
    ------
    ValueError
        As in `feed_forward` and `before_sublayer`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.1 and 3.3.
    """
    update = feed_forward(before_sublayer(x, norm, norm_first, eps), network, activation)
    return after_sublayer(x, update, norm, norm_first, eps)


def feed_forward_sublayer_vjp(
    grad: Floats,
    x: Floats,
    network: Mapping[str, Floats],
    norm: Mapping[str, Floats],
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> tuple[Floats, dict[str, Floats], dict[str, Floats]]:
    """Pull a gradient back through `feed_forward_sublayer`.

    Parameters
    ----------
    grad : (..., D) float array, gradient with respect to the output.
    x, network, norm, norm_first, activation, eps : as in `feed_forward_sublayer`.

    Returns
    -------
    d_x, d_network, d_norm : (..., D) float array, and two dicts of gradients by name.
    """
    seen = before_sublayer(x, norm, norm_first, eps)
    update = feed_forward(seen, network, activation)

    d_past, d_update, d_norm = after_sublayer_vjp(grad, x, update, norm, norm_first, eps)
    d_seen, d_network = feed_forward_vjp(d_update, seen, network, activation)
    d_through, d_norm_before = before_sublayer_vjp(d_seen, x, norm, norm_first, eps)
    return d_past + d_through, d_network, _sum(d_norm, d_norm_before)


def _sum(one: dict[str, Floats], other: dict[str, Floats]) -> dict[str, Floats]:
    """The gradients of parameters that may have been used in two places."""
    return {name: one[name] + other[name] for name in one}
