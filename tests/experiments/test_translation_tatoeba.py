"""Nothing leaks from training to test, and the carried translator writes what the record says."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab.interop import load_transformer
from bertlab.interop.transformer import CHECKPOINTS
from bertlab.nn import greedy_decode
from bertlab.training import load_result
from translation_tatoeba import groups, letters, split, with_references

PAIRS = [
    ("Hello!", "你好。"),
    ("Good day.", "你好！"),  # the same Chinese sentence, other punctuation
    ("good day", "日安"),  # the same English one
    ("Thanks.", "谢谢"),
    ("It is 3.", "三点了"),
    ("It is 4.", "四点了"),
]


def test_sentences_are_told_apart_by_letters_and_digits_alone():
    assert letters("Don't, Tom?") == "donttom" == letters("DON’T TOM")
    assert letters("你好！ ３") == "你好３"


def test_pairs_that_share_a_sentence_hang_together_over_several_steps():
    assert sorted(map(sorted, groups(PAIRS))) == [[0, 1, 2], [3], [4], [5]]


def test_a_sentence_of_one_language_is_no_sentence_of_the_other():
    assert len(groups([("OK", "好"), ("Good", "OK")])) == 2


@pytest.mark.parametrize("seed", range(5))
def test_no_sentence_stands_on_two_sides_and_each_pair_on_one(seed):
    rng = np.random.default_rng(seed)
    rows = [(f"e{rng.integers(60)}", f"c{rng.integers(60)}") for _ in range(50)]
    sets = split(rows, 10, 5, rng)
    assert sorted(i for chosen in sets.values() for i in chosen) == list(range(len(rows)))
    for k in (0, 1):
        seen = [{rows[i][k] for i in chosen} for chosen in sets.values()]
        assert len(set.union(*seen)) == sum(map(len, seen))
    assert len({rows[i][0] for i in sets["test"]}) >= 10


def test_a_sentence_counts_once_with_all_of_its_translations():
    sources, references = with_references([("a", "x"), ("b", "y"), ("a", "z")])
    assert sources == ["a", "b"]
    assert references == [["x", "y"], ["z", None]]


def test_the_record_says_that_nothing_leaked():
    record = load_result("translation_tatoeba")
    assert record["data"]["test_sentences_in_training"] == 0
    assert {"tok:zh", "nrefs:var"} <= set(record["metrics"][0].split("|"))
    assert all("CC-BY 2.0 (France)" in line for row in record["examples"] for line in row["attribution"])


def test_the_carried_translator_is_small_and_writes_what_the_record_says():
    model, tokenizer = load_transformer("tatoeba_en_zh")
    assert sum(file.stat().st_size for file in (CHECKPOINTS / "tatoeba_en_zh").iterdir()) < 12_000_000
    example = load_result("translation_tatoeba")["examples"][0]
    source = torch.tensor([[*tokenizer.encode(example["source"]).ids, model.config.end_id]])
    ids, _ = greedy_decode(model, source, max_length=60)
    assert tokenizer.decode(ids[0].tolist()).strip() == example["checkpoint"]


def test_the_card_tells_licence_attribution_command_and_scores():
    card = (CHECKPOINTS / "tatoeba_en_zh" / "README.md").read_text("utf-8")
    for said in (
        "CC BY 2.0 FR",
        "contributors",
        "tatoeba.org",
        "make results-translation_tatoeba",
        "## Limits",
    ):
        assert said in card
    assert f"| {load_result('translation_tatoeba')['checkpoint']['bleu']:.1f} |" in card
