"""Claims about GPT's pre-training: it learns, nothing is lost when it is interrupted, bad input is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from bertlab.interop import load_gpt, save_gpt
from bertlab.nn.language_model import shift_left
from bertlab.text import open_shards
from bertlab.text.stretches import Stretches
from bertlab.training import pretrain_gpt as module
from bertlab.training.pretrain_config import ConfigError, read_config
from bertlab.training.pretrain_gpt import GPTPretrainConfig, begin_gpt, next_token, pretrain_gpt
from bertlab.training.run_folder import FolderError
from tests.training.pretraining import SIZES, rows, same, toml, weights, world

CPU = torch.device("cpu")


@pytest.fixture
def config(tmp_path: Path) -> GPTPretrainConfig:
    """Twelve steps on a small world of letters."""
    of_bert = world(tmp_path)
    return GPTPretrainConfig(
        shards=of_bert.shards, vocab=of_bert.vocab, out=of_bert.out, model=SIZES | {"d_ff": 64}, steps=12,
        batch_size=8, max_length=24, rate=1e-2, report_every=3, save_every=4,
    )  # fmt: skip


def run(config: GPTPretrainConfig, **changes: Any) -> list[float]:
    return pretrain_gpt(replace(config, **changes), CPU, say=lambda sentence: None)


def some_batch(config: GPTPretrainConfig) -> tuple[Any, torch.Tensor, torch.Tensor]:
    model, tokenizer = begin_gpt(config)
    corpus = open_shards(config.shards[0], tokenizer)
    batch = Stretches(corpus, tokenizer, config.max_length, config.batch_size).batch(0, 0)
    return model.eval(), torch.from_numpy(batch.ids), torch.from_numpy(batch.mask)


def test_the_loss_falls_and_what_is_saved_is_the_model_that_was_trained(config: GPTPretrainConfig) -> None:
    config = replace(config, steps=40, dropout=0.0)
    losses = pretrain_gpt(config, CPU, lambda *model: save_gpt(*model), say=lambda s: None)
    assert sum(losses[-10:]) < 0.95 * sum(losses[:10])
    model, tokenizer = load_gpt(Path(config.out) / "model")
    assert same(dict(model.state_dict()), weights(config.out))
    assert len(tokenizer) == model.config.vocab_size


def test_D34_a_run_that_was_interrupted_ends_as_if_it_had_not_been(
    config: GPTPretrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(config, held_out=config.shards, held_out_batches=1, dropout=0.2)
    whole = run(config, out=str(tmp_path / "whole"))
    usual, calls = module.NextToken.forward, []

    def interrupted(self: Any, *batch: Any) -> Any:
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return usual(self, *batch)

    with monkeypatch.context() as patch:
        patch.setattr(module.NextToken, "forward", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(config)
    assert run(config) == whole
    assert same(weights(config.out), weights(tmp_path / "whole"))
    assert rows(config.out) == rows(tmp_path / "whole")
    assert {"next_token", "n_tokens", "held_out_next_token"} <= rows(config.out)[0].keys()


def test_D33_a_batch_computed_in_parts_moves_the_weights_like_the_whole(
    config: GPTPretrainConfig, tmp_path: Path
) -> None:
    losses = [
        run(config, steps=2, warmup=0, dropout=0.0, micro_batch=n, out=str(tmp_path / f"run{n}"))
        for n in (0, 2)
    ]
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)
    one, other = (weights(tmp_path / f"run{n}") for n in (0, 2))
    assert all(torch.allclose(one[name], other[name], atol=1e-4) for name in one)


def test_every_token_but_the_first_of_each_row_is_asked_for_and_no_padding(config: GPTPretrainConfig) -> None:
    model, ids, mask = some_batch(config)
    assert not mask.all(), "the batch should have padding, or packing is not tested"
    log_p = model(ids).logits.log_softmax(-1)[:, :-1].gather(2, ids[:, 1:, None])[..., 0]
    loss, parts = next_token(model)(ids, mask)
    torch.testing.assert_close(loss, -log_p[mask[:, 1:]].mean())
    assert parts == {"next_token": loss.item()}
    torch.testing.assert_close(loss, model.loss(ids, shift_left(ids, mask)))


def test_in_bfloat16_weights_and_gradients_stay_exact(config: GPTPretrainConfig) -> None:
    model, ids, mask = some_batch(config)
    exact, rounded = (next_token(model, bf16)(ids, mask)[0] for bf16 in (False, True))
    assert exact != rounded
    assert rounded.item() == pytest.approx(exact.item(), rel=0.01)
    rounded.backward()
    assert all(p.grad is not None and p.grad.dtype == torch.float32 for p in model.parameters())


def test_heads_look_back_from_the_start_if_asked_to(config: GPTPretrainConfig) -> None:
    tables = [
        begin_gpt(replace(config, look_back=look))[0].embeddings.position.weight for look in (False, True)
    ]
    assert tables[0].abs().max() > 0.02 * 2**0.5  # normal numbers
    assert tables[1].abs().max() <= 0.02 * 2**0.5 + 1e-6  # waves


def test_a_folder_of_another_run_is_refused(config: GPTPretrainConfig) -> None:
    run(config, steps=2)
    with pytest.raises(FolderError, match=r"holds a run with rate = 0\.01, now it is 0\.02"):
        run(config, steps=2, rate=0.02)


def test_a_configuration_is_read_from_toml(config: GPTPretrainConfig, tmp_path: Path) -> None:
    path = toml(config, tmp_path / "gpt.toml")  # type: ignore[arg-type]
    assert read_config(path, GPTPretrainConfig) == config
    path.write_text("mask_rate = 0.15")
    with pytest.raises(ConfigError, match="mask_rate is unknown"):
        read_config(path, GPTPretrainConfig)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model": "huge"}, "model = 'huge' is no size"),
        ({"model": {"n_heads": 3}}, "model: d_model=256 does not split into 3 heads"),
        ({"model": {"dropout": 0.1}}, "model.dropout is no size of a model of pieces"),
        ({"max_length": 25}, "max_length = 25 is beyond the model's 24 positions"),
        ({"micro_batch": 3}, "does not cut into parts of micro_batch = 3"),
        ({"vocab": "nowhere.txt"}, "vocab = 'nowhere.txt'"),
    ],
)
def test_what_makes_no_training_is_named(
    config: GPTPretrainConfig, changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        run(config, **changes)
