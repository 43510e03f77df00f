"""The configurations of the shipped checkpoints are what the command reads, and make models that fit."""

from __future__ import annotations

import pytest

import bert_checkpoints
from bert_checkpoints import HERE, PLANS, curve
from bertlab.training.pretrain_config import PretrainConfig, read_config
from bertlab.training.run_folder import JOURNAL


@pytest.mark.parametrize("name", PLANS)
def test_the_configuration_can_be_read(name):
    config = read_config(HERE / PLANS[name].config, PretrainConfig)
    assert config.shards == (f"runs/bert_corpus/{PLANS[name].vocabulary}",)
    assert bool(config.start) == (name == "bert-6l")
    assert config.bf16


def test_a_curve_counts_all_pieces_read_so_far(tmp_path, monkeypatch):
    monkeypatch.setattr(bert_checkpoints, "ROOT", tmp_path)
    config = read_config(HERE / PLANS["bert-mini"].config, PretrainConfig)
    file = tmp_path / config.out / JOURNAL
    file.parent.mkdir(parents=True)
    line = '{"step": %d, "seconds": 1.0, "n_tokens": %d.0, "masked_lm": 5.5, "next_sentence": 0.6}\n'
    file.write_text(line % (500, 70) + line % (1000, 80))
    assert curve(config) == [
        {"step": 500, "tokens": 70, "masked_lm": 5.5, "next_sentence": 0.6},
        {"step": 1000, "tokens": 150, "masked_lm": 5.5, "next_sentence": 0.6},
    ]
