"""Edge cases of attention masks (D01 to D04)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from bertlab.nn import GRU, LSTM, MultiHeadAttention
from bertlab.nn.attention import additive_scores, attend
from bertlab.nn.functional import embedding
from bertlab.nn.masking import padding_mask as nn_padding_mask
from tests.inputs import Sizes, some_gates, some_params
from tests.wing import REFERENCE, Wing

close = np.testing.assert_allclose

# D01: query 0 sees keys 0 and 1; query 1 sees none.
Q = np.array([[1.0, 0.0], [0.0, 1.0]])
K = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
V = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
SEES = np.array([[True, True, False], [False, False, False]])


def test_D01_a_query_with_no_visible_key_gets_zeros(wing: Wing) -> None:
    output, weights = wing.scaled_dot_product_attention(Q, K, V, SEES)
    close(weights, [[0.669762, 0.330238, 0], [0, 0, 0]], atol=1e-6)
    close(output, [[1.660477, 2.660477], [0, 0]], atol=1e-6)
    assert (weights[1] == 0).all()  # exactly, not 1/3 each as after a fill with -1e9
    assert (output[1] == 0).all()


def test_D01_every_gradient_is_finite_and_the_empty_row_has_none(wing: Wing) -> None:
    d_q, d_k, d_v = wing.scaled_dot_product_attention_vjp(np.ones((2, 2)), Q, K, V, SEES)
    assert all(np.isfinite(d).all() for d in (d_q, d_k, d_v))
    assert (d_q[1] == 0).all()
    close(d_v, [[0.669762] * 2, [0.330238] * 2, [0, 0]], atol=1e-6)


@pytest.mark.parametrize("need_weights", [True, False], ids=["with weights", "without"])
def test_D01_the_layer_gives_the_same_with_and_without_its_weights(need_weights: bool) -> None:
    layer = MultiHeadAttention(2, 1).double()
    with torch.no_grad():
        for part in (layer.query, layer.key, layer.value, layer.output):
            part.weight.copy_(torch.eye(2))
            part.bias.zero_()
    inputs = [torch.tensor(x)[None].requires_grad_() for x in (Q, K, V)]
    output, _ = layer(*inputs, torch.tensor(SEES), need_weights=need_weights)
    close(output.detach()[0], [[1.660477, 2.660477], [0, 0]], atol=1e-6)
    output.sum().backward()
    gradients = [x.grad for x in inputs] + [p.grad for p in layer.parameters()]
    assert all(g is not None and g.isfinite().all() for g in gradients)


def test_D02_true_means_may_be_attended_to(wing: Wing) -> None:
    ids = np.array([[7, 7, 7], [7, 7, 0]])
    values = np.broadcast_to([[1.0], [2.0], [30.0]], (2, 1, 3, 1)).copy()
    output, _ = wing.attend(np.zeros((2, 1, 3, 3)), values, wing.padding_mask(ids))
    close(output[0, 0], [[11.0]] * 3)
    close(output[1, 0], [[1.5]] * 3)  # 30 with the polarity turned round


@pytest.mark.parametrize("n_heads", [1, 2, 3])
def test_D02_a_batch_as_large_as_a_sequence_is_long(wing: Wing, n_heads: int) -> None:
    ids = np.array([[7, 0, 0], [7, 7, 0], [7, 7, 7]])
    weights = wing.masked_softmax(np.zeros((3, n_heads, 3, 3)), wing.padding_mask(ids))
    for query in range(3):  # an unexpanded (3, 3) mask gets only some of the rows wrong
        close(weights[0, :, query], [[1, 0, 0]] * n_heads)
        close(weights[1, :, query], [[1 / 2, 1 / 2, 0]] * n_heads)
        close(weights[2, :, query], [[1 / 3] * 3] * n_heads)


@pytest.mark.parametrize("n_heads", [1, 3])
def test_D02_the_layers_with_many_heads_see_the_same(
    wing: Wing, rng: np.random.Generator, n_heads: int
) -> None:
    params = some_params(rng, 3) | {
        "query.weight": np.zeros((3, 3)),
        "query.bias": np.zeros(3),
    }  # zero scores
    x, ids = rng.normal(size=(3, 3, 3)), np.array([[7, 0, 0], [7, 7, 0], [7, 7, 7]])
    _, weights = wing.multi_head_attention(x, x, x, params, n_heads, wing.padding_mask(ids))
    for example, row in enumerate([[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3] * 3]):
        close(weights[example], np.broadcast_to(row, (n_heads, 3, 3)), atol=1e-12)


@pytest.mark.parametrize(
    "mask",
    [
        np.ones((2, 4), dtype=bool),
        np.ones((2, 3, 4), dtype=bool),
        np.ones((3, 4)),
        np.ones((3, 4), dtype=int),
    ],
)
def test_D02_a_mask_of_another_shape_or_of_numbers_raises(wing: Wing, mask: np.ndarray) -> None:
    with pytest.raises(ValueError, match="mask"):
        wing.attend(np.zeros((2, 2, 3, 4)), np.zeros((2, 2, 4, 1)), mask)


HALF = {
    "float16": (torch.float16, 1e-3),
    "bfloat16": (torch.bfloat16, 1e-2),
    "float32": (torch.float32, 1e-4),
}


@pytest.mark.parametrize("dtype", HALF)
def test_D03_a_masked_weight_is_exactly_zero_in_half_precision(dtype: str) -> None:
    kind, tolerance = HALF[dtype]
    scores, mask = torch.tensor([[1, 2, 3]], dtype=kind), torch.tensor([[True, True, False]])
    context, weights = attend(scores, torch.eye(3, dtype=kind), mask)
    assert weights.dtype == kind
    close(weights.float(), [[0.2689, 0.7311, 0]], atol=tolerance)
    assert weights[0, 2] == 0
    assert (context == weights).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32])  # NumPy has no bfloat16
def test_D03_the_reference_keeps_half_precision_too(dtype: type[np.floating]) -> None:
    weights = REFERENCE.masked_softmax(np.array([[1, 2, 3]], dtype=dtype), np.array([[True, True, False]]))
    assert weights.dtype == dtype
    close(weights, [[0.2689, 0.7311, 0]], atol=1e-3)
    assert weights[0, 2] == 0


# D04: a short source alone, and padded in a batch beside a long one.
SHORT, PADDED, LONG = [5, 6, 7], [5, 6, 7, 0, 0], [8, 9, 5, 6, 8]
BATCHES = {"alone": [SHORT], "padded": [PADDED, LONG], "padded, last": [LONG, PADDED]}


def read_and_attend(
    wing: Wing, reader: str, n_directions: int, ids: np.ndarray, table: np.ndarray
) -> list[Any]:
    """States, last states, weights and contexts of a small encoder with additive attention, PAD = 0."""
    rng = np.random.default_rng(4)
    x, real = wing.embedding(ids, table), ids != 0
    sizes = Sizes(1, 1, 1, 1, 1, D=3, A=table.shape[1])
    directions = [
        getattr(wing, reader)(x, real, *some_gates(rng, sizes, 3 if reader == "gru" else 4), reverse=back)
        for back in (False, True)[:n_directions]
    ]
    states = np.concatenate([states for states, _ in directions], axis=-1)
    lasts = [np.concatenate(last if isinstance(last, tuple) else [last], axis=-1) for _, last in directions]
    queries = np.broadcast_to(rng.normal(size=(2, 4)), (len(ids), 2, 4)).copy()  # two steps of a decoder
    network = rng.normal(size=(6, 4)), rng.normal(size=(6, 3 * n_directions)), rng.normal(size=6)
    scores = wing.additive_scores(queries, states, *network)
    context, weights = wing.attend(scores, states, wing.padding_mask(ids)[:, 0])
    return [states, np.concatenate(lasts, axis=-1), weights, context]


@pytest.mark.parametrize("n_directions", [1, 2])
@pytest.mark.parametrize("reader", ["gru", "lstm"])
@pytest.mark.parametrize(("batch", "row"), [("padded", 0), ("padded, last", 1)])
def test_D04_padding_a_source_changes_nothing_that_is_seen_of_it(
    wing: Wing, rng: np.random.Generator, reader: str, n_directions: int, batch: str, row: int
) -> None:
    table = rng.normal(size=(10, 4))
    alone = read_and_attend(wing, reader, n_directions, np.array(BATCHES["alone"]), table)
    padded = read_and_attend(wing, reader, n_directions, np.array(BATCHES[batch]), table)
    for name, short, long in zip(("states", "last", "weights", "context"), alone, padded, strict=True):
        seen = long[row][..., :3] if name == "weights" else long[row][:3] if name == "states" else long[row]
        close(seen, short[0], atol=1e-5, err_msg=name)
    assert (padded[2][row][:, 3:] == 0).all()  # the weights of positions 3 and 4, exactly
    assert (padded[2][1 - row] > 0).all()  # the long source is seen to its end


@pytest.mark.parametrize("n_directions", [1, 2])
@pytest.mark.parametrize("reader", ["gru", "lstm"])
def test_D04_the_embedding_of_padding_changes_nothing(
    wing: Wing, rng: np.random.Generator, reader: str, n_directions: int
) -> None:
    table = rng.normal(size=(10, 4))
    before = read_and_attend(wing, reader, n_directions, np.array(BATCHES["padded"]), table)
    table[0] = 1e3
    after = read_and_attend(wing, reader, n_directions, np.array(BATCHES["padded"]), table)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("bidirectional", [False, True], ids=["one direction", "two"])
@pytest.mark.parametrize("layer", [GRU, LSTM])
@pytest.mark.parametrize("batch", BATCHES)
def test_D04_the_layers_see_no_padding_either_and_it_gets_no_gradient(
    layer: type[GRU] | type[LSTM], bidirectional: bool, batch: str
) -> None:
    torch.manual_seed(0)
    width = 6 if bidirectional else 3
    encoder, table = layer(4, 3, bidirectional), torch.randn(10, 4, requires_grad=True)
    network = torch.randn(5, width), torch.randn(5, width), torch.randn(5)

    def contexts(rows: list[list[int]]) -> torch.Tensor:
        ids = torch.tensor(rows)
        states, last = encoder(embedding(ids, table), ids != 0)
        query = last if isinstance(last, torch.Tensor) else last[0]
        scores = additive_scores(query[:, None], states, *network)
        return attend(scores, states, nn_padding_mask(ids)[:, 0])[0]

    row = 1 if batch == "padded, last" else 0
    found = contexts(BATCHES[batch])[row]
    torch.testing.assert_close(found, contexts([SHORT])[0], rtol=0, atol=1e-5)
    found.square().sum().backward()
    assert table.grad is not None
    assert (table.grad[0] == 0).all()
    assert (table.grad[[5, 6, 7]] != 0).any(dim=1).all()
    assert (table.grad[[8, 9]] == 0).all()  # nor does the other row of the batch
