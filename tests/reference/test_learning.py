"""NumPy alone learns: a Transformer whose every gradient is written by hand reverses what it reads."""

from __future__ import annotations

import numpy as np

from bertlab.reference.decoder import decoder, decoder_shapes, decoder_vjp
from bertlab.reference.encoder import encoder, encoder_shapes, encoder_vjp
from bertlab.reference.functional import (
    cross_entropy,
    cross_entropy_vjp,
    embedding,
    embedding_vjp,
    linear,
    linear_vjp,
)
from bertlab.reference.masking import causal_mask
from bertlab.reference.parameters import initial_parameters, join_parameters, split_parameters
from bertlab.reference.positions import sinusoidal_positions
from bertlab.reference.types import Floats, Ints
from tests.stacks import NormFirst

V, T, D, H, F = 7, 4, 16, 2, 32
START, MASK, PLACES = V - 1, causal_mask(T), sinusoidal_positions(T, D)
SHAPES = {
    "embedding.weight": (V, D),
    **{f"encoder.{name}": shape for name, shape in encoder_shapes(1, D, F).items()},
    **{f"decoder.{name}": shape for name, shape in decoder_shapes(1, D, F).items()},
    "output.weight": (V, D),
    "output.bias": (V,),
}


def batch(rng: np.random.Generator, n: int) -> tuple[Ints, Ints, Ints]:
    source = rng.integers(0, START, size=(n, T))
    target = source[:, ::-1]
    return source, np.concatenate([np.full((n, 1), START), target[:, :-1]], axis=1), target


def run(
    params: dict[str, Floats], source: Ints, shifted: Ints, target: Ints, norm_first: bool
) -> tuple[float, Floats, dict[str, Floats]]:
    """Loss, logits and the gradient of every parameter."""
    p = split_parameters(params, ("embedding", "encoder", "decoder", "output"))
    table, w, b = p["embedding"]["weight"], p["output"]["weight"], p["output"]["bias"]
    read, written = embedding(source, table) + PLACES, embedding(shifted, table) + PLACES
    memory, _ = encoder(read, p["encoder"], H, None, norm_first)
    states, *_ = decoder(written, memory, p["decoder"], H, MASK, None, norm_first)
    logits = linear(states, w, b)

    d_states, d_w, d_b = linear_vjp(cross_entropy_vjp(1.0, logits, target), states, w, b)
    d_written, d_memory, d_decoder = decoder_vjp(
        d_states, written, memory, p["decoder"], H, MASK, None, norm_first
    )
    d_read, d_encoder = encoder_vjp(d_memory, read, p["encoder"], H, None, norm_first)
    d_table = embedding_vjp(d_written, shifted, table) + embedding_vjp(d_read, source, table)
    gradients = {
        "embedding": {"weight": d_table},
        "encoder": d_encoder,
        "decoder": d_decoder,
        "output": {"weight": d_w, "bias": d_b},
    }
    return cross_entropy(logits, target), logits, join_parameters(gradients)


def with_last_norms(norm_first: bool) -> dict[str, tuple[int, ...]]:
    last = {"encoder.norm.weight": (D,), "encoder.norm.bias": (D,)}
    last |= {name.replace("encoder", "decoder"): shape for name, shape in last.items()}
    return SHAPES | (last if norm_first else {})


@NormFirst
def test_a_transformer_in_numpy_learns_to_reverse(norm_first: bool) -> None:
    rng = np.random.default_rng(0)
    params = initial_parameters(with_last_norms(norm_first), rng)
    mean = {name: np.zeros(value.shape) for name, value in params.items()}
    square = {name: np.zeros(value.shape) for name, value in params.items()}
    losses = []
    for step in range(1, 401):  # Adam, Kingma & Ba 2015, algorithm 1
        loss, _, gradients = run(params, *batch(rng, 32), norm_first)
        losses.append(loss)
        for name, gradient in gradients.items():
            mean[name] = 0.9 * mean[name] + 0.1 * gradient
            square[name] = 0.98 * square[name] + 0.02 * gradient**2
            update = mean[name] / (1 - 0.9**step) / (np.sqrt(square[name] / (1 - 0.98**step)) + 1e-9)
            params[name] = params[name] - 0.005 * update
    assert losses[0] > 1.5  # about the logarithm of 7
    assert np.mean(losses[-20:]) < 0.1
    source, shifted, target = batch(np.random.default_rng(1), 100)
    _, logits, _ = run(params, source, shifted, target, norm_first)
    assert (logits.argmax(axis=-1) == target).mean() > 0.97
