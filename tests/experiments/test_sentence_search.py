"""Vectors of texts are made as they are called."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from bertlab.nn import BertConfig, BertModel
from sentence_search import Reader, glove, judged, tf_idf, vectors, without_common

IDS = torch.tensor([[2, 7, 8, 3], [2, 9, 3, 0]])


@pytest.fixture(scope="module")
def reader() -> Reader:
    made = Reader.__new__(Reader)
    torch.nn.Module.__init__(made)
    torch.manual_seed(0)
    made.bert = BertModel(BertConfig.tiny(vocab_size=20)).eval()
    return made


def search(which):
    return SimpleNamespace(texts=[(torch.tensor(which), IDS)])


def test_D36_means_leave_padding_out_and_layers_are_counted_from_the_embeddings(reader):
    found = vectors(reader, search([0, 1]))
    output = reader.bert(IDS)
    assert {name for name in found if "layer" in name} == {f"mean of layer {i}" for i in range(3)}
    for i in range(3):
        torch.testing.assert_close(found[f"mean of layer {i}"][1], output.layers[i][1, :3].mean(0))
    embedded = reader.bert.embeddings(IDS, torch.zeros_like(IDS))
    torch.testing.assert_close(found["mean of layer 0"][0], embedded[0].mean(0))


def test_the_other_ways_are_what_they_are_called(reader):
    found, output = vectors(reader, search([0, 1])), reader.bert(IDS)
    torch.testing.assert_close(found["[CLS]"], output.states[:, 0])
    torch.testing.assert_close(found["pooler"], output.pooled)
    torch.testing.assert_close(found["largest"][1], output.states[1, :3].amax(0))


def test_vectors_come_in_the_order_of_the_texts(reader):
    torch.testing.assert_close(vectors(reader, search([1, 0]))["[CLS]"], reader.bert(IDS).states[[1, 0], 0])


def test_what_is_common_is_that_of_the_paragraphs():
    x = torch.tensor([[5.0], [1.0], [3.0]])  # one question, two paragraphs
    assert without_common(x, 1).tolist() == [[3.0], [-1.0], [1.0]]


def test_a_question_is_judged_by_the_angle_to_its_paragraph():
    made = SimpleNamespace(answers=torch.tensor([0, 1]))
    made.each = lambda x: {"first": 100.0 * torch.tensor([1.0, 0.0])}
    assert judged(made, torch.ones(4, 2)) == {"first": 50.0, "interval": [0.0, 100.0]}


def test_tf_idf_finds_the_paragraph_that_has_the_rare_word():
    x = tf_idf(["Where did the grapes hang?", "The fox wanted grapes.", "The fox slept."], 1)
    assert (x[0] @ x[1]).item() > (x[0] @ x[2]).item() == 0


def test_glove_is_the_mean_of_the_words_that_it_knows(monkeypatch, tmp_path):
    np.save(tmp_path / "vectors.npy", np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float16))
    files = SimpleNamespace(path=lambda _: tmp_path / "vectors.npy", lines=lambda _: ["fox", "dog"])
    monkeypatch.setattr("sentence_search.datasets.load", lambda _: files)
    assert glove(["Fox, fox, dog zzz."]).tolist() == [pytest.approx([2 / 3, 1 / 3])]
