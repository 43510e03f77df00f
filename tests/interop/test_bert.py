"""A BERT goes out in Hugging Face's format and comes back; nothing is made up, and nothing lost unsaid."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from bertlab.interop import load_bert, read_bert, save_bert
from bertlab.nn import BertForPreTraining, BertModel
from tests.interop.small_bert import (
    KINDS,
    change_weights,
    same_output,
    saved,
    some_bert,
    some_ids,
    states,
    tokenizer,
)

Kinds = pytest.mark.parametrize("kind", KINDS)


@Kinds
@pytest.mark.parametrize(
    "changes", [{}, {"activation": "gelu_tanh", "eps": 0.1, "n_segments": 3}, {"activation": "relu"}]
)
def test_what_was_saved_comes_back_to_the_bit(tmp_path: Path, kind: str, changes: Any) -> None:
    model = some_bert(kind, **changes)
    save_bert(model, tokenizer(lowercase=False), tmp_path / "new" / "folder")
    again, pieces = load_bert(tmp_path / "new" / "folder")
    same_output(again, model)
    assert not again.training
    assert all(p.requires_grad and not p.is_meta for p in again.parameters())
    assert not list(again.buffers())
    assert pieces.vocab == tokenizer().vocab
    assert not pieces.lowercase


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("pretraining", "embeddings, encoder, pooler, masked-LM head, next-sentence head"),
        ("masked_lm", "embeddings, encoder, masked-LM head; no pooler, no next-sentence head"),
        ("pooler", "embeddings, encoder, pooler; no masked-LM head, no next-sentence head"),
        ("bare", "embeddings, encoder; no pooler, no masked-LM head, no next-sentence head"),
    ],
)
def test_what_a_checkpoint_holds_is_told(tmp_path: Path, kind: str, said: str) -> None:
    found = read_bert(saved(tmp_path, kind))
    assert str(found) == f"{tmp_path.name}: 2 layers of 16, 4 heads; {said}"


def test_the_class_that_is_asked_for_comes_back_or_is_refused(tmp_path: Path) -> None:
    whole, bare = saved(tmp_path / "whole"), saved(tmp_path / "bare", "bare")
    trunk, _ = load_bert(whole, BertModel)
    assert type(trunk) is BertModel
    assert trunk.pooler is not None
    torch.testing.assert_close(states(trunk), states(some_bert()), rtol=0, atol=0)
    assert type(load_bert(whole, BertForPreTraining)[0]) is BertForPreTraining
    with pytest.raises(
        ValueError, match=r"no masked-LM head.* makes no BertForPreTraining: ask for a BertModel"
    ):
        load_bert(bare, BertForPreTraining)


@pytest.mark.parametrize(
    ("kind", "needs", "sentence"),
    [
        ("bare", ["pooler"], "no pooler.*but pooler is needed"),
        ("masked_lm", ["masked_lm", "next_sentence"], "but next_sentence is needed"),
        ("pooler", ["masked_lm"], "but masked_lm is needed"),
        ("pooler", ["mlm"], r"needs=\['mlm'\]: name parts among pooler, masked_lm, next_sentence"),
    ],
)
def test_a_part_that_is_needed_and_missing_is_named(
    tmp_path: Path, kind: str, needs: Any, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        load_bert(saved(tmp_path, kind), needs=needs)


def test_a_trunk_has_no_heads_to_need(tmp_path: Path) -> None:
    whole = saved(tmp_path)
    load_bert(whole, BertModel, needs=["pooler"])
    load_bert(whole, needs=["pooler", "masked_lm", "next_sentence"])
    with pytest.raises(ValueError, match="a BertModel has no heads"):
        load_bert(whole, BertModel, needs=["masked_lm"])


@pytest.mark.parametrize("prefix", [True, False], ids=["with bert.", "without"])
@pytest.mark.parametrize("kind", ["pretraining", "pooler"])
def test_D31_old_names_prefixes_and_position_ids(tmp_path: Path, kind: str, prefix: bool) -> None:
    def old(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        named = {}
        for name, tensor in tensors.items():
            name = re.sub(r"LayerNorm\.weight$", "LayerNorm.gamma", name.removeprefix("bert."))
            name = re.sub(r"LayerNorm\.bias$", "LayerNorm.beta", name)
            named[("bert." if prefix and not name.startswith("cls.") else "") + name] = tensor
        named[("bert." if prefix else "") + "embeddings.position_ids"] = torch.arange(24)[None]
        return named

    change_weights(saved(tmp_path, kind), old)
    assert sum(name.endswith("gamma") for name in load_file(tmp_path / "model.safetensors")) >= 5
    same_output(load_bert(tmp_path)[0], some_bert(kind))


def test_D32_the_output_matrix_stays_the_table_and_is_written_once(tmp_path: Path) -> None:
    names = load_file(saved(tmp_path) / "model.safetensors")
    assert sum(tensor.numel() for tensor in names.values()) == 7_206
    model, _ = load_bert(tmp_path)
    assert sum(p.numel() for p in model.parameters()) == 7_206
    ids, _ = some_ids()
    before = model(ids).logits
    model.bert.embeddings.token.weight.data[99] += 1
    assert ((before - model(ids).logits).abs().amax((0, 1)) > 1e-6).nonzero().tolist() == [[99]]


def test_D32_weights_under_two_names_must_be_the_same(tmp_path: Path) -> None:
    table, bias = "bert.embeddings.word_embeddings.weight", "cls.predictions.bias"
    saved(tmp_path)
    change_weights(
        tmp_path,
        lambda t: t | {"cls.predictions.decoder.weight": t[table], "cls.predictions.decoder.bias": t[bias]},
    )
    same_output(load_bert(tmp_path)[0], some_bert())
    change_weights(
        tmp_path, lambda t: {n: v for n, v in t.items() if n != bias}
    )  # under its other name alone
    same_output(load_bert(tmp_path)[0], some_bert())
    change_weights(tmp_path, lambda t: t | {"cls.predictions.decoder.weight": t[table] + 1})
    with pytest.raises(
        ValueError, match=r"decoder.weight differs from .*word_embeddings.weight: one parameter"
    ):
        load_bert(tmp_path)


QUERY = "bert.encoder.layer.1.attention.self.query.weight"


def without(*beginnings: str) -> Any:
    return lambda tensors: {n: t for n, t in tensors.items() if not n.startswith(beginnings)}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (without(QUERY), r"lacks encoder.layer.1.attention.self.query.weight$"),
        (without("bert.encoder.layer.1.output.LayerNorm"), r"lacks .*LayerNorm.bias, .*LayerNorm.weight$"),
        (
            without("cls.predictions.transform.LayerNorm.bias"),
            r"lacks cls.predictions.transform.LayerNorm.bias",
        ),
        (without("cls.seq_relationship.bias"), r"lacks cls.seq_relationship.bias"),
        (without("bert.pooler"), "next-sentence head reads the pooler: the checkpoint is not whole"),
        (
            lambda t: t | {"classifier.weight": torch.ones(3)},
            "has classifier.weight left over: name in `ignore` what you do not want",
        ),
        (lambda t: t | {"bert.encoder.layer.2.output.dense.bias": torch.ones(3)}, "layer.2.* left over"),
        (
            lambda t: t | {QUERY: t[QUERY][:8]},
            r"config.json: .*query.weight is \(8, 16\) instead of \(16, 16\)",
        ),
        (
            lambda t: t | {QUERY.removeprefix("bert."): t[QUERY]},
            "query.weight is there twice, as .* keep one of them",
        ),
        (without("cls.predictions"), r"has cls.seq_relationship.bias, cls.seq_relationship.weight left over"),
    ],
)
def test_missing_left_over_and_misshapen_tensors_are_named(
    tmp_path: Path, change: Any, sentence: str
) -> None:
    change_weights(saved(tmp_path / "checkpoint"), change)
    with pytest.raises(ValueError, match=sentence) as caught:
        load_bert(tmp_path / "checkpoint")
    assert str(tmp_path) in str(caught.value) or "checkpoint" in str(caught.value)


def test_left_over_tensors_can_be_named_to_be_left_out(tmp_path: Path) -> None:
    change_weights(saved(tmp_path), lambda t: t | {"classifier.weight": torch.ones(3)})
    same_output(load_bert(tmp_path, ignore=["classifier"])[0], some_bert())


def test_a_pooler_beside_the_masked_lm_head_alone_is_kept(tmp_path: Path) -> None:
    change_weights(saved(tmp_path), without("cls.seq_relationship"))
    model, _ = load_bert(tmp_path)
    assert isinstance(model, BertForPreTraining)
    assert model.next_sentence is None
    ids, segments = some_ids()
    torch.testing.assert_close(
        model(ids, segments).bert.pooled, some_bert()(ids, segments).bert.pooled, rtol=0, atol=0
    )


def test_files_that_are_missing_are_named(tmp_path: Path) -> None:
    for file in ("config.json", "model.safetensors"):
        folder = saved(tmp_path / file)
        (folder / file).unlink()
        with pytest.raises(FileNotFoundError, match=file):
            load_bert(folder)
