"""Claims about the configuration of a pre-training: what is wrong is said in one sentence, with the fix."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from bertlab.nn.bert_config import BertConfig
from bertlab.training.pretrain_config import ConfigError, PretrainConfig, read_config

NEEDED = 'shards = "a"\nvocab = "vocab.txt"\nout = "run"\nsteps = 100\n'
PLAIN = NEEDED + 'model = "tiny"\n'


def read(tmp_path, text):
    (tmp_path / "c.toml").write_text(text)
    return read_config(tmp_path / "c.toml", PretrainConfig)


def test_a_file_gives_what_it_says_and_defaults_for_the_rest(tmp_path):
    text = PLAIN + 'shards = ["a", "b"]\nrate = 1\nmask_shares = [1, 0, 0]\nbf16 = true\n'
    config = read(tmp_path, text.replace('shards = "a"\n', "", 1))
    assert (config.shards, config.rate, config.bf16, config.seed) == (("a", "b"), 1.0, True, 0)
    assert config.mask_shares == (1.0, 0.0, 0.0)
    assert config.sizes(vocab_size=99) == BertConfig.tiny(vocab_size=99)
    assert read(tmp_path, PLAIN).shards == ("a",)


def test_sizes_can_be_given_one_by_one(tmp_path):
    table = "[model]\nsize = 'mini'\nn_layers = 3\nactivation = 'relu'\n"
    config = read(tmp_path, NEEDED + "dropout = 0.2\n" + table)
    expected = BertConfig.mini(
        vocab_size=50, n_layers=3, activation="relu", dropout=0.2, attention_dropout=0.2, pad_id=3
    )
    assert config.sizes(vocab_size=50, pad_id=3) == expected


@pytest.mark.parametrize(
    ("warmup", "steps"), [("0.1", 10), ("0", 0), ("7", 7), ("0.999", 100), ("1", 1), ("1.0", 1)]
)
def test_a_warm_up_is_a_share_below_1_and_a_number_of_steps_from_there(tmp_path, warmup, steps):
    assert read(tmp_path, f"{PLAIN}warmup = {warmup}\n").warmup_steps == steps


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("bathc_size = 3", "bathc_size is unknown: did you mean batch_size"),
        ("batch_size = 0", "batch_size = 0: choose 1 or more"),
        ("batch_size = 8.5", "batch_size = 8.5: give a whole number"),
        ("batch_size = true", "batch_size = True: give a whole number"),
        ("bf16 = 1", "bf16 = 1: give true or false"),
        ('rate = "high"', "rate = 'high': give a number"),
        ("rate = 0", "rate = 0.0: choose a number above 0"),
        ("rate = nan", "rate = nan: choose a number above 0"),
        ("clip = -1", "clip = -1.0: choose a number above 0"),
        ("dropout = 1", "dropout = 1.0: choose a probability from 0 to below 1"),
        ("warmup = 100", "warmup = 100.0 of steps = 100: choose a whole number of steps below that"),
        ("warmup = 2.5", "warmup = 2.5 of steps = 100: choose"),
        ("max_length = 600", "max_length = 600 is beyond the model's 512 positions"),
        ("mask_rate = 0", "mask_rate = 0.0: choose a share above 0"),
        ("mask_rate = 2", "mask_rate=2.0: give the chance of a piece"),
        ("mask_shares = [0.5, 0.1, 0.1]", r"mask_shares=\(0.5, 0.1, 0.1\): give three that sum to 1"),
        ('held_out = [3]', "held_out = 3: give a text in quotes"),
        ("held_out = 3", "held_out = 3: give a list of texts"),
        ('start = "x"', "model = 'tiny' and start = 'x': give one of them"),
        ('seed = -1', "seed = -1: choose 0 or more"),
        ("steps", "is no TOML file"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_key_value_and_fix(tmp_path, line, sentence):
    with pytest.raises(ConfigError, match=sentence) as told:
        read(tmp_path, PLAIN + line + "\n")
    assert str(told.value).startswith(f"{tmp_path / 'c.toml'}")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (PLAIN.replace("steps = 100", ""), "steps is missing: give a whole number"),
        (PLAIN.replace('"a"', "[]"), "shards is empty: name at least one folder"),
        (PLAIN.replace('"run"', '""'), "out is empty: name a folder"),
        (PLAIN.replace("tiny", "huge"), "model = 'huge' is no size: choose one of tiny, mini"),
        (NEEDED, "model = '' and start = '': give one of them"),
        (NEEDED + "[model]\nwidth = 3", "model.width is unknown: the keys are size, d_model"),
        (NEEDED + "[model]\ndropout = 0.3", "model.dropout is unknown"),
        (NEEDED + "[model]\nd_model = 100", "model: d_model=100 does not split into 12 heads"),
        (NEEDED + "[model]\nd_model = 'wide'", "model: "),
        (NEEDED + "model = 3", "model = 3: give one of tiny"),
    ],
)
def test_what_is_missing_or_no_model_is_told(tmp_path, text, sentence):
    with pytest.raises(ConfigError, match=sentence):
        read(tmp_path, text)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ConfigError, match=r"no.toml cannot be read \(No such file"):
        read_config(tmp_path / "no.toml", PretrainConfig)


def test_every_key_stands_in_the_record_of_a_run(tmp_path):
    config = read(tmp_path, PLAIN)
    assert set(config.as_json()) == {f.name for f in fields(PretrainConfig)}
    assert replace(config, seed=3).as_json()["seed"] == 3
