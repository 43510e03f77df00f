"""The decoder of both wings: what a layer is made of, and what may flow where."""

import numpy as np
import pytest

from tests.inputs import Arguments, examples_of
from tests.stacks import NormFirst, part, some_decoder
from tests.wing import Wing

close = np.testing.assert_allclose


@examples_of("decoder_layer")
def test_a_layer_looks_at_the_target_then_at_the_source_then_thinks(wing: Wing, arguments: Arguments) -> None:
    x, memory, params, n_heads, mask, memory_mask, norm_first, activation, eps = arguments
    output, own_weights, cross_weights = wing.decoder_layer(*arguments)
    own, past_own = part(params, "self_attention"), part(params, "self_attention_residual")
    x, shares = wing.attention_sublayer(x, None, own, past_own, n_heads, mask, norm_first, eps)
    np.testing.assert_array_equal(own_weights, shares)
    across, past_across = part(params, "cross_attention"), part(params, "cross_attention_residual")
    x, shares = wing.attention_sublayer(x, memory, across, past_across, n_heads, memory_mask, norm_first, eps)
    np.testing.assert_array_equal(cross_weights, shares)
    network, past_network = part(params, "feed_forward"), part(params, "feed_forward_residual")
    x = wing.feed_forward_sublayer(x, network, past_network, norm_first, activation, eps)
    np.testing.assert_array_equal(output, x)


@examples_of("decoder")
def test_all_layers_of_a_stack_read_the_same_memory(wing: Wing, arguments: Arguments) -> None:
    x, memory, params, *options = arguments
    n_heads, _, _, norm_first, _, eps = options
    output, own_weights, cross_weights = wing.decoder(*arguments)
    assert len(own_weights) == len(cross_weights) == 2
    for i in range(2):
        x, own, across = wing.decoder_layer(x, memory, part(params, f"layers.{i}"), *options)
        np.testing.assert_array_equal(own_weights[i], own)
        np.testing.assert_array_equal(cross_weights[i], across)
    if norm_first:
        x = wing.layer_norm(x, params["norm.weight"], params["norm.bias"], eps)
    np.testing.assert_array_equal(output, x)
    assert own_weights[0].shape[1] == n_heads


@NormFirst
@pytest.mark.parametrize("t", range(5))
def test_no_output_has_a_gradient_to_an_input_that_comes_later(
    wing: Wing, rng: np.random.Generator, norm_first: bool, t: int
) -> None:
    x, memory, params = rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 3, 4)), some_decoder(rng, norm_first)
    grad = np.zeros((2, 5, 4))
    grad[:, t] = rng.normal(size=(2, 4))
    d_x, d_memory, _ = wing.decoder_vjp(grad, x, memory, params, 2, wing.causal_mask(5), None, norm_first)
    assert (d_x[:, t + 1 :] == 0).all()  # exactly
    assert (np.abs(d_x[:, : t + 1]).max(axis=-1) > 0).all()
    assert (d_memory != 0).all()


@NormFirst
def test_padding_of_source_and_target_changes_no_output(
    wing: Wing, rng: np.random.Generator, norm_first: bool
) -> None:
    params, x, memory = some_decoder(rng, norm_first), rng.normal(size=(1, 4, 4)), rng.normal(size=(1, 5, 4))
    alone, *_ = wing.decoder(x[:, :2], memory[:, :3], params, 2, wing.causal_mask(2), None, norm_first)
    source, target = np.array([[7, 7, 7, 0, 0]]), np.array([[7, 7, 0, 0]])
    mask = wing.padding_mask(target) & wing.causal_mask(4)
    padded, _, cross = wing.decoder(x, memory, params, 2, mask, wing.padding_mask(source), norm_first)
    close(padded[:, :2], alone, atol=1e-12)
    assert all((weights[..., 3:] == 0).all() for weights in cross)


def test_the_two_masks_are_not_the_same_mask(wing: Wing, rng: np.random.Generator) -> None:
    params, x, memory = some_decoder(rng, False), *rng.normal(size=(2, 1, 4, 4))
    causal = wing.causal_mask(4)
    _, own, cross = wing.decoder(x, memory, params, 2, causal, None)
    assert (own[0][..., ~causal] == 0).all()
    assert (cross[0] > 0).all()
    _, own, cross = wing.decoder(x, memory, params, 2, None, causal)
    assert (own[0] > 0).all()
    assert (cross[0][..., ~causal] == 0).all()


@NormFirst
def test_each_parameter_of_a_stack_matters(wing: Wing, rng: np.random.Generator, norm_first: bool) -> None:
    params, x, memory = some_decoder(rng, norm_first), *rng.normal(size=(2, 1, 3, 4))
    before, *_ = wing.decoder(x, memory, params, 2, None, None, norm_first)
    for name, value in params.items():
        after, *_ = wing.decoder(x, memory, {**params, name: 2 * value}, 2, None, None, norm_first)
        assert np.allclose(before, after) == name.endswith("key.bias"), name  # see test_encoder
