"""The encoder of both wings: what a layer is made of, what a stack adds, and what padding may not do."""

import re
from typing import Any

import numpy as np
import pytest

from bertlab.reference.parameters import split_stack
from tests.inputs import Arguments, examples_of
from tests.stacks import NormFirst, part, some_encoder
from tests.wing import Wing

close = np.testing.assert_allclose


@examples_of("encoder_layer")
def test_a_layer_is_attention_then_the_network(wing: Wing, arguments: Arguments) -> None:
    x, params, n_heads, mask, norm_first, activation, eps = arguments
    output, weights = wing.encoder_layer(*arguments)
    own, past_own = part(params, "attention"), part(params, "attention_residual")
    between, shares = wing.attention_sublayer(x, None, own, past_own, n_heads, mask, norm_first, eps)
    network, past_network = part(params, "feed_forward"), part(params, "feed_forward_residual")
    np.testing.assert_array_equal(weights, shares)
    expected = wing.feed_forward_sublayer(between, network, past_network, norm_first, activation, eps)
    np.testing.assert_array_equal(output, expected)


@examples_of("encoder")
def test_a_stack_is_one_layer_after_the_other_and_in_pre_ln_a_last_norm(
    wing: Wing, arguments: Arguments
) -> None:
    x, params, n_heads, mask, norm_first, activation, eps = arguments
    output, weights = wing.encoder(*arguments)
    assert len(weights) == 2
    for i in range(2):
        layer = part(params, f"layers.{i}")
        x, its_weights = wing.encoder_layer(x, layer, n_heads, mask, norm_first, activation, eps)
        np.testing.assert_array_equal(weights[i], its_weights)
    if norm_first:
        x = wing.layer_norm(x, params["norm.weight"], params["norm.bias"], eps)
    np.testing.assert_array_equal(output, x)


def test_ten_layers_run_in_the_order_of_their_numbers() -> None:
    params = {f"layers.{i}.a": np.array(float(i)) for i in reversed(range(11))}
    layers, norm = split_stack(params, norm_first=False)
    assert [layer["a"] for layer in layers] == list(range(11))  # by letters, 10 would stand before 2
    assert norm is None


@NormFirst
def test_padding_neither_changes_an_output_nor_receives_a_gradient(
    wing: Wing, rng: np.random.Generator, norm_first: bool
) -> None:
    params, ids = some_encoder(rng, norm_first), np.array([[5, 6, 7, 0, 0], [5, 6, 7, 8, 9]])
    x, mask = rng.normal(size=(2, 5, 4)), wing.padding_mask(ids)
    alone, _ = wing.encoder(x[:1, :3], params, 2, None, norm_first)
    padded, weights = wing.encoder(x, params, 2, mask, norm_first)
    close(padded[:1, :3], alone, atol=1e-12)
    assert all((w[0, :, :, 3:] == 0).all() for w in weights)
    grad = np.where((ids != 0)[..., None], 1.0, 0.0) * rng.normal(size=x.shape)
    d_x, _ = wing.encoder_vjp(grad, x, params, 2, mask, norm_first)
    assert (d_x[0, 3:] == 0).all()
    assert (d_x[0, :3] != 0).any()


@NormFirst
def test_without_positions_the_outputs_move_with_the_inputs(
    wing: Wing, rng: np.random.Generator, norm_first: bool
) -> None:
    params, x, order = some_encoder(rng, norm_first), rng.normal(size=(1, 6, 4)), rng.permutation(6)
    straight, _ = wing.encoder(x, params, 2, None, norm_first)
    shuffled, _ = wing.encoder(x[:, order], params, 2, None, norm_first)
    close(shuffled, straight[:, order], atol=1e-10)


@NormFirst
def test_each_parameter_of_a_stack_matters(wing: Wing, rng: np.random.Generator, norm_first: bool) -> None:
    params, x = some_encoder(rng, norm_first), rng.normal(size=(1, 3, 4))
    before, _ = wing.encoder(x, params, 2, None, norm_first)
    for name, value in params.items():
        after, _ = wing.encoder(x, {**params, name: 2 * value}, 2, None, norm_first)
        # One exception is right: a key bias adds the same number to all scores of a query.
        assert np.allclose(before, after) == name.endswith("key.bias"), name


def change(params: dict[str, Any], without: str = "", extra: str = "") -> dict[str, Any]:
    kept = {name: value for name, value in params.items() if not (without and name.startswith(without))}
    return kept | ({extra: np.ones(4)} if extra else {})


@pytest.mark.parametrize(
    ("norm_first", "without", "extra", "sentence"),
    [
        (False, "layers.0", "", "lacks ['0'] and has ['1'] left over"),
        (False, "layers.1.attention.key.bias", "", "lacks ['key.bias']"),
        (False, "layers.1.attention_residual", "", "lacks ['attention_residual']"),
        (False, "", "layers.0.gate", "has ['gate'] left over"),
        (False, "", "norm.weight", "has ['norm'] left over"),  # a pre-LN checkpoint read as post-LN
        (True, "norm", "", "lacks ['norm']"),  # and the reverse
        (True, "norm.bias", "", "lacks ['bias']"),
    ],
)
def test_parameters_that_belong_to_another_stack_are_refused(
    wing: Wing, rng: np.random.Generator, norm_first: bool, without: str, extra: str, sentence: str
) -> None:
    params = change(some_encoder(rng, norm_first), without, extra)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        wing.encoder(np.ones((1, 3, 4)), params, 2, None, norm_first)
