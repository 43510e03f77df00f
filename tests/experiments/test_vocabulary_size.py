"""Claims about unknown words."""

from __future__ import annotations

from collections import Counter

import pytest

from vocabulary_size import beginning, unknown


def test_the_share_of_unknown_words_counts_every_occurrence():
    assert unknown({"the", "cat"}, Counter(the=6, cat=2, zebra=2)) == pytest.approx(20)
    assert unknown({"the"}, Counter(the=3)) == 0


def test_lines_are_taken_until_they_have_enough_words():
    assert beginning(["a b", "c d e", "f"], 3) == ["a b", "c d e"]
    assert beginning(["a b", "c d e", "f"], 2) == ["a b"]
    with pytest.raises(ValueError, match="fewer than 9"):
        beginning(["a b", "c d e", "f"], 9)
