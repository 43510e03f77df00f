"""The Transformer's encoder in PyTorch, one layer and the stack: twin of `bertlab.reference.encoder`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict, Unpack

from torch import Tensor, nn

from bertlab.nn.attention import MultiHeadAttention
from bertlab.nn.cache import LayerCache
from bertlab.nn.feed_forward import Activation, FeedForward
from bertlab.nn.functional import layer_norm
from bertlab.nn.packing import Packing
from bertlab.nn.parameters import split_parameters, split_stack
from bertlab.nn.residual import Residual
from bertlab.nn.sublayers import attention_sublayer, feed_forward_sublayer

LAYER_PARTS = ("attention", "attention_residual", "feed_forward", "feed_forward_residual")


def encoder_layer(
    x: Tensor,
    params: Mapping[str, Tensor],
    n_heads: int,
    mask: Tensor | None = None,
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> tuple[Tensor, Tensor]:
    """Let every position look at the others, then think by itself.

    Parameters
    ----------
    x : (B, T, D) float tensor.
    params : the `state_dict` of `EncoderLayer`.
    n_heads : number of heads H, a divisor of D.
    mask : bool tensor that broadcasts to (B, H, T, T), True = may be attended to; optional.
    norm_first : pre-LN if true, post-LN if false.
    activation, eps : as in `feed_forward` and `layer_norm`.

    Returns
    -------
    output, weights : (B, T, D) and (B, H, T, T) float tensors.

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


def encoder(
    x: Tensor,
    params: Mapping[str, Tensor],
    n_heads: int,
    mask: Tensor | None = None,
    norm_first: bool = False,
    activation: Activation = "relu",
    eps: float = 1e-5,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Send positions through a stack of layers; in pre-LN a last norm follows.

    Parameters
    ----------
    params : the `state_dict` of `Encoder`; it says how many layers there are.
    x, n_heads, mask, norm_first, activation, eps : as in `encoder_layer`.

    Returns
    -------
    output : (B, T, D) float tensor.
    weights : one (B, H, T, T) float tensor for each layer.

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


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network, each with a residual connection and a norm.

    Parameters
    ----------
    d_model : width D.
    n_heads : number of heads H, a divisor of D.
    d_ff : width inside the feed-forward network F.
    dropout : probability in [0, 1) of dropping a number of a sublayer's output in training.
    attention_dropout : probability in [0, 1) of dropping an attention weight in training. Not in the paper;
        BERT has it.
    activation : "relu" (the Transformer), "gelu" (BERT) or "gelu_tanh" (GPT).
    norm_first : pre-LN if true, post-LN (the Transformer, BERT) if false.
    eps : added to the variance in the norms.

    Raises
    ------
    ValueError
        If `d_model` does not split into `n_heads`, or as in `Residual` and `FeedForward`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.1, "Encoder", and 5.4 for dropout.
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
        self.attention = MultiHeadAttention(d_model, n_heads, attention_dropout)
        self.attention_residual = Residual(d_model, dropout, norm_first, eps)
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.feed_forward_residual = Residual(d_model, dropout, norm_first, eps)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | Packing | None = None,
        need_weights: bool = False,
        cache: LayerCache | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Map (B, T, D) to (B, T, D); see `encoder_layer`.

        Parameters
        ----------
        x : (B, T, D) float tensor; with a cache, only the new positions.
        mask : bool tensor that broadcasts to (B, H, T, T), True = may be attended to; optional. With a cache,
            to (B, H, T, the cached and the new). Or a `Packing`, with x (1, N, D).
        need_weights : also return the weights; without them PyTorch's fused attention does the work.
        cache : when a text is written from left to right, as GPT does; new positions are added to it.

        Returns
        -------
        output, weights : (B, T, D) and (B, H, T, T) float tensors, or None for the weights.
        """
        seen = self.attention_residual.before(x)
        pair = self.attention.keys_values(seen, seen)
        if cache is not None:
            pair = cache.extend_target(pair)
        update, weights = self.attention.attend(seen, *pair, mask, need_weights)
        x = self.attention_residual.after(x, update)
        update = self.feed_forward(self.feed_forward_residual.before(x))
        return self.feed_forward_residual.after(x, update), weights


class LayerOptions(TypedDict, total=False):
    """What can be chosen of a layer, by name; see `EncoderLayer`."""

    dropout: float
    attention_dropout: float
    activation: Activation
    norm_first: bool
    eps: float


def check_n_layers(n_layers: int) -> None:
    """Raise a ValueError for a stack without layers."""
    if n_layers < 1:
        raise ValueError(f"n_layers={n_layers}: build at least 1 layer")


def last_norm(d_model: int, options: LayerOptions) -> nn.LayerNorm | None:
    """Make the norm behind a pre-LN stack, whose last sum no layer norms; None in post-LN."""
    return nn.LayerNorm(d_model, options.get("eps", 1e-5)) if options.get("norm_first", False) else None


class Encoder(nn.Module):
    """A stack of encoder layers, each with its own weights; in pre-LN a last norm follows.

    Parameters
    ----------
    n_layers : number of layers L.
    d_model, n_heads, d_ff, options : as in `EncoderLayer`.

    Raises
    ------
    ValueError
        If `n_layers` is below 1, or as in `EncoderLayer`.

    References
    ----------
    Vaswani et al. 2017, sec. 3.1, "Encoder". The last norm: Xiong et al. 2020, table 1. In post-LN there is
    none, though `torch.nn.Transformer` has one.

    Examples
    --------
    >>> import torch
    >>> output, weights = Encoder(6, 16, 4, 64)(torch.randn(2, 5, 16), need_weights=True)
    >>> output.shape, len(weights), weights[0].shape  # (B, T, D), L, (B, H, T, T)
    (torch.Size([2, 5, 16]), 6, torch.Size([2, 4, 5, 5]))
    """

    def __init__(
        self, n_layers: int, d_model: int, n_heads: int, d_ff: int, **options: Unpack[LayerOptions]
    ) -> None:
        super().__init__()
        check_n_layers(n_layers)
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, **options) for _ in range(n_layers))
        self.norm = last_norm(d_model, options)

    def forward(
        self, x: Tensor, mask: Tensor | Packing | None = None, need_weights: bool = False
    ) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        """Map (B, T, D) to (B, T, D) and, on request, one (B, H, T, T) tensor of weights for each layer.

        Parameters
        ----------
        x, mask, need_weights : as in `EncoderLayer.forward`; all layers have the same mask.

        Returns
        -------
        output, weights : (B, T, D) float tensor and a tuple of L tensors, or None for the weights.
        """
        weights = []
        for layer in self.layers:
            x, its_weights = layer(x, mask, need_weights)
            weights.append(its_weights)
        if self.norm is not None:
            x = self.norm(x)
        return x, tuple(weights) if need_weights else None
