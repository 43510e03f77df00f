"""Claims about what pre-trainings on running text share; whole runs are in the tests of each model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from bertlab.nn import ELMoConfig
from bertlab.text.stretches import TextBatch
from bertlab.training.pretrain_config import ConfigError
from bertlab.training.running_text import (
    Reading,
    TextPretrainConfig,
    checked_sizes,
    held_out_parts,
    tokenizer_of,
)

CPU = torch.device("cpu")
TOLD: dict[str, Any] = {"vocab_size": 30}


def config(**changes: Any) -> TextPretrainConfig:
    return TextPretrainConfig(
        **{"shards": ("-",), "vocab": "-", "out": "-", "steps": 20, "batch_size": 4, **changes}
    )


class Counted:
    """Stretches whose ids tell where they come from: epochs of 3, then of 2 batches."""

    def n_batches(self, epoch: int) -> int:
        return 3 if epoch % 2 == 0 else 2

    def part(self, epoch: int, number: int, part: int, n_parts: int) -> TextBatch:
        lengths = 3 + np.arange(4)[part::n_parts]
        mask = np.arange(lengths.max()) < lengths[:, None]
        return TextBatch(np.full(mask.shape, 100 * epoch + number), mask)


def mean_id(ids: Tensor, mask: Tensor) -> tuple[Tensor, dict[str, float]]:
    mean = ids[mask].double().mean()
    return mean, {"twice": 2 * mean.item(), "length": float(mask.shape[1])}


def test_every_step_has_a_batch_of_its_own_through_epochs_of_different_length():
    reading: Any = Reading(config(), mean_id, Counted(), CPU)  # type: ignore[arg-type]
    found = [reading.loss(step)[0].item() for step in (7, 0, 4, 3, 2, 5)]
    assert found == [202, 0, 101, 100, 2, 200]


def test_notes_are_means_over_the_targets_of_all_parts():
    reading: Any = Reading(config(micro_batch=2), mean_id, Counted(), CPU)  # type: ignore[arg-type]
    for part in (2, 3):  # of step 1: rows of 3 and 5, then of 4 and 6
        _, n_targets = reading.loss(part)
        assert n_targets == (6 if part == 2 else 8)
    assert reading.notes() == {
        "twice": 2.0,
        "length": pytest.approx((5 * 6 + 6 * 8) / 14),
        "n_tokens": 18,
    }


def test_held_out_parts_are_means_over_all_tokens():
    batches = [Counted().part(0, 0, 0, 2), Counted().part(1, 0, 1, 2)]
    assert held_out_parts(mean_id, batches, CPU) == {
        "held_out_twice": pytest.approx(200 * 8 / 14),
        "held_out_length": pytest.approx((5 * 6 + 6 * 8) / 14),
    }


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"micro_batch": 3}, "batch_size = 4 does not cut into parts of micro_batch = 3"),
        ({"max_length": 3}, "max_length = 3: choose 4 or more"),
        ({"warmup": 20}, "warmup = 20 of steps = 20"),
        ({"rate": 0}, "rate = 0: choose a number above 0"),
        ({"shards": ()}, "shards is empty"),
    ],
)
def test_what_makes_no_training_is_named(changes: dict[str, Any], sentence: str):
    with pytest.raises(ConfigError, match=sentence):
        config(**changes)


def test_sizes_are_a_name_or_a_table_and_none_that_is_told_elsewhere():
    sizes = ("tiny", "mini")
    assert checked_sizes(ELMoConfig, sizes, "tiny", TOLD) == ELMoConfig.tiny(**TOLD)
    table = {"size": "tiny", "n_layers": 3}
    assert checked_sizes(ELMoConfig, sizes, table, TOLD) == ELMoConfig.tiny(n_layers=3, **TOLD)
    assert checked_sizes(ELMoConfig, sizes, {"n_layers": 3}, TOLD) == ELMoConfig.mini(n_layers=3, **TOLD)
    for model, sentence in (
        ("original", "model = 'original' is no size: choose one of tiny, mini"),
        ({"vocab_size": 9}, "model.vocab_size is no size"),
        ({"heads": 2}, "model.heads is no size"),
        ({"n_layers": 0}, "model: n_layers=0"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            checked_sizes(ELMoConfig, sizes, model, TOLD)  # type: ignore[arg-type]


def test_a_vocabulary_that_cannot_be_read_is_named():
    with pytest.raises(ConfigError, match=r"vocab = 'nowhere\.txt'"):
        tokenizer_of(config(vocab="nowhere.txt"))
