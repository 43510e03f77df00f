"""Surprise by held-out text: every piece is asked once, with what stands before it and nothing else."""

from __future__ import annotations

import _next_piece
import numpy as np
import pytest
import torch
from _next_piece import ENDS, ROOM, Text, by_counting, by_gpt, by_place, summary, windows_of, with_memory

from _ngrams import KneserNey
from bertlab.nn import GPT, GPTConfig
from bertlab.text import SPECIAL, WordPiece

VOCAB = WordPiece([*SPECIAL, *"abcdefghij"])


@pytest.fixture(scope="module")
def gpt():
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 32, "max_positions": 128}
    model = GPT(GPTConfig(vocab_size=len(VOCAB), dropout=0.0, attention_dropout=0.0, **sizes)).eval()
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.3)
    return model


def some(*lengths):
    rng = np.random.default_rng(0)
    return [rng.integers(5, len(VOCAB), n) for n in lengths]


@pytest.mark.parametrize("step", [63, ROOM])
def test_every_piece_is_asked_once_with_the_pieces_of_its_window_before_it(gpt, step):
    documents = some(0, 1, 126, 127, 300)
    found = by_gpt(gpt, VOCAB, step)(documents)
    assert [len(p) for p in found] == [len(ids) for ids in documents]
    for ids, p in zip(documents, found, strict=True):
        for place in (0, 62, 63, 125, 126, 190, len(ids) - 1):
            if not 0 <= place < len(ids):
                continue
            start = place // ROOM * ROOM if step == ROOM or place < ROOM else (place - 63) // step * step
            before = torch.tensor([[VOCAB.cls_id, *ids[start:place].tolist()]])
            with torch.no_grad():
                wanted = gpt(before).logits[0, -1].softmax(-1)[ids[place]]
            assert p[place] == pytest.approx(float(wanted), rel=1e-4)


def test_what_comes_later_changes_nothing(gpt):
    (ids,) = some(100)
    other = ids.copy()
    other[60:] = 5
    one, two = (by_gpt(gpt, VOCAB)([row])[0] for row in (ids, other))
    np.testing.assert_allclose(one[:60], two[:60], rtol=1e-5)
    assert not np.allclose(one[61:], two[61:])


def test_counting_sees_as_many_pieces_as_it_is_allowed():
    row = np.array([0, *([5, 6, 7, 8] * 10), 0])
    counts = KneserNey(row, len(VOCAB))
    two, other = np.array([5, 6, 7]), np.array([9, 6, 7])
    last = [[by_counting(counts, most)([ids])[0][-1] for ids in (two, other)] for most in (0, 1, 3)]
    assert last[0][0] == last[0][1] == pytest.approx(0.25, abs=0.05)
    assert last[1][0] == last[1][1] > 0.5
    assert last[2][0] != last[2][1]


def test_a_memory_makes_what_was_there_before_more_probable():
    ids, given = np.array([5, 6, 5, 7]), np.full(4, 0.1)
    (mixed,) = with_memory([given], [ids], weight=0.5)
    np.testing.assert_allclose(mixed, [0.1, 0.05, 0.05 + 0.5 / 2, 0.05])


def test_bits_are_shared_out_by_pieces_words_and_letters():
    texts = [Text(np.arange(4), 3, 8), Text(np.arange(4), 1, 8)]
    found = summary(texts, {"one": [np.full(4, 0.5)] * 2, "other": [np.full(4, 0.25)] * 2})
    one, other = found["models"]["one"], found["models"]["other"]
    assert (one["bits_per_piece"], one["bits_per_word"], one["bits_per_letter"]) == (1.0, 2.0, 0.5)
    assert other["less_first"]["difference"] == 1.0
    assert "less_first" not in one


def test_places_are_grouped_by_what_was_seen():
    (ids,) = some(300)
    given = [np.full(len(window), 0.5) for window in windows_of([ids])]
    given[0][1] = 0.25  # one piece was seen
    found = by_place(given)
    assert len(found) == len(ENDS)
    assert found[0] == 1.0
    assert found[1] == pytest.approx(4 / 3, abs=1e-3)
    assert set(found[2:]) == {1.0}
    assert [len(window) for window in windows_of([ids])] == [126, 126, 48]


def test_whole_documents_are_held_out_until_there_is_enough(monkeypatch):
    from bertlab.datasets.documents import Document

    books = [Document(["a b c", "d"], "books")] * 9
    monkeypatch.setattr(_next_piece, "held_out_documents", lambda: {"books": books})
    chosen = _next_piece.held_out(VOCAB, n=9)["books"]
    assert len(chosen) == 3
    assert (chosen[0].ids.tolist(), chosen[0].words, chosen[0].letters) == ([5, 6, 7, 8], 4, 7)
