"""Claims about words and their vectors: neighbours and analogies, by loops and as gensim answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.text.vectors import Vectors


def some_vectors(seed: int = 0, V: int = 12, D: int = 4) -> Vectors:
    matrix = np.random.default_rng(seed).normal(size=(V, D)).astype(np.float32)
    return Vectors([f"w{i}" for i in range(V)], matrix)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))


@settings(max_examples=25)
@given(seed=st.integers(0, 999))
def test_neighbours_are_all_other_words_by_cosine(seed: int) -> None:
    vectors = some_vectors(seed)
    found = vectors.neighbours("w3", n=100)
    wanted = {word: cosine(vectors["w3"], vectors[word]) for word in vectors.words if word != "w3"}
    assert dict(found) == pytest.approx(wanted, abs=1e-5)
    assert [c for _, c in found] == sorted((c for _, c in found), reverse=True)
    assert vectors.similarity("w3", "w5") == pytest.approx(wanted["w5"], abs=1e-5)
    assert "w5" not in dict(vectors.neighbours("w3", 100, without=["w5"]))
    assert vectors.neighbours(2 * vectors["w3"], 1)[0] == ("w3", pytest.approx(1))


@settings(max_examples=25)
@given(seed=st.integers(0, 999))
def test_an_analogy_is_answered_by_adding_unit_vectors(seed: int) -> None:
    vectors = some_vectors(seed)
    a, b, c = (vectors[word] / np.linalg.norm(vectors[word]) for word in ("w0", "w1", "w2"))
    wanted = {word: cosine(b - a + c, vectors[word]) for word in vectors.words[3:]}
    assert dict(vectors.analogy("w0", "w1", "w2", 100)) == pytest.approx(wanted, abs=1e-5)
    best = max(wanted, key=wanted.__getitem__)
    assert vectors.analogies([("w0", "w1", "w2", best)]) == (1, 1, 0)


def test_the_words_of_a_question_cannot_be_its_answer_but_if_asked_for() -> None:
    near = [[1.0, 0, 0.02], [1, 0.2, 0], [0, 1, 0.01], [0, 1, -0.3]]
    vectors = Vectors(["a", "b", "c", "d"], np.array(near))
    question = [("a", "b", "c", "d")]
    assert vectors.analogies(question) == (1, 1, 0)
    assert vectors.analogies(question, exclude=False) == (0, 1, 0)  # c itself is nearest


def test_questions_with_unknown_words_are_counted_not_asked() -> None:
    vectors = some_vectors()
    asked = [("w0", "w1", "w2", "w3"), ("w0", "w1", "w2", "no"), ("no", "w1", "w2", "w3")]
    assert vectors.analogies(asked)[1:] == (1, 2)
    assert vectors.analogies(asked * 300)[1:] == (300, 600)
    assert vectors.analogies([]) == (0, 0, 0)


def test_gensim_gives_the_same_neighbours_and_the_same_score() -> None:
    keyed = pytest.importorskip("gensim.models").KeyedVectors(4)
    vectors = some_vectors(V=40)
    keyed.add_vectors(list(vectors.words), vectors.matrix)
    for ours, theirs in (
        (vectors.neighbours("w7", 10), keyed.most_similar("w7", topn=10)),
        (vectors.analogy("w1", "w2", "w3", 10), keyed.most_similar(["w2", "w3"], ["w1"], topn=10)),
    ):
        assert [word for word, _ in ours] == [word for word, _ in theirs]
        np.testing.assert_allclose([c for _, c in ours], [c for _, c in theirs], atol=1e-5)


def test_a_vector_of_zeros_is_near_nothing() -> None:
    vectors = Vectors(["a", "b"], np.array([[0.0, 0.0], [1.0, 0.0]]))
    assert vectors.similarity("a", "b") == 0
    assert vectors.neighbours("a", 1) == [("b", 0.0)]
    assert vectors.neighbours(np.zeros(2), 1) == [("a", 0.0)]


def test_some_of_the_words_keep_their_vectors() -> None:
    vectors = some_vectors()
    few = vectors.of(["w5", "w2"])
    assert list(few.words) == ["w5", "w2"]
    np.testing.assert_array_equal(few.matrix, vectors.matrix[[5, 2]])
    assert len(few) == 2
    assert "w5" in few
    assert "w1" not in few
    assert repr(few) == "Vectors(2 words, 4 numbers each)"


@pytest.mark.parametrize(
    ("words", "matrix", "sentence"),
    [
        (["a"], np.ones((2, 3)), r"1 words and a matrix of shape \(2, 3\)"),
        (["a", "b", "a"], np.ones((3, 1)), "the word 'a' comes twice"),
        (["a", "b c"], np.ones((2, 1)), "the word 'b c' is empty, or has a space"),
        ([""], np.ones((1, 1)), "the word '' is empty"),
        (["a"], np.array([[np.nan]]), "not finite"),
    ],
)
def test_what_are_no_vectors_is_refused(words: list[str], matrix: np.ndarray, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Vectors(words, matrix)


def test_an_unknown_word_and_a_short_question_are_named() -> None:
    vectors = Vectors(["play", "plays", "bank"], np.eye(3))
    with pytest.raises(ValueError, match="'playz' has no vector: did you mean 'play' or 'plays'"):
        vectors.neighbours("playz")
    with pytest.raises(ValueError, match=r"'\?\?\?' has no vector: there are 3 words"):
        vectors["???"]
    with pytest.raises(ValueError, match=r"the question \('bank', 'play'\) has 2 words"):
        vectors.analogies([("bank", "play")])
