"""Claims about the learning rate."""

from __future__ import annotations

import pytest

from bertlab.training import inverse_square_root, linear_decay, noam


def test_D34_the_rate_after_40_of_100_steps():
    assert linear_decay(1e-3, warmup=10, total=100)(40) == pytest.approx(6.667e-4, abs=1e-7)


def test_the_rate_rises_to_its_peak_and_falls_to_zero():
    rate = linear_decay(1e-3, warmup=10, total=100)
    rates = [rate(step) for step in range(101)]
    assert max(rates) == rates[10] == 1e-3
    assert rates[:11] == sorted(rates[:11])
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[0] == rates[100] == rate(1000) == 0


def test_a_warm_up_longer_than_the_training_is_refused():
    with pytest.raises(ValueError, match="warmup=9 of total=9"):
        linear_decay(1e-3, warmup=9, total=9)


def test_the_transformers_own_rate_is_equation_3():
    for d_model, warmup in ((512, 4000), (64, 7)):
        rate = noam(d_model, warmup, scale=2.0)
        for step in (1, 2, warmup - 1, warmup, warmup + 1, 50_000):
            by_paper = 2.0 * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
            assert rate(step) == pytest.approx(by_paper, rel=1e-12)
    assert noam(512, 4000)(0) == 0


def test_the_inverse_square_root_has_its_peak_at_the_end_of_the_warm_up():
    rate = inverse_square_root(1e-3, warmup=10)
    rates = [rate(step) for step in range(1000)]
    assert max(rates) == rates[10] == 1e-3
    assert rates[:11] == sorted(rates[:11])
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rate(40) == pytest.approx(5e-4)


@pytest.mark.parametrize("warmup", [0, -3])
def test_a_rise_of_no_steps_is_refused(warmup):
    for schedule in (lambda: noam(512, warmup), lambda: inverse_square_root(1.0, warmup)):
        with pytest.raises(ValueError, match=f"warmup={warmup}"):
            schedule()
