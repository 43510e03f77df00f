"""Claims about the learning rate."""

from __future__ import annotations

import pytest

from bertlab.training import linear_decay


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
