"""PyTorch's own layers with the weights of ours, float64, for comparing."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bertlab.nn import Decoder, DecoderLayer, Encoder, EncoderLayer, MultiHeadAttention
from bertlab.nn.feed_forward import FeedForward
from bertlab.nn.masking import causal_mask, combine_masks

Options = dict[str, Any]
ACTIVATIONS = {"relu": nn.functional.relu, "gelu": nn.functional.gelu}


def some_weights(module: nn.Module) -> nn.Module:
    """The module in float64 with random numbers in every parameter, those of norms and biases as well."""
    module.double()
    for name, parameter in module.named_parameters():
        nn.init.normal_(parameter, mean=float("norm" in name and "weight" in name), std=0.4)
    return module


def some_mask(kind: str, B: int, H: int, Tq: int, Tk: int) -> Tensor | None:
    """A mask that leaves each query at least key 0, since theirs gives NaN otherwise."""
    padding = (torch.arange(Tk) < torch.randint(1, Tk + 1, (B, 1)))[:, None, None]
    random = torch.rand(B, H, Tq, Tk) < 0.5
    random[..., 0] = True
    order = causal_mask(max(Tq, Tk))[:Tq, :Tk]
    masks = {"none": None, "padding": padding, "causal": order, "random": random}
    return masks[kind] if kind in masks else combine_masks(padding, order)


def as_attn_mask(mask: Tensor | None, B: int, H: int, Tq: int, Tk: int) -> Tensor | None:
    """A mask of ours as their `attn_mask` (B * H, Tq, Tk), True = hidden."""
    return None if mask is None else ~mask.expand(B, H, Tq, Tk).reshape(B * H, Tq, Tk)


def their_encoder(ours: Encoder, H: int, options: Options) -> nn.TransformerEncoder:
    D, F = _widths(ours.layers[0])
    layer = nn.TransformerEncoderLayer(D, H, F, **_translated(options))
    norm = None if ours.norm is None else nn.LayerNorm(D, options.get("eps", 1e-5))
    theirs = nn.TransformerEncoder(layer, len(ours.layers), norm, enable_nested_tensor=False).double()
    for one, other in zip(ours.layers, theirs.layers, strict=True):
        copy_encoder_layer(one, other)
    if ours.norm is not None:
        theirs.norm.load_state_dict(ours.norm.state_dict())
    return theirs


def their_decoder(ours: Decoder, H: int, options: Options) -> nn.TransformerDecoder:
    D, F = _widths(ours.layers[0])
    layer = nn.TransformerDecoderLayer(D, H, F, **_translated(options))
    norm = None if ours.norm is None else nn.LayerNorm(D, options.get("eps", 1e-5))
    theirs = nn.TransformerDecoder(layer, len(ours.layers), norm).double()
    for one, other in zip(ours.layers, theirs.layers, strict=True):
        copy_decoder_layer(one, other)
    if ours.norm is not None:
        theirs.norm.load_state_dict(ours.norm.state_dict())
    return theirs


def copy_encoder_layer(ours: EncoderLayer, theirs: nn.TransformerEncoderLayer) -> None:
    copy_attention(ours.attention, theirs.self_attn)
    copy_feed_forward(ours.feed_forward, theirs)
    theirs.norm1.load_state_dict(ours.attention_residual.norm.state_dict())
    theirs.norm2.load_state_dict(ours.feed_forward_residual.norm.state_dict())


def copy_decoder_layer(ours: DecoderLayer, theirs: nn.TransformerDecoderLayer) -> None:
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    copy_feed_forward(ours.feed_forward, theirs)
    theirs.norm1.load_state_dict(ours.self_attention_residual.norm.state_dict())
    theirs.norm2.load_state_dict(ours.cross_attention_residual.norm.state_dict())
    theirs.norm3.load_state_dict(ours.feed_forward_residual.norm.state_dict())


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    parts = (ours.query, ours.key, ours.value)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in parts]))
        theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in parts]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())


def copy_feed_forward(
    ours: FeedForward, theirs: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer
) -> None:
    theirs.linear1.load_state_dict(ours.inner.state_dict())
    theirs.linear2.load_state_dict(ours.outer.state_dict())


def _widths(layer: Any) -> tuple[int, int]:
    return layer.feed_forward.inner.in_features, layer.feed_forward.inner.out_features


def _translated(options: Options) -> Options:
    return {
        "dropout": 0.0,
        "batch_first": True,
        "activation": ACTIVATIONS[options.get("activation", "relu")],
        "norm_first": options.get("norm_first", False),
        "layer_norm_eps": options.get("eps", 1e-5),
    }
