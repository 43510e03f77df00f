"""Stretches of running text: all is read once an epoch, in order, and a batch depends on its number alone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.datasets.documents import Document
from bertlab.text import SPECIAL, WordPiece, tokenise
from bertlab.text.stretches import Stretches

WORDS = 800
VOCAB = WordPiece([*SPECIAL, *(f"w{i}" for i in range(WORDS))])


def world(lengths: list[int], **options: Any) -> tuple[Stretches, list[list[int]]]:
    """Documents of so many words, in sentences of up to 3, and their ids; no word comes twice within 800."""
    borders = np.cumsum([0, *lengths])
    texts = [[i % WORDS for i in range(*pair)] for pair in pairwise(borders.tolist())]
    sentences = [[[f"w{n}" for n in text[i : i + 3]] for i in range(0, len(text), 3)] for text in texts]
    corpus = tokenise([Document([" ".join(one) for one in some], "words") for some in sentences], VOCAB)
    return Stretches(corpus, VOCAB, **options), [[len(SPECIAL) + n for n in text] for text in texts]


def inside(stretches: Stretches, epoch: int) -> list[list[int]]:
    """The pieces of all stretches of an epoch, without [CLS] and [SEP]."""
    found = []
    for ids, mask in stretches.batches(epoch):
        for row, real in zip(ids, mask, strict=True):
            assert (row[~real] == VOCAB.pad_id).all()
            assert row[real][0] == VOCAB.cls_id
            assert row[real][-1] == VOCAB.sep_id
            found.append(row[real][1:-1].tolist())
    return found


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
    st.integers(3, 12),
    st.integers(0, 3),
    st.integers(0, 2),
)
def test_each_piece_is_read_once_an_epoch_in_its_order(
    lengths: list[int], max_length: int, seed: int, epoch: int
) -> None:
    stretches, texts = world(lengths, max_length=max_length, batch_size=1, seed=seed)
    found = sorted(inside(stretches, epoch))
    assert [piece for one in found for piece in one] == [piece for text in texts for piece in text]
    assert all(0 < len(one) <= max_length - 2 for one in found)
    begins = {text[0] for text in texts}
    assert begins <= {one[0] for one in found}  # no stretch goes on from one document into the next


def test_a_document_that_fits_is_not_cut() -> None:
    stretches, texts = world([5, 8, 3], max_length=10, batch_size=1)
    for epoch in range(3):
        assert sorted(inside(stretches, epoch)) == sorted(texts)


def test_cuts_fall_elsewhere_in_another_epoch_and_with_another_seed() -> None:
    stretches, _ = world([200] * 4, max_length=12, batch_size=1)
    other, _ = world([200] * 4, max_length=12, batch_size=1, seed=1)
    seen = {tuple(sorted(map(tuple, inside(one, epoch)))) for one in (stretches, other) for epoch in range(3)}
    assert len(seen) == 6


def test_a_batch_is_a_function_of_its_number_alone() -> None:
    one, other = (world([40] * 20, max_length=12, batch_size=4, seed=3)[0] for _ in range(2))
    for epoch, number in ((2, 1), (0, 0), (1, 3)):
        for a, b in zip(one.batch(epoch, number), other.batch(epoch, number), strict=True):
            np.testing.assert_array_equal(a, b)
        other.batch(0, 1)  # what was asked for in between does not matter


def test_the_parts_of_a_batch_are_together_the_batch() -> None:
    stretches, _ = world([40] * 20, max_length=12, batch_size=4)
    whole = [row[real].tolist() for row, real in zip(*stretches.batch(0, 2), strict=True)]
    parts = [stretches.part(0, 2, i, 2) for i in range(2)]
    found = [row[real].tolist() for ids, mask in parts for row, real in zip(ids, mask, strict=True)]
    assert sorted(found) == sorted(whole)


def test_a_batch_has_stretches_of_similar_length() -> None:
    rng = np.random.default_rng(0)
    stretches, _ = world(rng.integers(1, 60, 400).tolist(), max_length=62, batch_size=8)
    padded = sum((~mask).sum() for _, mask in stretches.batches(0))
    read = sum(mask.size for _, mask in stretches.batches(0))
    assert padded < 0.15 * read  # in the order of chance it is half
    order = [int(mask.sum(1).max()) for _, mask in stretches.batches(0)]
    assert order != sorted(order)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"max_length": 2}, "max_length=2 leaves no room"),
        ({"batch_size": 0}, "batch_size=0: choose at least 1"),
        ({"batch_size": 9, "max_length": 50}, "batch_size=9 is more than the 2 stretches"),
    ],
)
def test_what_makes_no_batch_is_refused(options: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        world([5, 8], **options)


def test_a_batch_that_does_not_exist_is_refused() -> None:
    with pytest.raises(IndexError, match="epoch 0 has no batch 2: it has 2"):
        world([5, 8], batch_size=1)[0].batch(0, 2)
