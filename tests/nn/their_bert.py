"""BERT of `transformers` with the weights of ours; random small configs and inputs."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from hypothesis import strategies as st
from torch import Tensor

from bertlab.interop.bert_names import theirs
from bertlab.interop.bert_settings import SIZES
from bertlab.nn import BertConfig, BertForPreTraining, BertModel

SMALL = BertConfig(
    vocab_size=100,
    d_model=16,
    n_layers=2,
    n_heads=4,
    d_ff=32,
    max_positions=24,
    dropout=0.0,
    attention_dropout=0.0,
)


@st.composite
def configs(draw: st.DrawFn) -> BertConfig:
    """Small ones, with every option that changes a number."""
    heads = draw(st.integers(1, 4))
    return BertConfig(
        vocab_size=draw(st.integers(7, 40)),
        d_model=heads * draw(st.integers(2, 6)),
        n_layers=draw(st.integers(1, 3)),
        n_heads=heads,
        d_ff=draw(st.integers(1, 20)),
        max_positions=draw(st.integers(9, 12)),
        n_segments=draw(st.integers(2, 3)),
        dropout=0.0,
        attention_dropout=0.0,
        activation=draw(st.sampled_from(["gelu", "gelu_tanh", "relu"])),
        eps=draw(st.sampled_from([1e-12, 1e-5, 0.1])),
        pad_id=draw(st.integers(0, 6)),
    )


def with_some_weights(model: Any) -> Any:
    """In evaluation, with weights of a size that all of them matter, norms and biases too."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.4)
    return model.eval()


def their_config(config: BertConfig, attention: str) -> transformers.BertConfig:
    return transformers.BertConfig(
        **{name: getattr(config, ours) for ours, name in SIZES.items()},
        max_position_embeddings=config.max_positions,
        type_vocab_size=config.n_segments,
        hidden_dropout_prob=config.dropout,
        attention_probs_dropout_prob=config.attention_dropout,
        hidden_act={"gelu_tanh": "gelu_new"}.get(config.activation, config.activation),
        layer_norm_eps=config.eps,
        pad_token_id=config.pad_id,
        attn_implementation=attention,
    )


def their_twin(ours: BertModel | BertForPreTraining, attention: str = "eager") -> Any:
    """The same model of `transformers`, with a copy of the weights, of the same type and mode."""
    config = their_config(ours.config, attention)
    if isinstance(ours, BertModel):
        twin = transformers.BertModel(config, add_pooling_layer=ours.pooler is not None)
    elif ours.next_sentence is None:
        twin = transformers.BertForMaskedLM(config)
    else:
        twin = transformers.BertForPreTraining(config)
    twin.to(next(ours.parameters()).dtype).train(ours.training)
    own, wanted = pairs(ours, twin), len(dict(twin.named_parameters()))
    assert len(own) == wanted
    with torch.no_grad():
        for parameter, their in own.values():
            their.copy_(parameter)
    return twin


def pairs(ours: Any, twin: Any) -> dict[str, tuple[Tensor, Tensor]]:
    """Each parameter of ours beside that of theirs."""
    their = {name.removeprefix("bert."): p for name, p in twin.named_parameters()}
    return {name: (p, their[theirs(name)]) for name, p in ours.named_parameters()}


@st.composite
def inputs(draw: st.DrawFn, config: BertConfig) -> dict[str, Tensor]:
    """Ids padded on the right, segments, chosen positions with their labels, and next-sentence labels."""
    B, T = draw(st.integers(1, 3)), draw(st.integers(2, 9))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))

    def some(high: int, *shape: int) -> Tensor:
        return torch.randint(high, shape, generator=generator)

    ids = some(config.vocab_size, B, T)
    ids[ids == config.pad_id] = (config.pad_id + 1) % config.vocab_size
    lengths = 1 + some(T, B, 1)
    real = torch.arange(T) < lengths
    ids = torch.where(real, ids, config.pad_id)
    at = real.flatten().nonzero()[:, 0]
    positions = at[torch.randperm(len(at), generator=generator)[: 1 + int(some(len(at), 1))]]
    return {
        "ids": ids,
        "segments": some(config.n_segments, B, T),
        "positions": positions,
        "labels": some(config.vocab_size, len(positions)),
        "next_labels": some(2, B),
    }


def their_labels(batch: dict[str, Tensor]) -> Tensor:
    """Labels (B, T) as `transformers` wants them: -100 where nothing is asked."""
    labels = torch.full_like(batch["ids"], -100).flatten()
    labels[batch["positions"]] = batch["labels"]
    return labels.view_as(batch["ids"])
