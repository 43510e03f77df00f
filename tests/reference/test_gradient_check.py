"""The judge of the gradients, judged by gradients that everyone knows."""

import numpy as np

from bertlab.reference.gradient_check import numerical_gradient


def test_the_slope_of_known_functions() -> None:
    x = np.array([[0.5, -1.0], [2.0, 0.0]])
    np.testing.assert_allclose(numerical_gradient(lambda x: (x**3).sum(), x), 3 * x**2, atol=1e-8)
    np.testing.assert_allclose(
        numerical_gradient(lambda x: np.exp(x[0, 1]), x), [[0, np.exp(-1)], [0, 0]], atol=1e-8
    )


def test_the_point_itself_stays_where_it_was() -> None:
    x = np.array([1.0, 2.0])
    numerical_gradient(lambda x: x.sum(), x)
    np.testing.assert_array_equal(x, [1, 2])


def test_a_wrong_gradient_is_told_from_a_right_one() -> None:
    x = np.array([0.3, -0.7])
    measured = numerical_gradient(lambda x: np.tanh(x).sum(), x)
    np.testing.assert_allclose(measured, 1 - np.tanh(x) ** 2, atol=1e-9)
    assert not np.allclose(measured, 1 - np.tanh(x), atol=1e-3)


def test_a_longer_step_is_a_worse_estimate() -> None:
    x = np.array([1.0])
    errors = [
        abs(float(numerical_gradient(lambda x: np.exp(x).sum(), x, step)[0]) - np.e)
        for step in (1e-1, 1e-3, 1e-5)
    ]
    assert errors[0] > 100 * errors[1] > 1000 * errors[2]
