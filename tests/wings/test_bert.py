"""BERT of both wings: what it is made of, and what padding, segments and every parameter do."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.inputs import CONCEPTS, Arguments, Sizes, examples_of
from tests.stacks import part
from tests.wing import Wing

exact, close = np.testing.assert_array_equal, np.testing.assert_allclose


def some_bert(rng: np.random.Generator) -> tuple[dict[str, np.ndarray], int]:
    """Parameters for width 4 in 2 heads, 9 pieces, 7 positions."""
    _, _, params, H, *_ = CONCEPTS["bert"](Sizes(B=2, Tq=6, Tk=1, H=1, K=1, D=1, A=9), rng)
    return params, H


@examples_of("bert_embeddings")
def test_an_embedding_is_the_norm_of_three_rows(wing: Wing, arguments: Arguments) -> None:
    ids, segments, params, eps = arguments
    found = wing.bert_embeddings(*arguments)
    for b, t in np.ndindex(ids.shape):
        rows = {"token": ids[b, t], "position": t, "segment": segments[b, t]}
        total = sum(params[f"{table}.weight"][row] for table, row in rows.items())
        close(
            found[b, t], wing.layer_norm(total, params["norm.weight"], params["norm.bias"], eps), atol=1e-12
        )


@examples_of("bert")
def test_a_model_is_embeddings_then_layers_then_the_pooler(wing: Wing, arguments: Arguments) -> None:
    ids, segments, params, n_heads, mask, activation, eps = arguments
    layers, pooled, weights = wing.bert(*arguments)
    assert (len(layers), len(weights)) == (3, 2)
    exact(layers[0], wing.bert_embeddings(ids, segments, part(params, "embeddings"), eps))
    x, shares = wing.encoder(layers[0], part(params, "encoder"), n_heads, mask, False, activation, eps)
    exact(layers[-1], x)
    for found, expected in zip(weights, shares, strict=True):
        exact(found, expected)
    exact(pooled, wing.pool(x, part(params, "pooler")))


@examples_of("pool")
def test_the_pooler_reads_the_first_position_alone(wing: Wing, arguments: Arguments) -> None:
    states, params = arguments
    pooled = wing.pool(states, params)
    assert (np.abs(pooled) <= 1).all()
    exact(pooled, wing.pool(states[:, :1], params))
    d_states, _ = wing.pool_vjp(np.ones_like(pooled), states, params)
    assert (d_states[:, 1:] == 0).all()


def test_padding_changes_nothing_and_its_embedding_receives_no_gradient(
    wing: Wing, rng: np.random.Generator
) -> None:
    params, H = some_bert(rng)
    ids = np.array([[5, 6, 7, 0, 0], [5, 6, 7, 8, 1]])
    segments, mask = np.zeros_like(ids), wing.padding_mask(ids)
    alone, pooled, _ = wing.bert(ids[:1, :3], segments[:1, :3], params, H)
    padded, many, weights = wing.bert(ids, segments, params, H, mask)
    for short, long in zip(alone, padded, strict=True):
        close(long[:1, :3], short, atol=1e-10)
    close(many[:1], pooled, atol=1e-10)
    assert all((w[0, :, :, 3:] == 0).all() for w in weights)
    grad = np.where((ids != 0)[..., None], rng.normal(size=padded[-1].shape), 0.0)
    d_params = wing.bert_vjp((grad, np.ones_like(many)), ids, segments, params, H, mask)
    assert (d_params["embeddings.token.weight"][0] == 0).all()
    assert (d_params["embeddings.token.weight"][5:] != 0).any()


def test_each_parameter_of_a_bert_matters(wing: Wing, rng: np.random.Generator) -> None:
    params, H = some_bert(rng)
    ids, segments = np.array([[2, 5, 3]]), np.array([[0, 0, 1]])
    before = wing.bert(ids, segments, params, H)[1]
    for name, value in params.items():
        after = wing.bert(ids, segments, {**params, name: value + rng.normal(size=value.shape)}, H)[1]
        # One exception is right: a key bias adds the same number to all scores of a query.
        assert np.allclose(before, after, rtol=0, atol=1e-13) == name.endswith("key.bias"), name


@pytest.mark.parametrize(
    ("ids", "segments", "changes", "sentence"),
    [
        ([[9]], [[0]], {}, "9"),
        ([[5]], [[2]], {}, "2"),
        ([[5] * 8], [[0] * 8], {}, "8"),
        ([[5]], [[0]], {"pooler.weight": None, "pooler.bias": None}, "lacks ['pooler']"),
        ([[5]], [[0]], {"embeddings.norm.weight": None, "embeddings.norm.bias": None}, "lacks ['norm']"),
        ([[5]], [[0]], {"head.weight": 1.0}, "['head'] left over"),
    ],
)
def test_input_or_parameters_that_do_not_fit_are_refused(
    wing: Wing, rng: np.random.Generator, ids: Any, segments: Any, changes: Any, sentence: str
) -> None:
    params, H = some_bert(rng)
    params = {n: v for n, v in params.items() if n not in changes}
    params |= {n: np.ones(4) for n, v in changes.items() if v is not None}
    with pytest.raises(ValueError, match=re.escape(sentence)):
        wing.bert(np.array(ids), np.array(segments), params, H)
