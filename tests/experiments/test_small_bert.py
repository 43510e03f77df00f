"""The ablations vary what they say and nothing else: batches, masks, pairs, directions, first weights."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import _small_bert
from _bert_answers import from_the_left, left_only, shown
from _bert_held_out import Answers, Question
from _small_bert import CHOICES, FIRST_WEIGHTS, NextPiece, Reading, loss_of, make, unmasked
from bertlab.datasets.documents import Document
from bertlab.text import SPECIAL, WordPiece, tokenise

LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOCAB = WordPiece([*SPECIAL, *LETTERS])


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(3)
    return tokenise(
        [
            Document([" ".join(rng.choice([*LETTERS], 12)) for _ in range(40)], source)
            for source in 24 * ["books"] + 24 * ["notes"]
        ],
        VOCAB,
    )


def reading(corpus, **changes) -> Reading:
    return Reading(corpus, VOCAB, CHOICES | changes, seed=5)


def by_text(batch) -> dict[bytes, tuple[int, ...]]:
    """The chosen columns of each example, by what stands there unmasked."""
    rows, columns = np.divmod(batch.positions, batch.ids.shape[1])
    texts = [row[mask].tobytes() for row, mask in zip(unmasked(batch), batch.mask, strict=True)]
    return {text: tuple(columns[rows == i].tolist()) for i, text in enumerate(texts)}


def epoch(read: Reading, number: int, n: int) -> dict[bytes, tuple[int, ...]]:
    """All examples of an epoch of n batches."""
    found: dict[bytes, tuple[int, ...]] = {}
    for batch in range(number * n, (number + 1) * n):
        found |= by_text(read(batch))
    return found


def test_a_batch_depends_on_its_number_alone(corpus):
    read, again = reading(corpus), reading(corpus)
    numbers = [0, 1, 9, 40]
    forward = [read(number) for number in numbers]
    backward = [again(number) for number in reversed(numbers)][::-1]
    for one, same in zip(forward, backward, strict=True):
        np.testing.assert_array_equal(one.ids, same.ids)
        np.testing.assert_array_equal(one.next_labels, same.next_labels)


def test_one_mask_is_repeated_and_new_ones_are_not(corpus):
    for masks, same in ((1, True), (0, False)):
        read = reading(corpus, examples=64, masks=masks)
        first, second = epoch(read, 0, 2), epoch(read, 1, 2)
        assert first.keys() == second.keys(), "the same texts, in another order"
        assert (first == second) is same
    read = reading(corpus, examples=64, masks=2)
    epochs = [epoch(read, number, 2) for number in range(4)]
    assert epochs[0] == epochs[2] != epochs[1] == epochs[3]


def test_true_pairs_alone(corpus):
    labels = np.concatenate([reading(corpus, pairs="all are true")(n).next_labels for n in range(4)])
    assert labels.sum() == 0
    assert 0.3 < np.concatenate([reading(corpus)(n).next_labels for n in range(4)]).mean() < 0.7


def test_rates_and_shares_are_those_of_the_arm(corpus):
    for rate, shares in ((0.5, (1.0, 0.0, 0.0)), (0.15, (0.0, 0.8, 0.2))):
        batch = reading(corpus, rate=rate, shares=shares)(0)
        n = sum(
            (row[mask] >= len(SPECIAL)).sum() for row, mask in zip(unmasked(batch), batch.mask, strict=True)
        )
        assert len(batch.labels) / n == pytest.approx(rate, abs=0.06)
        hidden = batch.ids.reshape(-1)[batch.positions] == VOCAB.mask_id
        assert hidden.all() == (shares[0] == 1)
        assert hidden.any() == (shares[0] == 1)


def test_the_left_to_right_model_sees_nothing_to_the_right(corpus):
    model = make(CHOICES | {"next_sentence": False}, VOCAB, 0).eval()
    ids = torch.from_numpy(unmasked(reading(corpus)(0)))[:4]
    other = ids.clone()
    other[:, 10:] = 7
    with torch.no_grad():
        one, two = (model.bert(x, torch.zeros_like(x), left_only(x, model)).states for x in (ids, other))
    torch.testing.assert_close(one[:, :10], two[:, :10])
    assert not torch.allclose(one[:, 10:], two[:, 10:])


def test_its_loss_is_the_mean_over_all_next_pieces(corpus):
    model = make(CHOICES | {"next_sentence": False}, VOCAB, 0).eval()
    ids = torch.from_numpy(unmasked(reading(corpus)(0)))[:3]
    segments = torch.zeros_like(ids)
    with torch.no_grad():
        states = model.bert(ids, segments, left_only(ids, model)).states
        log_p = model.masked_lm(states, model.bert.embeddings.token.weight).log_softmax(-1)
        wanted = [-log_p[b, t, ids[b, t + 1]] for b in range(3) for t in range(63) if ids[b, t + 1] != 0]
        assert NextPiece(model)(ids, segments).item() == pytest.approx(
            float(torch.stack(wanted).mean()), abs=1e-5
        )


def test_its_answers_come_from_the_place_before(corpus):
    model = make(CHOICES, VOCAB, 0).eval()
    ids = np.array([[2, 5, 6, 7, 3]])
    hidden = ids.copy()
    hidden[0, 3] = VOCAB.mask_id
    question = Question(hidden, np.zeros_like(ids), ids > 0, np.array([3]))
    answers = Answers(np.array([7]), np.array([0]))
    np.testing.assert_array_equal(shown(question, answers).ids, ids)
    scores = from_the_left(model)(shown(question, answers))
    changed = question._replace(ids=np.array([[2, 5, 6, 9, 3]]))
    torch.testing.assert_close(scores, from_the_left(model)(changed))
    before = question._replace(ids=np.array([[2, 5, 9, 7, 3]]))
    assert not torch.allclose(torch.as_tensor(scores), torch.as_tensor(from_the_left(model)(before)))


def test_what_is_counted_is_what_was_asked_for(corpus):
    for left_to_right in (False, True):
        read = reading(corpus)
        model = make(CHOICES | {"next_sentence": not left_to_right}, VOCAB, 0)
        loss, notes = loss_of(model, read, left_to_right)
        expected = math.log(len(VOCAB)) + (0 if left_to_right else math.log(2))
        assert loss(0).item() == pytest.approx(expected, abs=0.3), "an untrained model guesses"
        batch = read(0)
        asked = batch.mask.sum() - len(batch.mask) if left_to_right else len(batch.labels)
        counts = {name: notes()[name] for name in ("n_tokens", "n_targets")}
        assert counts == {"n_tokens": batch.mask.sum(), "n_targets": asked}
        assert ("masked_lm" in notes()) is not left_to_right


def test_first_weights_differ_where_they_should():
    table = {
        kind: make(CHOICES | {"first_weights": kind}, VOCAB, 0).bert.embeddings.position.weight
        for kind in ("as published", "sinusoids", "look beside")
    }
    torch.testing.assert_close(table["sinusoids"], table["look beside"])
    assert not torch.allclose(table["sinusoids"], table["as published"])
    with pytest.raises(ValueError, match="first_weights = 'zeros'"):
        make(CHOICES | {"first_weights": "zeros"}, VOCAB, 0)


def test_controls_leave_room_for_positions_and_let_some_heads_look():
    zeroed = {
        kind: not make(CHOICES | {"first_weights": kind}, VOCAB, 0).bert.embeddings.token.weight[:, :32].any()
        for kind in FIRST_WEIGHTS
    }
    assert [kind for kind in zeroed if zeroed[kind]] == [
        "room for sinusoids",
        "look one place beside",
        "look one place beside, half empty",
        "look beside",
    ]


def test_an_unknown_choice_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"unknown choices \['heat'\]"):
        _small_bert.train({"heat": 3}, 0, tmp_path / "arm")
