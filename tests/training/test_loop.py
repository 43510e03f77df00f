"""Claims about training: it learns, it resumes exactly, and it stops at nonsense."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from bertlab.training import fit, linear_decay


def setup_run(dropout: float = 0.0):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, 1))
    x = torch.randn(20, 16, 3, generator=torch.Generator().manual_seed(1))
    return model, lambda step: (model(x[step % 20]).squeeze(-1) - x[step % 20].sum(-1)).square().mean()


def constant(step: int) -> float:
    return 1e-2


def test_the_loss_falls():
    model, loss = setup_run()
    losses = fit(model, loss, steps=200, learning_rate=constant)
    assert len(losses) == 200
    assert sum(losses[-20:]) < 0.05 * sum(losses[:20])


def test_D34_a_resumed_run_equals_an_unbroken_one(tmp_path):
    rate = linear_decay(1e-2, warmup=5, total=20)
    whole, loss = setup_run(dropout=0.5)
    losses = fit(whole, loss, steps=20, learning_rate=rate)

    first, loss = setup_run(dropout=0.5)
    fit(first, loss, steps=10, learning_rate=rate, checkpoint=tmp_path / "run.pt")
    second, loss = setup_run(dropout=0.5)
    torch.manual_seed(77)  # whatever chance did in between
    resumed = fit(second, loss, steps=20, learning_rate=rate, checkpoint=tmp_path / "run.pt")
    assert resumed == losses
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), second.parameters(), strict=True))


def test_an_interrupted_run_keeps_its_last_step(tmp_path):
    model, loss = setup_run()

    def interrupted(step):
        if step == 7:
            raise KeyboardInterrupt
        return loss(step)

    with pytest.raises(KeyboardInterrupt):
        fit(model, interrupted, steps=20, learning_rate=constant, checkpoint=tmp_path / "run.pt")
    resumed, loss = setup_run()
    unbroken, loss_too = setup_run()
    assert fit(resumed, loss, steps=20, learning_rate=constant, checkpoint=tmp_path / "run.pt") == fit(
        unbroken, loss_too, steps=20, learning_rate=constant
    )


def test_the_first_step_of_a_warm_up_is_not_lost():
    model, loss = setup_run()
    before = [p.clone() for p in model.parameters()]
    fit(model, loss, steps=1, learning_rate=linear_decay(1e-2, warmup=10, total=100))
    assert any(not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


def test_a_long_gradient_is_shortened():
    model, loss = setup_run()
    fit(model, lambda step: 1e6 * loss(step), steps=1, learning_rate=constant, clip=0.5)
    norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
    assert norm == pytest.approx(0.5, abs=1e-3)


def test_a_loss_that_is_not_finite_stops_the_run():
    model, loss = setup_run()
    with pytest.raises(FloatingPointError, match=r"nan.*learning rate"):
        fit(model, lambda step: loss(step) * float("nan"), steps=1, learning_rate=constant)


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    model, loss = setup_run()
    fit(model, loss, steps=1, learning_rate=constant, checkpoint=tmp_path / "run.pt")
    other = nn.Linear(3, 1)
    with pytest.raises(ValueError, match="another model"):
        fit(
            other,
            lambda step: other(torch.ones(3)).sum(),
            steps=2,
            learning_rate=constant,
            checkpoint=tmp_path / "run.pt",
        )
