"""ELMo's sizes: each parameter is counted, and the sums are those that its authors published."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from bertlab.nn import BertConfig, ELMoConfig, ELMoForPreTraining

PUBLISHED = {  # of the authors' table of models: state, memory, highway layers, and millions of parameters
    "small": (128, 1024, 1, 13.6),
    "medium": (256, 2048, 1, 28.0),
    "original": (512, 4096, 2, 93.6),
}
SMALL: dict[str, Any] = {"d_model": 8, "d_memory": 6, "n_layers": 3, "d_character": 4, "n_characters": 20}


@pytest.mark.parametrize("size", PUBLISHED)
def test_the_published_sizes_have_the_published_number_of_parameters(size: str) -> None:
    d_model, d_memory, n_highway, millions = PUBLISHED[size]
    config = ELMoConfig.original(d_model=d_model, d_memory=d_memory, n_highway=n_highway)
    # PyTorch's LSTM has two biases where theirs has one, and theirs a row for the padding that it reads
    theirs = config.n_parameters - config.parts["second biases of the LSTMs"] + config.d_character
    assert f"{theirs / 1e6:.1f}" == f"{millions:.1f}"


def test_the_original_is_counted_exactly() -> None:
    config = ELMoConfig.original()
    assert config.n_parameters == 93_666_384
    assert config.parts == {
        "characters": 4_176,
        "filters": 199_168,
        "highway layers": 16_785_408,
        "projection of the words": 1_049_088,
        "LSTMs": 75_563_008,
        "second biases of the LSTMs": 65_536,
        "softmax": 793_471 * 513,
    }


@pytest.mark.parametrize(
    "config",
    [
        ELMoConfig(vocab_size=30, filters=((1, 3), (4, 5)), n_highway=3, **SMALL),
        ELMoConfig(vocab_size=30, **SMALL | {"n_characters": 0}),
        ELMoConfig.tiny(vocab_size=99),
    ],
    ids=["characters", "ids", "tiny"],
)
def test_the_sums_are_those_of_a_model(config: ELMoConfig) -> None:
    model = ELMoForPreTraining(config)
    assert sum(p.numel() for p in model.parameters()) == sum(config.parts.values())
    assert sum(p.numel() for p in model.elmo.parameters()) == config.n_parameters


def test_the_original_can_be_built() -> None:
    with torch.device("meta"):  # shapes alone
        model = ELMoForPreTraining(ELMoConfig.original())
    assert sum(p.numel() for p in model.elmo.parameters()) == ELMoConfig.original().n_parameters


@pytest.mark.parametrize("size", ["tiny", "mini"])
@pytest.mark.parametrize("vocab_size", [8192, 30_522])
def test_small_sizes_keep_step_with_those_of_bert(size: str, vocab_size: int) -> None:
    ours, theirs = (getattr(kind, size)(vocab_size=vocab_size) for kind in (ELMoConfig, BertConfig))
    assert ours.d_model == theirs.d_model
    assert sum(ours.parts.values()) == pytest.approx(sum(theirs.parts.values()), rel=0.02)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"d_memory": 0}, "d_memory=0: choose at least 1"),
        ({"n_highway": 0}, "n_highway=0: choose at least 1"),
        ({"dropout": 1.0}, "dropout=1.0 is not a probability"),
        ({"pad_id": 100}, "pad_id=100 is none of 100 ids"),
        ({"n_characters": -1}, "n_characters=-1: choose 0"),
        ({"filters": ()}, "filters=()"),
        ({"filters": ((3, 0),)}, "filters=((3, 0),)"),
    ],
)
def test_a_value_that_makes_no_model_is_named(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError) as error:
        ELMoConfig(**{"vocab_size": 100, **changes})
    assert sentence in str(error.value)
