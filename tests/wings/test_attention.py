"""Attention of both wings, against plain loops and against what attention promises."""

import math

import numpy as np
import pytest

from tests import loops
from tests.inputs import Arguments, examples_of, some_params
from tests.wing import Wing

close = np.testing.assert_allclose


def rows_of(mask: np.ndarray | None, *shape: int) -> np.ndarray:
    """The mask written out for every batch, head, query and key."""
    return np.broadcast_to(True if mask is None else mask, shape)


@examples_of("attend")
def test_attend_mixes_the_values_by_the_softmax_of_the_scores(wing: Wing, arguments: Arguments) -> None:
    scores, values, mask = arguments
    context, weights = wing.attend(scores, values, mask)
    allowed = rows_of(mask, *scores.shape)
    for b, h, i in np.ndindex(scores.shape[:-1]):
        by_loop = loops.softmax(scores[b, h, i], allowed[b, h, i])
        close(weights[b, h, i], by_loop, atol=1e-12)
        close(context[b, h, i], loops.mix(by_loop, values[b, h]), atol=1e-12)


@examples_of("dot_scores")
def test_dot_scores_multiply_each_query_with_each_key(wing: Wing, arguments: Arguments) -> None:
    queries, keys = arguments
    by_loop = [[[loops.dot(q, k) for k in keys[b]] for q in queries[b]] for b in range(len(keys))]
    close(wing.dot_scores(queries, keys), by_loop, atol=1e-12)


@examples_of("general_scores")
def test_general_scores_put_a_matrix_between_query_and_key(wing: Wing, arguments: Arguments) -> None:
    queries, keys, weight = arguments
    by_loop = [
        [[loops.dot(q, loops.matrix_vector(weight, k)) for k in keys[b]] for q in queries[b]]
        for b in range(len(keys))
    ]
    close(wing.general_scores(queries, keys, weight), by_loop, atol=1e-12)


@examples_of("additive_scores")
def test_additive_scores_ask_a_small_network_about_each_pair(wing: Wing, arguments: Arguments) -> None:
    queries, keys, *network = arguments
    by_loop = [
        [[loops.additive_score(q, k, *network) for k in keys[b]] for q in queries[b]]
        for b in range(len(keys))
    ]
    close(wing.additive_scores(queries, keys, *network), by_loop, atol=1e-12)


@examples_of("concat_scores")
def test_concat_scores_read_query_and_key_as_one_vector(wing: Wing, arguments: Arguments) -> None:
    queries, keys, weight, v = arguments
    scores = wing.concat_scores(queries, keys, weight, v)
    for b, i, j in np.ndindex(scores.shape):
        pair = np.concatenate([queries[b, i], keys[b, j]])
        hidden = [math.tanh(a) for a in loops.matrix_vector(weight, pair)]
        close(scores[b, i, j], loops.dot(v, hidden), atol=1e-12)


@examples_of("scaled_dot_product_attention")
def test_scaled_dot_product_attention_is_equation_1(wing: Wing, arguments: Arguments) -> None:
    q, k, v, mask = arguments
    output, weights = wing.scaled_dot_product_attention(*arguments)
    allowed = rows_of(mask, *weights.shape)
    for b, h in np.ndindex(q.shape[:2]):
        mixed, shares = loops.attention(q[b, h], k[b, h], v[b, h], allowed[b, h])
        close(weights[b, h], shares, atol=1e-12)
        close(output[b, h], mixed, atol=1e-12)


@examples_of("self_attention")
def test_self_attention_projects_one_sequence_three_times(wing: Wing, arguments: Arguments) -> None:
    x, w_query, w_key, w_value, mask = arguments
    output, weights = wing.self_attention(*arguments)
    allowed = rows_of(mask, *weights.shape)
    for b in range(len(x)):
        q, k, v = ([loops.matrix_vector(w, token) for token in x[b]] for w in (w_query, w_key, w_value))
        mixed, shares = loops.attention(q, k, v, allowed[b])
        close(weights[b], shares, atol=1e-12)
        close(output[b], mixed, atol=1e-12)


@examples_of("multi_head_attention")
def test_every_head_attends_in_its_own_slice_of_the_width(wing: Wing, arguments: Arguments) -> None:
    query, key, value, params, n_heads, mask = arguments
    output, weights = wing.multi_head_attention(*arguments)
    allowed, K = rows_of(mask, *weights.shape), query.shape[-1] // n_heads

    def project(part: str, x: np.ndarray) -> np.ndarray:
        by_loop = [loops.matrix_vector(params[f"{part}.weight"], token) for token in x]
        return np.array(by_loop) + params[f"{part}.bias"]

    for b in range(len(query)):
        q, k, v = project("query", query[b]), project("key", key[b]), project("value", value[b])
        found = []
        for h in range(n_heads):
            its = slice(h * K, (h + 1) * K)
            mixed, shares = loops.attention(q[:, its], k[:, its], v[:, its], allowed[b, h])
            close(weights[b, h], shares, atol=1e-12)
            found.append(mixed)
        close(output[b], project("output", np.concatenate(found, axis=1)), atol=1e-11)


@examples_of("split_heads")
def test_merging_the_heads_undoes_splitting_them(wing: Wing, arguments: Arguments) -> None:
    x, n_heads = arguments
    heads = wing.split_heads(x, n_heads)
    assert heads.shape == (x.shape[0], n_heads, x.shape[1], x.shape[2] // n_heads)
    np.testing.assert_array_equal(wing.merge_heads(heads), x)


def test_the_first_head_has_the_first_features(wing: Wing) -> None:
    heads = wing.split_heads(np.arange(12.0).reshape(1, 2, 6), 3)
    np.testing.assert_array_equal(heads[0, 0], [[0, 1], [6, 7]])
    np.testing.assert_array_equal(heads[0, 2], [[4, 5], [10, 11]])


def test_a_hidden_key_cannot_change_the_output(wing: Wing, rng: np.random.Generator) -> None:
    q, k, v = rng.normal(size=(3, 4, 2))
    causal = wing.causal_mask(4)
    before, weights = wing.scaled_dot_product_attention(q, k, v, causal)
    k[3], v[3] = 1e3, -1e3  # only the last query may attend to key 3
    after, _ = wing.scaled_dot_product_attention(q, k, v, causal)
    np.testing.assert_array_equal(before[:3], after[:3])
    assert not np.allclose(before[3], after[3])  # the change did reach the one that looks
    assert (weights[~causal] == 0).all()


def test_a_hidden_key_receives_no_gradient(wing: Wing, rng: np.random.Generator) -> None:
    q, k, v = rng.normal(size=(3, 4, 2))
    mask = np.ones((4, 4), dtype=bool)
    mask[:, 1] = False
    d_q, d_k, d_v = wing.scaled_dot_product_attention_vjp(np.ones((4, 2)), q, k, v, mask)
    assert (d_k[1] == 0).all()
    assert (d_v[1] == 0).all()
    assert (d_v[[0, 2, 3]] != 0).all()
    assert (d_q != 0).any()


def test_the_order_of_the_keys_does_not_matter(wing: Wing, rng: np.random.Generator) -> None:
    q, k, v = rng.normal(size=(3, 4)), rng.normal(size=(5, 4)), rng.normal(size=(5, 2))
    order = rng.permutation(5)
    before, weights = wing.scaled_dot_product_attention(q, k, v)
    after, shuffled = wing.scaled_dot_product_attention(q, k[order], v[order])
    close(after, before, atol=1e-12)
    close(shuffled, weights[:, order], atol=1e-12)


def test_one_wide_projection_is_as_many_heads_as_it_is_cut_into(wing: Wing, rng: np.random.Generator) -> None:
    x, params = rng.normal(size=(2, 5, 8)), some_params(rng, 8)
    _, one = wing.multi_head_attention(x, x, x, params, 1)
    _, four = wing.multi_head_attention(x, x, x, params, 4)
    assert one.shape == (2, 1, 5, 5)
    assert four.shape == (2, 4, 5, 5)
    assert not np.allclose(one[:, 0], four.mean(axis=1))  # heads are not an average of one wide head


def test_each_parameter_of_multi_head_attention_matters(wing: Wing, rng: np.random.Generator) -> None:
    x, params = rng.normal(size=(1, 3, 4)), some_params(rng, 4)
    before, _ = wing.multi_head_attention(x, x, x, params, 2)
    for name in params:
        after, _ = wing.multi_head_attention(x, x, x, {**params, name: 2 * params[name]}, 2)
        # One exception is right: a key bias adds the same number to all scores of a query.
        assert np.allclose(before, after) == (name == "key.bias"), name


WRONG_SHAPES = {
    "n_heads that do not divide the width": lambda wing: wing.split_heads(np.zeros((1, 2, 6)), 4),
    "no heads": lambda wing: wing.split_heads(np.zeros((1, 2, 6)), 0),
    "a sequence without its batch axis": lambda wing: wing.split_heads(np.zeros((2, 6)), 2),
    "heads that were not split": lambda wing: wing.merge_heads(np.zeros((1, 2, 6))),
    "a value too few": lambda wing: wing.attend(np.zeros((2, 3, 4)), np.zeros((2, 3, 5))),
    "values of another batch": lambda wing: wing.attend(np.zeros((2, 3, 4)), np.zeros((1, 4, 5))),
    "queries and keys of another width": lambda wing: wing.dot_scores(
        np.zeros((1, 2, 3)), np.zeros((1, 2, 4))
    ),
    "queries and keys of another batch": lambda wing: wing.dot_scores(
        np.zeros((2, 2, 3)), np.zeros((1, 2, 3))
    ),
    "a concat weight of another width": lambda wing: wing.concat_scores(
        np.zeros((1, 2, 3)), np.zeros((1, 2, 4)), np.zeros((5, 6)), np.zeros(5)
    ),
}


@pytest.mark.parametrize("mistake", WRONG_SHAPES)
def test_shapes_that_do_not_fit_are_refused_in_one_sentence(wing: Wing, mistake: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*\d[^\n]*: [^\n]*$"):  # one line, with a number in it
        WRONG_SHAPES[mistake](wing)


@pytest.mark.parametrize(("change", "named"), [("missing", "key.bias"), ("left over", "key.gamma")])
def test_parameters_must_be_complete_and_known(
    wing: Wing, rng: np.random.Generator, change: str, named: str
) -> None:
    x, params = rng.normal(size=(1, 3, 4)), some_params(rng, 4)
    if change == "missing":
        del params[named]
    else:
        params[named] = np.ones(4)
    with pytest.raises(ValueError, match=named):
        wing.multi_head_attention(x, x, x, params, 2)
