"""What we write, `transformers` reads to the same numbers, texts and ids; what it writes, we do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertlab.interop import load_gpt, save_gpt
from bertlab.nn import GPT, generate
from tests.interop.small_bert import tokenizer as word_pieces
from tests.interop.small_gpt import IDS, KINDS, small_gpt, tokenizer
from tests.nn.their_gpt import their_twin
from tests.text.byte_pairs import GPT1, GPT2

Kinds = pytest.mark.parametrize("kind", KINDS)
TEXTS = ["Lower the tower!", "  new\tthe owe", "ñ 東 \N{GRINNING FACE}", "", "the <|endoftext|> <unk>"]


@torch.no_grad()
def same_numbers(ours: GPT, theirs: Any) -> None:
    """States of every layer and logits within 1e-5, and the most probable text to the letter."""
    found, wanted = ours(IDS), theirs(IDS, attention_mask=torch.ones_like(IDS), output_hidden_states=True)
    close = {"rtol": 1e-5, "atol": 1e-5}
    for state, their in zip(found.layers, wanted.hidden_states, strict=True):
        torch.testing.assert_close(state, their, **close)
    torch.testing.assert_close(found.logits, wanted.logits, **close)
    written = theirs.generate(IDS, attention_mask=torch.ones_like(IDS), do_sample=False, max_new_tokens=9)
    text = generate(ours, IDS, 9, temperature=0)
    assert torch.equal(written[:, IDS.shape[1] :], text[:, : written.shape[1] - IDS.shape[1]])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("shard_bytes", [5_000, 10**9], ids=["shards", "whole"])
@Kinds
def test_transformers_reads_what_we_write(
    tmp_path: Path, kind: str, shard_bytes: int, dtype: torch.dtype
) -> None:
    model = small_gpt(kind, eps=0.01)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.to(dtype))  # so that nothing is lost in writing
    save_gpt(model, tokenizer(kind), tmp_path, shard_bytes=shard_bytes, dtype=dtype)
    assert (tmp_path / "model.safetensors").exists() == (shard_bytes > 5_000)
    theirs, told = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, output_loading_info=True)
    assert not any(told[problem] for problem in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert theirs.dtype == torch.float32
    same_numbers(model, theirs.eval())


@Kinds
@pytest.mark.parametrize("shard", ["5KB", "1GB"])
def test_we_read_what_transformers_writes(tmp_path: Path, kind: str, shard: str) -> None:
    twin = their_twin(small_gpt(kind, eps=0.01))
    twin.save_pretrained(tmp_path, max_shard_size=shard)
    their_tokenizer(kind).save_pretrained(tmp_path)
    ours, pieces = load_gpt(tmp_path)
    assert ours.config == small_gpt(kind, eps=0.01).config
    same_numbers(ours, twin)
    for text in TEXTS[:4]:
        assert pieces.encode(text).ids == tokenizer(kind).encode(text).ids


@Kinds
def test_we_read_a_bin_of_theirs_without_its_language_model_s_prefix(tmp_path: Path, kind: str) -> None:
    twin = their_twin(small_gpt(kind))
    twin.config.save_pretrained(tmp_path)
    torch.save(twin.transformer.state_dict(), tmp_path / "pytorch_model.bin")
    their_tokenizer(kind).save_pretrained(tmp_path)
    same_numbers(load_gpt(tmp_path)[0], twin)


def their_tokenizer(kind: str) -> Any:
    if kind == "openai-gpt":
        return transformers.OpenAIGPTTokenizer(dict(GPT1[0]), GPT1[1])
    return transformers.GPT2Tokenizer(dict(GPT2[0]), GPT2[1])


@Kinds
def test_their_tokenizer_gives_the_ids_of_ours(tmp_path: Path, kind: str) -> None:
    model, ours = small_gpt(kind), tokenizer(kind)
    save_gpt(model, ours, tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    again, special = (load_gpt(tmp_path, recognise_special=choice)[1] for choice in (False, True))
    for text in TEXTS:
        assert again.encode(text).ids == ours.encode(text).ids
        assert theirs(text)["input_ids"] == special.encode(text).ids
    assert len(theirs) == len(ours)
    assert theirs.model_max_length == 24
    assert theirs.eos_token_id == model.config.end_id


def test_their_tokenizer_of_word_pieces_has_the_ids_of_ours(tmp_path: Path) -> None:
    save_gpt(small_gpt("openai-gpt", vocab_size=100, end_id=3), word_pieces(), tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for text in ("The dog playing!", "Crème dogs?"):
        assert theirs(text, add_special_tokens=False)["input_ids"] == word_pieces().encode(text).ids
