"""GPT of both wings: what it is made of, that no position sees what comes after it, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.inputs import CONCEPTS, Arguments, Sizes, examples_of
from tests.stacks import NormFirst, part
from tests.wing import Wing

exact, close = np.testing.assert_array_equal, np.testing.assert_allclose


def some_gpt(rng: np.random.Generator, norm_first: bool) -> tuple[dict[str, np.ndarray], int]:
    """Parameters for width 4 in 2 heads, 9 tokens, 7 positions."""
    while True:  # until the order is the one that is asked for
        _, params, H, order, *_ = CONCEPTS["gpt"](Sizes(B=2, Tq=6, Tk=1, H=1, K=1, D=1, A=9), rng)
        if order == norm_first:
            return params, H


@examples_of("gpt_embeddings")
def test_an_embedding_is_the_sum_of_two_rows(wing: Wing, arguments: Arguments) -> None:
    ids, params = arguments
    found = wing.gpt_embeddings(*arguments)
    for b, t in np.ndindex(ids.shape):
        exact(found[b, t], params["token.weight"][ids[b, t]] + params["position.weight"][t])


@examples_of("gpt")
def test_a_model_is_embeddings_then_layers_under_a_causal_mask_then_in_pre_ln_a_norm(
    wing: Wing, arguments: Arguments
) -> None:
    ids, params, n_heads, norm_first, activation, eps = arguments
    layers, weights = wing.gpt(*arguments)
    assert (len(layers), len(weights)) == (3, 2)
    exact(layers[0], wing.gpt_embeddings(ids, part(params, "embeddings")))
    mask = wing.causal_mask(ids.shape[1])
    x, shares = wing.encoder(layers[0], part(params, "encoder"), n_heads, mask, norm_first, activation, eps)
    exact(layers[-1], x)
    for found, expected in zip(weights, shares, strict=True):
        exact(found, expected)
        assert (np.triu(found, 1) == 0).all()
    first = part(params, "encoder.layers.0")
    exact(layers[1], wing.encoder_layer(layers[0], first, n_heads, mask, norm_first, activation, eps)[0])


@NormFirst
def test_D11_what_comes_later_changes_nothing_and_receives_no_gradient(
    wing: Wing, rng: np.random.Generator, norm_first: bool
) -> None:
    params, H = some_gpt(rng, norm_first)
    ids = np.array([[5, 6, 7, 8, 1]])
    before, _ = wing.gpt(ids, params, H, norm_first)
    for t in range(4):
        later = ids.copy()
        later[:, t + 1 :] = [[2, 3, 4, 0]][0][: 4 - t]
        after, _ = wing.gpt(later, params, H, norm_first)
        for one, other in zip(before, after, strict=True):
            close(one[:, : t + 1], other[:, : t + 1], atol=1e-12)
            assert not np.allclose(one[:, t + 1 :], other[:, t + 1 :])
        grad = np.zeros_like(before[-1])
        grad[:, t] = rng.normal(size=4)
        slopes = wing.gpt_vjp(grad, ids, params, H, norm_first)
        assert (slopes["embeddings.position.weight"][t + 1 :] == 0).all()
        assert (slopes["embeddings.position.weight"][: t + 1] != 0).any(axis=1).all()


@NormFirst
def test_padding_behind_a_text_needs_no_mask(wing: Wing, rng: np.random.Generator, norm_first: bool) -> None:
    params, H = some_gpt(rng, norm_first)
    alone, weights = wing.gpt(np.array([[5, 6, 7]]), params, H, norm_first)
    padded, wide = wing.gpt(np.array([[5, 6, 7, 0, 0], [5, 6, 7, 8, 1]]), params, H, norm_first)
    for short, long in zip((*alone, *weights), (*padded, *wide), strict=True):
        close(long[:1, ..., :3, : short.shape[-1]], short, atol=1e-12)


@NormFirst
def test_each_parameter_of_a_gpt_matters(wing: Wing, rng: np.random.Generator, norm_first: bool) -> None:
    params, H = some_gpt(rng, norm_first)
    ids = np.array([[2, 5, 3]])
    before = wing.gpt(ids, params, H, norm_first)[0][-1]
    for name, value in params.items():
        changed = {**params, name: value + rng.normal(size=value.shape)}
        after = wing.gpt(ids, changed, H, norm_first)[0][-1]
        # One exception is right: a key bias adds the same number to all scores of a query.
        assert np.allclose(before, after, rtol=0, atol=1e-13) == name.endswith("key.bias"), name


def test_the_two_orders_are_two_models(wing: Wing, rng: np.random.Generator) -> None:
    params, H = some_gpt(rng, norm_first=True)
    without = {name: value for name, value in params.items() if not name.startswith("encoder.norm")}
    ids = np.array([[2, 5, 3]])
    assert not np.allclose(wing.gpt(ids, params, H, True)[0][-1], wing.gpt(ids, without, H, False)[0][-1])
    for some, order, sentence in ((params, False, "['norm'] left over"), (without, True, "lacks ['norm']")):
        with pytest.raises(ValueError, match=re.escape(sentence)):
            wing.gpt(ids, some, H, order)


@pytest.mark.parametrize(
    ("ids", "changes", "sentence"),
    [
        ([[9]], {}, "9"),
        ([[5] * 8], {}, "8"),
        ([[5]], {"embeddings.position.weight": None}, "lacks ['position']"),
        ([[5]], {"head.weight": 1.0}, "['head'] left over"),
    ],
)
def test_D08_input_or_parameters_that_do_not_fit_are_refused(
    wing: Wing, rng: np.random.Generator, ids: Any, changes: Any, sentence: str
) -> None:
    params, H = some_gpt(rng, norm_first=False)
    params = {n: v for n, v in params.items() if n not in changes}
    params |= {n: np.ones(4) for n, v in changes.items() if v is not None}
    with pytest.raises(ValueError, match=re.escape(sentence)):
        wing.gpt(np.array(ids), params, H)
