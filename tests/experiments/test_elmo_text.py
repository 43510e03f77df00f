"""Rare words are read and never asked for; both sides see what they should; all guess at the same words."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import _elmo_text
from _elmo_text import (
    DIRECTIONS,
    Text,
    by_counting,
    by_elmo,
    exam,
    examined,
    frequencies,
    known_words,
    prepared,
    targets,
    together,
)
from bertlab.datasets.documents import Document
from bertlab.nn import ELMoConfig, ELMoForPreTraining
from bertlab.tasks.spelled_words import whole_words
from bertlab.text import IGNORE_INDEX, SPECIAL, tokenise

LEARNT = [Document(["The dog saw the cat.", "The cat ran home."] * 20, "notes")]
HELD = [Document(["The Dog saw Xanthippe.", "The cat ran."] * 7, "notes") for _ in range(40)]


@pytest.fixture(scope="module")
def text() -> Text:
    words = whole_words(sentence for one in (*LEARNT, *HELD) for sentence in one.sentences)
    return Text(words, known_words(LEARNT, size=len(SPECIAL) + 8), tokenise(LEARNT, words))


def some_elmo(text: Text) -> ELMoForPreTraining:
    torch.manual_seed(0)
    sizes = {"d_model": 8, "d_memory": 12, "d_character": 4, "filters": ((1, 4), (2, 8)), "n_highway": 1}
    return ELMoForPreTraining(ELMoConfig(vocab_size=len(text.known), dropout=0.3, **sizes))


def test_a_rare_word_has_no_target_and_capitals_make_no_difference(text):
    of = dict(zip(text.words.vocab, targets(text.words, text.known), strict=True))
    assert of["Dog"] == of["dog"] == text.known.ids["dog"]
    assert of["Xanthippe"] == of["[SEP]"] == of["[UNK]"] == IGNORE_INDEX


def test_the_exam_asks_for_known_words_alone_and_tells_the_share_of_others(text):
    asked, unknown = exam(HELD, text, stretches=32)
    assert unknown == pytest.approx(1 / 9, abs=0.02)  # Xanthippe, of nine words and marks
    rare = text.words.ids["Xanthippe"]
    for question, answers in asked:
        read = question.ids.reshape(-1)[question.positions]
        assert rare not in read
        assert (targets(text.words, text.known)[read] == answers.pieces).all()
        assert not set(read.tolist()) & text.words.special_ids


def test_bayes_rule_takes_the_frequency_out_once_and_sums_to_one():
    rng = np.random.default_rng(0)
    left, right, alone = (
        np.log(p / p.sum(-1, keepdims=True)) for p in (rng.random((5, 7)), rng.random((5, 7)), rng.random(7))
    )
    both = np.exp(together(left, right, alone)["both"])
    np.testing.assert_allclose(both.sum(-1), 1)
    wanted = np.exp(left) * np.exp(right) / np.exp(alone)
    np.testing.assert_allclose(both, wanted / wanted.sum(-1, keepdims=True))
    np.testing.assert_allclose(np.exp(together(left, alone + 0 * left, alone)["both"]), np.exp(left))


def test_elmo_guesses_a_word_without_having_read_it(text):
    guess = by_elmo(some_elmo(text), text, frequencies(text))
    (question, _), *_ = exam(HELD, text, stretches=32)[0]
    one = len(question.positions) // 2
    place = question.positions[one]
    before = {direction: said[one] for direction, said in guess(question).items()}
    other = question.ids.copy()
    other.reshape(-1)[place] = text.words.ids["home"]
    after = {direction: said[one] for direction, said in guess(question._replace(ids=other)).items()}
    for direction in DIRECTIONS:
        np.testing.assert_allclose(before[direction], after[direction], atol=1e-5)
    neighbour = question.ids.copy()
    neighbour.reshape(-1)[place - 1] = text.words.ids["Xanthippe"]
    changed = guess(question._replace(ids=neighbour))
    assert not np.allclose(before["forward"], changed["forward"][one], atol=1e-5)
    np.testing.assert_allclose(before["backward"], changed["backward"][one], atol=1e-5)


def test_counting_knows_what_always_follows_and_what_always_comes_before(text):
    (question, answers), *_ = exam(HELD, text, stretches=32)[0]
    said = by_counting(text, frequencies(text))(question)
    assert all(scores.shape == (len(answers.pieces), len(text.known)) for scores in said.values())
    np.testing.assert_allclose(np.exp(said["forward"]).sum(-1), 1, rtol=1e-4)
    words = np.array(text.words.vocab)[question.ids.reshape(-1)]
    rows = [
        i for i, place in enumerate(question.positions) if words[place - 1] == "cat" and words[place] == "ran"
    ]
    assert len(rows) > 3
    ran, cat = text.known.ids["ran"], text.known.ids["cat"]
    assert (np.exp(said["forward"][rows, ran]) > 0.3).all()  # "the cat ran", or "the cat ."
    back = [i for i, place in enumerate(question.positions) if words[place + 1] == "ran"]
    assert (said["backward"][back].argmax(-1) == cat).all()


def test_an_exam_compares_the_first_guess_with_each_other(text):
    alone = frequencies(text)
    asked, _ = exam(HELD, text, stretches=32)
    found = examined({"a": by_counting(text, alone), "b": by_elmo(some_elmo(text), text, alone)}, asked)
    assert found.keys() == {"a", "b", "a minus b"}
    for direction in DIRECTIONS:
        gap = found["a"][direction]["loss"] - found["b"][direction]["loss"]
        assert found["a minus b"][direction]["loss"] == pytest.approx(gap, abs=2e-4)
        assert gap < 0


def test_the_text_is_written_once_and_opened_afterwards(tmp_path, monkeypatch):
    made = []

    def training():
        made.append(1)
        return type("Training", (), {"documents": LEARNT})()

    monkeypatch.setattr(_elmo_text, "training_documents", training)
    monkeypatch.setattr(_elmo_text, "held_out_documents", lambda: {"books": HELD, "wikitext-2": HELD})
    for name, file in (
        ("FOLDER", ""),
        ("WORDS", "words.txt"),
        ("KNOWN", "known.txt"),
        ("SHARDS", "shards"),
        ("HELD_OUT", "held_out"),
    ):
        monkeypatch.setattr(_elmo_text, name, tmp_path / "text" / file)
    first = prepared.__wrapped__()
    second = prepared.__wrapped__()
    assert len(made) == 1
    assert first.words.vocab == second.words.vocab
    assert "Xanthippe" in second.words.ids
    assert "xanthippe" not in second.known.ids
    assert second.corpus.borders[-1] == first.corpus.borders[-1] == 20 * 11
