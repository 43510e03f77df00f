"""The guess from both sides uses what is visible, only that, and weighs it as the data say."""

from __future__ import annotations

import numpy as np
import pytest

from _bert_held_out import KINDS, Question, exam, masked_words
from _ngrams import one_row
from _two_sided import EXPERTS, START, TwoSided, blanks, everywhere, fitted, shown_too, softmax
from bertlab.datasets.documents import Document
from bertlab.text import SPECIAL, WordPiece, tokenise

VOCAB = WordPiece([*SPECIAL, *"abcdefgh"])
ORDINARY = np.array([False] * 5 + [True] * 8)


def question(ids, positions):
    ids = np.array(ids)
    return Question(ids, np.zeros_like(ids), ids > 0, np.array(positions))


def text(rng, n=60):
    """Letters that mostly follow the alphabet: both neighbours tell what stands between them."""
    documents = []
    for _ in range(n):
        steps = np.cumsum(rng.choice([1, 1, 1, 1, 2, 5], 160)) % 8
        words = ["abcdefgh"[i] for i in steps]
        sentences = [" ".join(words[i : i + 16]) for i in range(0, 160, 16)]
        documents.append(Document(sentences, "letters"))
    return tokenise(documents, VOCAB)


@pytest.fixture(scope="module")
def rooms():
    rng = np.random.default_rng(0)
    return text(rng), [exam(text(rng, 8), VOCAB, shares, n=32, max_length=32) for shares in KINDS.values()]


@pytest.fixture(scope="module")
def model(rooms):
    return TwoSided(one_row(rooms[0]), VOCAB)


def test_a_context_ends_at_what_is_hidden_and_at_special_tokens():
    mask, cls, sep = VOCAB.mask_id, VOCAB.cls_id, VOCAB.sep_id
    seen = blanks(question([[cls, 5, 6, mask, 7, mask, 8, sep, 9, 0]], [3, 5]), ORDINARY)
    assert seen.left.tolist() == [[6, 5, 0], [7, 0, 0]]
    assert seen.left_known.tolist() == [2, 1]
    assert seen.right.tolist() == [[7, 0, 0], [8, 0, 0]]
    assert seen.right_known.tolist() == [1, 1]


def test_the_end_of_an_input_is_the_end_of_a_context():
    seen = blanks(question([[5, 6, 7]], [0, 2]), ORDINARY)
    assert seen.left_known.tolist() == [0, 2]
    assert seen.right_known.tolist() == [2, 0]


def test_repeated_is_what_stands_elsewhere_in_the_same_input():
    seen = blanks(question([[5, 6, 5, 7], [8, 9, 9, 4]], [1, 2, 4, 5]), ORDINARY)
    assert [np.flatnonzero(r).tolist() for r in seen.repeated] == [[5, 7], [5, 6, 7], [9], [8, 9]]


def test_a_hidden_answer_cannot_be_read(model):
    mask = VOCAB.mask_id
    ids = [[2, 5, 6, 7, mask, 9, 10, 3]]
    p = softmax(model.scores(question(ids, [4]), everywhere(START)))
    assert p[0].argmax() == 8
    assert VOCAB.vocab[8] == "d"


def test_both_sides_are_better_than_one_and_all_experts_better_than_two(model, rooms):
    hidden = rooms[1][1]
    weights = {
        "left": everywhere([1, 0, 0, 0, 0, 0]),
        "right": everywhere([0, 1, 0, 0, 0, 0]),
        "both": everywhere(START),
        "all": fitted(model, hidden),
    }
    loss = {n: masked_words(hidden, lambda q, w=w: model.scores(q, w))["loss"] for n, w in weights.items()}
    unigram = masked_words(hidden, model.unigram_scores)["loss"]
    assert unigram > loss["left"] > loss["both"] > loss["all"]
    assert unigram > loss["right"] > loss["both"]


def test_the_fit_is_where_the_likelihood_has_no_slope(model, rooms):
    hidden = rooms[1][1]

    def objective(w):
        loss = 5.0 * ((w - START) ** 2).sum()  # RIDGE / 2
        for q, a in hidden:
            p = softmax(model.scores(q, w).astype(np.float64))
            loss -= np.log(p[np.arange(len(a.pieces)), a.pieces]).sum()
        return loss

    def slope(w, expert):
        step = np.zeros_like(w)
        step[-1, expert] = 1e-2  # of the cell with three neighbours on both sides
        return (objective(w + step) - objective(w - step)) / 2e-2

    start, found = everywhere(START), fitted(model, hidden)
    before, after = (np.array([slope(w, expert) for expert in range(len(EXPERTS))]) for w in (start, found))
    assert np.abs(after).max() < 0.01 * np.abs(before).max()


def test_what_stood_between_is_looked_up_by_the_pieces_on_both_sides(model, rooms):
    row = one_row(rooms[0])
    for a, b, table in model.around:
        stretches = (row[i : i + a + b + 1].tolist() for i in range(len(row) - a - b))
        wanted = {(*run[:a], *run[a + 1 :], run[a]) for run in stretches if 0 not in run}
        bits = model.left.bits
        found = {tuple(int(c) >> bits * i & 15 for i in reversed(range(a + b + 1))) for c in table.codes}
        assert bits == 4
        assert found == wanted


def test_repetition_is_worth_more_for_rare_pieces(model):
    seen = blanks(question([[5, VOCAB.mask_id, 6, 6]], [1]), ORDINARY)
    *_, repeated, rare = model.terms(seen)[0]
    assert np.flatnonzero(repeated[0]).tolist() == [5, 6]
    np.testing.assert_array_equal(rare[0, 5:7], -model.unigram[0, 5:7])
    assert not rare[0, 7:].any()


def test_experts_that_are_not_fitted_stay_as_they_were(model, rooms):
    weights = fitted(model, rooms[1][1], 4)
    assert (weights[:, 4:] == START[4:]).all()
    assert (weights[:, :4] != START[:4]).any()
    assert weights.shape[1] == len(EXPERTS)


def test_what_is_shown_counts_as_much_as_the_channel_says(rng):
    """Half of the shown pieces are real, half are one of R at random: Bayes by simulation."""
    prior, random = np.array([0.6, 0.3, 0.1]), np.arange(3)
    real = rng.choice(3, 400_000, p=prior)
    shown = np.where(rng.random(400_000) < 0.5, real, rng.integers(0, 3, 400_000))
    wanted = np.bincount(real[shown == 2], minlength=3) / (shown == 2).sum()
    found = softmax(shown_too(np.log(prior)[None].astype(np.float32), np.array([2]), random))
    np.testing.assert_allclose(found[0], wanted, atol=0.01)


def test_shown_pieces_help_where_they_are_shown(model, rooms):
    as_trained, hidden = rooms[1]
    loss = [masked_words(some, model.unigram_scores)["loss"] for some in (as_trained, hidden)]
    assert loss[0] < loss[1]
