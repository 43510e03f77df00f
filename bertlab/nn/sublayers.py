"""The two kinds of sublayers that all layers are built of: twin of `bertlab.reference.sublayers`."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from bertlab.nn.attention import multi_head_attention
from bertlab.nn.feed_forward import Activation, feed_forward
from bertlab.nn.residual import after_sublayer, before_sublayer


def attention_sublayer(
    x: Tensor,
    memory: Tensor | None,
    attention: Mapping[str, Tensor],
    norm: Mapping[str, Tensor],
    n_heads: int,
    mask: Tensor | None = None,
    norm_first: bool = False,
    eps: float = 1e-5,
) -> tuple[Tensor, Tensor]:
    """Let each position look at its own sequence, or at another one, and add what it found.

    Parameters
    ----------
    x : (B, Tq, D) float tensor.
    memory : (B, Tk, D) float tensor to look at, the output of the encoder; None for self-attention.
    attention, norm : parameters as in `multi_head_attention` and `before_sublayer`.
    n_heads : number of heads H, a divisor of D.
    mask : bool tensor that broadcasts to (B, H, Tq, Tk), True = may be attended to; optional.
    norm_first : pre-LN if true, post-LN if false. The memory is not normed here: the encoder has done it.
    eps : as in `layer_norm`.

    Returns
    -------
    output, weights : (B, Tq, D) and (B, H, Tq, Tk) float tensors.

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


def feed_forward_sublayer(
    x: Tensor,
    network: Mapping[str, Tensor],
    norm: Mapping[str, Tensor],
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> Tensor:
    """Let each position think by itself, and add what it found.

    Parameters
    ----------
    x : (..., D) float tensor.
    network, norm : parameters as in `feed_forward` and `before_sublayer`.
    norm_first : pre-LN if true, post-LN if false.
    activation, eps : as in `feed_forward` and `layer_norm`.

    Returns
    -------
    (..., D) float tensor.

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
