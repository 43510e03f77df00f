"""Random arguments for every concept that both wings have: all kinds of shapes and masks, by hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.reference.decoder import decoder_shapes
from bertlab.reference.encoder import encoder_shapes
from bertlab.reference.parameters import split_parameters
from tests.draws import Arguments as Arguments
from tests.draws import Sizes as Sizes
from tests.draws import some_like_shapes as some_like_shapes
from tests.draws import some_padding as some_padding
from tests.inputs_gpt import GPT
from tests.inputs_recurrent import RECURRENT
from tests.inputs_recurrent import some_gates as some_gates
from tests.inputs_vectors import VECTORS
from tests.wing import differentiated


def examples_of(concept: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test with many drawn `arguments` for the function of that name."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        return settings(max_examples=25)(given(arguments=arguments_of(concept))(test))

    return decorate


@st.composite
def arguments_of(draw: st.DrawFn, concept: str) -> Arguments:
    """Arguments for the function of that name: drawn sizes, and normal numbers from a drawn seed."""
    sizes = Sizes(*(draw(st.integers(1, 4), label=name) for name in Sizes.__annotations__))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    return CONCEPTS[concept](sizes, rng)


def some_mask(rng: np.random.Generator, B: int, H: int, Tq: int, Tk: int) -> np.ndarray | None:
    """A mask of one of the kinds that are allowed; half of the full ones have a row that sees nothing."""
    kind = rng.integers(5)
    if kind == 0:
        return None
    if kind == 1:
        return some_padding(rng, B, Tk)[:, None, None, :]
    if kind == 2:
        return np.tril(np.ones((Tq, Tk), dtype=bool))
    mask = rng.random((B, H, Tq, Tk)) < 0.6
    if kind == 3:
        mask[rng.integers(B), :, rng.integers(Tq)] = False
    return mask


def some_params(rng: np.random.Generator, D: int) -> dict[str, np.ndarray]:
    """Parameters for multi-head attention of width D."""
    shapes = {"weight": (D, D), "bias": (D,)}
    parts = ("query", "key", "value", "output")
    return {f"{part}.{kind}": rng.normal(size=shapes[kind]) for part in parts for kind in shapes}


def some_like(outputs: Any, rng: np.random.Generator) -> Any:
    """Random weights for the outputs of a function: the gradient that a loss behind it would send."""
    if isinstance(outputs, tuple):
        return tuple(some_like(part, rng) for part in outputs)
    return rng.normal(size=np.shape(outputs)) if np.ndim(outputs) else float(rng.normal())


def some_grad(concept: str, outputs: Any, rng: np.random.Generator) -> Any:
    """A gradient for all outputs; where attention weights come with the output, for the output alone."""
    return some_like(differentiated(concept, outputs), rng)


def _states(n: Sizes, rng: np.random.Generator, d_key: int) -> Arguments:
    return rng.normal(size=(n.B, n.Tq, n.D)), rng.normal(size=(n.B, n.Tk, d_key))


def _attention(n: Sizes, rng: np.random.Generator) -> Arguments:
    q, k, v = (rng.normal(size=(n.B, n.H, T, K)) for T, K in ((n.Tq, n.K), (n.Tk, n.K), (n.Tk, n.D)))
    return q, k, v, some_mask(rng, n.B, n.H, n.Tq, n.Tk)


def _attend(n: Sizes, rng: np.random.Generator) -> Arguments:
    q, k, v, mask = _attention(n, rng)
    return q @ k.swapaxes(-1, -2), v, mask


def _self_attention(n: Sizes, rng: np.random.Generator) -> Arguments:
    x, w_query, w_key = (
        rng.normal(size=(n.B, n.Tq, n.D)),
        rng.normal(size=(n.K, n.D)),
        rng.normal(size=(n.K, n.D)),
    )
    mask = some_mask(rng, n.B, 1, n.Tq, n.Tq)
    return (
        x,
        w_query,
        w_key,
        rng.normal(size=(n.A, n.D)),
        mask if mask is None or mask.ndim == 2 else mask[:, 0],
    )


def _multi_head_attention(n: Sizes, rng: np.random.Generator) -> Arguments:
    D = n.H * n.K
    inputs = (rng.normal(size=(n.B, T, D)) for T in (n.Tq, n.Tk, n.Tk))
    return *inputs, some_params(rng, D), n.H, some_mask(rng, n.B, n.H, n.Tq, n.Tk)


def _norm(n: Sizes, rng: np.random.Generator, D: int) -> Arguments:
    """Parameters of a norm, whether it comes first, and its epsilon."""
    params = some_like_shapes(rng, {"norm.weight": (D,), "norm.bias": (D,)})
    return params, bool(rng.integers(2)), float(rng.choice([1e-5, 0.1]))


def _layer(kind: str, n_layers: int = 0) -> Callable[[Sizes, np.random.Generator], Arguments]:
    """Arguments for a layer or, with layers, for a stack; small, since every parameter will be nudged."""
    shapes_of = {"encoder": encoder_shapes, "decoder": decoder_shapes}[kind]

    def draw(n: Sizes, rng: np.random.Generator) -> Arguments:
        H, K = 1 + n.H % 2, 1 + n.K % 2
        D, norm_first = H * K, bool(rng.integers(2))
        params = some_like_shapes(rng, shapes_of(max(n_layers, 1), D, n.A, norm_first))
        if not n_layers:
            params = {
                name.removeprefix("layers.0."): value for name, value in params.items() if "layers" in name
            }
        inputs, masks = (rng.normal(size=(n.B, n.Tq, D)),), (some_mask(rng, n.B, H, n.Tq, n.Tq),)
        if kind == "decoder":
            inputs, masks = (
                (*inputs, rng.normal(size=(n.B, n.Tk, D))),
                (*masks, some_mask(rng, n.B, H, n.Tq, n.Tk)),
            )
        # With a smaller epsilon the norm of two numbers is so steep that nudging measures its curve.
        return *inputs, params, H, *masks, norm_first, _activation(rng), float(rng.choice([0.01, 0.1]))

    return draw


def _activation(rng: np.random.Generator) -> str:
    return str(rng.choice(["relu", "gelu", "gelu_tanh"]))


def _attention_sublayer(n: Sizes, rng: np.random.Generator) -> Arguments:
    D = n.H * n.K
    memory = rng.normal(size=(n.B, n.Tk, D)) if rng.integers(2) else None
    mask = some_mask(rng, n.B, n.H, n.Tq, n.Tq if memory is None else n.Tk)
    norm, norm_first, eps = _norm(n, rng, D)
    return rng.normal(size=(n.B, n.Tq, D)), memory, some_params(rng, D), norm, n.H, mask, norm_first, eps


def _network(n: Sizes, rng: np.random.Generator) -> dict[str, np.ndarray]:
    part = split_parameters(some_like_shapes(rng, encoder_shapes(1, n.D, n.A)), ("layers",))["layers"]
    prefix = "0.feed_forward."
    return {name.removeprefix(prefix): value for name, value in part.items() if name.startswith(prefix)}


def _feed_forward_sublayer(n: Sizes, rng: np.random.Generator) -> Arguments:
    norm, norm_first, eps = _norm(n, rng, n.D)
    return rng.normal(size=(n.B, n.Tq, n.D)), _network(n, rng), norm, norm_first, _activation(rng), eps


def _cross_entropy(n: Sizes, rng: np.random.Generator) -> Arguments:
    targets = rng.integers(0, n.D, size=(n.B, n.Tq))
    targets[rng.random(targets.shape) < 0.4] = -100
    return rng.normal(size=(n.B, n.Tq, n.D)), targets, -100, float(rng.choice([0.0, 0.1, 0.5]))


def _bert_params(n: Sizes, rng: np.random.Generator, D: int) -> dict[str, np.ndarray]:
    """Parameters of a BERT of two layers, with A pieces and a row of positions more than are needed."""
    tables = {"token": n.A, "position": n.Tq + 1, "segment": 2}
    shapes = {f"embeddings.{name}.weight": (rows, D) for name, rows in tables.items()}
    shapes |= {"embeddings.norm.weight": (D,), "embeddings.norm.bias": (D,)}
    shapes |= {f"encoder.{name}": shape for name, shape in encoder_shapes(2, D, n.K).items()}
    return some_like_shapes(rng, shapes | {"pooler.weight": (D, D), "pooler.bias": (D,)})


def _bert(n: Sizes, rng: np.random.Generator) -> Arguments:
    H = 1 + n.H % 2
    params = _bert_params(n, rng, H * (1 + n.K % 2))
    ids, segments = rng.integers(0, n.A, size=(n.B, n.Tq)), rng.integers(0, 2, size=(n.B, n.Tq))
    mask, eps = some_mask(rng, n.B, H, n.Tq, n.Tq), float(rng.choice([0.01, 0.1]))
    return ids, segments, params, H, mask, _activation(rng), eps


def _bert_embeddings(n: Sizes, rng: np.random.Generator) -> Arguments:
    ids, segments, params, _, _, _, eps = _bert(n, rng)
    return ids, segments, split_parameters(params, ("embeddings", "encoder", "pooler"))["embeddings"], eps


def _masked_lm_params(n: Sizes, rng: np.random.Generator, D: int) -> dict[str, np.ndarray]:
    shapes = {
        "dense.weight": (D, D),
        "dense.bias": (D,),
        "norm.weight": (D,),
        "norm.bias": (D,),
        "bias": (n.A,),
    }
    return some_like_shapes(rng, shapes)


def _masked_lm_logits(n: Sizes, rng: np.random.Generator) -> Arguments:
    states, table = rng.normal(size=(n.B, n.Tq, n.D)), rng.normal(size=(n.A, n.D))
    return states, table, _masked_lm_params(n, rng, n.D), _activation(rng), float(rng.choice([0.01, 0.1]))


def _pretraining_loss(n: Sizes, rng: np.random.Generator) -> Arguments:
    ids, segments, bert, *choices = _bert(n, rng)
    D = bert["pooler.bias"].size
    parts = {"bert": bert, "masked_lm": _masked_lm_params(n, rng, D)}
    parts["next_sentence"] = some_like_shapes(rng, {"weight": (2, D), "bias": (2,)})
    params = {f"{part}.{name}": value for part, own in parts.items() for name, value in own.items()}
    positions = rng.permutation(ids.size)[: n.Tk]
    labels, next_labels = rng.integers(0, n.A, size=len(positions)), rng.integers(0, 2, size=n.B)
    return ids, segments, positions, labels, next_labels, params, *choices


CONCEPTS: dict[str, Callable[[Sizes, np.random.Generator], Arguments]] = {
    # functional
    "softmax": lambda n, rng: (rng.normal(size=(n.B, n.Tq, n.Tk)), int(rng.integers(-3, 3))),
    "log_softmax": lambda n, rng: (rng.normal(size=(n.B, n.Tq, n.Tk)), int(rng.integers(-3, 3))),
    "cross_entropy": _cross_entropy,
    "linear": lambda n, rng: (
        rng.normal(size=(n.B, n.Tq, n.D)),
        rng.normal(size=(n.A, n.D)),
        rng.normal(size=n.A) if rng.integers(2) else None,
    ),
    "embedding": lambda n, rng: (rng.integers(0, n.A, size=(n.B, n.Tq)), rng.normal(size=(n.A, n.D))),
    "layer_norm": lambda n, rng: (
        rng.normal(size=(n.B, n.Tq, n.D)),
        rng.normal(size=n.D),
        rng.normal(size=n.D),
        float(rng.choice([1e-5, 0.1])),
    ),
    "gelu": lambda n, rng: (3 * rng.normal(size=(n.B, n.D)),),
    "gelu_tanh": lambda n, rng: (3 * rng.normal(size=(n.B, n.D)),),
    "relu": lambda n, rng: (3 * rng.normal(size=(n.B, n.D)),),
    "sigmoid": lambda n, rng: (3 * rng.normal(size=(n.B, n.D)),),
    # masking
    "masked_softmax": lambda n, rng: (
        rng.normal(size=(n.B, n.H, n.Tq, n.Tk)),
        some_mask(rng, n.B, n.H, n.Tq, n.Tk),
    ),
    # attention
    "attend": _attend,
    "dot_scores": lambda n, rng: _states(n, rng, n.D),
    "general_scores": lambda n, rng: (*_states(n, rng, n.K), rng.normal(size=(n.D, n.K))),
    "additive_scores": lambda n, rng: (
        *_states(n, rng, n.K),
        rng.normal(size=(n.A, n.D)),
        rng.normal(size=(n.A, n.K)),
        rng.normal(size=n.A),
    ),
    "concat_scores": lambda n, rng: (
        *_states(n, rng, n.K),
        rng.normal(size=(n.A, n.D + n.K)),
        rng.normal(size=n.A),
    ),
    "scaled_dot_product_attention": _attention,
    "self_attention": _self_attention,
    "split_heads": lambda n, rng: (rng.normal(size=(n.B, n.Tq, n.H * n.K)), n.H),
    "merge_heads": lambda n, rng: (rng.normal(size=(n.B, n.H, n.Tq, n.K)),),
    "multi_head_attention": _multi_head_attention,
    **RECURRENT,
    **VECTORS,
    # positions
    "learned_positions": lambda n, rng: (n.Tq, rng.normal(size=(n.Tq + n.A - 1, n.D))),
    # layers and their parts
    "feed_forward": lambda n, rng: (
        rng.normal(size=(n.B, n.Tq, n.D)),
        _network(n, rng),
        _activation(rng),
    ),
    "before_sublayer": lambda n, rng: (rng.normal(size=(n.B, n.Tq, n.D)), *_norm(n, rng, n.D)),
    "after_sublayer": lambda n, rng: (*rng.normal(size=(2, n.B, n.Tq, n.D)), *_norm(n, rng, n.D)),
    "attention_sublayer": _attention_sublayer,
    "feed_forward_sublayer": _feed_forward_sublayer,
    "encoder_layer": _layer("encoder"),
    "encoder": _layer("encoder", n_layers=2),
    "decoder_layer": _layer("decoder"),
    "decoder": _layer("decoder", n_layers=2),
    # BERT
    "bert_embeddings": _bert_embeddings,
    "pool": lambda n, rng: (
        rng.normal(size=(n.B, n.Tq, n.D)),
        some_like_shapes(rng, {"weight": (n.D, n.D), "bias": (n.D,)}),
    ),
    "bert": _bert,
    "masked_lm_logits": _masked_lm_logits,
    "pretraining_loss": _pretraining_loss,
    **GPT,
}
