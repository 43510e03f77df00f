"""The elementary functions of both wings, against plain loops and against what they promise."""

import math

import numpy as np
import pytest

from tests import loops
from tests.inputs import Arguments, examples_of
from tests.wing import Wing

close = np.testing.assert_allclose


@examples_of("softmax")
def test_softmax_is_the_share_of_each_exponential(wing: Wing, arguments: Arguments) -> None:
    x, axis = arguments
    columns = np.moveaxis(x, axis, -1)
    by_loop = [loops.softmax(row) for row in columns.reshape(-1, columns.shape[-1])]
    close(np.moveaxis(wing.softmax(x, axis), axis, -1).reshape(np.shape(by_loop)), by_loop, atol=1e-12)


@examples_of("log_softmax")
def test_log_softmax_is_the_logarithm_of_softmax(wing: Wing, arguments: Arguments) -> None:
    close(wing.log_softmax(*arguments), np.log(wing.softmax(*arguments)), atol=1e-12)


def test_softmax_and_its_logarithm_survive_scores_that_exp_cannot_take(wing: Wing) -> None:
    x = np.array([1e4, 0.0, -1e4])
    close(wing.softmax(x), [1, 0, 0])
    close(wing.log_softmax(x), [0, -1e4, -2e4])


def test_softmax_does_not_see_a_shift_of_all_scores(wing: Wing, rng: np.random.Generator) -> None:
    x = rng.normal(size=(3, 4))
    close(wing.softmax(x + 100), wing.softmax(x), atol=1e-12)
    assert not np.allclose(wing.softmax(2 * x), wing.softmax(x))  # a stretch is another matter


@examples_of("cross_entropy")
def test_cross_entropy_is_the_mean_surprise_of_the_targets_that_count(
    wing: Wing, arguments: Arguments
) -> None:
    logits, targets, ignore_index, smoothing = arguments
    by_loop = loops.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), ignore_index, smoothing
    )
    close(wing.cross_entropy(*arguments), by_loop, atol=1e-12)


def test_cross_entropy_without_a_single_target_is_zero_and_so_is_its_gradient(wing: Wing) -> None:
    logits, targets = np.ones((2, 3)), np.full(2, -100)
    assert wing.cross_entropy(logits, targets) == 0.0
    assert (wing.cross_entropy_vjp(1.0, logits, targets) == 0).all()


def test_cross_entropy_does_not_look_at_logits_that_do_not_count(
    wing: Wing, rng: np.random.Generator
) -> None:
    logits, targets = rng.normal(size=(2, 3)), np.array([1, 7])
    before = wing.cross_entropy(logits, targets, 7)
    logits[1] = [-np.inf, 0, 1e300]
    assert wing.cross_entropy(logits, targets, 7) == before
    assert (wing.cross_entropy_vjp(1.0, logits, targets, 7)[1] == 0).all()


def test_cross_entropy_refuses_targets_in_another_arrangement(wing: Wing) -> None:
    with pytest.raises(ValueError, match=r"\(2, 3, 5\).*\(2, 3\).*\(3, 2\)"):
        wing.cross_entropy(np.zeros((2, 3, 5)), np.zeros((3, 2), dtype=int))


@pytest.mark.parametrize("target", [-1, 5])
def test_cross_entropy_refuses_a_target_that_is_no_class(wing: Wing, target: int) -> None:
    with pytest.raises(ValueError, match=rf"{target} .*\[0, 5\)"):
        wing.cross_entropy(np.zeros((2, 5)), np.array([0, target]))


@pytest.mark.parametrize("smoothing", [-0.1, 1.0])
def test_cross_entropy_refuses_a_smoothing_that_is_no_share(wing: Wing, smoothing: float) -> None:
    for loss in (wing.cross_entropy, lambda *a, **o: wing.cross_entropy_vjp(1.0, *a, **o)):
        with pytest.raises(ValueError, match=rf"{smoothing} .*\[0, 1\)"):
            loss(np.zeros((2, 5)), np.zeros(2, dtype=int), smoothing=smoothing)


def test_cross_entropy_without_smoothing_allows_a_class_that_is_impossible(wing: Wing) -> None:
    close(wing.cross_entropy(np.array([[0.0, 0.0, -np.inf]]), np.array([0])), np.log(2), atol=1e-12)


@examples_of("linear")
def test_linear_takes_one_dot_product_for_each_output(wing: Wing, arguments: Arguments) -> None:
    x, weight, bias = arguments
    shift = np.zeros(len(weight)) if bias is None else bias
    by_loop = [
        [[s + w for s, w in zip(loops.matrix_vector(weight, v), shift, strict=True)] for v in rows]
        for rows in x
    ]
    close(wing.linear(*arguments), by_loop, atol=1e-12)


@examples_of("embedding")
def test_embedding_gives_the_row_of_each_id(wing: Wing, arguments: Arguments) -> None:
    ids, table = arguments
    np.testing.assert_array_equal(wing.embedding(ids, table), [[table[i] for i in row] for row in ids])


@pytest.mark.parametrize("stranger", [-1, 4])
def test_embedding_refuses_an_id_without_a_row(wing: Wing, stranger: int) -> None:
    with pytest.raises(ValueError, match=rf"{stranger} .*4 rows.*\[0, 4\)"):
        wing.embedding(np.array([[0, stranger]]), np.zeros((4, 2)))


@examples_of("layer_norm")
def test_layer_norm_is_mean_zero_variance_one_then_gain_and_bias(wing: Wing, arguments: Arguments) -> None:
    x, gain, bias, eps = arguments
    by_loop = [[loops.layer_norm(v, gain, bias, eps) for v in rows] for rows in x]
    close(wing.layer_norm(*arguments), by_loop, rtol=1e-9, atol=1e-12)


def test_layer_norm_of_a_constant_vector_is_the_bias(wing: Wing) -> None:
    close(wing.layer_norm(np.full((1, 3), 7.0), np.ones(3), np.array([1.0, 2.0, 3.0]), 1e-5), [[1, 2, 3]])


@examples_of("gelu")
def test_gelu_weighs_by_the_normal_distribution(wing: Wing, arguments: Arguments) -> None:
    (x,) = arguments
    by_loop = [[v * (1 + math.erf(v / math.sqrt(2))) / 2 for v in row] for row in x]
    close(wing.gelu(x), by_loop, atol=1e-12)


def test_the_two_gelus_differ_by_at_most_4_74e_4(wing: Wing) -> None:
    x = np.linspace(-8, 8, 16001)
    gap = np.abs(wing.gelu(x) - wing.gelu_tanh(x))
    close(gap.max(), 4.74e-4, atol=5e-6)
    close(np.abs(x[gap.argmax()]), 2.7, atol=0.1)


@examples_of("relu")
def test_relu_lets_positive_numbers_pass(wing: Wing, arguments: Arguments) -> None:
    (x,) = arguments
    np.testing.assert_array_equal(wing.relu(x), [[loops.relu(v) for v in row] for row in x])


def test_relu_has_slope_0_at_its_kink(wing: Wing) -> None:
    np.testing.assert_array_equal(wing.relu_vjp(np.full(3, 5.0), np.array([-1.0, 0.0, 1.0])), [0, 0, 5])


@examples_of("sigmoid")
def test_sigmoid_is_one_over_one_plus_exp(wing: Wing, arguments: Arguments) -> None:
    (x,) = arguments
    close(wing.sigmoid(x), [[loops.sigmoid(v) for v in row] for row in x], atol=1e-12)


def test_sigmoid_of_numbers_far_out_neither_overflows_nor_warns(wing: Wing) -> None:
    close(wing.sigmoid(np.array([-1e4, 1e4])), [0, 1])
