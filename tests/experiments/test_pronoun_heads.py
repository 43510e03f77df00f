"""A head looks right if it gives the right name more; it is judged by other snippets than chosen by."""

from __future__ import annotations

import pytest
import torch

from _minilm import N_HEADS, N_LAYERS, MiniLM
from bertlab.datasets import DataUnavailable
from pronoun_heads import Snippet, chosen, guesses, looks_right, pieces, snippets

TEXT = "Mary met Anna before she left."
MARY, ANNA, SHE = (0, 4), (9, 13), (21, 24)


def test_the_nearer_name_and_the_first_name_are_guessed():
    asked = [Snippet(TEXT, SHE, (MARY, ANNA), 0), Snippet(TEXT, SHE, (ANNA, MARY), 0)]
    found = guesses(asked)
    assert found["the first name"].tolist() == [True, False]
    assert found["the nearer name"].tolist() == [False, True]


def test_a_head_is_chosen_by_every_second_snippet_and_judged_by_the_others():
    right = torch.zeros(8, N_LAYERS * N_HEADS, dtype=torch.bool)
    right[::2, 5] = True  # the best when choosing, and always wrong in the test
    right[1::2, 6] = True
    found = chosen(right)
    assert found["head"] == [0, 5]
    assert (found["when choosing"], found["right"]) == (100.0, 0.0)
    assert found["every head"][0][6] == 100


def test_looking_right_is_read_off_the_row_of_the_pronoun():
    try:
        model = MiniLM()
    except DataUnavailable as reason:
        pytest.skip(str(reason))
    one, other = Snippet(TEXT, SHE, (MARY, ANNA), 0), Snippet(TEXT, SHE, (MARY, ANNA), 1)
    first, second = looks_right(model, [one, other])
    assert (first != second).all()
    vocab = model.tokenizer
    encoding = vocab.encode(TEXT)
    assert [[encoding.tokens[i - 1] for i in pieces(encoding, span)] for span in (MARY, ANNA, SHE)] == [
        ["mary"], ["anna"], ["she"],
    ]  # fmt: skip
    ids = torch.tensor([[vocab.cls_id, *encoding.ids, vocab.sep_id]])
    weights = torch.stack(model.bert(ids, need_weights=True).weights)[:, 0]
    assert first.tolist() == (weights[:, :, 5, 1] > weights[:, :, 5, 3]).ravel().tolist()


def test_of_every_snippet_that_counts_all_three_are_there():
    try:
        found = snippets()
    except DataUnavailable as reason:
        pytest.skip(str(reason))
    assert len(found) > 350
    for one in found:
        assert one.text[slice(*one.pronoun)].lower() in {"he", "she", "him", "her", "his", "hers"}
        assert one.names[0] != one.names[1]
        assert all(one.text[slice(*name)].strip() for name in one.names)
    assert 0.4 < sum(one.right for one in found) / len(found) < 0.6
