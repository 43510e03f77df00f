"""Claims about files of vectors: what is written is read again, by us and by gensim, and damage is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.text.vectors import Vectors

WORD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \n\r"), min_size=1, max_size=6)


@settings(max_examples=30)
@given(words=st.lists(WORD, min_size=1, max_size=5, unique=True), seed=st.integers(0, 99))
@pytest.mark.parametrize("name", ["v.npz", "v.txt"])
def test_words_and_numbers_come_back_to_the_bit(
    tmp_path_factory: pytest.TempPathFactory, name: str, words: list[str], seed: int
) -> None:
    path = tmp_path_factory.mktemp("vectors") / name
    matrix = np.random.default_rng(seed).normal(size=(len(words), 3)).astype(np.float32) * 10.0**seed**0.5
    Vectors(words, matrix.astype(np.float32)).save(path)
    again = Vectors.load(path)
    assert list(again.words) == words
    assert again.matrix.dtype == np.float32
    np.testing.assert_array_equal(again.matrix, matrix.astype(np.float32))


def test_float64_keeps_its_bits_in_npz(tmp_path: Path) -> None:
    matrix = np.random.default_rng(0).normal(size=(2, 3))
    Vectors(["a", "b"], matrix).save(tmp_path / "v.npz")
    np.testing.assert_array_equal(Vectors.load(tmp_path / "v.npz").matrix, matrix)


def test_gensim_reads_ours_and_we_read_gensim_s(tmp_path: Path) -> None:
    keyed_vectors = pytest.importorskip("gensim.models").KeyedVectors
    ours = Vectors(["the", "naïve", "银行"], np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32))
    ours.save(tmp_path / "ours.txt")
    theirs = keyed_vectors.load_word2vec_format(tmp_path / "ours.txt")
    assert theirs.index_to_key == list(ours.words)
    np.testing.assert_array_equal(theirs.vectors, ours.matrix)
    theirs.save_word2vec_format(tmp_path / "theirs.txt")
    again = Vectors.load(tmp_path / "theirs.txt")
    assert list(again.words) == list(ours.words)
    np.testing.assert_array_equal(again.matrix, ours.matrix)


def test_a_text_without_a_first_line_of_sizes_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "glove.txt").write_text("the 0.5 -1\n7 2 3\n")
    vectors = Vectors.load(tmp_path / "glove.txt")
    assert vectors.words == ("the", "7")
    assert vectors.matrix.tolist() == [[0.5, -1], [2, 3]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("2 2\na 1 2\n", "has 1 vectors of 2, its first line promises 2 of 2"),
        ("1 3\na 1 2\n", "has 1 vectors of 2, its first line promises 1 of 3"),
        ("a 1 2\nb 1\n", "line 2 of v.txt is no word with its numbers: 'b 1'"),
        ("a 1 2\nb 1 x\n", "line 2 of v.txt"),
        ("<html>\n", "line 1 of v.txt"),
        ("", "has 0 vectors"),
    ],
)
def test_a_damaged_text_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "v.txt").write_text(text)
    with pytest.raises(ValueError, match=sentence):
        Vectors.load(tmp_path / "v.txt")


def test_another_npz_and_another_ending_are_refused_and_pickle_is_never_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", weights=np.ones(2))
    with pytest.raises(ValueError, match=r"other.npz holds \['weights'\]"):
        Vectors.load(tmp_path / "other.npz")
    np.savez(tmp_path / "pickled.npz", words=np.array([["a"]], object), matrix=np.ones((1, 1)))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        Vectors.load(tmp_path / "pickled.npz")
    with pytest.raises(ValueError, match=r"v.bin is no name for vectors: end it in .npz"):
        Vectors(["a"], np.ones((1, 1))).save(tmp_path / "v.bin")
    assert not (tmp_path / "v.bin").exists()
