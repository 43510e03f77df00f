"""The nearest occurrence is looked for among those of the same word, in what a layer says of that word."""

from __future__ import annotations

import pytest
import torch

from _homographs import Sentence
from _minilm import MiniLM
from bertlab.datasets import DataUnavailable
from sense_layers import (
    MOST,
    SETS,
    kinds_of,
    majority_is_right,
    nearest_is_right,
    occurrences,
    part,
    percent,
    states,
)

pytestmark = pytest.mark.filterwarnings("ignore:coarsewsd-20 is for non-commercial use")


def said(word, sense, ids=(1, 2, 3), place=1) -> Sentence:
    return Sentence(word, sense, [*ids], slice(place, place + 1))


TRAIN = [said("bank", "river"), said("bank", "money"), said("bank", "money"), said("seal", "animal")]
TEST = [said("bank", "river"), said("bank", "money"), said("seal", "wax")]


@pytest.fixture(scope="module")
def model():
    try:
        return MiniLM()
    except DataUnavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module", params=SETS)
def loaded(request, model):
    try:
        return request.param, occurrences(request.param, model.tokenizer, "test")
    except DataUnavailable as reason:
        pytest.skip(str(reason))


def test_the_nearest_is_found_by_angle_among_occurrences_of_the_same_word():
    x = torch.tensor([[1.0, 0.0], [0.0, 9.0], [1.0, 1.0], [-1.0, 0.0]])
    asked = torch.tensor([[3.0, 0.1], [-1.0, 0.5], [0.0, 1.0]])  # the second is nearest to the seal
    assert nearest_is_right(TRAIN, TEST, x, asked).tolist() == [True, True, False]


def test_the_majority_is_that_of_training():
    assert majority_is_right(TRAIN, TEST).tolist() == [False, True, False]


def test_a_part_counts_its_own_occurrences_alone():
    right = torch.tensor([True, False, False, True])
    found = part(["a", "b", "b", "a"], "b", [right, ~right], {"around": right})
    assert found == {"right": [0.0, 100.0], "around": 0.0, "test": 2}
    assert percent(right) == 50


def test_states_are_what_each_layer_says_of_the_word_and_the_embeddings_around_it(model):
    vocab = model.tokenizer
    found = []
    for text in ("The bank of the river was steep.", "The bank."):
        ids = [vocab.cls_id, *vocab.encode(text).ids, vocab.sep_id]
        found.append(Sentence("bank", "", ids, slice(2, 3)))
    layers, around = states(model, found)
    for i, one in enumerate(found):
        alone = torch.stack(model.bert(torch.tensor([one.ids])).layers)[:, 0, 2]
        torch.testing.assert_close(layers[:, i], alone, atol=1e-5, rtol=0)
    table = model.bert.embeddings.token.weight
    torch.testing.assert_close(around[1], table[vocab.encode("the .").ids].mean(0))


def test_every_marked_place_is_its_word(loaded, model):
    _, found = loaded
    for one in found:
        pieces = [model.tokenizer.vocab[i] for i in one.ids[one.pieces]]
        assert one.word in "".join(piece.removeprefix("##") for piece in pieces)


def test_no_word_has_more_occurrences_than_are_told(loaded):
    _, found = loaded
    assert len(found) > 700
    assert max(sum(one.word == word for one in found) for word in {one.word for one in found}) <= MOST["test"]


def test_homographs_are_of_two_kinds(loaded):
    name, found = loaded
    if name == "wikipedia-homographs":
        assert set(kinds_of(found)) == {"part of speech", "others"}
