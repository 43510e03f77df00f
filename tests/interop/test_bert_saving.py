"""What is written is all of a model or nothing: rounded as told, never over another one unasked."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from bertlab.interop import load_bert, save_bert
from tests.interop.small_bert import same_output, saved, some_bert, tokenizer


def test_float16_is_rounded_once_and_comes_back_as_float32(tmp_path: Path) -> None:
    model = some_bert()
    save_bert(model, tokenizer(), tmp_path, dtype=torch.float16)
    again, _ = load_bert(tmp_path)
    for (name, was), (same, now) in zip(model.named_parameters(), again.named_parameters(), strict=True):
        assert name == same
        assert now.dtype == torch.float32
        assert torch.equal(now, was.half().float())
    with torch.no_grad():
        model.masked_lm.bias[3] = 1e6
    with pytest.raises(ValueError, match=r"cls.predictions.bias has numbers that torch.float16 cannot hold"):
        save_bert(model, tokenizer(), tmp_path / "other", dtype=torch.float16)
    assert not (tmp_path / "other").exists()


def test_nothing_is_overwritten_unasked_and_then_as_a_whole(tmp_path: Path) -> None:
    save_bert(some_bert(), tokenizer(), tmp_path, shard_bytes=4_000)
    (tmp_path / "README.md").write_text("card")
    assert len(list(tmp_path.glob("model-*"))) > 3
    with pytest.raises(FileExistsError, match=r"is there already: choose another folder, or overwrite=True"):
        save_bert(some_bert("bare"), tokenizer(), tmp_path)
    same_output(load_bert(tmp_path)[0], some_bert())
    save_bert(some_bert("bare"), tokenizer(), tmp_path, overwrite=True)
    assert not list(tmp_path.glob("model-*"))
    assert (tmp_path / "README.md").read_text() == "card"
    same_output(load_bert(tmp_path)[0], some_bert("bare"))


def test_a_model_can_be_saved_where_it_came_from(tmp_path: Path) -> None:
    model, pieces = load_bert(saved(tmp_path))
    save_bert(model, pieces, tmp_path, overwrite=True)
    same_output(load_bert(tmp_path)[0], some_bert())


def test_a_tokenizer_of_another_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="tokenizer has 100 pieces, the model 90 embeddings"):
        save_bert(some_bert(vocab_size=90), tokenizer(), tmp_path)
    with pytest.raises(ValueError, match=r"\[PAD\] is 0 in the tokenizer and 3 in the model"):
        save_bert(some_bert(pad_id=3), tokenizer(), tmp_path)
    save_bert(some_bert(vocab_size=104), tokenizer(), tmp_path)  # filled up to a multiple of 8
    assert load_bert(tmp_path)[0].config.vocab_size == 104
