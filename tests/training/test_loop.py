"""Claims about training: it learns, it resumes exactly, and it stops at nonsense."""

from __future__ import annotations

import os
import signal

import pytest
import torch
from torch import nn

from bertlab.nn.losses import cross_entropy
from bertlab.training import fit, linear_decay, read_journal


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


@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("batch", [0, 21, 22, 23])
def test_D34_an_interrupted_run_goes_on_as_if_it_had_not_been(tmp_path, batch, accumulate):
    """Wherever it was interrupted, also between the batches of a step, when dropout has drawn from chance."""
    options = {"steps": 20, "learning_rate": constant, "accumulate": accumulate}
    model, loss = setup_run(dropout=0.5)

    def interrupted(i):
        found = loss(i)
        if i == batch:
            raise KeyboardInterrupt
        return found

    file = tmp_path / "run.pt"
    try:
        fit(model, interrupted, **options, checkpoint=file)
    except KeyboardInterrupt:
        assert batch < 20 * accumulate
    torch.manual_seed(77)
    resumed, loss = setup_run(dropout=0.5)
    unbroken, loss_too = setup_run(dropout=0.5)
    expected = fit(unbroken, loss_too, **options)
    torch.manual_seed(78)
    assert fit(resumed, loss, **options, checkpoint=file) == expected
    assert all(torch.equal(a, b) for a, b in zip(unbroken.parameters(), resumed.parameters(), strict=True))


def test_D34_an_interruption_while_the_weights_move_waits_until_all_have_moved(tmp_path, monkeypatch):
    step = torch.optim.AdamW.step

    def interrupted(optimizer, *args):
        if optimizer.state_dict()["state"].get(0, {}).get("step", 0) == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return step(optimizer, *args)

    options = {"steps": 9, "learning_rate": constant, "checkpoint": tmp_path / "run.pt"}
    model, loss = setup_run()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    with monkeypatch.context() as patch:
        patch.setattr(torch.optim.AdamW, "step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fit(model, loss, **options)
    signal.signal(signal.SIGINT, before)
    assert len(torch.load(tmp_path / "run.pt", weights_only=True)["losses"]) == 5
    unbroken, loss_too = setup_run()
    assert fit(model, loss, **options) == fit(unbroken, loss_too, steps=9, learning_rate=constant)


def noisy_loss_of(model):
    """An evaluation that draws from chance, and so could disturb the training."""
    return lambda: {"noise": torch.rand(1).item(), "training": float(model.training), "weight": total(model)}


def total(model):
    return float(sum(p.detach().double().sum() for p in model.parameters()))


def test_D34_a_resumed_run_writes_the_same_journal(tmp_path):
    options = {"learning_rate": constant, "report_every": 3}
    whole, loss = setup_run(dropout=0.5)
    fit(whole, loss, steps=10, **options, evaluate=noisy_loss_of(whole), journal=tmp_path / "whole.jsonl")

    def resume(until, fail_at=None):
        model, loss = setup_run(dropout=0.5)
        reported = noisy_loss_of(model)

        def evaluate():
            if len(read_journal(tmp_path / "parts.jsonl")) == fail_at:
                raise KeyboardInterrupt
            return reported()

        files = {"journal": tmp_path / "parts.jsonl", "checkpoint": tmp_path / "parts.pt"}
        fit(model, loss, steps=until, **options, evaluate=evaluate, **files)

    with pytest.raises(KeyboardInterrupt):  # while it evaluates after step 6
        resume(10, fail_at=1)
    with pytest.raises(KeyboardInterrupt):  # and again
        resume(10, fail_at=1)
    with pytest.raises(KeyboardInterrupt):
        resume(10, fail_at=2)
    with (tmp_path / "parts.jsonl").open("a") as file:
        file.write('{"step": 10, "seconds": 3, "lost": 1}\n{"step": 1')  # of a run that was killed
    resume(10)
    rows = [read_journal(tmp_path / f"{name}.jsonl") for name in ("whole", "parts")]
    assert [row["step"] for row in rows[0]] == [3, 6, 9, 10]
    for row in (*rows[0], *rows[1]):
        assert row.pop("seconds") >= 0
        assert row["training"] == 0
    assert rows[0] == rows[1]


def test_evaluation_leaves_no_trace_in_the_training(tmp_path):
    plain, loss = setup_run(dropout=0.5)
    losses = fit(plain, loss, steps=10, learning_rate=constant)
    looked_at, loss = setup_run(dropout=0.5)
    evaluate = noisy_loss_of(looked_at)
    assert losses == fit(looked_at, loss, steps=10, learning_rate=constant, evaluate=evaluate, report_every=2)
    assert looked_at.training
    assert total(plain) == total(looked_at)


def test_the_journal_says_how_the_training_went(tmp_path):
    model, loss = setup_run()
    file = tmp_path / "folder" / "run.jsonl"
    rate = linear_decay(1e-2, warmup=2, total=10)
    losses = fit(
        model, loss, steps=5, learning_rate=rate, report_every=2, journal=file, evaluate=lambda: {"a": 1.0}
    )
    rows = read_journal(file)
    assert [row["step"] for row in rows] == [2, 4, 5]
    assert [row["loss"] for row in rows] == pytest.approx(
        [sum(losses[:2]) / 2, sum(losses[2:4]) / 2, losses[4]]
    )
    assert [row["rate"] for row in rows] == [rate(2), rate(4), rate(5)]
    assert all(row["norm"] > 0 and row["a"] == 1.0 for row in rows)
    assert rows[0]["seconds"] <= rows[1]["seconds"] <= rows[2]["seconds"]


def test_a_report_has_the_means_and_counts_of_what_was_noted_since_the_last_one(tmp_path):
    model, loss = setup_run()
    noted = iter(range(10))
    options = {"learning_rate": constant, "report_every": 2, "journal": tmp_path / "run.jsonl"}
    fit(model, loss, steps=5, **options, notes=lambda: {"part": float(next(noted)), "n_tokens": 7.0})
    rows = read_journal(tmp_path / "run.jsonl")
    assert [(row["step"], row["part"], row["n_tokens"]) for row in rows] == [
        (2, 0.5, 14.0), (4, 2.5, 14.0), (5, 4.0, 7.0)
    ]  # fmt: skip


def test_the_fused_step_is_that_of_the_plain_one_but_for_rounding():
    (plain, loss), (fused, loss_too) = setup_run(), setup_run()
    fit(plain, loss, steps=5, learning_rate=constant, weight_decay=0.1)
    fit(fused, loss_too, steps=5, learning_rate=constant, weight_decay=0.1, fused=True)
    for a, b in zip(plain.parameters(), fused.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-6)


def test_without_decay_the_steps_are_those_of_adam_bit_for_bit():
    """So the results kept from before there was any decay stay what they are."""
    ours, loss = setup_run(dropout=0.5)
    fit(ours, loss, steps=20, learning_rate=constant)
    theirs, loss = setup_run(dropout=0.5)
    adam = torch.optim.Adam(theirs.parameters(), lr=1e-2)
    for step in range(20):
        adam.zero_grad()
        loss(step).backward()
        nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
        adam.step()
    assert all(torch.equal(a, b) for a, b in zip(ours.parameters(), theirs.parameters(), strict=True))


def sequences(counts):
    """Logits of a linear model and targets; batch i has counts[i] of them that count."""
    generator = torch.Generator().manual_seed(2)
    xs = [torch.randn(6, 4, generator=generator, dtype=torch.float64) for _ in counts]
    ys = [torch.where(torch.arange(6) < n, torch.arange(6) % 3, -100) for n in counts]
    return xs, ys


def test_D33_accumulated_batches_move_the_weights_like_one_batch_of_all_their_targets():
    xs, ys = sequences([1, 6, 3, 2])
    whole, parts, unweighted = (nn.Linear(4, 3, dtype=torch.float64) for _ in range(3))
    parts.load_state_dict(whole.state_dict())
    unweighted.load_state_dict(whole.state_dict())
    options = {"steps": 2, "learning_rate": constant, "clip": 1e-3, "eps": 1.0}

    def both(step):
        x, y = torch.cat(xs[2 * step : 2 * step + 2]), torch.cat(ys[2 * step : 2 * step + 2])
        return cross_entropy(whole(x), y)

    losses = fit(whole, both, **options)
    found = fit(
        parts,
        lambda i: (cross_entropy(parts(xs[i]), ys[i]), (ys[i] != -100).sum()),
        accumulate=2,
        **options,
    )
    assert found == pytest.approx(losses, abs=1e-12)
    for a, b in zip(whole.parameters(), parts.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=0, atol=1e-12)
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)
    mean_of_means = fit(
        unweighted, lambda i: cross_entropy(unweighted(xs[i]), ys[i]), accumulate=2, **options
    )
    assert abs(mean_of_means[0] - losses[0]) > 1e-3  # a bare mean counts as one target


def test_bf16_is_used_inside_of_the_loss_and_nowhere_else():
    model, seen = nn.Linear(4, 3), []

    def loss(step):
        out = model(torch.ones(2, 4))
        seen.append(out.dtype)
        return cross_entropy(out, torch.tensor([0, 1]))

    for bf16 in (False, True):
        fit(model, loss, steps=1, learning_rate=constant, bf16=bf16, evaluate=lambda: {"loss": loss(0)})
    assert seen == [torch.float32, torch.float32, torch.bfloat16, torch.float32]
    assert {p.dtype for p in model.parameters()} == {torch.float32}


@pytest.mark.parametrize("options", [{"accumulate": 0}, {"report_every": 0}, {"weight_decay": -0.1}])
def test_numbers_that_make_no_training_are_refused(options):
    model, loss = setup_run()
    (name, value), *_ = options.items()
    with pytest.raises(ValueError, match=f"{name}={value}"):
        fit(model, loss, steps=1, learning_rate=constant, **options)


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
    with pytest.raises(FloatingPointError, match=r"batch 0 is nan.*learning rate"):
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
