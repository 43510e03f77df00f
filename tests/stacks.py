"""Small encoders and decoders with random parameters, for tests of both wings."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.reference.decoder import decoder_shapes
from bertlab.reference.encoder import encoder_shapes
from tests.inputs import some_like_shapes

NormFirst = pytest.mark.parametrize("norm_first", [False, True], ids=["post-LN", "pre-LN"])


def some_encoder(rng: np.random.Generator, norm_first: bool) -> dict[str, np.ndarray]:
    """Two layers of width 4."""
    return some_like_shapes(rng, encoder_shapes(2, 4, 6, norm_first))


def some_decoder(rng: np.random.Generator, norm_first: bool) -> dict[str, np.ndarray]:
    """Two layers of width 4."""
    return some_like_shapes(rng, decoder_shapes(2, 4, 6, norm_first))


def part(params: dict[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    """The parameters whose names begin with that word, without it."""
    return {
        key.removeprefix(f"{name}."): value for key, value in params.items() if key.startswith(f"{name}.")
    }
