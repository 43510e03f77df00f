"""Missing words of stories: each kind of knowledge is as good as it should be; answers are judged by it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from _arms_made import Size, World, make
from _story_exam import KNOWN, answered, exam, judged, logarithms, means, probed, senses

from bert_stories import GRAMMAR, vocabulary
from bertlab.datasets.stories import sample_stories
from bertlab.text import tokenise


def small():
    stories = sample_stories(np.random.default_rng(0), 10, grammar=GRAMMAR)
    corpus = tokenise([story.document for story in stories], vocabulary())
    return World(vocabulary(), corpus, Size(16, 1, 2, 128), 8, pairs=False)


@pytest.fixture(scope="module")
def asked():
    return exam(12, 3, 4)


def test_what_is_known_are_chances_and_the_word_itself_is_possible(asked):
    answers = asked.texts.flatten()[asked.positions]
    for known in asked.known.values():
        torch.testing.assert_close(known.sum(1), torch.ones(len(answers)), atol=1e-5, rtol=0)
        assert (known.gather(1, answers[:, None]) > 0).all()


def test_two_sides_know_more_than_one_and_multiplying_is_between(asked):
    loss = {name: means(judged(logarithms(asked.known[name]), asked), asked)["loss"] for name in KNOWN}
    assert loss["both"] <= loss["product"] < min(loss["left"], loss["right"])
    assert max(loss["left"], loss["right"]) < loss["alone"]


def test_the_best_loss_is_the_entropy_of_the_truth(asked):
    truth = asked.known["both"]
    entropy = -(truth * truth.clamp(min=1e-9).log()).sum(1).numpy()
    found = judged(logarithms(truth), asked)
    np.testing.assert_allclose(found[:, 0], entropy, atol=1e-5)
    np.testing.assert_allclose(found[:, 1], truth.max(1).values.numpy(), atol=1e-6)


def test_a_model_is_asked_at_the_place_of_the_word(asked):
    model = make("GPT", small(), 0).eval()
    found = means(answered(model.log_p, asked), asked)
    assert found["loss"] == pytest.approx(np.log(len(vocabulary())), rel=0.2)
    assert {"loss of names", "accuracy of others"} <= found.keys()


def test_senses_are_known_from_both_sides_and_less_from_the_left():
    some = senses(150, 20, 5)
    assert some.best["left"] < some.best["both"] <= 1
    for one in some.asked:
        assert vocabulary().vocab[one.ids[one.pieces.start]].lower() == one.word
    found = probed(make("CBOW", small(), 0), some)
    assert set(found) == {"layer 0", "majority"}, "a vector without context has one layer"
