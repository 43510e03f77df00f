"""What the experiments on translation share does what it says, on a handful of sentences."""

from __future__ import annotations

import pytest
import sacrebleu
import torch

from _translation import (
    END_ID,
    PAD_ID,
    Corpus,
    Run,
    core_seconds,
    greedy,
    most_similar,
    signature,
    significance,
    train_bpe,
    until_end,
)
from bertlab.nn import Seq2SeqConfig, TransformerConfig

ENGLISH = ["the dog sees the cat", "the cat sees the dog", "a dog", "a cat", "the dog", "a cat sees a dog"]
CHINESE = ["狗看见猫", "猫看见狗", "一只狗", "一只猫", "那只狗", "一只猫看见一只狗"]
PIECES = 300
SIZES = {"source_vocab": PIECES, "target_vocab": PIECES, "pad_id": PAD_ID, "end_id": END_ID}
CONFIGS = {
    "seq2seq": Seq2SeqConfig(**SIZES, d_embedding=32, d_model=32),
    "transformer": TransformerConfig(**SIZES, d_model=16, n_heads=2, d_ff=32, n_layers=1),
}
RECIPE = {"epochs": 60, "peak": 2e-2, "warmup": 5, "tokens": 40, "betas": (0.9, 0.98)}


@pytest.fixture(scope="module")
def corpus():
    tokenizer = train_bpe([*ENGLISH, *CHINESE], PIECES, han_apart=True)
    return Corpus(
        tokenizer, {"train": (ENGLISH, [CHINESE]), "val": (2 * ENGLISH, [2 * CHINESE])}, tokenize="zh"
    )


def test_no_piece_spans_two_chinese_signs_where_they_stand_apart(corpus):
    together = train_bpe(CHINESE * 5, PIECES)
    assert len(together.encode("一只猫").ids) < 3
    for text in CHINESE:
        pieces = [corpus.tokenizer.decode([i]) for i in corpus.tokenizer.encode(text).ids]
        assert all(len(piece) == 1 for piece in pieces)
        assert "".join(pieces) == text


@pytest.mark.parametrize("han_apart", [True, False])
def test_text_never_seen_comes_back_whole(han_apart):
    tokenizer = train_bpe(ENGLISH, 270, han_apart)
    for text in ("Überraschung! 龘 ok", "«3.14» don't"):
        assert tokenizer.decode(tokenizer.encode(text).ids).strip() == text
    assert [tokenizer.token_to_id(token) for token in ("<PAD>", "<END>")] == [PAD_ID, END_ID]


def test_every_sentence_ends_and_is_trained_on_once_an_epoch_in_batches_that_are_not_too_large(corpus):
    assert all(row[-1] == END_ID for row in corpus.source["train"] + corpus.target["train"])
    for epoch in (0, 1):
        batches = corpus.epoch_batches(epoch, seed=0, tokens=20)
        assert sorted(i for rows in batches for i in rows) == list(range(len(ENGLISH)))
        assert all(max(side.numel() for side in corpus.pairs("train", rows)) <= 20 for rows in batches)
    assert corpus.epoch_batches(0, 0, 20) == corpus.epoch_batches(0, 0, 20) != corpus.epoch_batches(0, 1, 20)


def test_translations_come_back_in_the_order_of_the_split(corpus):
    def repeat(source):
        return [until_end(row) for row in source.tolist()]

    assert corpus.translate("train", repeat, batch=2) == ENGLISH


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_model_learns_a_handful_of_sentences_and_says_what_it_cost(corpus, kind, tmp_path):
    run = Run(corpus, CONFIGS[kind], RECIPE, seed=0)
    curve = run.fit(tmp_path / "arm")
    assert curve[-1]["val_loss"] < 1 < curve[0]["val_loss"]
    said = corpus.translate("val", greedy(run.model))
    assert sum(ours == right for ours, right in zip(said, 2 * CHINESE, strict=True)) >= len(
        CHINESE
    )  # of twice
    summary = run.summary(curve)
    assert summary["steps"] == RECIPE["epochs"] * run.per_epoch == curve[-1]["step"]
    assert summary["parameters"] == sum(p.numel() for p in run.model.parameters())
    assert len(summary["curve"]) == RECIPE["epochs"]


def test_one_seed_gives_one_model_and_another_another(corpus):
    one, same, other = (
        Run(corpus, CONFIGS["transformer"], RECIPE, seed).loss(3).item() for seed in (0, 0, 1)
    )
    assert one == same != other


def test_the_best_of_several_references_counts_and_an_empty_one_does_not(corpus):
    several = Corpus(
        corpus.tokenizer, {"test": (["a dog", "a cat"], [["一只狗", "一只猫"], ["那只狗在这里", None]])}
    )
    settings = {"tokenize": "zh"}
    assert several.bleu("test", ["那只狗在这里", "一只猫"], **settings) == pytest.approx(100)
    assert several.bleu("test", ["那只狗在这里", "只"], **settings) < 100
    metric = sacrebleu.BLEU(**settings)
    assert "nrefs:var" in signature(metric, several.references["test"])


def test_a_better_system_is_better_beyond_luck_and_one_that_errs_elsewhere_is_not():
    wanted = [f"sentence {i} has a number of its own" for i in range(50)]
    worse = [text.replace("number", "thing") for text in wanted]
    found = significance(worse, wanted, [wanted])
    assert found["p_value"] < 0.01
    assert found["gain"] > 10
    even, odd = ([(worse, wanted)[i % 2 == k][i] for i in range(50)] for k in (0, 1))
    assert significance(even, odd, [wanted])["p_value"] > 0.3


def test_the_most_similar_sentence_shares_the_rare_pieces():
    memory = [[5, 6], [5, 7], [5, 8, 9]]
    assert most_similar(memory, [[5, 7, 5], [9], [5, 6, 6]], pieces=10) == [1, 2, 0]
    memory = [[5, 6], [5], [5], [6, 7]]  # all but one have the piece 5, only half have the piece 6
    assert most_similar(memory, [[5, 5, 6, 7]], pieces=10) == [3]


def test_a_resumed_arm_costs_what_its_training_cost():
    arms = [{"seconds": 10, "training_core_minutes": 2}, {"seconds": 200, "training_core_minutes": 2}]
    assert core_seconds(arms) == 320


def test_rows_are_cut_before_their_end():
    assert until_end([5, END_ID, PAD_ID]) == [5]
    assert until_end([5, 6]) == [5, 6]
    assert torch.tensor(until_end([END_ID])).numel() == 0
