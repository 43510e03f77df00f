"""Random arguments for GPT and its loss; see `tests.inputs`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bertlab.reference.encoder import encoder_shapes
from bertlab.reference.parameters import split_parameters
from tests.draws import Arguments, Sizes, some_like_shapes


def _gpt(n: Sizes, rng: np.random.Generator) -> Arguments:
    """Two layers, with A tokens and a row of positions more than are needed."""
    H, norm_first = 1 + n.H % 2, bool(rng.integers(2))
    D = H * (1 + n.K % 2)
    shapes = {"embeddings.token.weight": (n.A, D), "embeddings.position.weight": (n.Tq + 1, D)}
    shapes |= {f"encoder.{name}": shape for name, shape in encoder_shapes(2, D, n.K, norm_first).items()}
    ids, activation = rng.integers(0, n.A, size=(n.B, n.Tq)), rng.choice(["relu", "gelu", "gelu_tanh"])
    # With a smaller epsilon the norm of two numbers is so steep that nudging measures its curve.
    return ids, some_like_shapes(rng, shapes), H, norm_first, str(activation), float(rng.choice([0.01, 0.1]))


def _gpt_embeddings(n: Sizes, rng: np.random.Generator) -> Arguments:
    ids, params, *_ = _gpt(n, rng)
    return ids, split_parameters(params, ("embeddings", "encoder"))["embeddings"]


def _language_model_loss(n: Sizes, rng: np.random.Generator) -> Arguments:
    ids, params, *choices = _gpt(n, rng)
    labels = rng.integers(0, n.A, size=ids.shape)
    labels[rng.random(labels.shape) < 0.4] = -100
    return ids, labels, params, *choices


GPT: dict[str, Callable[[Sizes, np.random.Generator], Arguments]] = {
    "gpt_embeddings": _gpt_embeddings,
    "gpt": _gpt,
    "language_model_loss": _language_model_loss,
}
