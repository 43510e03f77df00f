"""Claims about a trained translator in a folder."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models

from bertlab.interop import load_transformer, save_transformer
from bertlab.nn import Transformer, TransformerConfig

CONFIG = TransformerConfig(source_vocab=9, target_vocab=9, d_model=8, n_heads=2, d_ff=16, n_layers=1)


def tokenizer_of(n: int) -> Tokenizer:
    return Tokenizer(models.WordLevel({f"word{i}": i for i in range(n)}, "word0"))


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Transformer(CONFIG)


@pytest.fixture
def folder(model, tmp_path):
    save_transformer(model, tokenizer_of(9), tmp_path / "toy")
    return tmp_path / "toy"


@pytest.mark.parametrize("share", ["all", "target", "none"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_what_was_saved_in_float32_comes_back_to_the_bit(tmp_path, share, positions):
    torch.manual_seed(1)
    model = Transformer(replace(CONFIG, share_embeddings=share, positions=positions, norm_first=True)).eval()
    save_transformer(model, tokenizer_of(9), tmp_path, torch.float32)
    again, tokenizer = load_transformer(tmp_path)
    ids = torch.randint(2, 9, (2, 5))
    assert torch.equal(again(ids, ids).logits, model(ids, ids).logits)
    assert again.config == model.config
    assert not again.training
    assert tokenizer.get_vocab() == tokenizer_of(9).get_vocab()


def test_float16_is_rounded_once_and_comes_back_as_float32(model, folder):
    again, _ = load_transformer(folder)
    for (name, was), (same, now) in zip(model.named_parameters(), again.named_parameters(), strict=True):
        assert name == same
        assert now.dtype == torch.float32
        assert torch.equal(now, was.half().float())


def test_a_shared_matrix_is_written_once_and_shared_again(folder):
    assert {"source_embedding.weight", "target_embedding.weight", "output.weight"} & load_file(
        folder / "model.safetensors"
    ).keys() == {"source_embedding.weight"}
    again, _ = load_transformer(folder)
    assert again.output.weight is again.target_embedding.weight is again.source_embedding.weight


def test_a_weight_too_large_for_float16_is_refused(model, tmp_path):
    with torch.no_grad():
        model.output.weight[3, 3] = 1e6
    with pytest.raises(ValueError, match=r"source_embedding.weight .* torch.float16 cannot hold: choose"):
        save_transformer(model, tokenizer_of(9), tmp_path)
    save_transformer(model, tokenizer_of(9), tmp_path, torch.float32)


def test_a_tokenizer_of_another_model_is_refused(model, folder, tmp_path):
    with pytest.raises(ValueError, match="tokenizer has 8 pieces, the model 9 for its source"):
        save_transformer(model, tokenizer_of(8), tmp_path)
    tokenizer_of(8).save(str(folder / "tokenizer.json"))
    with pytest.raises(ValueError, match="tokenizer has 8 pieces"):
        load_transformer(folder)


def test_missing_and_left_over_weights_and_other_shapes_are_named(folder):
    path = folder / "model.safetensors"
    good = load_file(path)
    name = "encoder.layers.0.attention.query.weight"
    for bad, said in (
        ({k: v for k, v in good.items() if k != name}, name),
        (good | {"left.over": torch.zeros(1)}, "left.over"),
        (good | {name: good[name][:1].clone()}, r"instead of"),
    ):
        save_file(bad, path)
        with pytest.raises(ValueError, match=rf"does not belong to its config.json: .*{said}"):
            load_transformer(folder)


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("config.json", "{", "is no TransformerConfig"),
        ("config.json", '{"width": 3}', "is no TransformerConfig: .*width"),
        ("config.json", json.dumps({"source_vocab": 9, "target_vocab": 9, "n_heads": 7}), "7 heads"),
        ("tokenizer.json", "{}", "is no tokenizer"),
        ("model.safetensors", "pickle", "is no safetensors file"),
    ],
)
def test_a_file_that_is_something_else_is_named(folder, file, text, said):
    (folder / file).write_text(text)
    with pytest.raises(ValueError, match=said):
        load_transformer(folder)
    (folder / file).unlink()
    with pytest.raises(FileNotFoundError, match=f"has no {file}"):
        load_transformer(folder)


def test_a_name_that_does_not_exist_tells_where_it_was_looked_for():
    with pytest.raises(FileNotFoundError, match=r"no folder 'nobody', nor one of that name in .*checkpoints"):
        load_transformer("nobody")
