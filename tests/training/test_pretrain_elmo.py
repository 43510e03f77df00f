"""Claims about ELMo's pre-training: one loss however a batch is cut, nothing lost when it is interrupted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from bertlab.text import open_shards
from bertlab.text.stretches import Stretches
from bertlab.training import pretrain_elmo as module
from bertlab.training.pretrain_config import ConfigError, read_config
from bertlab.training.pretrain_elmo import (
    ELMoPretrainConfig,
    batch_loss,
    begin_elmo,
    both_ways,
    held_out_numbers,
    pretrain_elmo,
)
from bertlab.training.run_folder import FolderError
from bertlab.training.running_text import Reading
from tests.training.pretraining import rows, same, weights, world

CPU = torch.device("cpu")
SIZES = {"d_model": 8, "d_memory": 12}


@pytest.fixture
def config(tmp_path: Path) -> ELMoPretrainConfig:
    """Twelve steps on a small world of letters."""
    of_bert = world(tmp_path)
    return ELMoPretrainConfig(
        shards=of_bert.shards, vocab=of_bert.vocab, out=of_bert.out, steps=12, model=SIZES, batch_size=8,
        max_length=24, rate=1e-2, report_every=3, save_every=4,
    )  # fmt: skip


def run(config: ELMoPretrainConfig, **changes: Any) -> list[float]:
    return pretrain_elmo(replace(config, **changes), CPU, say=lambda sentence: None)


def reading(config: ELMoPretrainConfig) -> Any:
    model, tokenizer = begin_elmo(config)
    corpus = open_shards(config.shards[0], tokenizer)
    stretches = Stretches(corpus, tokenizer, config.max_length, config.batch_size, config.seed)
    own: Any = Reading(config, both_ways(model, config.bf16), stretches, CPU)
    own.model = model
    return own


def test_the_loss_falls_and_what_is_saved_is_the_model_that_was_trained(config: ELMoPretrainConfig) -> None:
    saved = []
    config = replace(config, steps=60, dropout=0.0)
    losses = pretrain_elmo(
        config, CPU, lambda model, *_: saved.append(model.state_dict()), say=lambda s: None
    )
    assert sum(losses[-10:]) < 0.95 * sum(losses[:10])
    assert same(saved[0], weights(config.out))


def test_D34_a_run_that_was_interrupted_ends_as_if_it_had_not_been(
    config: ELMoPretrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(config, out=str(tmp_path / "whole"), held_out=config.shards, held_out_batches=1)
    usual, calls = module.batch_loss, []

    def interrupted(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return usual(*arguments)

    monkeypatch.setattr(module, "batch_loss", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(config, held_out=config.shards, held_out_batches=1)
    assert run(config, held_out=config.shards, held_out_batches=1) == whole
    assert same(weights(config.out), weights(tmp_path / "whole"))
    assert rows(config.out) == rows(tmp_path / "whole")
    assert {"forward", "backward", "n_tokens", "held_out_forward", "held_out_backward"} <= rows(config.out)[
        0
    ].keys()


def test_D33_a_batch_computed_in_parts_moves_the_weights_like_the_whole(
    config: ELMoPretrainConfig, tmp_path: Path
) -> None:
    losses = [
        run(config, steps=2, warmup=0, dropout=0.0, micro_batch=n, out=str(tmp_path / f"run{n}"))
        for n in (0, 2)
    ]
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)
    one, other = (weights(tmp_path / f"run{n}") for n in (0, 2))
    assert all(torch.allclose(one[name], other[name], atol=1e-4) for name in one)


def test_the_loss_of_a_step_is_that_of_its_batch_and_its_notes_tell_both_parts(
    config: ELMoPretrainConfig,
) -> None:
    own = reading(replace(config, dropout=0.0))
    n = own.stretches.n_batches(0)
    loss, n_targets = own.loss(n + 1)  # of the second epoch
    ids, mask = map(torch.from_numpy, own.stretches.batch(1, 1))
    joint, forward, backward = own.model.loss(ids, mask=mask)
    assert loss.item() == pytest.approx(joint.item(), abs=1e-6)
    told = {"forward": forward.item(), "backward": backward.item(), "n_tokens": int(mask.sum())}
    assert own.notes() == pytest.approx(told, abs=1e-6)
    assert n_targets == int(mask.sum()) - len(mask)


def test_dropout_depends_on_seed_and_step_alone(config: ELMoPretrainConfig) -> None:
    config = replace(config, dropout=0.5)
    first, again, other = reading(config), reading(config), reading(replace(config, seed=1))
    again.loss(5)
    assert first.loss(2)[0] == again.loss(2)[0]
    other.model.load_state_dict(first.model.state_dict())
    other.stretches = first.stretches
    assert first.loss(2)[0] != other.loss(2)[0]


def test_in_bfloat16_only_the_softmax_is_rounded(config: ELMoPretrainConfig) -> None:
    own = reading(replace(config, dropout=0.0))
    ids, mask = map(torch.from_numpy, own.stretches.batch(0, 0))
    exact, rounded = (batch_loss(own.model, ids, mask, bf16)[0] for bf16 in (False, True))
    assert exact != rounded
    assert rounded.item() == pytest.approx(exact.item(), rel=0.01)
    rounded.backward()
    assert all(p.grad is not None and p.grad.dtype == torch.float32 for p in own.model.parameters())


def test_held_out_numbers_are_means_over_all_tokens(config: ELMoPretrainConfig) -> None:
    own = reading(replace(config, dropout=0.0))
    batches = [own.stretches.batch(0, i) for i in range(2)]
    found = held_out_numbers(own.model, batches, CPU)
    parts = [
        (own.model.loss(torch.from_numpy(b.ids), mask=torch.from_numpy(b.mask)), b.mask.sum() - 8)
        for b in batches
    ]
    n = sum(n for _, n in parts)
    assert found["held_out_forward"] == pytest.approx(
        sum(loss[1].item() * n for loss, n in parts) / n, abs=1e-6
    )
    assert found["held_out_backward"] == pytest.approx(
        sum(loss[2].item() * n for loss, n in parts) / n, abs=1e-6
    )


def test_a_folder_of_another_run_is_refused(config: ELMoPretrainConfig) -> None:
    run(config, steps=2)
    with pytest.raises(FolderError, match=r"holds a run with rate = 0\.01, now it is 0\.02"):
        run(config, steps=2, rate=0.02)


def test_a_configuration_is_read_from_toml(config: ELMoPretrainConfig, tmp_path: Path) -> None:
    values = config.as_json()
    sizes = values.pop("model")
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    path = tmp_path / "elmo.toml"
    path.write_text("\n".join([*lines, "[model]", *(f"{key} = {value}" for key, value in sizes.items())]))
    assert read_config(path, ELMoPretrainConfig) == config
    path.write_text("mask_rate = 0.15")
    with pytest.raises(ConfigError, match="mask_rate is unknown"):
        read_config(path, ELMoPretrainConfig)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model": "huge"}, "model = 'huge' is no size"),
        ({"model": {"d_memory": 0}}, "model: d_memory=0"),
        ({"model": {"vocab_size": 9}}, "model.vocab_size is no size of a model of pieces"),
        ({"model": {"heads": 2}}, "model.heads is no size"),
        ({"micro_batch": 3}, "does not cut into parts of micro_batch = 3"),
        ({"max_length": 3}, "max_length = 3: choose 4 or more"),
        ({"vocab": "nowhere.txt"}, "vocab = 'nowhere.txt'"),
    ],
)
def test_what_makes_no_training_is_named(
    config: ELMoPretrainConfig, changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        run(config, **changes)
