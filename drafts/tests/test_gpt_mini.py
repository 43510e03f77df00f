"""The configuration can be read; a small GPT is trained, shipped and asked, and its card says so."""

from __future__ import annotations

import json
from functools import partial

import _minimal_pairs
import _next_piece
import _writing
import gpt_mini
import numpy as np
import pytest
import torch
import transformers
from _gpt_card import card

from bertlab.datasets.documents import Document
from bertlab.interop import load_gpt
from bertlab.nn import BertConfig, BertForPreTraining
from bertlab.text import SPECIAL, WordPiece, write_shards
from bertlab.training.pretrain_config import read_config
from bertlab.training.pretrain_gpt import GPTPretrainConfig

LETTERS = "abcdefghij"
VOCAB = WordPiece([*SPECIAL, *LETTERS])


def documents(n, seed):
    rng = np.random.default_rng(seed)
    return [Document([" ".join(rng.choice(list(LETTERS), 12)) for _ in range(20)], "books") for _ in range(n)]


@pytest.fixture
def small_world(monkeypatch, tmp_path):
    """Letters in the place of books, a GPT of one layer, a folder of its own for everything."""
    VOCAB.save(tmp_path / "v.txt")
    corpus = write_shards(tmp_path / "shards", documents(30, 0), VOCAB)
    config = GPTPretrainConfig(
        shards=(str(tmp_path / "shards"),), vocab=str(tmp_path / "v.txt"), out=str(tmp_path / "run"), steps=8,
        model={"size": "mini", "d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 64, "max_positions": 128},
        batch_size=4, dropout=0.0, report_every=1,
    )  # fmt: skip
    monkeypatch.setattr(gpt_mini, "CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr(gpt_mini, "read_config", lambda path, kind: config)
    monkeypatch.setattr(gpt_mini, "shards", lambda name, vocab: corpus)
    monkeypatch.setattr(gpt_mini, "tokenizer", lambda name: VOCAB)
    held_out = {"books": documents(4, 1), "wikitext-2": documents(3, 2)}
    for module in (_next_piece, _writing):
        monkeypatch.setattr(module, "held_out_documents", lambda: held_out)
    monkeypatch.setattr(_writing, "beginnings", partial(_writing.beginnings, n=5))
    pairs = {kind: [("a b c", "c b a"), ("a a", "b b")] for kind in _minimal_pairs.KINDS}
    monkeypatch.setattr(_minimal_pairs, "pairs", lambda: pairs)
    return tmp_path


def test_the_configuration_makes_a_gpt_of_bert_mini_s_size():
    config = read_config(gpt_mini.HERE / "gpt_mini.toml", GPTPretrainConfig)
    sizes = config.sizes(vocab_size=8192)
    assert (sizes.n_layers, sizes.d_model, sizes.norm_first) == (4, 256, False)
    assert sizes.n_parameters < 5_529_090
    assert not config.look_back


def test_it_is_trained_shipped_and_asked_and_the_card_holds_the_numbers(small_world, monkeypatch):
    made = gpt_mini.pretraining()
    assert [row["step"] for row in made["curve"]] == list(range(1, 9))
    model, vocab = load_gpt(small_world / "checkpoints" / "gpt-mini")
    assert model.config.end_id == vocab.sep_id
    theirs = transformers.AutoModelForCausalLM.from_pretrained(small_world / "checkpoints" / "gpt-mini")
    ids = torch.tensor([[2, 5, 6, 7]])
    with torch.no_grad():
        torch.testing.assert_close(model(ids).logits, theirs(ids).logits.float(), rtol=1e-3, atol=1e-3)

    row = gpt_mini.one_row(gpt_mini.shards("", VOCAB))
    sizes = {"d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 16, "max_positions": 128}
    bert = BertForPreTraining(BertConfig(vocab_size=len(VOCAB), **sizes))
    monkeypatch.setattr(gpt_mini, "load_bert", lambda name, kind: (bert, VOCAB))
    record = {
        "pretraining": made,
        "surprise": gpt_mini.surprise(model, vocab, row),
        "writing": gpt_mini.written(model, vocab, row),
        "grammar": gpt_mini.grammar(model, vocab, row),
    }
    models = record["surprise"]["sets"]["books"]["models"]
    assert 3 < models["gpt-mini"]["bits_per_piece"] < 4.5  # ten letters, drawn evenly: log2 10 = 3.3
    assert set(record["writing"]["texts"]) == {*_writing.WAYS, "n-grams of 4", "the author"}
    assert record["grammar"]["models"]["gpt-mini"]["all"]["pairs"] == 12
    assert len(json.dumps(record)) < 300_000
    text = card(record)
    assert f"{made['parameters']:,} parameters" in text
    assert "{" not in text
