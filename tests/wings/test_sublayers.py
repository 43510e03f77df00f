"""The two kinds of sublayers of both wings, against plain loops."""

import numpy as np

from tests import loops
from tests.inputs import Arguments, examples_of
from tests.wing import Wing


@examples_of("attention_sublayer")
def test_a_position_looks_at_its_own_sequence_or_at_the_memory(wing: Wing, arguments: Arguments) -> None:
    x, memory, attention, norm, n_heads, mask, norm_first, eps = arguments
    output, weights = wing.attention_sublayer(*arguments)
    allowed = np.broadcast_to(True if mask is None else mask, weights.shape)
    for b in range(len(x)):

        def look(rows: list[list[float]], b: int = b) -> list[list[float]]:
            keys = rows if memory is None else memory[b]  # the memory as it is: the encoder has normed it
            return loops.multi_head_attention(rows, keys, attention, n_heads, allowed[b])

        by_loop = loops.with_residual(x[b], look, norm, norm_first, eps)
        np.testing.assert_allclose(output[b], by_loop, rtol=1e-8, atol=1e-8)


@examples_of("feed_forward_sublayer")
def test_a_position_thinks_by_itself(wing: Wing, arguments: Arguments) -> None:
    x, network, norm, norm_first, activation, eps = arguments
    output = wing.feed_forward_sublayer(*arguments)
    for b in range(len(x)):

        def think(rows: list[list[float]]) -> list[list[float]]:
            return [loops.feed_forward(row, network, activation) for row in rows]

        by_loop = loops.with_residual(x[b], think, norm, norm_first, eps)
        np.testing.assert_allclose(output[b], by_loop, rtol=1e-8, atol=1e-8)
