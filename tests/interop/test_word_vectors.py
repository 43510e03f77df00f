"""Claims about published vectors: real GloVe, by name, with the answers that made such vectors famous."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from bertlab.datasets import UnknownName
from bertlab.datasets.glove_sample import sample_lines
from bertlab.datasets.word_relations import RELATIONS, questions
from bertlab.interop import load_vectors
from bertlab.text import Vectors


@pytest.fixture(scope="module")
def glove() -> Vectors:
    if not os.environ.get("BERTLAB_DATA_MIRROR"):
        pytest.skip("BERTLAB_DATA_MIRROR names no folder with the public data sets")
    return load_vectors("glove-6b-50d-top20k")


def test_glove_has_its_most_frequent_words_in_order(glove: Vectors) -> None:
    assert glove.matrix.shape == (20_000, 50)
    assert glove.matrix.dtype == np.float32
    assert list(glove.words[:4]) == ["the", ",", ".", "of"]


def test_king_is_to_man_as_queen_is_to_woman_but_only_without_king(glove: Vectors) -> None:
    assert glove.analogy("man", "king", "woman", 1)[0][0] == "queen"
    asked = [("man", "king", "woman", "queen")]
    assert glove.analogies(asked) == (1, 1, 0)
    assert glove.analogies(asked, exclude=False) == (0, 1, 0)


def test_real_vectors_answer_most_questions_of_countries_and_peoples(glove: Vectors) -> None:
    for name, least in (("capital and country", 0.8), ("country and people", 0.9), ("opposites", 0.1)):
        score = glove.analogies(questions(RELATIONS[name]))
        assert score.right / score.asked > least, name


def test_the_sample_is_always_there_and_says_nearly_what_the_whole_says(glove: Vectors) -> None:
    sample = load_vectors("glove-sample")
    for one, other in (("play", "game"), ("king", "queen"), ("bank", "river")):
        assert sample.similarity(one, other) == pytest.approx(glove.similarity(one, other), abs=0.01)


def test_the_file_of_the_sample_is_made_of_what_is_published(glove: Vectors) -> None:
    kept = resources.files("bertlab.datasets").joinpath("glove_sample.txt").read_text("utf-8")
    assert kept == "".join(f"{line}\n" for line in sample_lines(glove.words, glove.matrix))


def test_a_file_is_loaded_by_its_path_and_another_name_is_refused(tmp_path: Path) -> None:
    Vectors(["a"], np.ones((1, 2), np.float32)).save(tmp_path / "own.npz")
    assert load_vectors(tmp_path / "own.npz").words == ("a",)
    with pytest.raises(
        UnknownName, match="glove-7b is no file and no set of vectors: give a path, or one of glove-sample"
    ):
        load_vectors("glove-7b")
