"""The exams are fair: fixed, half true, never about special tokens, and no shortcut earns a mark."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from _bert_held_out import KINDS, Answers, Question, exam, fingerprint, masked_words, next_sentences
from bertlab.datasets.documents import Document
from bertlab.text import SPECIAL, WordPiece, tokenise

LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOCAB = WordPiece([*SPECIAL, *LETTERS], recognise_special=True)


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(3)
    words = [*LETTERS, "[UNK]"]
    return tokenise(
        [
            Document([" ".join(rng.choice(words, 9)) for _ in range(30)], source)
            for source in ("books", "books", "notes", "notes", "notes")
        ],
        VOCAB,
    )


@pytest.fixture(scope="module")
def both(corpus):
    return {kind: exam(corpus, VOCAB, shares, n=24, max_length=40) for kind, shares in KINDS.items()}


def unmasked(question: Question, answers: Answers) -> np.ndarray:
    ids = question.ids.copy()
    ids.reshape(-1)[question.positions] = answers.pieces
    return ids


def test_both_kinds_ask_for_the_same_pieces_of_the_same_texts(both):
    for (asked, right), (hidden, same) in zip(both["as trained"], both["hidden"], strict=True):
        np.testing.assert_array_equal(asked.positions, hidden.positions)
        np.testing.assert_array_equal(right.pieces, same.pieces)
        np.testing.assert_array_equal(unmasked(asked, right), unmasked(hidden, same))
        assert (hidden.ids.reshape(-1)[hidden.positions] == VOCAB.mask_id).all()
        assert (asked.ids.reshape(-1)[asked.positions] != VOCAB.mask_id).any()


def test_no_special_token_and_no_lost_word_is_asked_for(both):
    for exams in both.values():
        assert not set(np.concatenate([right.pieces for _, right in exams])) & VOCAB.special_ids
        assert any((asked.ids == VOCAB.unk_id).any() for asked, _ in exams)


def test_half_of_the_pairs_are_true(both):
    labels = np.concatenate([right.next for _, right in both["hidden"]])
    assert (len(labels), labels.sum()) == (24, 12)


def test_one_seed_is_one_exam_and_another_is_another(corpus, both):
    first = fingerprint(both["hidden"])
    assert fingerprint(exam(corpus, VOCAB, KINDS["hidden"], n=24, max_length=40)) == first
    assert fingerprint(exam(corpus, VOCAB, KINDS["hidden"], n=24, max_length=40, seed=4)) != first
    assert fingerprint(both["as trained"]) != first


def test_what_is_examined_does_not_see_the_answers(both):
    assert set(Question._fields) == {"ids", "segments", "mask", "positions"}


def test_too_many_pairs_are_refused(corpus):
    with pytest.raises(ValueError, match="choose an even number of pairs, at most"):
        exam(corpus, VOCAB, n=10_000)


def answers_of(exams):
    return {id(question): right for question, right in exams}


def test_who_knows_all_has_full_marks(both):
    known = answers_of(both["hidden"])
    found = masked_words(both["hidden"], lambda q: 50.0 * np.eye(len(VOCAB))[known[id(q)].pieces])
    assert (found["accuracy"], found["top5"]) == (1, 1)
    assert found["loss"] == pytest.approx(0, abs=1e-6)
    told = next_sentences(both["hidden"], lambda q: 50.0 * np.eye(2)[known[id(q)].next])
    assert (told["accuracy"], told["pairs"]) == (1, 24)


def test_who_scores_all_alike_has_no_marks_and_the_loss_of_a_die(both):
    found = masked_words(both["hidden"], lambda q: np.zeros((len(q.positions), len(VOCAB))))
    assert (found["accuracy"], found["top5"]) == (0, 0)
    assert found["loss"] == pytest.approx(math.log(len(VOCAB)), abs=1e-4)
    assert next_sentences(both["hidden"], lambda q: np.zeros((len(q.ids), 2)))["accuracy"] == 0


def test_loss_accuracy_and_top_five_are_those_of_torch(both, rng):
    made = {id(q): rng.normal(size=(len(q.positions), len(VOCAB))) for q, _ in both["hidden"]}
    found = masked_words(both["hidden"], lambda q: torch.tensor(made[id(q)]))
    scores = torch.tensor(np.concatenate([made[id(q)] for q, _ in both["hidden"]]))
    right = torch.tensor(np.concatenate([a.pieces for _, a in both["hidden"]]))
    assert found["targets"] == len(right)
    assert found["loss"] == pytest.approx(float(torch.nn.functional.cross_entropy(scores, right)), abs=1e-4)
    top = scores.topk(5).indices == right[:, None]
    assert found["accuracy"] == pytest.approx(float(top[:, 0].double().mean()), abs=1e-4)
    assert found["top5"] == pytest.approx(float(top.any(dim=1).double().mean()), abs=1e-4)


def test_scores_may_be_logits_of_any_height(both, rng):
    made = {id(q): rng.normal(size=(len(q.positions), len(VOCAB))) for q, _ in both["hidden"]}
    low, high = (masked_words(both["hidden"], lambda q, c=c: made[id(q)] + c) for c in (0.0, 1000.0))
    assert low == high


def coin(n_inputs: int, each: int, rng, alike: bool):
    """An exam of inputs with `each` pieces, guessed right with chance one half: each piece, or each input."""
    right = rng.random((n_inputs, 1 if alike else each)) < 0.5
    questions, made = [], {}
    for marks in np.broadcast_to(right, (n_inputs, each)):
        question = Question(np.zeros((1, each), int), np.zeros((1, each), int), None, np.arange(each))
        questions.append((question, Answers(np.zeros(each, int), np.zeros(1, int))))
        made[id(question)] = np.stack([marks, ~marks], axis=1).astype(float)
    return questions, lambda q: made[id(q)]


@pytest.mark.parametrize("alike", [False, True])
def test_the_interval_holds_the_truth_in_95_of_100_cases(rng, alike):
    """Also where the pieces of an input are right or wrong together."""
    hits = 0
    for _ in range(200):
        low, high = masked_words(*coin(80, 5, rng, alike))["accuracy_interval"]
        hits += low <= 0.5 <= high
    assert 0.9 <= hits / 200 <= 0.99


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (lambda q: np.full((len(q.positions), 3), np.nan), "NaN"),
        (lambda q: np.full((len(q.positions), 3), np.inf), "infinite"),
        (lambda q: np.zeros((len(q.positions) + 1, 3)), "give a row for each"),
    ],
)
def test_scores_that_are_none_are_refused(both, scores, said):
    with pytest.raises(ValueError, match=said):
        masked_words(both["hidden"], scores)
