"""Claims about the sample of GloVe. (That it is made of what is published: interop/test_word_vectors.py.)"""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.datasets.glove_sample import glove_sample, sample_lines
from bertlab.datasets.word_relations import KINDS, RELATIONS


def test_it_has_a_direction_for_each_word_once() -> None:
    words, directions = glove_sample()
    assert len(set(words)) == len(words) == len(directions)
    assert all(word.isascii() and word.isalpha() and word.islower() for word in words)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1, atol=1e-6)
    with pytest.raises(ValueError, match="read-only"):
        directions[0] = 0


def test_it_has_most_words_of_our_lists() -> None:
    words = set(glove_sample()[0])
    listed = {word for relation in RELATIONS.values() for pair in relation for word in pair}
    listed |= {word for kind in KINDS.values() for word in kind}
    assert len(listed & words) > 0.97 * len(listed)


def test_a_line_is_a_word_and_its_numbers_stretched_and_rounded() -> None:
    words = ["the", "of", ",", "café", "zebra"]
    vectors = np.array([[3.0, -6.0], [0.1, 0.2], [1, 1], [1, 1], [0, -5]], np.float32)
    assert list(sample_lines(words, vectors)) == [
        "the QIE=",
        "of QH8=",
        "zebra AIE=",
    ]  # 64 -127, 64 127, 0 -127
