"""The Transformer's decoder in PyTorch, one layer and the stack: twin of `bertlab.reference.decoder`.

Whoever calls it hides the future: with ``mask=None`` every position sees every other, and the decoder learns
to copy its own input.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from torch import Tensor, nn

from bertlab.nn.attention import MultiHeadAttention
from bertlab.nn.cache import DecoderCache, LayerCache, Pair
from bertlab.nn.encoder import LayerOptions, check_n_layers, last_norm
from bertlab.nn.feed_forward import Activation, FeedForward
from bertlab.nn.functional import layer_norm
from bertlab.nn.parameters import split_parameters, split_stack
from bertlab.nn.residual import Residual
from bertlab.nn.sublayers import attention_sublayer, feed_forward_sublayer

LAYER_PARTS = (
    "self_attention",
    "self_attention_residual",
    "cross_attention",
    "cross_attention_residual",
    "feed_forward",
    "feed_forward_residual",
)


def decoder_layer(
    x: Tensor,
    memory: Tensor,
    params: Mapping[str, Tensor],
    n_heads: int,
    mask: Tensor | None = None,
    memory_mask: Tensor | None = None,
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> tuple[Tensor, Tensor, Tensor]:
    """Let every position look at the target before it, then at the source, then think by itself.

    Parameters
    ----------
    x : (B, Tq, D) float tensor, the target so far.
    memory : (B, Tk, D) float tensor, the output of the encoder.
    params : the `state_dict` of `DecoderLayer`.
    n_heads : number of heads H, a divisor of D.
    mask : bool tensor that broadcasts to (B, H, Tq, Tq), True = may be attended to; optional.
    memory_mask : bool tensor that broadcasts to (B, H, Tq, Tk), True = may be attended to; optional.
    norm_first : pre-LN if true, post-LN if false.
    activation, eps : as in `feed_forward` and `layer_norm`.

    Returns
    -------
    output, self_weights, cross_weights : (B, Tq, D), (B, H, Tq, Tq) and (B, H, Tq, Tk) float tensors.

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


def decoder(
    x: Tensor,
    memory: Tensor,
    params: Mapping[str, Tensor],
    n_heads: int,
    mask: Tensor | None = None,
    memory_mask: Tensor | None = None,
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> tuple[Tensor, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Send positions through a stack of layers that all read the same memory; in pre-LN a last norm follows.

    Parameters
    ----------
    params : the `state_dict` of `Decoder`; it says how many layers there are.
    x, memory, n_heads, mask, memory_mask, norm_first, activation, eps : as in `decoder_layer`.

    Returns
    -------
    output : (B, Tq, D) float tensor.
    self_weights, cross_weights : (B, H, Tq, Tq) and (B, H, Tq, Tk) float tensors, one for each layer.

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


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the source and a feed-forward network.

    Parameters
    ----------
    d_model, n_heads, d_ff, dropout, attention_dropout, activation, norm_first, eps : as in `EncoderLayer`.

    Raises
    ------
    ValueError
        As in `EncoderLayer`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.1, "Decoder", and 5.4 for dropout.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation: Activation = "relu",
        norm_first: bool = False,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, attention_dropout)
        self.self_attention_residual = Residual(d_model, dropout, norm_first, eps)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, attention_dropout)
        self.cross_attention_residual = Residual(d_model, dropout, norm_first, eps)
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.feed_forward_residual = Residual(d_model, dropout, norm_first, eps)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        need_weights: bool = False,
        cache: LayerCache | None = None,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Map (B, Tq, D) to (B, Tq, D); see `decoder_layer`, and `Decoder.forward` for the arguments."""
        seen = self.self_attention_residual.before(x)
        pair = self.self_attention.keys_values(seen, seen)
        if cache is not None:
            pair = cache.extend_target(pair)
        update, self_weights = self.self_attention.attend(seen, *pair, mask, need_weights)
        x = self.self_attention_residual.after(x, update)

        seen = self.cross_attention_residual.before(x)
        pair = self._source_pair(memory, cache)
        update, cross_weights = self.cross_attention.attend(seen, *pair, memory_mask, need_weights)
        x = self.cross_attention_residual.after(x, update)

        update = self.feed_forward(self.feed_forward_residual.before(x))
        return self.feed_forward_residual.after(x, update), self_weights, cross_weights

    def _source_pair(self, memory: Tensor, cache: LayerCache | None) -> Pair:
        """Keys and values of the source, computed at the first step only."""
        if cache is not None and cache.source is not None:
            return cache.source
        pair = self.cross_attention.keys_values(memory, memory)
        if cache is not None:
            cache.source = pair
        return pair


class Decoder(nn.Module):
    """A stack of decoder layers, each with its own weights; in pre-LN a last norm follows.

    Parameters
    ----------
    n_layers : number of layers L.
    d_model, n_heads, d_ff, options : as in `DecoderLayer`.

    Raises
    ------
    ValueError
        If `n_layers` is below 1, or as in `DecoderLayer`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.1, "Decoder". The last norm: Xiong et al. 2020, table 1.

    Examples
    --------
    >>> import torch
    >>> from bertlab.nn.masking import causal_mask
    >>> decoder, x, memory = Decoder(6, 16, 4, 64), torch.randn(2, 3, 16), torch.randn(2, 5, 16)
    >>> whole, _, _ = decoder(x, memory, causal_mask(3))
    >>> cache = decoder.new_cache()
    >>> steps = [decoder(x[:, t : t + 1], memory, cache=cache)[0] for t in range(3)]
    >>> torch.allclose(torch.cat(steps, dim=1), whole, atol=1e-5)
    True
    """

    def __init__(
        self, n_layers: int, d_model: int, n_heads: int, d_ff: int, **options: Unpack[LayerOptions]
    ) -> None:
        super().__init__()
        check_n_layers(n_layers)
        self.layers = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, **options) for _ in range(n_layers))
        self.norm = last_norm(d_model, options)

    def new_cache(self) -> DecoderCache:
        """Make an empty cache for one batch of sentences; `forward` fills it."""
        return DecoderCache(len(self.layers))

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        need_weights: bool = False,
        cache: DecoderCache | None = None,
    ) -> tuple[Tensor, tuple[Tensor, ...] | None, tuple[Tensor, ...] | None]:
        """Map (B, Tq, D) to (B, Tq, D) and, on request, the weights of each layer.

        Parameters
        ----------
        x : (B, Tq, D) float tensor, the target so far; with a cache, only its new positions.
        memory : (B, Tk, D) float tensor, the output of the encoder; with a cache, read at the first call.
        mask : bool tensor that broadcasts to (B, H, Tq, Tq), True = may be attended to; with a cache to
            (B, H, Tq, the cached and the new), so that one new position needs none. None shows everything.
        memory_mask : bool tensor that broadcasts to (B, H, Tq, Tk), True = may be attended to; optional.
        need_weights : also return the weights; without them PyTorch's fused attention does the work.
        cache : from `new_cache`, when the target is written step by step; new positions are added to it.

        Returns
        -------
        output, self_weights, cross_weights : (B, Tq, D) float tensor, then for each of L layers a
            (B, H, Tq, Tq) and a (B, H, Tq, Tk) tensor; None for the weights unless asked for.
        """
        self_weights, cross_weights = [], []
        for i, layer in enumerate(self.layers):
            its_cache = None if cache is None else cache.layers[i]
            x, own, across = layer(x, memory, mask, memory_mask, need_weights, its_cache)
            self_weights.append(own)
            cross_weights.append(across)
        if self.norm is not None:
            x = self.norm(x)
        return (x, tuple(self_weights), tuple(cross_weights)) if need_weights else (x, None, None)
