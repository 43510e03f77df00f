"""Claims about where a pre-training begins: trained weights are kept, and what is new is said."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from bertlab.interop import load_bert, save_bert
from bertlab.nn.bert import BertModel
from bertlab.nn.bert_config import BertConfig
from bertlab.nn.bert_heads import BertForPreTraining
from bertlab.text import SPECIAL, WordPiece
from bertlab.training.pretrain_config import ConfigError
from bertlab.training.pretrain_start import begin_with
from tests.training.pretraining import LETTERS, SIZES, same, world

THEIRS = WordPiece([*SPECIAL, *reversed(LETTERS), "x", "y", "z"])


@pytest.fixture
def config(tmp_path):
    return replace(world(tmp_path), model="", start="trained", dropout=0.3)


def trained(kind=BertForPreTraining, **options):
    torch.manual_seed(5)
    return kind(BertConfig(vocab_size=len(THEIRS), **SIZES), **options)


def begin(config, model, tokenizer=THEIRS):
    said = []
    return (*begin_with(config, lambda name: (model, tokenizer), said.append), said)


def test_a_whole_model_goes_on_as_it_was_with_the_dropout_of_the_configuration(config):
    old = trained()
    new, tokenizer, said = begin(replace(config, vocab=""), old)
    assert same(new.state_dict(), old.state_dict())
    assert tokenizer is THEIRS
    assert (new.config.dropout, new.config.attention_dropout) == (0.3, 0.3)
    assert said == []


def test_heads_that_are_missing_begin_new_and_are_named(config):
    old = trained(BertModel)
    new, _, said = begin(replace(config, vocab=""), old)
    assert same(new.bert.state_dict(), old.state_dict())
    assert said == ["start = trained: masked_lm, next_sentence begin with new weights (7 tensors)"]
    _, _, said = begin(replace(config, vocab=""), trained(BertModel, pooler=False))
    assert said == [
        "start = trained: bert.pooler, masked_lm, next_sentence begin with new weights (9 tensors)"
    ]


def test_what_is_not_used_is_named(config):
    _, _, said = begin(replace(config, vocab="", next_sentence=False), trained())
    assert said == ["start = trained: bert.pooler, next_sentence are not used (4 tensors)"]


def test_each_piece_of_another_vocabulary_keeps_its_row(config):
    old = trained()
    with torch.no_grad():
        old.masked_lm.bias.normal_()
    new, tokenizer, said = begin(config, old)
    assert len(tokenizer) == len(THEIRS) - 3
    for i, piece in enumerate(tokenizer.vocab):
        j = THEIRS.ids[piece]
        assert torch.equal(new.bert.embeddings.token.weight[i], old.bert.embeddings.token.weight[j]), piece
        assert new.masked_lm.bias[i] == old.masked_lm.bias[j]
    assert said == ["vocab: 17 of 17 pieces have trained rows, 0 begin new"]


def test_a_piece_that_was_not_trained_begins_new_and_is_counted(config):
    few = WordPiece([*SPECIAL, "a", "b"])
    old = BertForPreTraining(BertConfig(vocab_size=len(few), **SIZES))
    _, _, said = begin(config, old, few)
    assert said == ["vocab: 7 of 17 pieces have trained rows, 10 begin new"]


@pytest.mark.parametrize(
    ("changes", "model", "tokenizer", "sentence"),
    [
        ({}, trained, WordPiece([*SPECIAL, *"uvw"]), "has 8 pieces for 20 rows"),
        ({"max_length": 25}, trained, THEIRS, "max_length = 25 is beyond the 24 positions"),
        ({}, lambda: nn.Linear(2, 2), THEIRS, "is a Linear, which is no BERT"),
    ],
)
def test_what_cannot_be_gone_on_from_is_refused(config, changes, model, tokenizer, sentence):
    with pytest.raises(ConfigError, match=sentence):
        begin(replace(config, **changes), model(), tokenizer)


def test_a_vocabulary_with_no_word_in_common_is_refused(config):
    strange = WordPiece([*SPECIAL, *"uvw"])
    model = BertForPreTraining(BertConfig(vocab_size=len(strange), **SIZES))
    with pytest.raises(ConfigError, match="shares no word"):
        begin(config, model, strange)


def test_a_vocabulary_that_is_not_there_is_named(config):
    with pytest.raises(ConfigError, match=r"vocab = 'none.txt': .*No such file"):
        begin(replace(config, vocab="none.txt"), trained())


def test_a_folder_in_the_common_format_can_be_the_start(config, tmp_path):
    old = trained()
    save_bert(old, THEIRS, tmp_path / "old")
    new, _ = begin_with(replace(config, start=str(tmp_path / "old")), load_bert, print)
    assert torch.equal(new.bert.embeddings.position.weight, old.bert.embeddings.position.weight)
