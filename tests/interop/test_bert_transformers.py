"""What we write, `transformers` reads to the same numbers and ids; what it writes, we do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertlab.interop import load_bert, save_bert
from bertlab.nn import BertForPreTraining
from tests.interop.small_bert import KINDS, TEXTS, some_bert, some_ids, tokenizer
from tests.nn.their_bert import their_twin

AUTO = {
    "pretraining": transformers.AutoModelForPreTraining,
    "masked_lm": transformers.AutoModelForMaskedLM,
    "pooler": transformers.AutoModel,
    "bare": transformers.AutoModel,
}


def asked() -> dict[str, torch.Tensor]:
    ids, segments = some_ids()
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "token_type_ids": segments}


@torch.no_grad()
def same_numbers(ours: Any, theirs: Any) -> None:
    """States of every layer at real positions, pooled output and logits within 1e-5."""
    ids, segments = some_ids()
    found, wanted = ours(ids, segments), theirs(**asked(), output_hidden_states=True)
    trunk = found.bert if isinstance(ours, BertForPreTraining) else found
    real, close = ids != 0, {"rtol": 1e-5, "atol": 1e-5}
    for state, their in zip(trunk.layers, wanted.hidden_states, strict=True):
        torch.testing.assert_close(state[real], their[real], **close)
    if isinstance(ours, BertForPreTraining):
        logits = wanted.prediction_logits if ours.next_sentence is not None else wanted.logits
        torch.testing.assert_close(found.logits[real], logits[real], **close)
        if ours.next_sentence is not None:
            torch.testing.assert_close(found.next_logits, wanted.seq_relationship_logits, **close)
    elif ours.pooler is not None:
        torch.testing.assert_close(found.pooled, wanted.pooler_output, **close)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("shard_bytes", [5_000, 10**9], ids=["shards", "whole"])
@pytest.mark.parametrize("kind", KINDS)
def test_transformers_reads_what_we_write(
    tmp_path: Path, kind: str, shard_bytes: int, dtype: torch.dtype
) -> None:
    changes = {"activation": "gelu_tanh", "eps": 0.01} if kind == "pooler" else {}
    model = some_bert(kind, **changes)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.to(dtype))  # so that nothing is lost in writing
    save_bert(model, tokenizer(), tmp_path, shard_bytes=shard_bytes, dtype=dtype)
    assert (tmp_path / "model.safetensors").exists() == (shard_bytes > 5_000)
    options = {"add_pooling_layer": False} if kind == "bare" else {}
    theirs, told = AUTO[kind].from_pretrained(tmp_path, output_loading_info=True, **options)
    assert not told["missing_keys"]
    assert not told["unexpected_keys"]
    assert not told["mismatched_keys"]
    assert theirs.dtype == torch.float32
    same_numbers(model, theirs.eval())


def test_their_trunk_reads_our_whole_model(tmp_path: Path) -> None:
    model = some_bert()
    save_bert(model, tokenizer(), tmp_path)
    same_numbers(model.bert, transformers.AutoModel.from_pretrained(tmp_path).eval())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shard", ["5KB", "1GB"])
def test_we_read_what_transformers_writes(tmp_path: Path, kind: str, shard: str) -> None:
    twin = their_twin(some_bert(kind, activation="gelu_tanh", eps=0.01))
    twin.save_pretrained(tmp_path, max_shard_size=shard)
    their_tokenizer(tmp_path)
    ours, _ = load_bert(tmp_path)
    assert (ours.config.activation, ours.config.eps) == ("gelu_tanh", 0.01)
    same_numbers(ours, twin)


@pytest.mark.parametrize("kind", KINDS)
def test_we_read_a_bin_of_theirs(tmp_path: Path, kind: str) -> None:
    twin = their_twin(some_bert(kind))
    twin.config.save_pretrained(tmp_path)
    torch.save(twin.state_dict(), tmp_path / "pytorch_model.bin")
    their_tokenizer(tmp_path)
    same_numbers(load_bert(tmp_path)[0], twin)


def their_tokenizer(folder: Path) -> Any:
    tokenizer().save(folder / "vocab.txt")
    theirs = transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True)
    theirs.save_pretrained(folder)
    return theirs


@pytest.mark.parametrize("strip_accents", [None, True, False])
@pytest.mark.parametrize("lowercase", [True, False])
def test_their_tokenizer_gives_the_ids_of_ours(
    tmp_path: Path, lowercase: bool, strip_accents: bool | None
) -> None:
    ours = tokenizer(lowercase, strip_accents=strip_accents)
    save_bert(some_bert(), ours, tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    _, again = load_bert(tmp_path)
    for text in TEXTS:
        ids = ours.encode(text).ids
        assert again.encode(text).ids == ids
        assert theirs(text)["input_ids"] == [ours.cls_id, *ids, ours.sep_id]
    pair = theirs("the dog", "plays!")
    first, second = ours.encode("the dog").ids, ours.encode("plays!").ids
    assert pair["input_ids"] == [ours.cls_id, *first, ours.sep_id, *second, ours.sep_id]
    assert pair["token_type_ids"] == [0] * (len(first) + 2) + [1] * (len(second) + 1)
    assert theirs("the [MASK]!")["input_ids"][2] == ours.mask_id
    assert theirs.model_max_length == 24
    assert (theirs.pad_token_id, theirs.mask_token_id) == (ours.pad_id, ours.mask_id)


def test_we_read_the_tokenizer_that_transformers_writes(tmp_path: Path) -> None:
    save_bert(some_bert(), tokenizer(), tmp_path)
    for file in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / file).unlink()
    theirs = their_tokenizer(tmp_path)
    _, ours = load_bert(tmp_path, recognise_special=True)
    for text in (*TEXTS, "the [MASK] dog"):
        assert theirs(text)["input_ids"][1:-1] == ours.encode(text).ids
