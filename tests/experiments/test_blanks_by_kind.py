"""Blanks are parted rightly, and the record agrees with those of the whole exams."""

from __future__ import annotations

import numpy as np
import pytest

from _bert_held_out import Answers, Question, answered, difference, masked_words
from bertlab.text import SPECIAL, WordPiece
from bertlab.training import load_result
from blanks_by_kind import FREQUENT, VOCABULARIES, parts

RECORD = load_result("blanks_by_kind")
KINDS = ("frequent pieces", "other whole words", "pieces of cut words")
VOCAB = WordPiece([*SPECIAL, *(f"word{i}" for i in range(FREQUENT)), "rare", "ga", "##rden"])
RARE, GA, RDEN = (VOCAB.ids[piece] for piece in ("rare", "ga", "##rden"))
WORD = VOCAB.ids["word0"]
# [CLS] word0 [MASK: rare] [MASK: ga] ##rden ga [MASK: ##rden] [MASK: word0] [SEP]
IDS = np.array(
    [
        [
            VOCAB.cls_id,
            WORD,
            VOCAB.mask_id,
            VOCAB.mask_id,
            RDEN,
            GA,
            VOCAB.mask_id,
            VOCAB.mask_id,
            VOCAB.sep_id,
        ]
    ]
)
ASKED = Question(IDS, np.zeros_like(IDS), np.ones_like(IDS, dtype=bool), np.array([2, 3, 6, 7]))
RIGHT = Answers(np.array([RARE, GA, RDEN, WORD]), np.array([0]))


def test_a_blank_is_of_one_kind_that_its_whole_word_decides():
    row = np.repeat(np.arange(len(SPECIAL), len(SPECIAL) + FREQUENT), 2)
    found = {kind: of_kind(ASKED, RIGHT).tolist() for kind, of_kind in parts(VOCAB, row).items()}
    assert found == {
        "frequent pieces": [False, False, False, True],
        "other whole words": [True, False, False, False],
        "pieces of cut words": [False, True, True, False],
    }


def test_a_difference_is_that_of_the_two_results():
    scores = np.zeros((4, len(VOCAB)))
    scores[[0, 1], [RARE, GA]] = 3.0

    def flat(question):
        return np.zeros((len(question.positions), len(VOCAB)))

    exam = [(ASKED, RIGHT)] * 3
    one, other = masked_words(exam, lambda question: scores), masked_words(exam, flat)
    apart = difference(answered(exam, lambda question: scores), answered(exam, flat))
    for name in ("loss", "accuracy", "top5"):
        assert apart[name] == pytest.approx(one[name] - other[name], abs=1e-4)
    assert apart["accuracy"] == 0.5


def test_some_pieces_are_answered_as_they_were_among_all():
    scores = np.zeros((4, len(VOCAB)))
    scores[[0, 1], [RARE, GA]] = 3.0
    found = answered([(ASKED, RIGHT)] * 2, lambda question: scores).of(np.array([True, False] * 4))
    assert found.inputs.tolist() == [0, 0, 1, 1]
    assert found.values[:, 1].tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize("held_out", ["books", "wikitext-2"])
def test_the_record_agrees_with_those_of_the_whole_exams(name, held_out):
    found = RECORD[name][held_out]
    assert sum(found[kind]["bert"]["targets"] for kind in KINDS) == found["all"]["bert"]["targets"]
    whole = load_result("bert_checkpoints")[name]["shipped"][held_out]["hidden"]
    counted = load_result("masked_ngrams")[VOCABULARIES[name]]["guesses"][held_out]["hidden"]["and repeated"]
    assert found["all"]["bert"]["accuracy"] == pytest.approx(whole["accuracy"], abs=2e-4)
    assert found["all"]["counting"]["accuracy"] == pytest.approx(counted["accuracy"], abs=3e-3)
