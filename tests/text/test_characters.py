"""Words in characters: each spelling has one form, none is unknown, nothing is cut without being told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.text.characters import N_CHARACTERS, word_characters


def test_a_word_is_its_bytes_between_two_marks() -> None:
    assert word_characters(["ab", "é"]).tolist() == [[259, 98, 99, 260], [259, 0xC3 + 1, 0xA9 + 1, 260]]


def test_begin_and_end_of_a_text_have_a_character_of_their_own_and_padding_none() -> None:
    assert word_characters(["[CLS]", "[SEP]", "[PAD]"]).tolist() == [
        [259, 257, 260],
        [259, 258, 260],
        [0] * 3,
    ]


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=5))
def test_any_word_has_a_spelling_from_which_it_can_be_read_back(words: list[str]) -> None:
    words = [word for word in words if word.isprintable()] or ["x"]
    found = word_characters(words)
    assert found.dtype == np.int64
    assert (found >= 0).all()
    assert (found < N_CHARACTERS).all()
    for word, row in zip(words, found.tolist(), strict=True):
        assert bytes(n - 1 for n in row if 0 < n <= 256).decode() == word


def test_a_long_word_is_cut_only_where_that_is_wanted() -> None:
    assert word_characters(["a" * 48]).shape == (1, 50)
    with pytest.raises(ValueError, match="49 bytes, of most = 50 characters 48 are left"):
        word_characters(["a" * 49])
    assert word_characters(["a" * 49], cut=True).tolist() == word_characters(["a" * 48]).tolist()


def test_an_empty_word_is_refused() -> None:
    with pytest.raises(ValueError, match="no character"):
        word_characters(["a", ""])
