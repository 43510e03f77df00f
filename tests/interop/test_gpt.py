"""A GPT goes out in Hugging Face's format and comes back; nothing is made up, and nothing lost unsaid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from bertlab.interop import load_gpt, save_gpt
from tests.interop.small_bert import change_weights
from tests.interop.small_bert import tokenizer as word_pieces
from tests.interop.small_gpt import IDS, KINDS, same_model, saved, small_gpt, tokenizer

Kinds = pytest.mark.parametrize("kind", KINDS)
CHANGES = {
    "openai-gpt": [{}, {"activation": "relu", "eps": 0.1, "pad_id": 3, "end_id": 4}],
    "gpt2": [{}, {"activation": "gelu", "eps": 0.1, "d_ff": 7}, {"activation": "relu", "end_id": None}],
}


@pytest.mark.parametrize(
    ("kind", "changes"), [(kind, one) for kind in KINDS for one in CHANGES[kind]], ids=str
)
def test_what_was_saved_comes_back_to_the_bit(tmp_path: Path, kind: str, changes: Any) -> None:
    model = small_gpt(kind, **changes)
    save_gpt(model, tokenizer(kind), tmp_path / "new" / "folder")
    again, pieces = load_gpt(tmp_path / "new" / "folder")
    same_model(again, model)
    assert not again.training
    assert all(p.requires_grad and not p.is_meta and p.is_contiguous() for p in again.parameters())
    assert pieces.ids == tokenizer(kind).ids


@Kinds
@pytest.mark.parametrize("prefix", [True, False], ids=["with transformer.", "without"])
def test_D31_prefixes_and_masks_of_old_files_are_no_matter(tmp_path: Path, kind: str, prefix: bool) -> None:
    def old(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        plain = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
        for i in range(2):
            plain |= {f"h.{i}.attn.bias": torch.ones(1, 1, 24, 24).tril()}
            plain |= {f"h.{i}.attn.masked_bias": torch.tensor(-1e4)}
        plain["position_ids"] = torch.arange(24)
        return {("transformer." if prefix else "") + name: tensor for name, tensor in plain.items()}

    change_weights(saved(tmp_path, kind), old)
    same_model(load_gpt(tmp_path)[0], small_gpt(kind))


@Kinds
def test_D32_the_output_matrix_is_written_once_and_must_be_the_table(tmp_path: Path, kind: str) -> None:
    names = load_file(saved(tmp_path, kind) / "model.safetensors")
    n_parameters = sum(p.numel() for p in small_gpt(kind).parameters())
    assert sum(tensor.numel() for tensor in names.values()) == n_parameters
    table = "transformer.wte.weight" if kind == "gpt2" else "transformer.tokens_embed.weight"
    change_weights(tmp_path, lambda t: t | {"lm_head.weight": t[table]})
    same_model(load_gpt(tmp_path)[0], small_gpt(kind))
    change_weights(
        tmp_path, lambda t: {n: v for n, v in t.items() if n != table}
    )  # under its other name alone
    model, _ = load_gpt(tmp_path)
    same_model(model, small_gpt(kind))
    with torch.no_grad():
        before = model(IDS).logits
        model.embeddings.token.weight[20] += 1
        changed = (before - model(IDS).logits).abs().amax((0, 1)) > 1e-6
    assert changed.nonzero().tolist() == [[20]]
    change_weights(tmp_path, lambda t: t | {table: t["lm_head.weight"] + 1})
    with pytest.raises(ValueError, match=r"lm_head.weight differs from .*weight: one parameter in GPT"):
        load_gpt(tmp_path)


def without(*beginnings: str) -> Any:
    return lambda tensors: {n: t for n, t in tensors.items() if not n.startswith(beginnings)}


LAYER = "transformer.h.1"


@Kinds
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (without(f"{LAYER}.attn.c_attn.weight"), r"lacks h.1.attn.c_attn.weight$"),
        (without(f"{LAYER}.ln_2"), r"lacks h.1.ln_2.bias, h.1.ln_2.weight$"),
        (
            lambda t: t | {"score.weight": torch.ones(3)},
            "has score.weight left over: name in `ignore` what you do not want",
        ),
        (lambda t: t | {"transformer.h.2.mlp.c_fc.bias": torch.ones(3)}, r"h.2.mlp.c_fc.bias left over"),
        (
            lambda t: t | {f"{LAYER}.attn.c_attn.weight": t[f"{LAYER}.attn.c_attn.weight"].T.contiguous()},
            r"config.json: h.1.attn.c_attn.weight is \(48, 16\) instead of \(16, 48\)",
        ),
        (
            lambda t: t | {"h.1.ln_1.bias": t[f"{LAYER}.ln_1.bias"]},
            "h.1.ln_1.bias is there twice, as .* keep one of them",
        ),
    ],
)
def test_missing_left_over_and_misshapen_tensors_are_named(
    tmp_path: Path, kind: str, change: Any, sentence: str
) -> None:
    change_weights(saved(tmp_path / "checkpoint", kind), change)
    with pytest.raises(ValueError, match=sentence) as caught:
        load_gpt(tmp_path / "checkpoint")
    assert "checkpoint" in str(caught.value)


def test_the_tensors_of_one_kind_do_not_pass_for_the_other(tmp_path: Path) -> None:
    change_weights(saved(tmp_path, "gpt2"), without("transformer.ln_f"))
    with pytest.raises(ValueError, match=r"lacks ln_f.bias, ln_f.weight"):
        load_gpt(tmp_path)


def test_left_over_tensors_can_be_named_to_be_left_out(tmp_path: Path) -> None:
    change_weights(saved(tmp_path, "gpt2"), lambda t: t | {"score.weight": torch.ones(3)})
    same_model(load_gpt(tmp_path, ignore=["score"])[0], small_gpt("gpt2"))


@Kinds
def test_files_that_are_missing_are_named(tmp_path: Path, kind: str) -> None:
    for file in ("config.json", "model.safetensors", "tokenizer.json"):
        folder = saved(tmp_path / file, kind)
        (folder / file).unlink()
        with pytest.raises(FileNotFoundError, match=file):
            load_gpt(folder)


@Kinds
def test_a_pickle_of_other_things_is_not_read(tmp_path: Path, kind: str) -> None:
    (saved(tmp_path, kind) / "model.safetensors").unlink()
    torch.save({"a": Path("x")}, tmp_path / "pytorch_model.bin")
    with pytest.raises(ValueError, match="holds more than tensors"):
        load_gpt(tmp_path)


def test_float16_is_rounded_once_and_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    model = small_gpt("gpt2")
    save_gpt(model, tokenizer("gpt2"), tmp_path, dtype=torch.float16)
    again, _ = load_gpt(tmp_path)
    for was, now in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(now, was.half().float())
    with pytest.raises(FileExistsError, match="is there already: choose another folder, or overwrite=True"):
        save_gpt(model, tokenizer("gpt2"), tmp_path)
    (tmp_path / "vocab.txt").write_text("left by another model")
    save_gpt(again, tokenizer("gpt2"), tmp_path, overwrite=True, shard_bytes=4000)
    assert not (tmp_path / "vocab.txt").exists()
    same_model(load_gpt(tmp_path)[0], again)


def test_a_model_of_wordpiece_is_saved_with_it(tmp_path: Path) -> None:
    model = small_gpt("openai-gpt", vocab_size=100, end_id=3)
    save_gpt(model, word_pieces(), tmp_path)
    again, pieces = load_gpt(tmp_path)
    same_model(again, model)
    assert pieces.vocab == word_pieces().vocab
    assert pieces.encode("The dogs").ids == word_pieces().encode("The dogs").ids


def test_a_tokenizer_of_another_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="tokenizer has 264 pieces, the model 200 embeddings"):
        save_gpt(small_gpt("gpt2", vocab_size=200, pad_id=0, end_id=None), tokenizer("gpt2"), tmp_path)
    larger = small_gpt("gpt2", vocab_size=267)  # with the three tokens of fine-tuning
    save_gpt(larger, tokenizer("gpt2"), tmp_path)
    assert load_gpt(tmp_path)[0].config.vocab_size == 267
