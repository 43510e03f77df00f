"""What is wrong with written texts is counted as it says: repeated, copied, ended."""

from __future__ import annotations

import _writing
import numpy as np
import pytest
import torch
from _writing import BEGIN, WRITE, Beginnings, Known, beginnings, by_counting, by_gpt, faults, repeated, until

from _ngrams import KneserNey
from bertlab.datasets.documents import Document
from bertlab.nn import GPT, GPTConfig
from bertlab.text import SPECIAL, WordPiece

VOCAB = WordPiece([*SPECIAL, *"abcdefghij"])


def test_a_beginning_starts_a_sentence_and_the_author_goes_on_in_the_same_text(monkeypatch):
    rng = np.random.default_rng(0)
    letters = [" ".join(rng.choice(list("bcdefghij"), 9)) for _ in range(40)]
    documents = [Document([f"a {row}" for row in letters[i : i + 20]], "books") for i in (0, 20)]
    documents.append(Document(["a b c"], "books"))  # too short
    monkeypatch.setattr(_writing, "held_out_documents", lambda: {"books": documents})
    found = beginnings(VOCAB, n=6)
    assert found.prompts.shape == (6, BEGIN)
    assert found.author.shape == (6, WRITE)
    texts = [" ".join(document.sentences) for document in documents]
    for prompt, author in zip(*found, strict=True):
        assert prompt[0] == VOCAB.ids["a"]
        assert any(VOCAB.decode(np.concatenate([prompt, author])) in text for text in texts)


def test_what_stood_in_the_text_before_is_repeated():
    assert repeated(np.arange(10)) == (0.0, 7.0)
    assert repeated(np.array([5, 6, 7, 8, 9, 5, 6, 7, 8])) == (1.0, 6.0)
    assert repeated(np.full(7, 5)) == (3.0, 4.0)
    assert repeated(np.array([5, 6])) == (0.0, 0.0)


def test_what_stands_in_the_training_text_is_copied():
    known = Known(np.arange(100), lengths=(3,))
    assert known.share(np.array([7, 8, 9, 10, 50, 51]), 3) == (2.0, 4.0)
    assert known.share(np.array([9, 8, 7]), 3) == (0.0, 1.0)
    assert known.share(np.array([99]), 3) == (0.0, 0.0)


@pytest.fixture(scope="module")
def gpt():
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 32, "max_positions": 128}
    return GPT(GPTConfig(vocab_size=len(VOCAB), dropout=0.0, end_id=VOCAB.sep_id, **sizes)).eval()


def test_a_gpt_goes_on_from_the_beginning_and_stops_at_an_end(gpt):
    prompts = np.full((4, BEGIN), 5)
    greedy = by_gpt(gpt, VOCAB, prompts, {"temperature": 0.0})
    assert len({row.tobytes() for row in greedy}) == 1
    drawn = by_gpt(gpt, VOCAB, prompts, {"temperature": 1.0})
    assert len({row.tobytes() for row in drawn}) == 4
    assert all(VOCAB.sep_id not in row for row in drawn)
    again = by_gpt(gpt, VOCAB, prompts, {"temperature": 1.0})
    assert [row.tolist() for row in drawn] == [row.tolist() for row in again]
    assert until(np.array([3, 5]), 3).tolist() == []


def test_n_grams_write_what_they_have_counted():
    row = np.array([0, *([5, 6, 7, 8] * 200), 0])
    written = by_counting(KneserNey(row, len(VOCAB)), np.array([[6, 7, 8, 5]] * 3), n=8)
    assert written[0].tolist() == [6, 7, 8, 5, 6, 7, 8, 5]
    assert len(written) == 3


def test_faults_of_a_text_that_says_one_thing_for_ever():
    begun = Beginnings(np.full((3, BEGIN), 5), np.tile(np.arange(WRITE) % 9 + 5, (3, 1)))
    known = Known(np.arange(30))
    judge = {"even": lambda documents: [np.full(len(ids), 0.25) for ids in documents]}
    found = faults(begun.prompts, [np.full(WRITE, 7)] * 2 + [np.full(50, 7)], known, judge)
    assert found["repeated"]["mean"] > 0.97
    assert found["copied"][4]["mean"] == 0
    assert found["surprise"]["even"] == {"mean": 2.0, "interval": [2.0, 2.0]}
    assert (found["kinds"], found["ended"]) == (1, 1)
    fine = faults(begun.prompts, list(begun.author), known, judge)
    assert 0 < fine["copied"][4]["mean"] < 1  # 5 to 13, again and again: all but what goes over the end
    assert fine["kinds"] == 9
