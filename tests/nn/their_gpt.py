"""GPT-1 and GPT-2 of `transformers` with the weights of ours; random small configs and inputs."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from hypothesis import strategies as st
from torch import Tensor

from bertlab.interop.gpt_names import to_ours, to_theirs
from bertlab.nn import GPT, GPTConfig

SMALL = GPTConfig(
    vocab_size=40,
    d_model=16,
    n_layers=2,
    n_heads=4,
    d_ff=64,
    max_positions=24,
    dropout=0.0,
    attention_dropout=0.0,
)


@st.composite
def configs(draw: st.DrawFn) -> GPTConfig:
    """Small ones, with every option that changes a number and that `transformers` has, too."""
    heads, norm_first = draw(st.integers(1, 4)), draw(st.booleans())
    d_model = heads * draw(st.integers(2, 6))
    activations = ["gelu_tanh", "relu", *["gelu"] * norm_first]  # the "gelu" of openai-gpt is the one by tanh
    return GPTConfig(
        vocab_size=draw(st.integers(7, 40)),
        d_model=d_model,
        n_layers=draw(st.integers(1, 3)),
        n_heads=heads,
        d_ff=draw(st.integers(1, 20)) if norm_first else 4 * d_model,
        max_positions=draw(st.integers(9, 14)),
        norm_first=norm_first,
        dropout=0.0,
        attention_dropout=0.0,
        activation=draw(st.sampled_from(activations)),
        eps=draw(st.sampled_from([1e-12, 1e-5, 0.1])),
    )


def with_some_weights(model: Any) -> Any:
    """In evaluation, with weights of a size that all of them matter, norms and biases too."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.4)
    return model.eval()


def some_gpt(config: GPTConfig = SMALL, seed: int = 0) -> GPT:
    torch.manual_seed(seed)
    return with_some_weights(GPT(config)).double()


def their_config(config: GPTConfig, attention: str = "eager") -> Any:
    sizes = {
        "vocab_size": config.vocab_size,
        "n_embd": config.d_model,
        "n_layer": config.n_layers,
        "n_head": config.n_heads,
        "n_positions": config.max_positions,
        "layer_norm_epsilon": config.eps,
        "resid_pdrop": config.dropout,
        "embd_pdrop": config.dropout,
        "attn_pdrop": config.attention_dropout,
        "bos_token_id": None,
        "eos_token_id": config.end_id,
        "pad_token_id": config.pad_id,
    }
    if not config.norm_first:
        afn = {"gelu_tanh": "gelu", "relu": "relu"}[config.activation]
        return transformers.OpenAIGPTConfig(**sizes, afn=afn, attn_implementation="eager")
    activation = {"gelu_tanh": "gelu_new"}.get(config.activation, config.activation)
    return transformers.GPT2Config(
        **sizes, n_inner=config.d_ff, activation_function=activation, attn_implementation=attention
    )


def their_twin(ours: GPT, attention: str = "eager") -> Any:
    """The same model of `transformers`, with a copy of the weights, of the same type and mode."""
    kind = transformers.GPT2LMHeadModel if ours.config.norm_first else transformers.OpenAIGPTLMHeadModel
    twin = kind(their_config(ours.config, attention))
    twin.to(next(ours.parameters()).dtype).train(ours.training)
    wanted = to_theirs(ours.state_dict(), ours.config)
    their = {name.removeprefix("transformer."): p for name, p in twin.named_parameters()}
    assert wanted.keys() == their.keys()
    with torch.no_grad():
        for name, parameter in their.items():
            parameter.copy_(wanted[name])
    return twin


def their_gradients(twin: Any, config: GPTConfig) -> dict[str, Tensor]:
    """Their gradients by our names, in our layout."""
    return to_ours({name.removeprefix("transformer."): p.grad for name, p in twin.named_parameters()}, config)


@st.composite
def inputs(draw: st.DrawFn, config: GPTConfig) -> tuple[Tensor, Tensor]:
    """Ids, padded on the right, and where a token stands."""
    B, T = draw(st.integers(1, 3)), draw(st.integers(2, 9))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    lengths = torch.tensor([draw(st.integers(2, T)) for _ in range(B)])
    real = torch.arange(T) < lengths[:, None]
    ids = torch.randint(1, config.vocab_size, (B, T), generator=generator)
    return ids.masked_fill(~real, config.pad_id), real
