"""Claims about exact match and F1: the rules of SQuAD's scripts, on vectors worked out by hand."""

from __future__ import annotations

import string
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.tasks.squad_metrics import exact_match, f1, normalise_answer, squad_scores

# Texts that are likely to meet: few words, articles, punctuation and white space among them.
WORDS = st.sampled_from(
    ["a", "An", "the", "THE", "cat", "Cat's", "1,000", "1000", "é", "東京", "-", "“", "\xa0"]
)
ANSWERS = st.lists(WORDS, max_size=6).map(" ".join) | st.text(max_size=12)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        # case and articles
        ("The Denver Broncos", "denver broncos"),
        ("a an THE A", ""),
        ("Thecla and Ann at an inn", "thecla and ann at inn"),  # whole words alone
        ("vitamin A", "vitamin"),  # and wherever they stand
        ("the the end", "end"),
        # punctuation goes before articles do, and leaves no space
        ("U.S.A.", "usa"),
        ("the-cat", "thecat"),
        ("an_the", "anthe"),
        ("(a) cat", "cat"),
        ("a.", ""),
        ("rock 'n' roll", "rock n roll"),
        (string.punctuation, ""),
        # white space of every kind
        ("  two \t\n words\r\n", "two words"),
        ("no\u00a0break\u2003wide\u2028line", "no break wide line"),
        ("zero\u200bwidth", "zero\u200bwidth"),  # which is not white space
        # Unicode
        ("ÉCOLE", "école"),
        ("“the” cat…", "“ ” cat…"),  # only ASCII punctuation goes, and a quotation mark ends a word
        ("10–12", "10–12"),
        ("à la", "à la"),
        ("a\u0300 la", "\u0300 la"),  # the same text, decomposed: the letter is taken for an article
        ("Straße", "straße"),
        ("東京、日本", "東京、日本"),
        ("İ", "i\u0307"),
        # numbers
        ("1,000,000", "1000000"),
        ("$3.50", "350"),
        ("-5", "5"),
        ("6½", "6½"),
        ("7 a.m.", "7 am"),
        # nothing
        ("", ""),
        (" \t", ""),
        ("?!", ""),
    ],
)
def test_an_answer_is_normalised_as_by_the_script(text, normal):
    assert normalise_answer(text) == normal


@pytest.mark.parametrize(
    ("prediction", "answers", "exact", "overlap"),
    [
        ("Denver Broncos", ["Denver Broncos"], 1, 1),
        ("the DENVER Broncos!", ["Denver Broncos"], 1, 1),
        ("Broncos", ["Denver Broncos"], 0, 2 / 3),  # P 1/1, R 1/2
        ("Denver Broncos of Colorado", ["the Denver Broncos"], 0, 2 / 3),  # P 2/4, R 2/2
        ("Carolina Panthers", ["Denver Broncos"], 0, 0),
        ("Broncos Denver", ["Denver Broncos"], 0, 1),  # F1 knows no order
        ("new new york", ["new york new york"], 0, 6 / 7),  # each word as often as in both: P 3/3, R 3/4
        ("new new new", ["new"], 0, 1 / 2),  # P 1/3, R 1/1
        ("1,000", ["1000"], 1, 1),
        ("1000", ["1000 people"], 0, 2 / 3),
        ("6.5", ["65"], 1, 1),  # the point is punctuation
        ("6.5", ["6,5"], 1, 1),
        ("cat", ["dog", "black cat", "the cat"], 1, 1),  # the best of several gold answers
        ("cat", ["dog", "black cat"], 0, 2 / 3),
        ("東京", ["東京 日本"], 0, 2 / 3),
        ("東京", ["東京日本"], 0, 0),  # one word
        ("the", ["cat"], 0, 0),
        ("cat", ["The", "cat"], 1, 1),
        ("cat", ["The", "dog"], 0, 0),
        # SQuAD 2.0: no answer
        ("", [], 1, 1),
        ("", [""], 1, 1),
        ("", ["The"], 1, 1),  # a gold answer that is nothing is none
        ("the", [], 1, 1),
        ("cat", [], 0, 0),
        ("cat", [""], 0, 0),
        ("", ["cat"], 0, 0),
        ("", ["The", "cat"], 0, 0),  # but is left out where there is another
    ],
)
def test_scores_are_those_worked_out_by_hand(prediction, answers, exact, overlap):
    assert exact_match(prediction, answers) == exact
    assert f1(prediction, answers) == pytest.approx(overlap, abs=1e-12)


@given(ANSWERS, ANSWERS)
def test_prediction_and_gold_answer_can_be_exchanged(a, b):
    assert exact_match(a, [b]) == exact_match(b, [a])
    assert f1(a, [b]) == f1(b, [a])


@given(ANSWERS, st.lists(ANSWERS, max_size=3))
def test_scores_lie_between_0_and_1_and_an_exact_match_has_an_f1_of_1(prediction, answers):
    exact, overlap = exact_match(prediction, answers), f1(prediction, answers)
    assert exact in {0.0, 1.0}
    assert exact <= overlap <= 1


@given(ANSWERS, st.lists(ANSWERS, max_size=3))
def test_each_answer_matches_itself_and_more_gold_answers_never_harm(answer, more):
    assert exact_match(answer, [answer]) == f1(answer, [answer]) == 1
    if normalise_answer(answer):
        assert exact_match(answer, [*more, answer]) == f1(answer, [*more, answer]) == 1


@given(st.text(max_size=20))
def test_what_is_left_holds_no_capital_ascii_punctuation_article_or_double_space(text):
    normal = normalise_answer(text)
    assert normal == normal.lower()
    assert not set(normal) & set(string.punctuation)
    assert not {"a", "an", "the"} & set(normal.split(" "))
    assert normal == " ".join(normal.split())


@given(ANSWERS, st.lists(ANSWERS, min_size=1, max_size=3))
def test_f1_is_the_loop_over_words_of_the_definition(prediction, answers):
    def of_one(answer: str) -> float:
        predicted, gold = normalise_answer(prediction).split(), normalise_answer(answer).split()
        if not predicted or not gold:
            return float(predicted == gold)
        left, common = list(gold), 0
        for word in predicted:
            if word in left:
                left.remove(word)
                common += 1
        if not common:
            return 0.0
        precision, recall = common / len(predicted), common / len(gold)
        return 2 * precision * recall / (precision + recall)

    gold = [answer for answer in answers if normalise_answer(answer)] or [""]
    assert f1(prediction, answers) == pytest.approx(max(map(of_one, gold)), abs=1e-12)


def test_composed_and_decomposed_accents_are_different_answers_as_in_the_script():
    assert exact_match("café", [unicodedata.normalize("NFD", "café")]) == 0


GOLD = {"q1": ["Denver Broncos"], "q2": [], "q3": ["1999", "in 1999"], "q4": ["blue", "the blue sky"]}


def test_a_data_set_is_scored_by_the_mean_over_its_questions():
    scores = squad_scores({"q4": "grey", "q1": "Broncos", "q2": "", "q3": "1999"}, GOLD)
    assert scores.ids == ("q1", "q2", "q3", "q4")  # in the order of the gold answers
    np.testing.assert_array_equal(scores.exact_each, [0, 1, 1, 0])
    np.testing.assert_allclose(scores.f1_each, [2 / 3, 1, 1, 0], atol=1e-12)
    assert scores.answerable.tolist() == [True, False, True, True]
    assert scores.exact == pytest.approx(1 / 2, abs=1e-12)
    assert scores.f1 == pytest.approx((2 / 3 + 1 + 1) / 4, abs=1e-12)
    assert scores.f1_each[scores.answerable].mean() == pytest.approx(5 / 9, abs=1e-12)
    assert repr(scores) == "exact match 0.500, F1 0.667 over 4 questions (1 of them unanswerable)"


def test_a_question_whose_only_gold_answer_is_nothing_counts_as_unanswerable():
    scores = squad_scores({"q": "", "r": ""}, {"q": ["The"], "r": ["cat"]})
    assert (scores.answerable.tolist(), scores.exact_each.tolist()) == ([False, True], [1, 0])


def test_a_missing_prediction_one_too_many_and_no_question_are_refused():
    with pytest.raises(ValueError, match=r"2 questions have no prediction, such as 'q2': give '' for no"):
        squad_scores({"q1": "Broncos", "q4": ""}, GOLD)
    with pytest.raises(ValueError, match=r"1 predictions belong to no question, such as 'q9'"):
        squad_scores(dict.fromkeys([*GOLD, "q9"], ""), GOLD)
    with pytest.raises(ValueError, match="there are 0 questions to score"):
        squad_scores({}, {})
