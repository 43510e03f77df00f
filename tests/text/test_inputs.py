"""Claims about BERT's input: special tokens, segments, what is cut and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers.processors import BertProcessing

from bertlab.nn.masking import padding_mask
from bertlab.text import SPECIAL, Marks, WordPiece, join_texts, pad_batch, pair_inputs

TOKENIZER = WordPiece([*SPECIAL, "a", "b"])
A, B = 5, 6
CLS, SEP = TOKENIZER.cls_id, TOKENIZER.sep_id


def lengths(n_a: int, n_b: int, room: int, truncation: str) -> tuple[int, int]:
    """How many pieces of both are left."""
    ids = pair_inputs([A] * n_a, [B] * n_b, TOKENIZER, room + 3, truncation).ids.tolist()
    return ids.count(A), ids.count(B)


def test_D26_the_longer_text_is_cut():
    assert lengths(10, 3, 8, "longest_first") == (5, 3)
    assert lengths(3, 10, 8, "longest_first") == (3, 5)


def test_D26_segments_and_mask():
    pair = pair_inputs([A, A], [B], TOKENIZER)
    assert pair.ids.tolist() == [CLS, A, A, SEP, B, SEP]
    batch = pad_batch([pair], TOKENIZER.pad_id, length=8)
    assert batch.segments.tolist() == [[0, 0, 0, 0, 1, 1, 0, 0]]
    assert batch.mask.tolist() == [[True] * 6 + [False] * 2]
    assert batch.ids.tolist() == [[CLS, A, A, SEP, B, SEP, 0, 0]]


def test_D18_an_empty_text_is_its_special_tokens():
    assert pair_inputs(TOKENIZER.encode("").ids, None, TOKENIZER).ids.tolist() == [CLS, SEP]
    assert pair_inputs([], [], TOKENIZER).ids.tolist() == [CLS, SEP, SEP]


@given(st.integers(0, 9), st.none() | st.integers(0, 9), st.integers(5, 12))
def test_D26_other_marks_stand_where_those_of_bert_do_and_the_same_is_cut(n_a, n_b, max_length):
    a, b = [A] * n_a, None if n_b is None else [B] * n_b
    own = pair_inputs(a, b, TOKENIZER, max_length, "longest_first")
    other = join_texts(a, b, Marks(first=20, between=21, last=22), max_length, "longest_first")
    assert other.ids[0] == 20
    assert other.ids[-1] == 22
    assert (other.ids == 21).sum() == (b is not None)
    assert (
        np.where(other.ids > 20, SEP, np.where(other.ids == 20, CLS, other.ids)).tolist() == own.ids.tolist()
    )
    assert (other.segments.tolist(), other.cut) == (own.segments.tolist(), own.cut)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 40))
def test_longest_first_is_the_loop_of_the_original_release(n_a, n_b, room):
    """It takes a piece off the first text if that is longer, else off the second."""
    left_a, left_b = n_a, n_b
    while left_a + left_b > room:
        if left_a > left_b:
            left_a -= 1
        else:
            left_b -= 1
    assert lengths(n_a, n_b, room, "longest_first") == (left_a, left_b)
    inputs = pair_inputs([A] * n_a, [B] * n_b, TOKENIZER, room + 3, "longest_first")
    assert inputs.cut == n_a + n_b - left_a - left_b


def test_of_two_equally_long_texts_the_second_is_cut_first_unlike_in_the_library():
    assert lengths(10, 10, 7, "longest_first") == (4, 3)
    library = WordPiece(TOKENIZER.vocab, fast=True)._rust
    library.enable_truncation(7, strategy="longest_first")
    ids = library.encode("a " * 10, "b " * 10).ids
    assert (ids.count(A), ids.count(B)) == (3, 4)


def test_the_beginning_is_kept():
    ids = np.arange(10, 20)
    assert pair_inputs(ids, None, TOKENIZER, 5, "longest_first").ids.tolist() == [CLS, 10, 11, 12, SEP]
    assert pair_inputs([A], ids, TOKENIZER, 6, "only_second").ids.tolist() == [CLS, A, SEP, 10, 11, SEP]
    assert pair_inputs(ids, [B], TOKENIZER, 6, "only_first").ids.tolist() == [CLS, 10, 11, SEP, B, SEP]


def test_the_caller_is_told_how_much_was_cut():
    assert pair_inputs([A] * 10, [B] * 3, TOKENIZER, 11, "only_first").cut == 5
    assert pair_inputs([A] * 10, [B] * 3, TOKENIZER, 16, "only_first").cut == 0


def test_nothing_is_cut_unasked():
    with pytest.raises(ValueError, match=r"10 \+ 3 pieces do not fit into max_length=11, which leaves 8"):
        pair_inputs([A] * 10, [B] * 3, TOKENIZER, 11)
    assert pair_inputs([A] * 10, None, TOKENIZER, 12).cut == 0


@pytest.mark.parametrize(
    ("n_a", "n_b", "max_length", "truncation"),
    [
        (10, 3, 5, "only_second"),
        (3, 10, 5, "only_first"),
        (1, 1, 2, "longest_first"),
        (3, None, 4, "only_second"),
    ],
)
def test_what_cannot_be_made_to_fit_is_refused(n_a, n_b, max_length, truncation):
    with pytest.raises(ValueError, match="do not fit"):
        pair_inputs([A] * n_a, None if n_b is None else [B] * n_b, TOKENIZER, max_length, truncation)


def test_an_unknown_truncation_is_refused():
    with pytest.raises(ValueError, match="truncation='right' is unknown: choose one of"):
        pair_inputs([A], None, TOKENIZER, truncation="right")


@given(st.lists(st.integers(5, 6)), st.none() | st.lists(st.integers(5, 6)))
def test_pairs_are_those_of_the_library(a, b):
    library = TOKENIZER_WITH_TEMPLATE
    text_a, text_b = (None if ids is None else TOKENIZER.decode(ids) for ids in (a, b))
    theirs = library.encode(text_a, text_b)
    ours = pair_inputs(a, b, TOKENIZER)
    assert (ours.ids.tolist(), ours.segments.tolist()) == (theirs.ids, theirs.type_ids)


TOKENIZER_WITH_TEMPLATE = WordPiece(TOKENIZER.vocab, fast=True)._rust
TOKENIZER_WITH_TEMPLATE.post_processor = BertProcessing(("[SEP]", SEP), ("[CLS]", CLS))


def test_a_batch_is_as_long_as_its_longest_and_hides_its_padding():
    batch = pad_batch([pair_inputs([A], None, TOKENIZER), pair_inputs([A, A], [B, B], TOKENIZER)], pad_id=0)
    assert batch.ids.shape == batch.segments.shape == batch.mask.shape == (2, 7)
    assert batch.ids.dtype == batch.segments.dtype == np.int64
    assert batch.mask.dtype == bool
    assert batch.ids[0].tolist() == [CLS, A, SEP, 0, 0, 0, 0]
    assert batch.mask.sum(axis=1).tolist() == [3, 7]


def test_the_mask_is_that_of_the_padding_alone():
    import torch

    batch = pad_batch([pair_inputs([A] * n, None, TOKENIZER) for n in (0, 3, 1)])
    np.testing.assert_array_equal(padding_mask(torch.tensor(batch.ids))[:, 0, 0].numpy(), batch.mask)


def test_an_empty_batch_and_too_long_an_input_are_refused():
    with pytest.raises(ValueError, match="0 inputs"):
        pad_batch([])
    with pytest.raises(ValueError, match="an input of 4 positions is longer than length=3"):
        pad_batch([pair_inputs([A, A], None, TOKENIZER)], length=3)
