"""The rule of BERT's masking, and its picture."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab import viz
from bertlab.viz.masked_tokens import (
    SHARES,
    check_shares,
    chosen_kinds,
    counts,
    maskable,
    masked,
    n_chosen,
)
from tests.viz.looking import overlapping

TOKENS = ["[CLS]", "my", "dog", "is", "hairy", "and", "my", "cat", "is", "not", "[SEP]"]
WORDS = ["apple", "river", "house"]


def test_the_number_of_chosen_tokens_is_the_rounded_share_and_at_least_one():
    assert [n_chosen(rate, 9) for rate in (0, 0.05, 0.15, 0.2, 0.5, 0.8, 1)] == [1, 1, 1, 2, 5, 7, 9]
    assert n_chosen(0.15, 1) == 1


def test_D22_of_many_draws_the_shares_are_those_that_were_asked_for(rng):
    free = maskable(TOKENS * 10, {"[CLS]", "[SEP]"})
    kinds = chosen_kinds(rng.random((4000, len(free), 3)), free, 0.15, SHARES)
    chosen, of_kind = counts(kinds, free)
    assert chosen == n_chosen(0.15, 90) / 90
    np.testing.assert_allclose(of_kind, SHARES, atol=0.006)  # 56,000 chosen: five standard errors
    assert 100 * chosen * of_kind[1] == pytest.approx(1.5, abs=0.12)  # % of all that are random words


def test_every_token_is_chosen_equally_often_and_special_ones_never(rng):
    free = maskable(TOKENS, {"[CLS]", "[SEP]"})
    often = (chosen_kinds(rng.random((9000, 11, 3)), free, 0.3, SHARES) >= 0).mean(axis=0)
    assert often[0] == often[-1] == 0
    np.testing.assert_allclose(often[1:-1], 3 / 9, atol=0.026)  # five standard errors


def test_a_higher_rate_adds_tokens_and_takes_none_away(rng):
    free = np.ones(30, bool)
    uniforms = rng.random((30, 3))
    before = np.full(30, -1)
    for rate in np.linspace(0, 0.8, 30):
        kinds = chosen_kinds(uniforms, free, rate, SHARES)
        assert (kinds[before >= 0] == before[before >= 0]).all()
        before = kinds
    assert (before >= 0).sum() == 24


def test_what_is_read_follows_from_what_was_drawn():
    uniforms = np.full((11, 3), 0.5)
    uniforms[:, 0] = [0, 0.3, 0.1, 0.9, 0.2, 0.9, 0.9, 0.9, 0.9, 0.9, 0]  # dog, hairy, my come first
    uniforms[[2, 4, 1], 1] = [0.79, 0.85, 0.95]
    uniforms[4, 2] = 0.34  # the second of three words
    read, kinds = masked(TOKENS, uniforms, 0.3, SHARES, WORDS)
    assert read == ["[CLS]", "my", "[MASK]", "is", "river", *TOKENS[5:]]
    assert kinds == [-1, 2, 0, -1, 1, *[-1] * 6]


def test_shares_of_one_kind_alone_give_that_kind_alone(rng):
    for kind in range(3):
        shares = np.eye(3)[kind]
        kinds = chosen_kinds(rng.random((50, 9, 3)), np.ones(9, bool), 0.5, shares)
        assert set(np.unique(kinds)) == {-1, kind}


def test_D22_a_random_word_is_never_a_special_one(rng):
    vocabulary = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "apple", "river"]
    read = masked(TOKENS * 30, rng.random((330, 3)), 1.0, (0, 1, 0), vocabulary).read
    assert set(read) - {"[CLS]", "[SEP]"} == {"apple", "river"}


def test_tokens_of_ones_own_choice_are_special_and_nothing_else_is(rng):
    uniforms = rng.random((3, 3))
    kinds = masked(["[CLS]", "a", "b"], uniforms, 1.0, SHARES, WORDS, special={"a"}).kinds
    assert [kind >= 0 for kind in kinds] == [True, False, True]


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="no token can be chosen: all 2 of them are special"):
        maskable(["[CLS]", "[SEP]"], {"[CLS]", "[SEP]"})
    for shares in ((0.8, 0.1), (0.8, 0.1, 0.2), (1.1, -0.1, 0.0)):
        with pytest.raises(ValueError, match="give three that sum to 1"):
            check_shares(shares)
    with pytest.raises(ValueError, match="2 tokens, 1 read, 2 kinds: give one of each a token"):
        viz.masked_tokens(["a", "b"], ["a"], [0, -1], "Title")


def test_the_picture_shows_all_three_rows_and_signs_for_the_kinds():
    read = ["[CLS]", "my", "[MASK]", "is", "river", *TOKENS[5:]]
    fig = viz.masked_tokens(TOKENS, read, [-1, 2, 0, -1, 1, *[-1] * 6], "Title", "A note, which is short")
    drawn = [text.get_text() for text in fig.axes[0].texts]
    for words in ("= my", "■ [MASK]", "⇄ river", "A note, which is short"):
        assert drawn.count(words) == 1, words
    assert drawn.count("no loss") == 8
    assert drawn.count("dog") == 2  # as it was, and as what must be predicted
    assert overlapping(fig) == []


def test_of_a_long_sentence_the_part_with_the_most_chosen_tokens_is_drawn_and_it_is_said_which():
    kinds = np.full(512, -1)
    kinds[[3, 300, 305, 310, 319]] = 0, 1, 2, 0, 0
    fig = viz.masked_tokens(["word"] * 512, ["word"] * 512, kinds.tolist(), "Title", "A note. " * 12)
    drawn = [text.get_text() for text in fig.axes[0].texts]
    assert drawn.count("no loss") == 16
    said = "Tokens 300–319 of 512, counted from 0, with 4 of the 5 that are chosen."
    assert any(said in words.replace("\n", " ") for words in drawn)
    assert overlapping(fig) == []
    wide = viz.masked_tokens(["Donaudampfschiff"] * 30, ["word"] * 30, [-1] * 30, "Title")
    assert [text.get_text() for text in wide.axes[0].texts].count("original") == 3
