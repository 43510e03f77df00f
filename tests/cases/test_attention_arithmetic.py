"""Edge cases of attention's arithmetic (D05, D06) and of the causal mask (D11)."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab.nn import MultiHeadAttention
from tests.wing import Wing

close = np.testing.assert_allclose

# D05: width 8 in two heads; in head 0 q·k is 4 for the first key and 0 for the two others.
EYE = {f"{part}.weight": np.eye(8) for part in ("query", "key", "value", "output")}
PARAMS = EYE | {name.replace("weight", "bias"): np.zeros(8) for name in EYE}
QUERY, KEY = np.zeros((1, 2, 8)), np.zeros((1, 3, 8))
QUERY[0, :, 0], KEY[0, 0, 0] = 4, 1
SHARES = np.array([np.e**2, 1, 1]) / (np.e**2 + 2)  # exp(4 / √4), exp(0), exp(0)


def test_D05_scores_are_divided_by_the_root_of_the_width_of_a_head(wing: Wing) -> None:
    _, weights = wing.multi_head_attention(QUERY, KEY[:, :2], KEY[:, :2], PARAMS, 2)
    close(weights[0, 0], [[0.880797, 0.119203]] * 2, atol=1e-6)  # 0.804430 by √8, 0.982014 undivided
    close(weights[0, 1], [[0.5, 0.5]] * 2)  # the other head sees nothing of it


@pytest.mark.parametrize("need_weights", [True, False], ids=["with weights", "without"])
def test_D05_the_layer_divides_by_the_same_root(need_weights: bool) -> None:
    layer = MultiHeadAttention(8, 2).double()
    layer.load_state_dict({name: torch.tensor(value) for name, value in PARAMS.items()})
    query, key = torch.tensor(QUERY), torch.tensor(KEY)
    value = torch.eye(3, 8, dtype=torch.float64)[None]  # what head 0 gives out are its weights
    output, _ = layer(query, key, value, need_weights=need_weights)
    close(output[0, :, :3].detach(), [SHARES] * 2, atol=1e-12)


def test_D05_softmax_runs_over_the_keys(wing: Wing) -> None:
    scores = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]])  # two queries, three keys
    context, weights = wing.attend(scores, np.eye(3))
    close(weights, [[0.090031, 0.244728, 0.665241], [1 / 3] * 3], atol=1e-6)
    close(weights.sum(axis=-1), [1, 1])
    close(context, weights)


def test_D05_with_many_heads_the_weights_of_each_query_sum_to_one(
    wing: Wing, rng: np.random.Generator
) -> None:
    query, key = rng.normal(size=(1, 2, 8)), rng.normal(size=(1, 3, 8))
    _, weights = wing.multi_head_attention(query, key, key, PARAMS, 2)
    assert weights.shape == (1, 2, 2, 3)
    close(weights.sum(axis=-1), np.ones((1, 2, 2)))
    assert not np.allclose(weights.sum(axis=-2), 1)


@pytest.mark.parametrize("need_weights", [True, False], ids=["with weights", "without"])
def test_D06_dropout_of_attention_stops_in_evaluation(need_weights: bool) -> None:
    torch.manual_seed(0)
    dropped, kept = MultiHeadAttention(8, 2, dropout=0.9), MultiHeadAttention(8, 2, dropout=0.0)
    kept.load_state_dict(dropped.state_dict())
    x = torch.randn(2, 5, 8)
    dropped.eval()
    first, second = (dropped(x, x, x, need_weights=need_weights)[0] for _ in range(2))
    assert torch.equal(first, second)
    assert torch.equal(first, kept(x, x, x, need_weights=need_weights)[0])
    dropped.train()
    first, second = (dropped(x, x, x, need_weights=need_weights)[0] for _ in range(2))
    assert not torch.allclose(first, second)


def test_D11_the_causal_mask_of_four_positions_shows_ten_of_sixteen_cells(wing: Wing) -> None:
    mask = wing.causal_mask(4)
    assert mask.sum() == 10
    assert mask.diagonal().all()
    assert not mask[0, 1:].any()  # the first query sees itself alone


def test_D11_what_comes_later_does_not_change_what_came_before(wing: Wing, rng: np.random.Generator) -> None:
    x, weights = rng.normal(size=(1, 6, 4)), rng.normal(size=(3, 4, 4))
    before, _ = wing.self_attention(x, *weights, wing.causal_mask(6))
    for t in range(5):
        changed = x.copy()
        changed[:, t + 1 :] += rng.normal(size=changed[:, t + 1 :].shape)
        after, _ = wing.self_attention(changed, *weights, wing.causal_mask(6))
        close(after[:, : t + 1], before[:, : t + 1], atol=1e-12)
        assert not np.allclose(after[:, t + 1 :], before[:, t + 1 :])
