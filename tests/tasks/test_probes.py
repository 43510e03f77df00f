"""A probe is a ridge regression; its penalty is chosen by what it has not seen; a control finds nothing."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.tasks.probes import PENALTIES, control_labels, probe, ridge


def test_errors_are_those_of_fits_without_the_one_asked(rng):
    x, labels = rng.normal(size=(12, 3)), [*"abcabcabcabb"]
    _, errors = ridge(x, labels, x)
    y = np.array([[label == one for one in "abc"] for label in labels], float)
    for penalty, error in zip(PENALTIES, errors, strict=True):
        found = 0.0
        for i in range(12):
            rest = np.arange(12) != i
            middle, mean = x[rest].mean(0), y[rest].mean(0)
            z = x[rest] - middle
            weights = np.linalg.solve(z.T @ z + penalty * np.eye(3), z.T @ (y[rest] - mean))
            found += ((y[i] - mean - (x[i] - middle) @ weights) ** 2).sum()
        np.testing.assert_allclose(error, found, rtol=0.25)  # the middle moves a little without it


def test_what_is_in_the_states_is_found_and_what_is_not_is_guessed(rng):
    x, asked = rng.normal(size=(300, 20)), rng.normal(size=(200, 20))
    direction = rng.normal(size=20)

    def names(states):
        return ["yes" if value > 0 else "no" for value in states @ direction]

    right = np.mean(np.array(probe(x, names(x), asked).guesses) == names(asked))
    assert right > 0.88
    drawn = rng.choice(["yes", "no"], 300).tolist()
    assert abs(np.mean(np.array(probe(x, drawn, asked).guesses) == names(asked)) - 0.5) < 0.12


def test_the_scale_of_a_number_makes_no_difference_and_a_constant_one_is_left_alone(rng):
    x, asked = rng.normal(size=(60, 3)), rng.normal(size=(30, 3))
    x[:, 2] = asked[:, 2] = 4
    labels = ["a" if value > 0 else "b" for value in x[:, 0]]
    plain = probe(x, labels, asked)
    assert probe(x * [1000, 1, 1] + 7, labels, asked * [1000, 1, 1] + 7) == plain


def test_where_the_states_lie_makes_no_difference(rng):
    x, asked = rng.normal(size=(30, 4)), rng.normal(size=(20, 4))
    labels = ["a" if value > 0 else "b" for value in x[:, 0]]
    (plain, errors), (moved, same) = ridge(x, labels, asked), ridge(x + 9, labels, asked + 9)
    assert plain == moved
    np.testing.assert_allclose(errors, same)
    assert len(set(plain[0])) == 2


def test_noise_wants_a_large_penalty_and_a_clear_signal_a_small_one(rng):
    x = rng.normal(size=(40, 60))
    noise = probe(x, rng.choice([*"ab"], 40).tolist(), x[:1]).penalty
    clear = np.concatenate([x[:, :1] * 0 + rng.normal(size=(40, 1)), x[:, :3] * 0.01], axis=1)
    signal = probe(clear, ["a" if value > 0 else "b" for value in clear[:, 0]], clear[:1]).penalty
    assert noise > signal


def test_a_word_has_one_label_in_the_control_task_and_all_are_drawn(rng):
    words = [f"w{i % 50}" for i in range(500)]
    drawn = control_labels(words, ["x", "x", "y"], rng)
    assert drawn.keys() == {*words}
    shares = np.mean([drawn[word] == "x" for word in drawn])
    assert 0.45 < shares < 0.9, "as often as in the real task"


def test_what_does_not_fit_is_refused(rng):
    x = rng.normal(size=(4, 3))
    with pytest.raises(ValueError, match="3 labels for 4 states: give one for each"):
        probe(x, [*"abc"], x)
    with pytest.raises(ValueError, match=r"states of shapes \(4, 3\) and \(4, 2\): give"):
        probe(x, [*"abca"], x[:, :2])
